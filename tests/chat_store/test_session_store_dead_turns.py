"""Turns whose process is gone: when they are taken for dead, what readers see of them, how the next one takes over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiusuo.chat.events.turn import SERVER_RESTART, RoundState, TurnState
from qiusuo.chat.sessions.session import Memory, SessionStore
from qiusuo.errors import SessionBusy
from tests.support.stores import START, Place, kept, place, result, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


class TestDeadTurns:
    async def test_after_a_quarter_of_a_minute_without_a_sign_of_life(self, place: Place) -> None:
        store, other = place.server(), place.server()
        session = (await store.create("ada")).id
        record = turn(rounds=[{"number": 1, "state": "running", "query": "q"}, {"number": 2, "state": "done"}])
        memory = await store.begin_turn("ada", session, record)
        place.now += 14
        assert await kept(store, session, record)
        place.now += 14
        assert (await store.get("ada", session)).running == record.id
        with pytest.raises(SessionBusy):
            await other.begin_turn("ada", session, turn())
        place.now += 1
        assert (await store.get("ada", session)).running is None
        assert [one.running for one in await store.list("ada")] == [None]
        (shown,) = await turns_of(store, "ada", session)
        assert (shown.state, shown.finish, shown.stage) == (TurnState.FAILED, SERVER_RESTART, None)
        assert [notice["code"] for notice in shown.notices] == [SERVER_RESTART]
        assert "重启" in shown.notices[0]["message"]
        assert [one["state"] for one in shown.rounds] == [RoundState.FAILED, RoundState.DONE]
        # It was only slow, and nobody has taken over: it goes on.
        assert await kept(store, session, record)
        assert (await store.get("ada", session)).running == record.id
        await store.end_turn("ada", session, replace(record, state=TurnState.DONE), memory)
        assert [one.state for one in await turns_of(store, "ada", session)] == [TurnState.DONE]

    async def test_a_turn_that_nobody_will_end_blocks_nobody(self, place: Place) -> None:
        store, other = place.server(), place.server()
        session, busy = (await store.create("ada")).id, (await store.create("ada")).id
        lost, record = turn(), turn()
        await store.begin_turn("ada", session, lost)
        await store.begin_turn("ada", busy, record)
        store.disown(lost.id)
        assert (await store.get("ada", session)).running is None
        # The others hear of it with the next sign of life, though the process lives on.
        assert await store.keep([]) == {record.id}
        assert (await other.get("ada", session)).running is None
        assert (await other.get("ada", busy)).running == record.id
        await whole_turn(other, "ada", session)

    async def test_the_next_turn_takes_over(self, place: Place) -> None:
        store, other = place.server(), place.server()
        session = (await store.create("ada")).id
        dead = turn("what?", answer="half")
        memory = await store.begin_turn("ada", session, dead)
        place.now += 15
        heir = turn()
        await other.begin_turn("ada", session, heir)
        first, second = await turns_of(other, "ada", session)
        assert (first.state, first.answer, second.state) == (TurnState.FAILED, "half", TurnState.RUNNING)
        assert "restarted" in first.notices[0]["message"]
        # The first one was not dead but asleep: it must not break into what goes on without it.
        assert not await kept(store, session, dead)
        dead.answer, dead.state = "whole", TurnState.DONE
        memory.messages.append({"type": "ai", "content": "whole"})
        with pytest.raises(SessionBusy, match="went on without it"):
            await store.end_turn("ada", session, dead, memory)
        assert (await store.get("ada", session)).running == heir.id
        # Its answer is not lost, but what the model is told goes on as the others have it.
        assert [one.answer for one in await turns_of(other, "ada", session)] == ["whole", ""]
        await other.end_turn("ada", session, replace(heir, state=TurnState.DONE), Memory())
        assert (await other.begin_turn("ada", session, turn())).messages == []

    async def test_the_end_may_be_saved_twice(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        record = turn()
        memory = await store.begin_turn("ada", session, record)
        done = replace(record, answer="whole", state=TurnState.DONE)
        await store.end_turn("ada", session, done, memory)
        await store.end_turn("ada", session, done, memory)
        await whole_turn(store, "ada", session)
        await store.end_turn("ada", session, done, Memory())
        assert [one.answer for one in await turns_of(store, "ada", session)] == ["whole", "答"]
        assert len((await store.begin_turn("ada", session, turn())).messages) == 2

    @pytest.mark.parametrize("mode", ["chat", "agent"])
    async def test_numbers_that_readers_have_seen_stay_taken(self, place: Place, mode: str) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        dead = turn(mode=mode)
        memory = await store.begin_turn("ada", session, dead)
        numbers = memory.registry.add("q", [result("a"), result("b")])
        dead.sources = [
            {"number": n, "title": r.title, "url": r.url, "domain": r.source, "snippet": r.snippet, "round": 1}
            for n, r in zip(numbers, (result("a"), result("b")), strict=True)
        ]
        dead.rounds = [{"number": 1, "kind": "web_search", "query": "q", "state": "done", "numbers": numbers}]
        assert await kept(store, session, dead)
        place.now += 15
        taken_over = await place.server().begin_turn("ada", session, turn(mode="agent"), replaces=dead.id)
        assert taken_over.registry.to_dict() == memory.registry.to_dict()
        assert taken_over.registry.add("q2", [result("c"), result("b")]) == [3, 2]

    async def test_a_clock_that_was_ahead_does_not_block_for_long(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        place.now += 10 * 365 * 86_400
        await place.server().begin_turn("ada", session, turn())
        place.now = START
        assert (await store.get("ada", session)).running is None
        await whole_turn(store, "ada", session)
