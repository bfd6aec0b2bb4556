"""``qiusuo usage``: the figures in a terminal; and what a terminal's own conversations count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qiusuo.cli.database.usage import run_usage, sparkline
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.usage_data import fill


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "chat.db"
    monkeypatch.setenv("QIUSUO_DATABASE_URL", f"sqlite:///{path}")
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("COLUMNS", "140")
    return path


def test_tables_and_small_bars(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    searches = fill(file, time.time(), days=20)
    assert run_usage(days=30, user=None, as_json=False) == 0
    told = capsys.readouterr().out
    assert f"{searches:,}" in told
    assert "█" in told
    for words in ("From cache", "Brave Search", "deepseek:deepseek-chat", "王小明", "This machine", "USD"):
        assert words in told
    monkeypatch.setenv("QIUSUO_LANG", "zh")
    assert run_usage(days=30, user="amy", as_json=False) == 0
    told = capsys.readouterr().out
    assert "故障转移" in told
    assert "王小明" not in told
    # In a usual terminal no word of a heading is broken.
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("COLUMNS", "80")
    assert run_usage(days=30, user=None, as_json=False) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    for word in (
        "Engine",
        "Brave",
        "Searches",
        "failover",
        "Requests",
        "Failed",
        "Median",
        "within",
        "Estimated",
        "Answers",
        "Tokens",
    ):
        assert any(word in line.split() for line in told.splitlines()), word


def test_json_is_the_report(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    searches = fill(file, time.time(), days=20)
    assert run_usage(days=30, user=None, as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["total"]["searches"] == searches
    assert run_usage(days=30, user="amy", as_json=True) == 0
    own = json.loads(capsys.readouterr().out)
    assert own["total"]["searches"] == next(row["searches"] for row in report["people"] if row["name"] == "amy")


def test_nothing_yet_creates_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_usage(days=7, user=None, as_json=False) == 0
    assert "no searches or answers" in capsys.readouterr().out
    assert not file.exists()


def test_a_database_that_is_none(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(b"no database at all, nowhere" * 100)
    assert run_usage(days=7, user=None, as_json=False) == 4
    assert "SQLite" in capsys.readouterr().err


def test_bars() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([0, 1, 7]) == "▁▂█"
    assert sparkline([1] * 168) == "█" * 33 + "▆"


@pytest.mark.programs
def test_conversations_of_a_terminal_count(file: Path, tmp_path: Path) -> None:
    with ProviderServer(Searxng()) as upstream:
        home = {"HOME": str(tmp_path), "SEARXNG_URL": upstream.url, "QIUSUO_DEPTH": "snippets"}
        environment = {**os.environ, **home}

        def qiusuo(*arguments: str) -> str:
            command = [sys.executable, "-m", "qiusuo", *arguments]
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603

        qiusuo("chat", "--search", "What is tea?")
        qiusuo("chat", "--search", "--no-save", "What is coffee?")
        total = json.loads(qiusuo("usage", "--json", "--user", "local"))["total"]
        assert (total["searches"], total["answers"]) == (1, 1)
        told = qiusuo("usage")
        assert "Excerpts (no model)" in told
        assert "extractive" not in told
    assert file.exists()
