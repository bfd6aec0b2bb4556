"""Packs of laws over HTTP: installed, removed, refused, and what is told of a failure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from qiusuo.cli.app import app
from tests.support.settings_world import SettingsServer, settings_server

KITE = "# 风筝条例\n\n<!-- INFO END -->\n\n第一条 风筝应当有线。\n\n第二条 本条例自2012年1月1日起施行。\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SettingsServer]:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    with settings_server() as it:
        yield it


def pack(server: SettingsServer, name: str, language: str = "en") -> dict[str, Any]:
    packs = server.client.get(f"/api/legal/packs?lang={language}").json()["packs"]
    found: dict[str, Any] = next(each for each in packs if each["name"] == name)
    return found


def settled(server: SettingsServer, name: str) -> dict[str, Any]:
    """Wait until nothing is being done with a pack."""
    deadline = time.monotonic() + 30
    while (found := pack(server, name))["state"] in {"installing", "removing"}:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_a_pack_that_is_installed_is_removed(server: SettingsServer, tmp_path: Path) -> None:
    assert pack(server, "just-laws")["state"] == "absent"
    assert server.client.get("/api/legal/packs").json()["index"] is None
    assert server.client.delete("/api/legal/packs/just-laws").json()["code"] == "legal_packs.not_installed"
    laws = tmp_path / "laws" / "docs"
    laws.mkdir(parents=True)
    (laws / "风筝条例(2011-09-01).md").write_text(KITE, "utf-8")
    order = ["legal", "install", "--pack", "just-laws", "--from", str(laws.parent), "--yes"]
    done = CliRunner().invoke(app, order)
    assert done.exit_code == 0, done.output
    assert pack(server, "just-laws")["installed"]["revision"]
    held = server.client.get("/api/legal/packs").json()["index"]
    assert held == {"laws": 1, "articles": 2, "statutes": False}
    answer = server.client.delete("/api/legal/packs/just-laws")
    assert answer.status_code == 200
    assert settled(server, "just-laws")["state"] == "absent"
    assert server.client.get("/api/legal/stats").json().get("laws", 0) == 0


def test_a_pack_that_cannot_be_had_is_told(server: SettingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # no git; and tests reach no other machine
    assert server.client.post("/api/legal/packs/just-laws").status_code == 200
    failed = settled(server, "just-laws")
    assert failed["state"] == "failed"
    assert failed["words"]
    assert pack(server, "just-laws", "zh")["words"] != failed["words"]
    assert server.client.post("/api/legal/packs/just-laws").status_code == 200, "it may be tried again"
    settled(server, "just-laws")


def test_there_is_no_other_pack(server: SettingsServer) -> None:
    assert server.client.post("/api/legal/packs/nobody").json()["code"] == "legal_packs.unknown"
