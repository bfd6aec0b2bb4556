"""What is counted, and that counts wait while the database is away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem
from qiusuo.pipeline.observe import Asked
from qiusuo.usage.keeping import UsageKeeper
from qiusuo.usage.recorder import MAX_OWNERS, OTHERS, UsageRecorder, was_saved
from qiusuo.usage.report import Range, Report
from qiusuo.usage.store import UsageStore
from qiusuo.words import Fact

ITEM = SearchResultItem("T", "https://e.example/", "s", "e.example")
GOOD = Attempt("b", Outcome.OK, 10)
RESTING = Fact("search.resting", seconds="9", reason=Fact("http.refused", host="x"))


def found(*attempts: Attempt, by: str = "b", cached: bool = False) -> SearchResponse:
    return SearchResponse("q", (ITEM,), by, attempts, cached=cached)


@pytest.mark.parametrize(
    ("response", "saved"),
    [
        (found(GOOD), False),
        (found(Attempt("a", Outcome.UNAVAILABLE, 5), GOOD), True),
        (found(Attempt("a", Outcome.QUOTA, 0, RESTING, skipped=True), GOOD), True),
        # It never could be asked: it has no key.
        (found(Attempt("a", Outcome.DISABLED, 0, Fact("engine.absent", variables=[]), skipped=True), GOOD), False),
        # It had nothing, which is no failure.
        (found(Attempt("a", Outcome.EMPTY, 5), GOOD), False),
        # The one that was started beside it, and was overtaken.
        (found(GOOD, Attempt("c", Outcome.TIMEOUT, 5)), False),
        (found(Attempt("a", Outcome.TIMEOUT, 5), GOOD, by="merged"), False),
        (found(Attempt("a", Outcome.UNAVAILABLE, 5), GOOD, cached=True), False),
    ],
)
def test_when_a_search_was_saved(response: SearchResponse, saved: bool) -> None:
    assert was_saved(response) is saved


def test_people_beyond_the_limit_are_counted_together() -> None:
    now = [1_790_000_000.0]
    recorder = UsageRecorder(clock=lambda: now[0])
    for number in range(MAX_OWNERS + 7):
        recorder.search_ended(0.1, found(GOOD), Asked("q", f"192.0.2.{number}"))
    counts = recorder.take().counts
    assert sum(count[0] for key, count in counts.items() if key.owner == OTHERS) == 7
    now[0] += 3600  # in the next hour they have their turn
    recorder.search_ended(0.1, found(GOOD), Asked("q", "late"))
    assert [key.owner for key in recorder.take().counts] == ["late"]


def test_this_machine_is_one_person() -> None:
    recorder = UsageRecorder()
    for user in (None, "127.0.0.1", "::1", "localhost"):
        recorder.search_ended(0.1, found(GOOD), Asked("q", user))
    assert {key.owner for key in recorder.take().counts} == {"local"}


async def test_counts_wait_for_the_database(tmp_path: Path) -> None:
    blocked = tmp_path / "folder"
    blocked.write_text("no folder")
    opened = open_store(f"sqlite:///{blocked / 'chat.db'}")
    recorder, store = UsageRecorder(), UsageStore(opened.database)
    keeper = UsageKeeper(recorder, store, Settings.load())
    for _ in range(3):
        recorder.search_ended(0.1, found(GOOD), Asked("q"))
        with pytest.raises(SearchError):
            await keeper.flush()
    blocked.unlink()
    recorder.search_ended(0.1, found(GOOD), Asked("q"))
    await opened.aclose()  # writes what is left
    again = open_store(f"sqlite:///{blocked / 'chat.db'}")
    report = await Report(UsageStore(again.database), Range.of(2, "day", time.time())).read()
    assert report["total"]["searches"] == 4
    await again.aclose()
