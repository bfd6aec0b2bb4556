"""How an answer is concluded: beside the event loop, which other conversations need."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.turns.answer import conclude
from qiusuo.chat.turns.journal import Journal
from qiusuo.chat.turns.sources.numbered import TurnSources
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.models import SearchResultItem

SOURCES = [
    SearchResultItem(f"Tea {n}", f"https://site{n}.example.com/", "Spring tea is picked in March.") for n in "12"
]


def journal_of(answer: str) -> Journal:
    journal = Journal(TurnRecord("t", "tea"), labels={})
    journal.text(answer)
    return journal


async def test_nothing_of_it_is_done_on_the_loop() -> None:
    threads: list[threading.Thread] = []

    class Watched(TurnSources):
        def cited_list(self, cited: Iterable[int], heading: str) -> str:
            threads.append(threading.current_thread())
            return super().cited_list(cited, heading)

    sources = Watched(CitationRegistry())
    sources.add("tea", SOURCES)
    raw = "Spring tea is picked in March [1]. "
    journal = journal_of(sources.known.convert(raw))
    await conclude(journal, raw, sources, pages={}, finish="stop")
    assert threads
    assert threading.current_thread() not in threads
    assert journal.record.references.startswith("## References")
    assert journal.record.cited == (1,)
    assert journal.record.check is not None


async def test_an_answer_without_sources_has_neither_list_nor_check() -> None:
    journal = journal_of("Hello.")
    await conclude(journal, "Hello.", TurnSources(CitationRegistry()), pages={}, finish="stop")
    assert journal.record.answer == "Hello."
    assert journal.record.references == ""
    assert journal.record.check is None
