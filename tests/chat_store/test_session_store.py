"""The store of conversations: the same tests over SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.live.keeping import Draft
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode, SessionStore
from qiusuo.chat.stores.database.schema import storable
from qiusuo.errors import InvalidQuery, SessionBusy, SessionNotFound
from qiusuo.models import SearchResponse
from tests.support.stores import START, Place, kept, place, result, rows, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


class TestSessions:
    async def test_a_conversation_is_created_and_found(self, store: SessionStore) -> None:
        made = await store.create("ada", settings=ChatSettings(mode=Mode.AGENT, results=3), title="  第一\n次 ")
        assert made.title == "第一 次"
        assert (
            made.created_at == made.updated_at == datetime.fromtimestamp(START, UTC).isoformat(timespec="milliseconds")
        )
        assert await store.get("ada", made.id) == made
        assert await store.list("ada") == [made]
        assert await turns_of(store, "ada", made.id) == []

    async def test_everything_survives_a_restart(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        record = turn("问题", mode="agent", model="m", search=True)
        memory = await store.begin_turn("ada", session, record)
        memory.messages.append({"type": "human", "content": "问题"})
        memory.starts[record.id] = 0
        memory.registry.add("q", [result("a"), result("b")])
        found = SearchResponse(query="q", results=(result("a"),), provider="x")
        memory.cache.put("q", found, 1.0)
        record.state, record.answer, record.cited = TurnState.DONE, "答 [[1]](https://a.example/)", (1,)
        record.sources = [{"number": 1, "title": "a", "url": "https://a.example/", "domain": "a.example"}]
        record.usage = {"searches": 1}
        await store.end_turn("ada", session, record, memory)
        await store.aclose()
        again = place.server()
        assert await turns_of(again, "ada", session) == [record]
        kept = await again.begin_turn("ada", session, turn())
        assert kept.to_dict() == memory.to_dict()

    async def test_what_belongs_to_others_is_not_found(self, store: SessionStore) -> None:
        mine = (await store.create("ada")).id
        record = await whole_turn(store, "ada", mine, "秘密")
        running = turn()
        await store.begin_turn("ada", mine, running)
        for call in (
            store.get("bob", mine),
            store.change("bob", mine, title="mine now"),
            store.delete("bob", mine),
            store.turns("bob", mine),
            store.begin_turn("bob", mine, turn(), replaces=record.id),
            store.end_turn("bob", mine, running, Memory()),
        ):
            with pytest.raises(SessionNotFound):
                await call
        assert await store.list("bob") == []
        assert await store.list("bob", query="秘密") == []
        assert [one.question for one in await turns_of(store, "ada", mine)] == ["秘密", running.question]

    @pytest.mark.parametrize("session", ["", "nothing", "a\0b", "\ud800", "x" * 100_000, "'; DROP TABLE x;--", "%"])
    async def test_unknown_ids(self, store: SessionStore, session: str) -> None:
        await store.create("ada")
        for call in (
            store.get("ada", session),
            store.turns("ada", session),
            store.delete("ada", session),
            store.begin_turn("ada", session, turn()),
            store.end_turn("ada", session, turn(), Memory()),
        ):
            with pytest.raises(SessionNotFound):
                await call

    async def test_deleting_takes_all_of_it(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        await whole_turn(store, "ada", session)
        await store.delete("ada", session)
        with pytest.raises(SessionNotFound):
            await store.delete("ada", session)
        assert await rows(store, "SELECT count(*) FROM qiusuo_turns") == [0]

    async def test_deleting_while_a_turn_runs(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        record = turn()
        memory = await store.begin_turn("ada", session, record)
        await store.delete("ada", session)
        assert not await kept(store, session, record)
        with pytest.raises(SessionNotFound):
            await store.end_turn("ada", session, record, memory)
        assert await store.list("ada") == []

    async def test_rename_and_settings(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        place.now += 5
        changed = await store.change("ada", session, title="法" * 500, settings={"search": True, "results": 2})
        assert len(changed.title) == 200
        assert changed.settings == ChatSettings(search=True, results=2)
        assert changed.updated_at > changed.created_at
        agent = await store.change("ada", session, settings={"mode": "agent"})
        assert agent.settings == ChatSettings(mode=Mode.AGENT, search=True, results=2)
        with pytest.raises(InvalidQuery):
            await store.change("ada", session, title="not kept", settings={"search": False})
        assert await store.get("ada", session) == agent

    async def test_settings_changed_by_one_server_are_seen_by_the_other(self, place: Place) -> None:
        one, other = place.server(), place.server()
        session = (await one.create("ada")).id
        await asyncio.gather(
            one.change("ada", session, settings={"search": True}), other.change("ada", session, settings={"results": 1})
        )
        # Neither overwrote what the other had set.
        for each in (one, other):
            assert (await each.get("ada", session)).settings == ChatSettings(search=True, results=1)


class TestList:
    async def test_the_last_used_come_first(self, place: Place) -> None:
        store = place.server()
        made = []
        for name in "abc":
            place.now += 1
            made.append((await store.create("ada", title=name)).id)
        place.now += 1
        await whole_turn(store, "ada", made[0])
        assert [one.title for one in await store.list("ada")] == ["a", "c", "b"]
        assert [one.title for one in await store.list("ada", limit=1, offset=1)] == ["c"]

    async def test_the_limit_is_clamped(self, place: Place) -> None:
        store = place.server()
        for _ in range(205):
            await store.create("ada")
        for limit, expected in ((10**30, 200), (-3, 1), (0, 1)):
            assert len(await store.list("ada", limit=limit, offset=-5)) == expected
        assert await store.list("ada", offset=10**30) == []

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("", "title question answer"),
            ("  ", "title question answer"),
            ("ÄPFEL", "title"),
            ("äpfel 100%", "title"),
            ("100%", "title"),
            ("%", "title"),
            ("_", "question"),
            ("SNAKE_case", "question"),
            ("snakeXcase", ""),
            ("民法典", "answer"),
            ("FÜNFHUNDERT", "answer"),
            ("\\", "answer"),
            ("/", ""),
            ("'", ""),
            ("\0\ud800", ""),
            ("nothing", ""),
        ],
    )
    async def test_search(self, store: SessionStore, query: str, expected: str) -> None:
        made = {name: (await store.create("ada", title=name)).id for name in ("title", "question", "answer")}
        await store.change("ada", made["title"], title="Äpfel 100% gut")
        await whole_turn(store, "ada", made["question"], question="what is Snake_Case?")
        await whole_turn(store, "ada", made["answer"], answer="《民法典》 fünfhundert C:\\x")
        found = {one.id for one in await store.list("ada", query=query)}
        assert found == {made[name] for name in expected.split()}

    async def test_a_text_that_is_too_long_is_refused(self, store: SessionStore) -> None:
        with pytest.raises(InvalidQuery):
            await store.list("ada", query="x" * 1001)


class TestTurns:
    async def test_the_title_comes_from_the_first_question(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        await whole_turn(store, "ada", session, "第一个\n问题 " + "很长" * 50)
        title = (await store.get("ada", session)).title
        assert title.startswith("第一个 问题 很长")
        assert len(title) == 40
        await whole_turn(store, "ada", session, "second")
        assert (await store.get("ada", session)).title == title
        named = (await store.create("ada", title="mine")).id
        await whole_turn(store, "ada", named, "second")
        assert (await store.get("ada", named)).title == "mine"

    async def test_one_turn_at_a_time(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        record = turn()
        memory = await store.begin_turn("ada", session, record)
        assert (await store.get("ada", session)).running == record.id
        with pytest.raises(SessionBusy, match="still running"):
            await store.begin_turn("ada", session, turn())
        record.answer = "half"
        assert await kept(store, session, record)
        [half] = await turns_of(store, "ada", session)
        assert (half.answer, half.state) == ("half", TurnState.RUNNING)
        record.state = TurnState.STOPPED
        await store.end_turn("ada", session, record, memory)
        assert (await store.get("ada", session)).running is None
        await whole_turn(store, "ada", session)
        assert [one.state for one in await turns_of(store, "ada", session)] == [TurnState.STOPPED, TurnState.DONE]

    async def test_an_answer_is_kept_in_pieces_and_some_are_taken_back(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        record = turn()
        memory = await store.begin_turn("ada", session, record)
        draft = Draft(session, record)
        for answer in ("一二三", "一二三四五", "一二", "一二茶", "另一个 \ud83d\0", "另一个 \ud83d\0完"):
            record.answer = answer
            news = draft.progress()
            assert news is not None
            assert len(news.text) <= 6, "not all of it anew"
            await store.keep([news])
            draft.written()
            assert draft.progress() is None, "nothing new, nothing to write"
            assert [one.answer for one in await turns_of(store, "ada", session)] == [storable(answer)]
        place.now += 15
        [dead] = await turns_of(place.server(), "ada", session)
        assert (dead.state, dead.answer) == (TurnState.FAILED, "另一个 \ufffd完")
        await store.end_turn("ada", session, replace(record, answer="完", state=TurnState.DONE), memory)
        assert [one.answer for one in await turns_of(store, "ada", session)] == ["完"]
        assert await rows(store, "SELECT COUNT(*) FROM qiusuo_pieces") == [0]

    async def test_the_last_turns_are_given_in_their_order(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        for name in "abcde":
            await whole_turn(store, "ada", session, name)
        assert [one.question for one in await turns_of(store, "ada", session)] == list("abcde")
        assert [one.question for one in await turns_of(store, "ada", session, limit=2)] == ["d", "e"]

    async def test_page_by_page_nothing_is_left_out(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        assert (await store.turns("ada", session)).total == 0
        for name in "abcde":
            await whole_turn(store, "ada", session, name)
        ids = [one.id for one in await turns_of(store, "ada", session)]

        async def page(**place: Any) -> tuple[str, int, int, int]:
            found = await store.turns("ada", session, limit=2, **place)
            return "".join(one.question for one in found.turns), found.earlier, found.later, found.total

        assert await page() == ("de", 3, 0, 5)
        assert await page(before=ids[3]) == ("bc", 1, 2, 5)
        assert await page(before=ids[1]) == ("a", 0, 4, 5)
        assert await page(before=ids[0]) == ("", 0, 5, 5)
        assert await page(after=ids[0]) == ("bc", 1, 2, 5)
        assert await page(after=ids[4]) == ("", 5, 0, 5)
        for unknown in ("nothing", "\0"):
            with pytest.raises(InvalidQuery, match="no such turn"):
                await page(before=unknown)

    async def test_an_id_cannot_be_used_twice(self, store: SessionStore) -> None:
        session, other = (await store.create("ada")).id, (await store.create("ada")).id
        done = await whole_turn(store, "ada", session)
        with pytest.raises(InvalidQuery):
            await store.begin_turn("ada", session, done)
        with pytest.raises(InvalidQuery):
            await store.begin_turn("ada", session, replace(done, id="a\0b"))
        assert (await store.get("ada", session)).running is None
        await store.begin_turn("ada", other, done)


class TestReplacing:
    async def test_that_turn_and_all_later_ones_are_dropped(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        first, second, _third = [await whole_turn(store, "ada", session, name, name.upper()) for name in "abc"]
        record = turn("b2")
        memory = await store.begin_turn("ada", session, record, replaces=second.id)
        assert [message["content"] for message in memory.messages] == ["a", "A"]
        assert memory.starts == {first.id: 0}
        assert [one.question for one in await turns_of(store, "ada", session)] == ["a", "b2"]
        assert await store.list("ada", query="C") == []
        # Also if it dies now, the cut stays.
        await store.end_turn("ada", session, replace(record, state=TurnState.FAILED), memory)
        assert [one.id for one in await turns_of(store, "ada", session)] == [first.id, record.id]

    async def test_the_numbers_never_restart(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        record = turn(mode="agent")
        memory = await store.begin_turn("ada", session, record)
        memory.registry.add("q", [result("a"), result("b")])
        await store.end_turn("ada", session, replace(record, state=TurnState.DONE), memory)
        memory = await store.begin_turn("ada", session, turn(mode="agent"), replaces=record.id)
        assert memory.registry.add("q2", [result("c"), result("a")]) == [3, 1]

    async def test_a_turn_that_left_no_messages(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        await whole_turn(store, "ada", session, "a", "A")
        dead = turn("b")
        await place.server().begin_turn("ada", session, dead)
        place.now += 15
        await whole_turn(store, "ada", session, "c", "C")
        memory = await store.begin_turn("ada", session, turn("b2"), replaces=dead.id)
        assert [message["content"] for message in memory.messages] == ["a", "A"]

    async def test_a_turn_that_is_not_there_changes_nothing(self, store: SessionStore) -> None:
        session, other = (await store.create("ada")).id, (await store.create("ada")).id
        await whole_turn(store, "ada", session)
        elsewhere = await whole_turn(store, "ada", other)
        for unknown in (elsewhere.id, "nothing"):
            with pytest.raises(InvalidQuery):
                await store.begin_turn("ada", session, turn(), replaces=unknown)
        assert (await store.get("ada", session)).running is None
        assert len(await turns_of(store, "ada", session)) == 1

    async def test_a_retry_may_keep_the_id(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        record = await whole_turn(store, "ada", session)
        again = turn("again")
        again.id = record.id
        memory = await store.begin_turn("ada", session, again, replaces=record.id)
        assert (memory.messages, memory.starts) == ([], {})
