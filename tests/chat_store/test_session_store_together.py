"""Several servers and processes over one database of conversations."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qiusuo.chat.events.turn import SERVER_RESTART, TurnState
from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.stores import presence
from qiusuo.chat.stores.database.schema import metadata
from qiusuo.chat.stores.opening import open_store
from qiusuo.errors import ConfigurationError, SessionBusy, Unavailable
from tests.support.own_program import FORKED_CODE
from tests.support.stores import Place, place, rows, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


class TestTogether:
    async def test_of_fifty_claims_one_wins(self, place: Place) -> None:
        one, other = place.server(), place.server()
        session = (await one.create("ada")).id

        async def claim(number: int) -> bool:
            try:
                await (one, other)[number % 2].begin_turn("ada", session, turn())
            except SessionBusy:
                return False
            return True

        assert sum(await asyncio.gather(*map(claim, range(50)))) == 1
        assert len(await turns_of(one, "ada", session)) == 1

    async def test_of_fifty_heirs_one_wins(self, place: Place) -> None:
        one, other = place.server(), place.server()
        session = (await one.create("ada")).id
        await place.server().begin_turn("ada", session, turn())
        place.now += 15
        calls = [(one, other)[n % 2].begin_turn("ada", session, turn()) for n in range(50)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(outcome, Memory) for outcome in outcomes) == 1
        assert {type(outcome) for outcome in outcomes} == {Memory, SessionBusy}
        assert [r.state for r in await turns_of(one, "ada", session)] == [TurnState.FAILED, TurnState.RUNNING]

    async def test_many_conversations_at_once(self, place: Place) -> None:
        servers = place.server(), place.server()

        async def talk(number: int) -> None:
            store = servers[number % 2]
            session = (await store.create(f"user {number % 5}")).id
            for _ in range(3):
                await whole_turn(store, f"user {number % 5}", session)

        await asyncio.gather(*map(talk, range(40)))
        counts = [len(await servers[0].list(f"user {number}")) for number in range(5)]
        assert counts == [8] * 5

    async def test_servers_that_start_at_once_make_the_tables_once(self, place: Place) -> None:
        await asyncio.gather(*(place.server().create("ada") for _ in range(12)))
        assert len(await place.server().list("ada")) == 12

    async def test_who_stops_waiting_does_not_break_the_store(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        for _ in range(20):
            task = asyncio.ensure_future(store.change("ada", session, title="x"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert (await store.change("ada", session, title="y")).title == "y"

    async def test_a_beginning_that_was_cancelled_leaves_the_conversation_free(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        for steps in range(30):
            task = asyncio.ensure_future(store.begin_turn("ada", session, turn()))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                await store.end_turn("ada", session, (await turns_of(store, "ada", session))[-1], task.result())
                continue
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # What is under way comes to its end before the connections are closed.
            await store.aclose()
            assert (await store.get("ada", session)).running is None
        assert {one.state for one in await turns_of(store, "ada", session)} <= {TurnState.STOPPED, TurnState.FAILED}

    def test_several_event_loops_use_one_store(self, url: str) -> None:
        store = open_store(url)

        async def make() -> int:
            await store.create("ada")
            return len(await store.list("ada"))

        assert [asyncio.run(make()) for _ in range(3)] == [1, 2, 3]


WORKER = """
import asyncio, json, sys
from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.sessions.session import new_id
from qiusuo.chat.stores.opening import open_store
from qiusuo.errors import SearchError

async def main():
    url, owner, session, now = sys.argv[1:]
    store = open_store(url, clock=lambda: float(now))
    print("ready", flush=True)
    sys.stdin.readline()
    if session == "new":
        print(json.dumps({"made": (await store.create(owner)).id}), flush=True)
    else:
        try:
            await store.begin_turn(owner, session, TurnRecord(new_id(), "q"))
        except SearchError as error:
            print(json.dumps(error.to_dict()), flush=True)
        else:
            print(json.dumps({"claimed": True}), flush=True)
    sys.stdin.readline()
    await store.aclose()

