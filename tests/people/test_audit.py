"""The audit log: what people do is noted with who and from where, without secrets, and told to operators alone."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qiusuo.cli.database.people import run_audit
from tests.support.people_world import EVE, PLANTED, PeopleServer, people_server


def lines(it: PeopleServer, **params: Any) -> list[dict[str, Any]]:
    answer = it.get("/api/audit", EVE, **params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["lines"]
    return found


def test_what_people_do_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qiusuo.toml").write_text("")
    monkeypatch.setenv("QIUSUO_CONFIG", str(tmp_path / "qiusuo.toml"))
    with people_server(tmp_path / "chat.db", sharing=True) as it:
        session = it.post("/api/chat/sessions", it.amy).json()["id"]
        it.post(f"/api/chat/sessions/{session}/turns", it.amy, text="what is tea")
        share = it.post(f"/api/chat/sessions/{session}/shares", it.amy).json()
        assert it.call("DELETE", f"/api/chat/shares/{share['id']}", it.amy).status_code == 204
        assert it.call("DELETE", f"/api/chat/sessions/{session}", it.amy).status_code == 204
        change = {"set": {"engines.brave.api_key": PLANTED, "max_results": 7}}
        answer = it.call("PATCH", "/api/settings", EVE, change)
        assert answer.status_code == 200, answer.text
        told = lines(it)
        assert [(line["code"], line["who"], line["address"]) for line in told] == [
            ("audit.settings_changed", "eve", "127.0.0.1"),
            ("audit.conversation_deleted", "amy", "127.0.0.1"),
            ("audit.share_ended", "amy", "127.0.0.1"),
            ("audit.share_begun", "amy", "127.0.0.1"),
        ]
        assert set(told[0]["values"]["names"]) == {"engines.brave.api_key", "max_results"}
        assert told[1]["values"] == {"session": session}
        # Neither a key nor the secret of a link.
        assert PLANTED not in json.dumps(told)
        assert share["path"].rpartition("/")[2] not in json.dumps(told)
        assert [line["code"] for line in lines(it, limit=1, before=told[1]["id"])] == ["audit.share_ended"]
        # Nobody else reads it, and nobody changes it.
        assert it.get("/api/audit", it.amy).status_code == 403
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert it.call(method, "/api/audit", EVE).status_code == 405


def test_none_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    with people_server(tmp_path / "chat.db", audit_days=0) as it:
        session = it.post("/api/chat/sessions", it.amy).json()["id"]
        assert it.call("DELETE", f"/api/chat/sessions/{session}", it.amy).status_code == 204
        assert lines(it) == []


def test_what_is_deleted_for_its_age_is_a_number(tmp_path: Path) -> None:
    file = tmp_path / "chat.db"
    with people_server(file) as it:
        for _ in range(2):
            it.post("/api/chat/sessions", it.amy)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE qiusuo_sessions SET updated_at = '2020-01-01T00:00:00+00:00'")
    with people_server(file, retention_days=1) as it:
        end = time.monotonic() + 10
        while not (told := lines(it)) and time.monotonic() < end:
            time.sleep(0.05)
        assert [(line["code"], line["who"], line["values"]) for line in told] == [
            ("audit.conversations_expired", "-", {"count": 2, "days": 1})
        ]


def test_the_command_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIUSUO_DATABASE_URL", f"sqlite:///{tmp_path / 'chat.db'}")
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("COLUMNS", "140")
    with people_server(tmp_path / "chat.db") as it:
        session = it.post("/api/chat/sessions", it.amy).json()["id"]
        it.call("DELETE", f"/api/chat/sessions/{session}", it.amy)
    assert run_audit(since=None, as_json=False) == 0
    told = capsys.readouterr().out
    assert "Deleted the conversation" in told
    assert "amy" in told
    assert run_audit(since=None, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)[0]["values"] == {"session": session}
    from datetime import datetime

    assert run_audit(since=datetime(2999, 1, 1), as_json=True) == 0  # noqa: DTZ001 - as typer gives it
    assert json.loads(capsys.readouterr().out) == []
