"""What the store of conversations refuses, drops and withstands: the same tests over SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.sessions.session import SessionStore
from qiusuo.errors import InvalidQuery, LimitReached, SessionNotFound
from qiusuo.models import SearchResultItem
from tests.support.stores import Place, place, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


class TestLimits:
    async def test_nothing_is_deleted_that_nobody_has_asked_to_delete(self, place: Place) -> None:
        store = place.server(sessions=3)
        made = [(await store.create("ada", title=name)).id for name in "abc"]
        for session in made:
            await whole_turn(store, "ada", session)
        place.now += 10 * 86_400
        with pytest.raises(LimitReached, match="3 conversations") as told:
            await store.create("ada")
        assert "QIUSUO_MAX_CONVERSATIONS" in told.value.fix
        assert {one.id for one in await store.list("ada")} == set(made)
        await store.create("bob")
        await store.delete("ada", made[1])
        assert (await store.create("ada")).removed == ()

    async def test_what_was_never_asked_anything_makes_room(self, place: Place) -> None:
        store = place.server(sessions=2)
        await whole_turn(store, "ada", (await store.create("ada", title="asked")).id)
        await store.create("ada", title="empty")
        with pytest.raises(LimitReached):  # it may be open somewhere
            await store.create("ada")
        place.now += 3601
        assert (await store.create("ada", title="new")).removed == ()
        assert {one.title for one in await store.list("ada")} == {"asked", "new"}

    async def test_what_was_not_touched_for_long_is_deleted(self, place: Place) -> None:
        store = place.server()
        old = [(await store.create(owner)).id for owner in ("ada", "ada", "bob")]
        for owner, session in zip(("ada", "ada", "bob"), old, strict=True):
            await whole_turn(store, owner, session)
        place.now += 29 * 86_400
        await whole_turn(store, "ada", old[1])
        young = await store.create("bob")
        assert await store.delete_untouched(30 * 86_400) == 0
        place.now += 2 * 86_400
        assert await store.delete_untouched(30 * 86_400) == 2
        assert [one.id for one in await store.list("ada")] == [old[1]]
        assert [one.id for one in await store.list("bob")] == [young.id]
        with pytest.raises(SessionNotFound):
            await store.turns("ada", old[0])

    async def test_the_oldest_idle_conversations_make_room_where_that_is_wanted(self, place: Place) -> None:
        store = place.server(sessions=3, oldest_make_room=True)
        made = []
        for name in "abc":
            place.now += 1
            made.append((await store.create("ada", title=name)).id)
            await whole_turn(store, "ada", made[-1])
        await store.create("bob")
        await store.begin_turn("ada", made[0], turn())
        place.now += 1
        await whole_turn(store, "ada", made[1])
        removed = []
        for name in "de":
            place.now += 1
            new = await store.create("ada", title=name)
            await whole_turn(store, "ada", new.id)
            removed += [one.title for one in new.removed]
        # c and b were idle and the oldest; a is older, but in use.
        assert removed == ["c", "b"]
        assert {one.title for one in await store.list("ada")} == {"a", "d", "e"}
        assert len(await store.list("bob")) == 1

    async def test_conversations_page_by_page(self, place: Place) -> None:
        store = place.server()
        for name in "abcde":
            place.now += 1
            await store.create("ada", title=name)
        first = await store.page("ada", limit=3)
        assert ("".join(one.title for one in first.sessions), first.total, first.more) == ("edc", 5, True)
        last = await store.page("ada", limit=3, offset=3)
        assert ("".join(one.title for one in last.sessions), last.total, last.more) == ("ba", 5, False)
        found = await store.page("ada", query="c")
        assert (len(found.sessions), found.total, found.more) == (1, 5, False)

    async def test_a_conversation_has_an_end(self, place: Place) -> None:
        store = place.server(turns=2)
        session = (await store.create("ada")).id
        await whole_turn(store, "ada", session)
        last = await whole_turn(store, "ada", session)
        with pytest.raises(InvalidQuery, match="new conversation"):
            await store.begin_turn("ada", session, turn())
        assert (await store.get("ada", session)).running is None
        await whole_turn(store, "ada", session, replaces=last.id)

    @pytest.mark.parametrize("owner", ["a\0b", "\ud83d", "x" * 201])
    async def test_an_owner_that_cannot_be_stored_is_refused_and_not_mixed_up(
        self, store: SessionStore, owner: str
    ) -> None:
        mine = await store.create("ab")
        for call in (store.create(owner), store.list(owner)):
            with pytest.raises(InvalidQuery):
                await call
        with pytest.raises(SessionNotFound):
            await store.get(owner, mine.id)


HOSTILE = [
    "NUL \0 inside",
    "half a pair \ud83d and \udc00",
    "a pair in halves \ud83d\ude00",
    "'; DROP TABLE qiusuo_sessions; --",
    '"}]\\u0000 \\ud800 {"',
    "%s %(a)s :name $1 ? {x}",
    "\u202e\u2028\x1b[31m\x7f\ufffe\U0010ffff",
    "很长" * 100_000,
]


class TestHostileText:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    async def test_it_comes_back(self, store: SessionStore, text: str) -> None:
        session = (await store.create("ada", title=text)).id
        await store.change("ada", session, title="")
        record = turn(text, answer=text, notices=[{"code": text, text: [text]}])
        memory = await store.begin_turn("ada", session, record)
        memory.messages.append({"type": "human", "content": text, "deep": {"n": [10**30, float("nan"), None]}})
        deep: list[Any] = [b"bytes"]
        for _ in range(900):
            deep = [deep]
        memory.messages.append({"type": "tool", "content": deep})
        memory.starts[record.id] = 0
        memory.registry.add(text, [SearchResultItem(text, "https://a.example/", text, "a.example")])
        record.state = TurnState.DONE
        await store.end_turn("ada", session, record, memory)
        (kept,) = await turns_of(store, "ada", session)
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        assert kept.question == kept.answer == whole
        assert kept.notices == [{"code": whole, whole: [whole]}]
        again = await store.begin_turn("ada", session, turn())
        assert again.messages[0]["content"] == whole
        assert [one.id for one in await store.list("ada", query=text[:500])] == [session]
