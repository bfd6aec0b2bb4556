"""Shared by all tests: no network but loopback, no settings of the machine they run on."""

from __future__ import annotations

import gc
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

from tests.support.chromium import browser, light_browser
from tests.support.own_program import _own_programs_are_forked
from tests.support.postgres_process import postgres
from tests.support.sharing_out import FileScheduling, compile_first, longest_first

# Fixtures: one browser and a light one, one PostgreSQL, one process that our commands are forked from, for all tests.
__all__ = ["_own_programs_are_forked", "browser", "light_browser", "postgres"]

# What is loaded while tests are collected stays; to look for garbage in it again and again takes a second of them.
gc.disable()

# Where it is set, every program that a test starts would compile all that it imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Every HTTP client reads all certificates anew, which takes 20 ms; nothing here speaks TLS to strangers.
pytest.MonkeyPatch().setattr(ssl, "create_default_context", cache(ssl.create_default_context))

# The commands and their options stay the same; to make all of them anew for each call takes 20 ms.
pytest.MonkeyPatch().setattr(typer.testing, "_get_command", cache(typer.main.get_command))

# Commands that are advised are told by their name alone, as where the environment is active.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))

# Encoders beside every server of a test would slow all of them down. Here too: fixtures of a module are made before the
# environment of a test is.
os.environ["QIUSUO_LEGAL_MEANING"] = "false"

# A machine under load is slow, not wrong.
settings.register_profile("qiusuo", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("qiusuo"), max_examples=25)  # what ``make check`` asks for
settings.load_profile("qiusuo")

# Groups and folders whose tests drive a program that is not ours.
_PROGRAMS = {"chromium", "searxng", "real-searxng", "redis", "postgres", "real-model"}
_BROWSED = {"page", "browser"}
# What is over at once and needs no mark.
_SMALL = {"/bin/sh", "mount", "umount"}

# How many modules were loaded when they were last set aside, and how many more make it worth while again.
_LOADED = pytest.StashKey[int]()
_LARGE_PACKAGE = 100

_LOCAL = {"127.0.0.1", "::1", "localhost", "0.0.0.0", ""}  # noqa: S104 - a set of names, nothing is bound


def pytest_configure(config: pytest.Config) -> None:
    """Let several processes begin with what one of them has compiled."""
    compile_first(config)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Hand out whole files where groups are kept together, as ``make`` asks for."""
    return FileScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that drive another program, which ``make check`` leaves out.

    Such a test may try twice: starved on two cores it may miss a deadline. The summary names each one that needed it;
    tests of our own code alone have one try.
    """
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if item.path.parent.name in _BROWSED or (group is not None and group.args[0] in _PROGRAMS):
            item.add_marker(pytest.mark.programs)
        if item.get_closest_marker("programs") is not None and item.get_closest_marker("flaky") is None:
            item.add_marker(pytest.mark.flaky(reruns=1))
    if hasattr(config, "workerinput"):  # one of several processes
        longest_first(items, lambda item: item.get_closest_marker("programs") is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for garbage from now on, and not after every few hundred objects."""
    _set_aside_what_is_loaded(session)
    gc.set_threshold(20_000)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell why the first try of a test did not do: the second one hides it."""
    for first in terminalreporter.stats.get("rerun", ()):
        *_, why = first.longreprtext.strip().splitlines() or [""]
        raised = [line.removeprefix("E").strip() for line in first.longreprtext.splitlines() if line.startswith("E ")]
        terminalreporter.write_line(f"FIRST TRY {first.nodeid} ({first.when}): {' '.join(raised[:3]) or why}"[:1000])
        places = [line for line in first.longreprtext.splitlines() if re.match(r"\S+\.py:\d+:", line)]
        tab = [line for line in raised if line.startswith("the tab:")]
        for line in (" ".join(places), *tab):
            terminalreporter.write_line(f"  {line}"[:1500])


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Do the same for a large package that a test has loaded: each look at all of it would take half a second."""
    if len(sys.modules) > item.session.stash[_LOADED] + _LARGE_PACKAGE:
        _set_aside_what_is_loaded(item.session)


def _set_aside_what_is_loaded(session: pytest.Session) -> None:
    """Take what is loaded out of the search for garbage: it stays, and there is much of it."""
    gc.collect()
    gc.freeze()
    session.stash[_LOADED] = len(sys.modules)


class ProgramStarted(AssertionError):
    """A test starts a program and is not marked so."""


@pytest.fixture(autouse=True)
def _no_program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold tests to their mark: one that is not marked may start nothing but ``python -c`` and tools of the system."""
    if request.node.get_closest_marker("programs") is not None:
        return
    start = subprocess.Popen.__init__

    def guarded_start(self: subprocess.Popen[Any], args: Any, *more: Any, **options: Any) -> None:
        if args[0] not in _SMALL and list(args)[:2] != [sys.executable, "-c"]:
            raise ProgramStarted(f"mark this test with pytest.mark.programs: it starts {args}")
        start(self, args, *more, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", guarded_start)


class OutsideNetworkBlocked(AssertionError):
    """A test tried to leave this machine."""


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection and every look-up that would leave loopback."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if (
            self.family in {socket.AF_INET, socket.AF_INET6}
            and not str(address[0]).startswith("127.")
            and address[0] not in _LOCAL
        ):
            raise OutsideNetworkBlocked(f"connection to {address}")
        connect(self, address)

    def guarded_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host or ""
        if name not in _LOCAL and not name.startswith("127."):
            raise socket.gaierror(socket.EAI_NONAME, f"blocked in tests: {name}")
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_resolve)


@pytest.fixture(scope="session")
def _unused_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Name a folder that is not there, a new one each time; ``mktemp`` would read a list of thousands for each."""
    root = tmp_path_factory.mktemp("homes")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, _unused_folders: Iterator[Path]) -> None:
    """Hide keys, proxies and configuration of the machine from the code under test."""
    for name in list(os.environ):
        if (
            name.startswith(("SEARCH_", "SEARXNG_", "QIUSUO_"))
            or name.endswith("_API_KEY")
            or name.lower().endswith("_proxy")
        ):
            monkeypatch.delenv(name)
    home = next(_unused_folders)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    # Its legal index would join regulation searches.
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("QIUSUO_LEGAL_MEANING", "false")
