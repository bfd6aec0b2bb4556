"""Commands that tests fork from a loaded process: as those that are started from nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.own_program import FORKED_CODE
from tests.support.processes import on_linux, parent_of
from tests.support.terminal import PseudoTerminal

FORKED = [sys.executable, "-m", "qiusuo"]
STARTED = [sys.executable, "-X", "utf8", "-m", "qiusuo"]

pytestmark = pytest.mark.programs


def run(*command: str, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=100)  # noqa: S603 - ours
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [("--version",), ("search", "茶", "--count", "0"), ("search", "茶", "--engine", "tavily")],
    ids=["it works", "a wrong option", "it is not set up"],
)
def test_both_say_and_return_the_same(words: tuple[str, ...], tmp_path: Path) -> None:
    assert run(*FORKED, *words, folder=tmp_path) == run(*STARTED, *words, folder=tmp_path)


def test_so_does_the_text_of_a_program(tmp_path: Path) -> None:
    text = "import os, sys; print(__name__, sys.argv, os.getcwd(), input); print('茶', file=sys.stderr); sys.exit(3)"
    started = run(sys.executable, "-c", text, "茶", "--x", folder=tmp_path)
    assert run(*FORKED_CODE, text, "茶", "--x", folder=tmp_path) == started
    assert started[0] == 3


@on_linux
def test_it_is_our_child_and_a_signal_ends_it(tmp_path: Path) -> None:
    environment = {**os.environ, "QIUSUO_LANG": "en", "XDG_DATA_HOME": str(tmp_path)}
    command = [*FORKED, "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        assert process.stderr is not None
        assert "http://" in process.stderr.readline()
        assert parent_of(process.pid) == os.getpid()
        process.send_signal(signal.SIGKILL)
        process.stderr.read()
        assert process.wait(60) == -signal.SIGKILL


def test_a_terminal_is_its_own(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "XDG_DATA_HOME": str(tmp_path), "QIUSUO_LANG": "en"}
    with PseudoTerminal([*FORKED, "chat"], environment) as screen:
        screen.wait_for("›")
        screen.type("\x04")
        assert screen.wait() == 0
