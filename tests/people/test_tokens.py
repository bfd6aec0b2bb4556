"""Tokens of the database: made, changed and ended while servers run, beside those of the settings."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.database import people as commands
from qiusuo.cli.exits import Exit
from qiusuo.people.people import People
from qiusuo.people.schema import PeopleTables
from qiusuo.people.store import PeopleStore
from tests.support.people_world import AMY, EVE, PeopleServer, people_server


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "chat.db"
    monkeypatch.setenv("QIUSUO_DATABASE_URL", f"sqlite:///{path}")
    monkeypatch.setenv("QIUSUO_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")
    return path


def added(it: PeopleServer, name: str = "bob", **limits: Any) -> str:
    answer = it.post("/api/people", EVE, name=name, **limits)
    assert answer.status_code == 201, answer.text
    secret: str = answer.json()["secret"]
    return secret


def statuses(it: PeopleServer, token: str | None) -> set[int]:
    """Ask at every door with a token."""
    chat = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "hello there, who are you"}]}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return {
        it.search("tea", token).status_code,
        it.get("/api/engines", token).status_code,
        it.get("/search", token, q="tea", format="json").status_code,
        it.post("/tavily/search", None, query="tea", api_key=token or "").status_code,
        it.post("/tavily/search", token, query="tea").status_code,
        it.get("/v1/models", token).status_code,
        it.post("/v1/chat/completions", token, **chat).status_code,
        it.post("/mcp", token, jsonrpc="2.0", id=1, method="initialize", params=about).status_code,
        it.get("/api/chat/sessions", token).status_code,
    }


def test_a_token_opens_every_door_until_it_is_revoked(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("qiusuo.web.entrance.door.LATE_SECONDS", 0.01)  # how slow guesses are is test_wrong_tokens.py's
    with people_server(file) as it:
        token = added(it)
        assert len(token) >= 32 + len("qs-")
        assert statuses(it, token) == {200}
        assert statuses(it, AMY) == {200}
        wrong = token[:-1] + ("A" if token.endswith("_") else "_")
        assert statuses(it, None) == statuses(it, wrong) == statuses(it, token.upper()) == {401}
        # Who has it is no operator, and owns what they ask.
        assert it.get("/api/people", token).status_code == it.get("/api/settings", token).status_code == 403
        assert "qiusuo tokens change bob --role operator" in it.get("/api/settings", token).json()["fix"]
        assert "QIUSUO_TOKENS, and restart" in it.get("/api/settings", AMY).json()["fix"]
        assert "qiusuo tokens add NAME" in it.search("tea", None).json()["fix"]
        told = it.get("/api/people").json()
        [bob] = told["people"]
        assert (bob["name"], bob["role"], bob["ended"]) == ("bob", "user", False)
        assert bob["token"] == token[:11] + "-…"
        assert told["inSettings"] == ["amy", "eve"]
        # Nothing of it stands anywhere but in that one answer.
        secret = token[12:]
        assert secret not in json.dumps(told) + it.get("/api/audit").text + it.get("/metrics").text + caplog.text
        with closing(sqlite3.connect(file)) as database:
            assert secret not in "\n".join(database.iterdump())
        assert it.call("DELETE", "/api/people/bob", EVE).status_code == 204
        assert statuses(it, token) == {401}
        lines = it.get("/api/audit").json()["lines"]
        assert [(line["code"], line["who"]) for line in lines] == [
            ("audit.token_revoked", "eve"),
            ("audit.token_added", "eve"),
        ]


def test_another_token_in_its_place(file: Path) -> None:
    with people_server(file) as it:
        old = added(it, role="operator", days=30)
        answer = it.post("/api/people/bob/rotate", EVE)
        new = answer.json()["secret"]
        assert statuses(it, old) == {401}
        assert it.get("/api/settings", new).status_code == 200
        assert answer.json()["person"]["role"] == "operator"
        # What is set is changed one by one; null takes it away.
        changed = it.call("PATCH", "/api/people/bob", EVE, {"role": "user", "searches": 5}).json()["person"]
        assert (changed["role"], changed["searches"], changed["endsAt"] is None) == ("user", 5, False)
        assert it.get("/api/settings", new).status_code == 403
        changed = it.call("PATCH", "/api/people/bob", EVE, {"days": None, "searches": None}).json()["person"]
        assert (changed["searches"], changed["endsAt"]) == (None, None)
        lines = it.get("/api/audit").json()["lines"]
        assert lines[0]["values"] == {"name": "bob", "names": ["endsAt", "searches"]}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "a b"}, "people.bad_name"),
        ({"name": "a:b"}, "people.bad_name"),
        ({"name": "x" * 61}, "people.bad_name"),
        ({"name": "local"}, "people.local_name"),
        ({"name": "127.0.0.1"}, "people.local_name"),
        ({"name": "amy"}, "people.name_in_settings"),
        ({"name": "bob"}, "people.name_taken"),
        ({"name": "c", "role": "king"}, "people.bad_role"),
        ({"name": "c", "searches": 0}, "people.bad_number"),
        ({"name": "c", "days": -1}, "people.bad_number"),
        ({"name": "c", "engines": ["nowhere"]}, "people.unknown_engine"),
        ({"name": "c", "models": ["gpt-9"]}, "people.unknown_model"),
    ],
)
def test_what_cannot_be_set(file: Path, body: dict[str, Any], code: str, people: PeopleServer) -> None:
    del file
    answer = people.post("/api/people", EVE, **body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with people_server(tmp_path_factory.mktemp("people") / "chat.db") as it:
        added(it)
        yield it


def test_only_our_own_page_and_programs_change_people(people: PeopleServer) -> None:
    headers = {"Authorization": f"Bearer {EVE}", "Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    client = people.server.client
    assert client.post("/api/people", json={"name": "c"}, headers=headers).status_code == 403
    form = {"Authorization": f"Bearer {EVE}", "Content-Type": "text/plain"}
    assert client.post("/api/people", content='{"name": "c"}', headers=form).status_code == 415
    assert people.post("/api/people/nobody/rotate", EVE).json()["code"] == "people.nobody"


class TestWithoutTokensInTheSettings:
    """A server that is open to this machine until somebody has a token."""

    def test_the_first_one_closes_it(self, file: Path) -> None:
        with people_server(file, tokens=None) as it:
            assert it.search("tea", None).status_code == 200
            refused = it.post("/api/people", None, name="bob")
            assert refused.json()["code"] == "people.first_is_operator"
            first = it.post("/api/people", None, name="ann", role="operator").json()["secret"]
            assert statuses(it, None) == {401}
            assert it.get("/api/settings", None).status_code == 401
            assert statuses(it, first) == {200}
            # The page comes without a token, to ask for it; nobody is told more.
            assert it.get("/", None).status_code == it.get("/livez", None).status_code == 200
            bob = it.post("/api/people", first, name="bob").json()["secret"]
            assert it.call("DELETE", "/api/people/ann", first).json()["code"] == "people.last_operator"
            assert it.call("PATCH", "/api/people/ann", first, {"role": "user"}).json()["code"] == "people.last_operator"
            assert it.call("DELETE", "/api/people/bob", first).status_code == 204
            assert statuses(it, bob) == {401}
            # Without anybody it is as it was.
            assert it.call("DELETE", "/api/people/ann", first).status_code == 204
            assert it.search("tea", None).status_code == 200

    def test_beyond_this_machine_it_stays_closed(self, file: Path) -> None:
        with people_server(file, tokens=None, host="0.0.0.0") as it:  # noqa: S104 - the test listens on loopback
            assert statuses(it, None) == {401}

    def test_a_session_of_mcp_is_its_tokens(self, file: Path) -> None:
        with people_server(file, tokens=None) as it:
            ann = it.post("/api/people", None, name="ann", role="operator").json()["secret"]
            bob = it.post("/api/people", ann, name="bob").json()["secret"]
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            opened = it.post("/mcp", ann, jsonrpc="2.0", id=1, method="initialize", params=about)
            body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            answers = [
                it.server.client.post(
                    "/mcp",
                    json=body,
                    headers={
                        "Authorization": f"Bearer {token}",
                        "Accept": "application/json, text/event-stream",
                        "Mcp-Session-Id": opened.headers["mcp-session-id"],
                    },
                ).status_code
                for token in (ann, bob)
            ]
            assert answers == [200, 404]


class TestWithoutADatabase:
    def test_nobody_is_called_wrong(self, file: Path) -> None:
        now = [0.0]
        with people_server(file, timer=lambda: now[0]) as it:
            token = added(it)
            assert it.search("tea", token).status_code == 200
            file.rename(file.with_suffix(".away"))
            now[0] += 4  # so long what is known may be believed
            assert it.search("tea", token).status_code == 200
            now[0] += 2
            answer = it.search("tea", token)
            assert (answer.status_code, answer.json()["code"]) == (503, "people.unknown")
            assert int(answer.headers["retry-after"]) >= 1
            assert it.search("tea", "qs-aaaaaaaa-" + "x" * 40).status_code == 503
            # Tokens of the settings need no database: metrics are wanted just then.
            assert it.search("tea", EVE).status_code == 200
            assert [it.get("/metrics", each).status_code for each in (EVE, token)] == [200, 503]

    def test_who_sits_here_may_search_but_not_run_it(self, file: Path) -> None:
        file.write_bytes(b"this is no database" * 1000)
        with people_server(file, tokens=None) as it:
            assert it.search("tea", None).status_code == 200
            assert it.get("/api/settings", None).status_code == 403
            brought = it.server.client.post(
                "/api/search", json={"query": "tea"}, headers={"X-Forwarded-For": "192.0.2.1"}
            )
            assert brought.status_code == 503


class TestCommands:
    def test_from_beginning_to_end(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        limits = {"role": "operator", "days": "30", "perMinute": "5", "searches": "100", "engines": "brave,searxng"}
        assert commands.run_add("小明", limits, as_json=False) == Exit.OK
        out, err = capsys.readouterr()
        token = out.strip()
        assert "shown only now" in err
        assert "From now on nobody uses the server without a token" in err
        with people_server(file) as it:
            assert it.get("/api/settings", token).status_code == 200
            assert {one["name"] for one in it.get("/api/engines", token).json()["engines"]} == {"brave", "searxng"}
        assert commands.run_list(as_json=False) == Exit.OK
        told = capsys.readouterr().out
        for words in ("小明", token[:11], "operator", "/ 100", "brave, searxng"):
            assert words in told
        assert token[12:] not in told
        assert commands.run_change("小明", {"searches": "none", "role": "user"}) == Exit.OK
        assert commands.run_rotate("小明", as_json=True) == Exit.OK
        assert json.loads(capsys.readouterr().out.partition("\n")[2])["token"] != token
        assert commands.run_list(as_json=True) == Exit.OK
        [row] = json.loads(capsys.readouterr().out)
        assert (row["role"], row["searches"], row["perMinute"]) == ("user", None, 5)
        assert commands.run_revoke("小明") == Exit.OK
        assert "within 5 seconds" in capsys.readouterr().out
        assert commands.run_audit(since=None, as_json=True) == Exit.OK
        lines = json.loads(capsys.readouterr().out)
        codes = [line["code"].removeprefix("audit.token_") for line in lines]
        assert codes == ["revoked", "rotated", "changed", "added"]
        assert {line["who"] for line in lines} == {"terminal"}

    def test_the_list_fits_a_small_terminal(
        self, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert file.parent.exists()
        monkeypatch.setenv("COLUMNS", "80")
        assert commands.run_add("ada", {"role": "operator"}, as_json=False) == Exit.OK
        assert commands.run_add("ben", {"searches": "2000"}, as_json=False) == Exit.OK
        capsys.readouterr()
        assert commands.run_list(as_json=False) == Exit.OK
        head, _, *rows = capsys.readouterr().out.splitlines()
        # What nobody has is left out, and everybody has one line.
        assert [name.strip() for name in head.split("┃")] == ["Name", "Token", "Role", "Searches (month)"]
        assert [row.split()[0] for row in rows] == ["ada", "ben"]
        assert rows[1].rstrip().endswith("0 / 2,000")

    def test_the_options_are_read(self, file: Path) -> None:
        from typer.testing import CliRunner

        from qiusuo.cli.app import app

        def run(*words: str) -> tuple[int, str]:
            done = CliRunner().invoke(app, words)
            return done.exit_code, done.stdout

        assert run("tokens", "list", "--json") == (0, "[]\n")
        assert run("audit", "--json") == (0, "[]\n")
        assert not file.exists(), "to look creates nothing"
        limits = ("--days", "9", "--per-minute", "3", "--searches", "7", "--model-tokens", "11", "--models", "first")
        code, told = run("tokens", "add", "bob", *limits, "--engines", "brave,native", "--json")
        assert (code, json.loads(told)["name"]) == (0, "bob")
        [row] = json.loads(run("tokens", "list", "--json")[1])
        found = (row["perMinute"], row["searches"], row["modelTokens"], row["engines"], row["models"])
        assert found == (3, 7, 11, ["brave", "native"], ["first"])
        assert run("tokens", "change", "bob", "--models", "none", "--role", "operator")[0] == 0
        assert run("tokens", "rotate", "bob", "--json")[0] == run("tokens", "revoke", "bob")[0] == 0
        assert len(json.loads(run("audit", "--json")[1])) == 4
        assert run("audit", "--since", "yesterday")[0] == run("tokens", "revoke", "bob")[0] == 2

    def test_what_is_wrong_is_told(
        self, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert commands.run_revoke("bob") == Exit.USAGE
        assert "nobody of the name bob" in capsys.readouterr().err
        assert commands.run_add("bob", {"searches": "many"}, as_json=False) == Exit.USAGE
        assert "searches must be a whole number" in capsys.readouterr().err
        assert commands.run_change("bob", {}) == Exit.USAGE
        monkeypatch.setenv("QIUSUO_LANG", "zh")
        assert commands.run_add("a b", {}, as_json=False) == Exit.USAGE
        assert "名字不能用" in capsys.readouterr().err
        file.write_bytes(b"this is no database" * 1000)
        assert commands.run_list(as_json=False) == Exit.ALL_FAILED

    def test_beyond_this_machine_a_token_must_be_there(self, file: Path) -> None:
        from qiusuo.cli.serving.command import listen
        from qiusuo.config import Settings
        from qiusuo.errors import ConfigurationError

        fixes: list[str] = []

        def tried() -> str:
            try:
                listen(Settings.load(host="0.0.0.0", port=0)).close()  # noqa: S104 - closed at once
            except ConfigurationError as error:
                fixes.append(error.fix)
                return error.fact.code
            return ""

        assert tried() == "cli.open_to_all"
        assert "qiusuo tokens add NAME" in fixes[0]
        assert not os.path.exists(file)  # noqa: PTH110 - to look creates nothing
        assert commands.run_add("bob", {}, as_json=False) == Exit.OK
        assert tried() == ""
        file.write_bytes(b"this is no database" * 1000)
        assert tried() == "cli.people_unknown"


async def test_a_database_that_is_away_is_one_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("qiusuo.people.people.WRITE_SECONDS", 0.01)
    store = open_store("postgresql://qiusuo@127.0.0.1:1/qiusuo")
    people = People(PeopleStore(PeopleTables(store.database)))
    people.start()
    try:
        end = time.monotonic() + 10
        while not caplog.records and time.monotonic() < end:  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
    finally:
        await store.database.aclose()
    [line] = [record for record in caplog.records if record.name == "qiusuo.people.people"]
    assert (line.levelname, line.exc_info) == ("WARNING", None)
    assert "does not answer" in line.getMessage()
