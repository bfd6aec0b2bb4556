"""Branches of conversations, over SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.portable.conversation import from_portable, to_portable
from qiusuo.chat.sessions.branches import Branch, Kin
from qiusuo.chat.sessions.feedback import Feedback, Reason, Verdict
from qiusuo.chat.sessions.session import ChatSettings, Progress, SessionStore
from qiusuo.chat.sessions.shares import snapshot_of
from qiusuo.chat.stores.database.schema import to_json
from qiusuo.errors import InvalidQuery, LimitReached, SessionNotFound
from qiusuo.files import FileKind, FileText, Part
from tests.support.stores import Place, place, store, turn, turns_of, url, whole_turn

__all__ = ["place", "store", "url"]  # fixtures


def file_of(name: str, chars: int = 10) -> FileText:
    return FileText(name, f"{name}.txt", FileKind.TEXT, chars, [Part("x" * chars)])


async def questions(store: SessionStore, session: str) -> list[str]:
    return [each.question for each in await turns_of(store, "ada", session)]


async def test_a_branch_has_what_came_before_and_the_old_one_stays(store: SessionStore) -> None:
    old = (await store.create("ada", settings=ChatSettings(search=True, results=3), title="茶")).id
    first = await whole_turn(store, "ada", old, "绿茶？", "绿。")
    second = await whole_turn(store, "ada", old, "红茶？", "红。")
    await whole_turn(store, "ada", old, "白茶？", "白。")
    made = await store.branches.begin("ada", old, second.id)
    assert (made.settings, made.title, made.removed) == (ChatSettings(search=True, results=3), "", ())
    record = turn("黑茶？")
    memory = await store.begin_turn("ada", made.id, record)
    assert [message["content"] for message in memory.messages] == ["绿茶？", "绿。"]
    assert list(memory.starts) == [first.id]
    record.answer, record.state = "黑。", TurnState.DONE
    await store.end_turn("ada", made.id, record, memory)
    assert await questions(store, made.id) == ["绿茶？", "黑茶？"]
    assert await questions(store, old) == ["绿茶？", "红茶？", "白茶？"]
    assert (await store.get("ada", made.id)).title == "黑茶？"
    assert await store.branches.of("ada", made.id) == Kin(Branch(old, "茶", second.id), [])
    assert await store.branches.of("ada", old) == Kin(None, [Branch(made.id, "黑茶？", second.id)])
    # Found by its words, taken along and shared as the conversation that it is.
    assert {info.id for info in await store.list("ada", query="黑茶")} == {made.id}
    turns = await turns_of(store, "ada", made.id)
    brought = from_portable(to_json(to_portable(await store.get("ada", made.id), turns)).encode())
    assert [each.question for each in brought.turns] == ["绿茶？", "黑茶？"]
    assert [each["question"] for each in snapshot_of(turns)] == ["绿茶？", "黑茶？"]


async def test_each_is_whole_without_the_other(store: SessionStore) -> None:
    old = (await store.create("ada", title="旧")).id
    first = await whole_turn(store, "ada", old)
    second = await whole_turn(store, "ada", old)
    one, two = [(await store.branches.begin("ada", old, each.id)).id for each in (first, second)]
    of_branch = (await store.branches.begin("ada", two, first.id)).id
    await store.delete("ada", one)
    assert [branch.session for branch in (await store.branches.of("ada", old)).branches] == [two]
    await store.delete("ada", old)
    assert await questions(store, two) == ["问"]
    assert await store.branches.of("ada", two) == Kin(None, [Branch(of_branch, "", first.id)])
    await store.delete("ada", two)
    assert await questions(store, of_branch) == []


async def test_only_of_ones_own_and_at_a_question_that_is_there(store: SessionStore) -> None:
    old = (await store.create("ada")).id
    known = await whole_turn(store, "ada", old)
    for owner, session in (("bob", old), ("ada", "none"), ("\0", old)):
        with pytest.raises(SessionNotFound):
            await store.branches.begin(owner, session, known.id)
        with pytest.raises(SessionNotFound):
            await store.branches.of(owner, session)
    for gone in ("none", "\0", "x" * 300):
        with pytest.raises(InvalidQuery):
            await store.branches.begin("ada", old, gone)
    assert len(await store.list("ada")) == 1


async def test_what_makes_room_is_never_the_old_one(place: Place) -> None:
    store = place.server(sessions=2, oldest_make_room=True)
    old = (await store.create("ada")).id
    known = await whole_turn(store, "ada", old)
    place.now += 10
    other = (await store.create("ada", title="newer")).id
    await whole_turn(store, "ada", other)
    made = await store.branches.begin("ada", old, known.id)
    assert [one.id for one in made.removed] == [other]
    assert await questions(store, old) == ["问"]
    full = place.server(sessions=2)
    with pytest.raises(LimitReached):
        await full.branches.begin("ada", old, known.id)


async def test_files_come_along_that_were_there_when_it_was_asked(place: Place) -> None:
    store = place.server(file_chars=45)
    old = (await store.create("ada")).id
    await store.files.add("ada", old, file_of("a"))
    first = await whole_turn(store, "ada", old)
    await store.files.add("ada", old, file_of("b"))
    second = await whole_turn(store, "ada", old)
    early = (await store.branches.begin("ada", old, first.id)).id
    assert [file.id for file in await store.files.list("ada", early)] == ["a"]
    await store.files.remove("ada", old, "a")
    assert [part.text for file in await store.files.load("ada", early) for part in file.parts] == ["x" * 10]
    late = (await store.branches.begin("ada", old, second.id)).id
    assert [file.id for file in await store.files.list("ada", late)] == ["b"]
    await store.files.add("ada", late, file_of("c"))
    with pytest.raises(LimitReached):
        await store.branches.begin("ada", old, second.id)
    assert len(await store.list("ada")) == 3


async def test_what_was_thought_of_an_answer_stays_with_it(store: SessionStore) -> None:
    old = (await store.create("ada")).id
    first, second = await whole_turn(store, "ada", old), await whole_turn(store, "ada", old)
    bad = Feedback(Verdict.BAD, (Reason.SLOW,), "慢 \x00 😀")
    await store.feedback.put("ada", old, first.id, Feedback(Verdict.GOOD))
    await store.feedback.put("ada", old, first.id, bad)
    kept = await store.feedback.of("ada", old)
    assert kept == {first.id: replace(bad, text="慢  😀")}
    made = (await store.branches.begin("ada", old, second.id)).id
    assert await store.feedback.of("ada", made) == {}
    assert [told.feedback.verdict for told in await store.feedback.all()] == [Verdict.BAD]
    await store.delete("ada", old)
    assert await store.feedback.all() == []


async def test_a_turn_that_died_is_copied_as_one_that_did(place: Place) -> None:
    store = place.server()
    old = (await store.create("ada")).id
    dead = turn("死？")
    await store.begin_turn("ada", old, dead)
    await store.keep([Progress(old, dead, number=1, text="半")])
    place.now += 3600
    later = place.server()
    alive = await whole_turn(later, "ada", old, "活？")
    made = (await later.branches.begin("ada", old, alive.id)).id
    [copied] = await turns_of(later, "ada", made)
    assert (copied.answer, copied.state, copied.finish) == ("半", TurnState.FAILED, "server_restart")
