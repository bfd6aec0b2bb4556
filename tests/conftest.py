"""Shared by all tests: no network but loopback, no settings of the machine they run on."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.chromium import browser
from tests.support.postgres_process import postgres

__all__ = ["browser", "postgres"]  # fixtures: one browser, one PostgreSQL for the whole run

# A machine under load is slow, not wrong.
settings.register_profile("qiusuo", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("qiusuo")

# Groups whose tests drive a program that is not ours; those of the page all drive a browser.
_PROGRAMS = {"chromium", "searxng", "real-searxng", "redis", "postgres"}
_PAGE = Path(__file__).parent / "page"

_LOCAL = {"127.0.0.1", "::1", "localhost", "0.0.0.0", ""}  # noqa: S104 - a set of names, nothing is bound


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a test that drives another program try twice: starved on two cores it may miss a deadline.

    The summary names each one that needed it; tests of our own code alone have one try.
    """
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if _PAGE in item.path.parents or (group is not None and group.args[0] in _PROGRAMS):
            item.add_marker(pytest.mark.flaky(reruns=1))


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


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide keys, proxies and configuration of the machine from the code under test."""
    for name in list(os.environ):
        if (
            name.startswith(("SEARCH_", "SEARXNG_", "QIUSUO_"))
            or name.endswith("_API_KEY")
            or name.lower().endswith("_proxy")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    # Its legal index would join regulation searches.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
