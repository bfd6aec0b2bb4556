"""An engine that needs no key is not asked by the doctor, who names the search that tells whether it can be reached."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.cli.exits import Exit

RUNNER = CliRunner()


def test_the_search_that_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "ddgs")
    said = RUNNER.invoke(app, ["doctor"]).output
    assert said.rstrip().endswith("Nothing wrong was found; not tried: DuckDuckGo (ddgs)."), "nor is it said to work"
    command = next(line for line in said.splitlines() if "qiusuo search --engine" in line).strip().removeprefix("$ ")
    told = RUNNER.invoke(app, shlex.split(command)[1:])
    assert told.exit_code == Exit.ALL_FAILED  # nothing outside can be reached here
    assert "duckduckgo.com" in told.output
