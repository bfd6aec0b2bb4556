"""Files of conversations in the store: the same tests over SQLite and PostgreSQL."""

from __future__ import annotations

import pytest

from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.errors import LimitReached, SessionNotFound
from qiusuo.files import FileKind, FileText, Part
from qiusuo.words import Fact
from tests.support.stores import Place, place, rows, store, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


def file(name: str, text: str = "违约金为合同总价的千分之三。") -> FileText:
    parts = [Part(text, page=1), Part("A\0b \ud83d", page=7)]
    return FileText(f"id-{name}", f"{name}.pdf", FileKind.PDF, 1234, parts, 9, cut=False)


async def kept(store: SqlSessionStore) -> list[str]:
    return sorted(await rows(store, "SELECT name FROM qiusuo_files"))


class TestFiles:
    async def test_a_file_comes_back_with_its_pages(self, store: SqlSessionStore) -> None:
        session = (await store.create("ada")).id
        added = await store.files.add("ada", session, file("合同"))
        assert (added.name, added.kind, added.pages, added.chars) == ("合同.pdf", FileKind.PDF, 9, 19)
        assert await store.files.list("ada", session) == [added]
        [read] = await store.files.load("ada", session)
        assert read.parts[0] == Part("违约金为合同总价的千分之三。", page=1)
        assert read.parts[1].page == 7
        assert await store.files.one("ada", session, added.id) == read

    async def test_the_same_file_is_kept_once(self, store: SqlSessionStore) -> None:
        session = (await store.create("ada")).id
        first = await store.files.add("ada", session, file("a"))
        assert await store.files.add("ada", session, file("a")) == first
        assert len(await store.files.list("ada", session)) == 1

    async def test_what_belongs_to_others_is_not_found(self, store: SqlSessionStore) -> None:
        session = (await store.create("ada")).id
        added = await store.files.add("ada", session, file("a"))
        for work in (
            store.files.add("bob", session, file("b")),
            store.files.list("bob", session),
            store.files.load("bob", session),
            store.files.one("bob", session, added.id),
            store.files.remove("bob", session, added.id),
            store.files.check_room("bob", session),
            store.files.one("ada", session, "unknown"),
            store.files.remove("ada", session, "un\0known"),
        ):
            with pytest.raises(SessionNotFound):
                await work
        assert await kept(store) == ["a.pdf"]

    async def test_a_removed_file_leaves_nothing(self, store: SqlSessionStore) -> None:
        session = (await store.create("ada")).id
        added = [await store.files.add("ada", session, file(name)) for name in "ab"]
        await store.files.remove("ada", session, added[0].id)
        assert await kept(store) == ["b.pdf"]

    async def test_a_deleted_conversation_leaves_nothing(self, store: SqlSessionStore) -> None:
        made = [(await store.create("ada")).id for _ in range(2)]
        for name, session in zip("ab", made, strict=True):
            await store.files.add("ada", session, file(name))
        await store.delete("ada", made[0])
        assert await kept(store) == ["b.pdf"]

    async def test_one_that_makes_room_leaves_nothing(self, place: Place) -> None:
        store = place.server(sessions=1, oldest_make_room=True)
        session = (await store.create("ada")).id
        await store.files.add("ada", session, file("old"))
        await whole_turn(store, "ada", session)
        place.now += 1
        assert [one.id for one in (await store.create("ada")).removed] == [session]
        assert await kept(store) == []


class TestLimits:
    async def test_of_a_message_and_of_a_conversation(self, place: Place) -> None:
        store = place.server(files=6)
        session = (await store.create("ada")).id
        for name in "abcde":
            await store.files.add("ada", session, file(name))
        for work in (store.files.add("ada", session, file("f")), store.files.check_room("ada", session)):
            with pytest.raises(LimitReached) as caught:
                await work
            assert caught.value.fact == Fact("file.too_many_at_once", limit=5)
        await whole_turn(store, "ada", session)
        await store.files.add("ada", session, file("f"))
        with pytest.raises(LimitReached) as caught:
            await store.files.add("ada", session, file("g"))
        assert caught.value.fact == Fact("file.too_many", limit=6)

    async def test_of_an_owner(self, place: Place) -> None:
        store = place.server(file_chars=40)
        made = [(await store.create("ada")).id for _ in range(2)]
        await store.files.add("ada", made[0], file("a"))
        await store.files.add("ada", made[1], file("b"))
        with pytest.raises(LimitReached) as caught:
            await store.files.add("ada", made[1], file("c"))
        assert caught.value.fact == Fact("file.owner_full", limit=40)
        await store.files.add("bob", (await store.create("bob")).id, file("c"))

    async def test_of_the_text_of_a_conversation(self, store: SqlSessionStore) -> None:
        session = (await store.create("ada")).id
        for name in "abc":
            await store.files.add("ada", session, file(name, "x" * 990_000))
        with pytest.raises(LimitReached) as caught:
            await store.files.add("ada", session, file("d", "x" * 990_000))
        assert caught.value.fact.code == "file.conversation_full"
