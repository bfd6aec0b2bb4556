"""What is kept about one person: given to them, deleted, and kept for a time of their own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select

from qiusuo.chat.portable.conversation import from_portable
from qiusuo.chat.sessions.session import Progress
from qiusuo.chat.stores.database.parts import all_tables, owned_by
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.cli.database.owners import run_export, run_forget, run_retention
from qiusuo.cli.database.people import run_add, run_audit
from qiusuo.people.audit import Noted
from qiusuo.people.audit_store import SqlAuditStore
from qiusuo.people.budgets import month_of
from qiusuo.people.schema import PeopleTables, members, used
from qiusuo.people.sign_ins import people as sign_in_people
from qiusuo.people.sign_ins import sign_ins
from qiusuo.usage.recorder import Batch, Key
from qiusuo.usage.schema import SUMS
from qiusuo.usage.store import UsageStore
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.people import people_extension
from qiusuo.words import Fact
from tests.support.chat_page import page
from tests.support.kept_data import HOUR, fill, with_store
from tests.support.postgres_process import PROGRAMS
from tests.support.scripted_model import Gate, Reply
from tests.support.stores import START, turn, url
from tests.support.web_server import WebServer

__all__ = ["url"]  # a fixture

MARKER = "zanzibar"
OWNER = f"ada-{MARKER}"


async def plant(store: SqlSessionStore, owner: str = OWNER, words: str = MARKER) -> None:
    """Put words of somebody into every table that can have them."""
    await fill(store, owner, words)
    await store.retention.put(owner, 30)
    info = await store.create(owner, title=words)
    record = turn(f"{words}?")
    await store.begin_turn(owner, info.id, record)
    await store.keep([Progress(info.id, record, 1, 0, f"{words} grows")])
    who = {"issuer": "https://login.example", "subject": f"id of {words}", "name": owner}
    rows = (
        (members, {"name": owner, "mark": words, "digest": words, "role": "user", "made_at": 1}),
        (used, {"month": 202401, "name": owner, "searches": 1, "tokens": 1}),
        (sign_in_people, {**who, "since": 1}),
        (sign_ins, {**who, "id": words, "email": words, "groups": "", "began": 1, "seen": 1, "id_token": words}),
    )

    def work(connection: Connection) -> None:
        for table, row in rows:
            connection.execute(insert(table).values(row))

    await store.database.run(work, write=True)


async def rows_of(store: SqlSessionStore, owner: str) -> dict[str, int]:
    def work(connection: Connection) -> dict[str, int]:
        found = {}
        for table in all_tables():
            condition = owned_by(table, owner)
            if condition is not None and not table.info.get("outlives"):
                found[table.name] = connection.scalar(select(func.count()).select_from(table).where(condition)) or 0
        return found

    return await store.database.run(work)


def dump(url: str) -> bytes:
    """Return all bytes of a database: its files, or what pg_dump says."""
    if url.startswith("sqlite"):
        file = Path(url.removeprefix("sqlite:///"))
        return b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*") if path.is_file())
    environment = {**os.environ, "PGCLIENTENCODING": "UTF8"}
    done = subprocess.run(  # noqa: S603 - ours
        [f"{PROGRAMS}/pg_dump", "--inserts", f"--dbname={url}"], env=environment, check=True, capture_output=True
    )
    return done.stdout


@pytest.fixture(autouse=True)
def settings(url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QIUSUO_DATABASE_URL", url)
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


class TestForget:
    def test_nothing_of_them_is_left_anywhere(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("QIUSUO_AUDIT_DAYS", "0")
        with_store(url, plant, clock=lambda: START)
        with_store(url, lambda store: plant(store, "bob", "coffee"), clock=lambda: START)
        before = with_store(url, lambda store: rows_of(store, OWNER))
        # A table that is new here has to be filled above, so that the rest of this test looks for it.
        assert [name for name, count in before.items() if not count] == []
        others = with_store(url, lambda store: rows_of(store, "bob"))
        assert MARKER.encode() in dump(url)
        assert run_forget(OWNER, yes=True, as_json=False) == 0
        said = capsys.readouterr().out
        for name, count in before.items():
            if name != "qiusuo_usage":
                assert f"{name}: {count} rows" in said
        assert "usage: 2 rows" in said
        assert "Nothing is left" in said
        assert f"The token of {OWNER} in the database has ended" in said
        assert MARKER.encode() not in dump(url)
        assert with_store(url, lambda store: rows_of(store, "bob")) == others
        # The board still has all searches.
        totals = with_store(url, lambda store: rows_of(store, ":others"))
        assert totals["qiusuo_usage"] == 2
        assert run_forget(OWNER, yes=True, as_json=False) == 1

    @pytest.mark.usefixtures("url")
    def test_what_stays_in_the_audit_log_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_add(OWNER, {}, as_json=False) == 0
        capsys.readouterr()
        assert run_forget(OWNER, yes=True, as_json=False) == 0
        said = capsys.readouterr().out
        # That there was a token, and that this was done.
        assert "audit log still has 2 lines with the name, each for QIUSUO_AUDIT_DAYS (365 days)" in said
        assert "Nothing else is left in the database." in said
        assert run_forget(OWNER, yes=True, as_json=False) == 1
        said = capsys.readouterr().out
        assert "nothing to delete" in said
        assert "2 lines" in said
        assert run_audit(since=None, as_json=True) == 0
        line = json.loads(capsys.readouterr().out)[0]
        assert (line["who"], line["code"], line["values"]) == ("terminal", "audit.forgotten", {"name": OWNER})

    def test_it_is_not_done_unasked(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        with_store(url, lambda store: store.create(OWNER))
        assert run_forget(OWNER, yes=False, as_json=False) == 2
        assert "--yes" in capsys.readouterr().err
        assert len(with_store(url, lambda store: store.list(OWNER))) == 1

    async def test_what_servers_have_counted_meanwhile_has_no_name_either(
        self, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("qiusuo.usage.keeping.WRITE_SECONDS", 0.2)
        store = open_store(url)
        try:
            await store.create(OWNER)
            await store.start()
            forgetting = asyncio.create_task(asyncio.to_thread(run_forget, OWNER, yes=True, as_json=False))
            while await store.list(OWNER):  # noqa: ASYNC110 - another thread ends it
                await asyncio.sleep(0)
            # Asked before, and written down a little later, as servers do.
            late = Batch(1, {Key(HOUR, "search", "brave", "ok", OWNER): [1] * len(SUMS)})
            await UsageStore(store.database).add(late)
            assert await forgetting == 0
            assert not any((await rows_of(store, OWNER)).values())
        finally:
            await store.aclose()
        said = capsys.readouterr().out
        assert "Servers run" in said
        assert "usage: 1 rows" in said

    def test_the_questions_typed_on_this_machine_go_with_its_owner(self, url: str, tmp_path: Path) -> None:
        typed = tmp_path / "data" / "qiusuo" / "chat_history"
        typed.parent.mkdir(parents=True)
        for owner, left in ((OWNER, True), ("local", False)):
            typed.write_text("zanzibar?")
            with_store(url, lambda store, owner=owner: store.create(owner))  # type: ignore[misc]
            assert run_forget(owner, yes=True, as_json=True) == 0
            assert typed.exists() == left

    def test_as_json(self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        with_store(url, lambda store: store.create(OWNER))
        assert run_forget(OWNER, yes=True, as_json=True) == 0
        told = json.loads(capsys.readouterr().out)
        deleted = {"owner": OWNER, "deleted": {"qiusuo_sessions": 1}, "usageRows": 0}
        assert told == {**deleted, "stays": {"qiusuo_audit": 1}, "noTrace": False}
        monkeypatch.setenv("QIUSUO_AUDIT_DAYS", "0")
        with_store(url, lambda store: store.create("bob"))
        assert run_forget("bob", yes=True, as_json=True) == 0
        told = json.loads(capsys.readouterr().out)
        assert told == {**deleted, "owner": "bob", "stays": {}, "noTrace": True}


def opened(data: bytes | Path) -> dict[str, Any]:
    with zipfile.ZipFile(BytesIO(data) if isinstance(data, bytes) else data) as archive:
        assert archive.testzip() is None
        return {
            name: json.loads(archive.read(name)) if name.endswith(".json") else archive.read(name).decode()
            for name in archive.namelist()
        }


class TestExport:
    def test_everything_is_in_it_and_nothing_of_others(self, url: str, tmp_path: Path) -> None:
        with_store(url, plant, clock=lambda: START)
        with_store(url, lambda store: plant(store, "bob", "coffee"), clock=lambda: START)
        target = tmp_path / "ada.zip"
        assert run_export(OWNER, target, force=False) == 0
        assert target.stat().st_mode & 0o777 == 0o600
        found = opened(target)
        text = json.dumps(found, ensure_ascii=False)
        assert "coffee" not in text
        assert "bob" not in text
        assert found["about.json"]["counts"]["conversations"] == 3
        folder = next(name for name in found if name.endswith("About zanzibar/conversation.json")).rpartition("/")[0]
        # In the shape that can be brought to another server.
        brought = from_portable(json.dumps(found[f"{folder}/conversation.json"]).encode())
        assert [turn.question for turn in brought.turns] == ["What is zanzibar?", "And zanzibar 茶?"]
        assert "zanzibar is a plant." in found[f"{folder}/conversation.md"]
        assert found[f"{folder}/files/01-zanzibar txt.txt"] == "notes about zanzibar"
        assert found["records/feedback.json"][0]["text"] == "zanzibar too short"
        assert found["records/shares.json"][0]["title"] == "About zanzibar"
        assert "digest" not in found["records/shares.json"][0]
        assert sum(row["n"] for row in found["records/usage.json"]) == 2
        assert found["records/retention.json"] == [{"owner": OWNER, "days": 30}]
        assert run_export(OWNER, target, force=False) == 2
        assert run_export("nobody", tmp_path / "nobody.zip", force=False) == 1
        assert not (tmp_path / "nobody.zip").exists()

    def test_it_has_the_audit_lines_by_and_about_them(self, url: str, tmp_path: Path) -> None:
        async def note(store: SqlSessionStore) -> None:
            log = SqlAuditStore(PeopleTables(store.database))
            added, ended = Fact("audit.token_added", name=OWNER, role="user"), Fact("audit.share_ended", share="s1")
            others = Fact("audit.token_revoked", name="bob")
            doers = (("eve", "203.0.113.7", added), (OWNER, "203.0.113.8", ended), ("eve", "203.0.113.7", others))
            await log.add([Noted(1, who, address, fact) for who, address, fact in doers])

        with_store(url, note)
        assert run_export(OWNER, tmp_path / "ada.zip", force=False) == 0
        rows = opened(tmp_path / "ada.zip")["records/audit.json"]
        # From where others have done it is theirs.
        assert [(row["who"], row["address"], row["code"]) for row in rows] == [
            ("eve", "", "audit.token_added"),
            (OWNER, "203.0.113.8", "audit.share_ended"),
        ]


class TestRetention:
    def test_the_shorter_time_wins(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        for owner in ("ada", "bob", "eve"):
            with_store(url, lambda store, owner=owner: store.create(owner), clock=lambda: START)  # type: ignore[misc]
        assert run_retention("ada", days=5, off=False) == 0
        assert run_retention("bob", days=50, off=False) == 0
        assert "ada: 5 days\nbob: 50 days" in capsys.readouterr().out

        def left(days: float, limit: float | None) -> list[str]:
            async def look(store: SqlSessionStore) -> list[str]:
                await store.delete_untouched(limit)
                return [owner for owner in ("ada", "bob", "eve") if await store.list(owner)]

            return with_store(url, look, clock=lambda: START + days * 86_400)

        assert left(4, None) == ["ada", "bob", "eve"]
        assert left(6, None) == ["bob", "eve"]
        assert left(11, 20 * 86_400) == ["bob", "eve"]
        # Of bob's 50 days and the 20 of all, the shorter.
        assert left(21, 20 * 86_400) == []
        assert run_retention("ada", days=None, off=True) == 0
        assert run_retention(None, days=None, off=False) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "bob: 50 days"

    def test_half_of_it_is_refused(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        with_store(url, lambda store: store.create("ada"))
        assert run_retention("ada", days=None, off=False) == 2
        assert run_retention(None, days=3, off=False) == 2
        assert "--owner" in capsys.readouterr().err


ADA, BOB = "a" * 24, "b" * 24


class TestOverHttp:
    def test_one_s_own_and_nobody_else_s(self, url: str) -> None:
        gate = Gate()
        script = (Reply.text("zanzibar is far."), Reply.text("coffee is dark."), Reply.text("zanz", gate, "ibar"))
        with page(*script, store=url, tokens=f"ada:{ADA},bob:{BOB}") as it:

            def be(token: str) -> None:
                it.client.headers["Authorization"] = f"Bearer {token}"

            be(ADA)
            it.ask(it.new(), "Where is zanzibar?")
            be(BOB)
            it.ask(it.new(), "What is coffee?")
            be(ADA)
            got = it.client.get("/api/chat/export")
            assert got.headers["content-type"] == "application/zip"
            assert "attachment" in got.headers["content-disposition"]
            text = json.dumps(opened(got.content))
            assert "zanzibar is far." in text
            assert "coffee" not in text
            assert it.client.post("/api/chat/forget").status_code == 400
            with it.asking(it.new(), "And zanzibar now?") as events:
                next(events)
                told = it.client.post("/api/chat/forget", json={"confirm": True})
                assert told.status_code == 200, told.text
                assert told.json()["deleted"]["qiusuo_sessions"] == 2
                gate.open()
                assert list(events)[-1]["type"] == "done"
            assert it.client.get("/api/chat/sessions").json()["total"] == 0
            be(BOB)
            assert it.client.get("/api/chat/sessions").json()["total"] == 1
        assert b"zanzibar" not in dump(url)
        assert b"coffee" in dump(url)

    def test_what_the_operator_has_set_is_not_theirs_to_delete(self, url: str) -> None:
        with_store(url, lambda store: plant(store, words="tea"))
        this_month = month_of(time.time())

        async def spend(store: SqlSessionStore) -> None:
            row = {"month": this_month, "name": OWNER, "searches": 4, "tokens": 0}
            await store.database.run(lambda to: to.execute(insert(used).values(row)), write=True)

        with_store(url, spend)
        own = (chat_extension(None, open_store(url)), people_extension())
        with WebServer.over("brave", extensions=own, tokens=f"{OWNER}:{ADA},eve:{BOB}:operator") as server:
            headers = {"Authorization": f"Bearer {ADA}"}
            told = server.client.post("/api/chat/forget", json={"confirm": True}, headers=headers)
            assert told.status_code == 200, told.text
            stays = {"qiusuo_people_tokens": 1, "qiusuo_people_used": 1, "qiusuo_retention": 1}
            # Under the name of their sign-in something is set, so they keep it.
            assert told.json()["stays"] == {**stays, "qiusuo_sign_in_people": 1, "qiusuo_audit": 1}
            assert told.json()["noTrace"] is False
            gone = {"qiusuo_sessions", "qiusuo_files", "qiusuo_feedback", "qiusuo_shares", "qiusuo_sign_ins"}
            assert gone <= set(told.json()["deleted"])
            [line] = server.client.get("/api/audit", headers={"Authorization": f"Bearer {BOB}"}).json()["lines"]
            assert (line["who"], line["code"]) == (OWNER, "audit.forgotten")
        left = with_store(url, lambda store: rows_of(store, OWNER))
        assert {name: count for name, count in left.items() if count} == {**stays, "qiusuo_sign_in_people": 1}