asyncio.run(main())
"""


@contextmanager
def processes(count: int, *arguments: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Servers of their own that have loaded everything and wait for a line."""
    command = [*FORKED_CODE, WORKER, *arguments]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
        for _ in range(count)
    ]
    try:
        for process in started:
            assert line(process) == "ready"
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.programs
class TestProcesses:
    async def test_of_two_processes_one_wins(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        with processes(2, place.url, "ada", session, str(place.now)) as started:
            for process in started:
                go(process)
            answers = [json.loads(line(process)) for process in started]
        assert sorted(answer.get("error", "won") for answer in answers) == ["SessionBusy", "won"]
        assert len(await turns_of(store, "ada", session)) == 1

    async def test_processes_that_start_at_once_on_an_empty_database(self, place: Place) -> None:
        with processes(4, place.url, "ada", "new", str(place.now)) as started:
            for process in started:
                go(process)
            made = {json.loads(line(process))["made"] for process in started}
        assert {one.id for one in await place.server().list("ada")} == made
        assert len(made) == 4

    async def test_a_process_that_ends_leaves_the_log_of_a_server_alone(self, tmp_path: Path) -> None:
        """Once the server had opened and closed the file itself, its locks were gone, and its log was removed."""
        store = open_store(f"sqlite:///{tmp_path}/chat.db")
        await store.create("ada")
        await asyncio.to_thread(asyncio.run, store.list("ada"))  # another loop prepares the file once more
        log = tmp_path / "chat.db-wal"
        before = (await asyncio.to_thread(log.stat)).st_ino
        other = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
            "c.execute('SELECT * FROM sqlite_master').fetchall(); c.close()"
        )
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", other, f"{tmp_path}/chat.db"], check=True)
        assert (await asyncio.to_thread(log.stat)).st_ino == before
        await store.aclose()

    async def test_a_process_that_was_killed_loses_its_turn_at_once(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        await store.start()
        with claimed_by_a_process(place, session) as process:
            with pytest.raises(SessionBusy):
                await store.begin_turn("ada", session, turn())
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            await whole_turn(store, "ada", session)
        assert [r.state for r in await turns_of(store, "ada", session)] == [TurnState.FAILED, TurnState.DONE]

    async def test_one_of_another_machine_after_a_quarter_of_a_minute(
        self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        monkeypatch.setattr(presence, "_BOOT", tmp_path / "none")  # so the file of the other was made elsewhere
        await store.start()
        with claimed_by_a_process(place, session) as process:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            place.now += 14
            with pytest.raises(SessionBusy):
                await store.begin_turn("ada", session, turn())
            place.now += 1
            await whole_turn(store, "ada", session)
        assert [r.state for r in await turns_of(store, "ada", session)] == [TurnState.FAILED, TurnState.DONE]

    async def test_who_starts_after_a_process_was_killed_finds_the_conversation_free(self, place: Place) -> None:
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session) as process:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            fresh = place.server()
            await fresh.start()
            assert (await fresh.get("ada", session)).running is None
            assert [r.finish for r in await turns_of(fresh, "ada", session)] == [SERVER_RESTART]
            await whole_turn(fresh, "ada", session)

    async def test_who_could_not_free_it_at_the_start_does_so_later(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session) as process:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            fresh = place.server()
            with monkeypatch.context() as context:
                context.setattr(fresh.database, "run", _away)
                with pytest.raises(Unavailable):
                    await fresh.start()
            await whole_turn(fresh, "ada", session)
            assert [r.finish for r in await turns_of(fresh, "ada", session)] == [SERVER_RESTART, ""]

    async def test_who_starts_beside_a_living_process_leaves_its_claims_alone(self, place: Place) -> None:
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session) as process:
            for _ in range(3):
                fresh = place.server()
                await fresh.start()
                with pytest.raises(SessionBusy):
                    await fresh.begin_turn("ada", session, turn())
                await fresh.aclose()
            os.kill(process.pid, signal.SIGSTOP)  # alive as long as it is there, whatever it does
            fresh = place.server()
            await fresh.start()
            assert (await fresh.get("ada", session)).running is not None

    async def test_a_process_of_another_machine_is_judged_by_time_alone(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session) as process:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            # Its file is seen over a network share, whose locks do not reach from one machine to the other.
            monkeypatch.setattr("qiusuo.chat.stores.presence._boot", lambda: "another machine")
            fresh = place.server()
            await fresh.start()
            assert (await fresh.get("ada", session)).running is not None
            place.now += 15
            assert (await fresh.get("ada", session)).running is None

    async def test_where_every_lock_is_granted_nobody_is_taken_for_dead(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session):
            monkeypatch.setattr("qiusuo.chat.stores.presence._try_lock", lambda _: True)  # as some network shares do
            fresh = place.server()
            await fresh.start()
            assert (await fresh.get("ada", session)).running is not None

    async def test_an_orderly_end_leaves_nothing_behind(self, place: Place) -> None:
        store, other = place.server(), place.server()
        session = (await store.create("ada")).id
        await store.begin_turn("ada", session, turn())
        assert (await other.get("ada", session)).running is not None
        await store.aclose()
        assert (await other.get("ada", session)).running is None
        if place.file is not None:
            assert list(place.file.with_name("chat.db-servers").iterdir()) == []

    async def test_without_a_folder_for_files_there_is_still_time(
        self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("chat.db-servers", "data"):
            (tmp_path / name).write_text("a file where a folder should be")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        session = (await place.server().create("ada")).id
        with claimed_by_a_process(place, session):
            fresh = place.server()
            await fresh.start()
            assert (await fresh.get("ada", session)).running is not None
            place.now += 15
            await whole_turn(fresh, "ada", session)


async def _away(*_args: object, **_options: object) -> None:
    raise Unavailable("The database is away.")


@contextmanager
def claimed_by_a_process(place: Place, session: str) -> Iterator[subprocess.Popen[str]]:
    with processes(1, place.url, "ada", session, str(place.now)) as (process,):
        go(process)
        assert json.loads(line(process)) == {"claimed": True}
        yield process


# As version 1 made them.
VERSION_1 = (
    "CREATE TABLE qiusuo_schema (version INTEGER NOT NULL, PRIMARY KEY (version))",
    "INSERT INTO qiusuo_schema VALUES (1)",
    """CREATE TABLE qiusuo_sessions (
        id VARCHAR(200) NOT NULL, owner VARCHAR(200) NOT NULL, title TEXT NOT NULL, title_words TEXT NOT NULL,
        settings JSON NOT NULL, memory JSON NOT NULL, created_at VARCHAR(40) NOT NULL, updated_at VARCHAR(40) NOT NULL,
        running VARCHAR(200), alive_at DOUBLE PRECISION, PRIMARY KEY (id))""",
    "CREATE INDEX qiusuo_sessions_of_owner ON qiusuo_sessions (owner, updated_at)",
    """CREATE TABLE qiusuo_turns (
        session_id VARCHAR(200) NOT NULL, id VARCHAR(200) NOT NULL, position INTEGER NOT NULL, words TEXT NOT NULL,
        record JSON NOT NULL, PRIMARY KEY (session_id, id),
        FOREIGN KEY(session_id) REFERENCES qiusuo_sessions (id) ON DELETE CASCADE)""",
    "CREATE UNIQUE INDEX qiusuo_turns_in_order ON qiusuo_turns (session_id, position)",
    """INSERT INTO qiusuo_sessions VALUES ('s', 'ada', '旧', '旧', '{"mode": "chat"}',
        '{"messages": [{"type": "human", "content": "甲"}], "starts": {"t1": 0}, "cache": [],
          "registry": {"sources": [], "rounds": []}}',
        '2026-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.000+00:00', 't2', 1790000000.0)""",
    """INSERT INTO qiusuo_turns VALUES ('s', 't1', 0, '甲', '{"id": "t1", "question": "甲", "answer": "一",
        "state": "done", "finish": "stop"}')""",
    """INSERT INTO qiusuo_turns VALUES ('s', 't2', 1, '乙', '{"id": "t2", "question": "乙", "answer": "二",
        "finish": "", "state": "running"}')""",
)


class TestVersions:
    async def test_a_database_of_version_1_goes_on(self, place: Place) -> None:
        if place.file is not None:
            place.file.touch()
        old = place.server()
        for statement in VERSION_1:
            await rows(old, statement.replace(":", r"\:"))
        await place.server().database.look()
        # Several servers are started anew at once; one of the old ones is still answering.
        await asyncio.gather(*(place.server().start() for _ in range(5)))
        store = place.server()
        assert await rows(store, "SELECT version FROM qiusuo_schema") == [3]
        assert (await store.get("ada", "s")).running == "t2"
        with pytest.raises(SessionBusy):
            await store.begin_turn("ada", "s", turn())
        place.now += 15
        assert [one.answer for one in await turns_of(store, "ada", "s")] == ["一", "二"]
        memory = await store.begin_turn("ada", "s", turn())
        # The question and the broken answer of the turn that died are remembered too.
        assert memory.messages[0] == {"type": "human", "content": "甲"}
        assert memory.starts == {"t1": 0, "t2": 1}
        assert len(memory.messages) == 3
        states = [one.state for one in await turns_of(place.server(), "ada", "s")]
        assert states == [TurnState.DONE, TurnState.FAILED, TurnState.RUNNING]

    async def test_a_newer_version_is_left_alone(self, place: Place) -> None:
        store = place.server()
        await store.create("ada")
        await rows(store, "UPDATE qiusuo_schema SET version = 99")
        for call in (place.server().create("ada"), place.server().database.look()):
            with pytest.raises(ConfigurationError, match="version 99"):
                await call

    async def test_looking_creates_nothing(self, place: Place) -> None:
        store = place.server()
        await store.database.look()
        assert place.file is None or not place.file.exists()
        await store.create("ada")
        assert await rows(store, "SELECT version FROM qiusuo_schema") == [3]
        await store.database.look()

    async def test_tables_that_were_taken_away_are_made_anew(self, place: Place) -> None:
        store = place.server()
        await store.create("ada")
        for table in reversed(metadata.sorted_tables):
            await rows(store, f"DROP TABLE {table.name}")
        with pytest.raises(Unavailable, match="try again"):
            await store.list("ada")
        assert await store.list("ada") == []
        await whole_turn(store, "ada", (await store.create("ada")).id)

    def test_opening_is_cheap(self, url: str) -> None:
        open_store(url)
        started = time.thread_time()
        open_store(url)
        assert time.thread_time() - started < 0.05
