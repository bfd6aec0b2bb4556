"""Shared links, and conversations that are brought, over SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.sessions.session import ChatSettings, Memory, SessionInfo, SessionStore
from qiusuo.chat.sessions.shares import MOST_SHARES, snapshot_of
from qiusuo.errors import LimitReached, SessionNotFound
from tests.support.stores import Place, place, rows, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures

DAY = 24 * 3600.0


class TestShares:
    async def test_a_link_opens_for_who_has_its_secret_until_it_ends(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada", title="茶")).id
        record = await whole_turn(store, "ada", session, "问", "答 \x00 😀")
        begun = await store.shares.begin("ada", session, "茶", snapshot_of([record]), days=1)
        other = place.server()
        opened = await other.shares.opened(begun.secret)
        assert opened is not None
        assert [(one.question, one.answer) for one in opened.turns] == [("问", record.answer)]
        assert opened.title == "茶"
        assert await other.shares.opened(begun.share.id) is None
        assert await other.shares.opened("\udc00\0") is None
        assert list(await store.shares.of("ada")) == [begun.share]
        assert list(await store.shares.of("bob")) == []
        assert begun.secret not in str(await rows(store, "SELECT digest FROM qiusuo_shares"))
        place.now += DAY + 1
        assert await store.shares.opened(begun.secret) is None
        assert list(await store.shares.of("ada")) == []

    async def test_only_the_owner_begins_and_ends_it(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        for owner, wanted in (("bob", session), ("ada", "none"), ("ada", "\0")):
            with pytest.raises(SessionNotFound):
                await store.shares.begin(owner, wanted, "", [], days=None)
        begun = await store.shares.begin("ada", session, "", [], days=None)
        await store.shares.end("bob", begun.share.id)
        assert await store.shares.opened(begun.secret) is not None
        await store.shares.end("ada", begun.share.id)
        await store.shares.end("ada", begun.share.id)
        assert await store.shares.opened(begun.secret) is None

    async def test_it_goes_with_its_conversation(self, place: Place) -> None:
        store = place.server(sessions=1, oldest_make_room=True)
        session = (await store.create("ada")).id
        first = await store.shares.begin("ada", session, "", [], days=None)
        await whole_turn(store, "ada", session)
        place.now += 1
        newer = (await store.create("ada")).id  # the first one made room
        assert await store.shares.opened(first.secret) is None
        second = await store.shares.begin("ada", newer, "", [], days=None)
        await store.delete("ada", newer)
        assert await store.shares.opened(second.secret) is None

    async def test_there_are_so_many_at_most(self, store: SessionStore) -> None:
        session = (await store.create("ada")).id
        for _ in range(MOST_SHARES):
            await store.shares.begin("ada", session, "", [], days=None)
        with pytest.raises(LimitReached):
            await store.shares.begin("ada", session, "", [], days=None)

    async def test_tables_of_before_get_the_new_one(self, place: Place) -> None:
        store = place.server()
        session = (await store.create("ada")).id
        await rows(store, "DROP TABLE qiusuo_shares")
        await store.aclose()
        again = place.server()
        assert (await again.get("ada", session)).id == session
        assert await again.shares.of("ada") == []


class TestAdopted:
    async def test_a_conversation_with_its_turns_is_begun(self, store: SessionStore) -> None:
        done = [replace(turn(str(number)), state=TurnState.DONE, answer="答") for number in range(3)]
        about = SessionInfo("", "ada", "", ChatSettings(search=True), "2020-01-01T00:00:00+00:00", "")
        memory = Memory()
        memory.note(done[0].id, "0", "答")
        info = await store.adopt(about, done, memory)
        assert (info.title, info.created_at[:4], info.settings.search) == ("0", "2020", True)
        assert await store.get("ada", info.id) == info
        assert await turns_of(store, "ada", info.id) == done
        again = await store.adopt(about, done, memory)  # the same ids, in a conversation of their own
        assert again.id != info.id
        kept = await store.begin_turn("ada", info.id, turn())
        assert kept.to_dict() == memory.to_dict()

    async def test_limits_hold(self, place: Place) -> None:
        store = place.server(sessions=1, turns=2)
        about = SessionInfo("", "ada", "", ChatSettings(), "", "")
        with pytest.raises(LimitReached):
            await store.adopt(about, [turn() for _ in range(3)], Memory())
        await store.adopt(about, [replace(turn(), state=TurnState.DONE)], Memory())
        with pytest.raises(LimitReached):
            await store.adopt(about, [turn()], Memory())
