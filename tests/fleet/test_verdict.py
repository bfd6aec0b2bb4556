"""What ``make chaos`` counts as lost and doubled: a judge that never finds anything would prove nothing."""

from __future__ import annotations

from typing import Any

from chaos.doubles import recitation
from chaos.reader import NOT_SAVED, Reader, Strike
from chaos.verdict import Verdict, count
from chaos.wire import Front

WHOLE = recitation("a1", 20)
PART = recitation("a1", 12)


def reader(streamed: str, state: str | None = "done", **more: Any) -> Reader:
    made = Reader(Front(0), "a1", "", "127.0.0.1", Strike(), words=20, **more)
    made.session, made.turn, made.streamed = "s", "t", streamed
    made.done = {"type": "done", "state": state, "answer": streamed} if state else None
    return made


def judged(who: Reader, *turns: tuple[str, str]) -> Verdict:
    verdict = Verdict()
    kept = [
        {"id": "t" if number == 0 else f"t{number}", "answer": a, "state": s} for number, (a, s) in enumerate(turns)
    ]
    count(verdict, who, kept, kept[0] if kept else None)
    return verdict


def test_a_whole_answer() -> None:
    verdict = judged(reader(WHOLE), (WHOLE, "done"))
    assert (verdict.whole, verdict.lost, verdict.doubled, verdict.unheard) == (1, [], [], [])


def test_an_answer_whose_end_was_told_and_is_not_kept() -> None:
    assert judged(reader(WHOLE), (PART, "failed")).lost
    assert judged(reader(WHOLE)).lost


def test_what_was_told_as_not_saved_is_not_lost() -> None:
    told = reader(WHOLE)
    told.notices.append(NOT_SAVED)
    verdict = judged(told, (PART, "failed"))
    assert (verdict.lost, verdict.unsaved) == ([], 1)


def test_an_answer_that_stands_there_twice() -> None:
    assert judged(reader(WHOLE), (WHOLE, "done"), (WHOLE, "done")).doubled


def test_words_that_come_twice() -> None:
    twice = f"{PART} a1.12 a1.13"
    assert judged(reader(twice), (WHOLE, "done")).doubled
    assert judged(reader(WHOLE), (twice, "done")).doubled


def test_an_answer_that_broke_off() -> None:
    died = reader(WHOLE, None)
    died.polled = {"id": "t"}
    verdict = judged(died, (PART, "failed"))
    assert (verdict.broken_off, verdict.lost) == (1, [])
    assert verdict.text_lost == 8 / died.pace


def test_a_reader_who_never_hears_of_the_end() -> None:
    assert judged(reader(PART, None), (PART, "running")).unheard
