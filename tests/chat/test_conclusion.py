"""How an answer is concluded: beside the event loop, which other conversations need."""

from __future__ import annotations

import threading

from qiusuo.chat.events import TurnRecord
from qiusuo.chat.turns.answer import conclude
from qiusuo.chat.turns.journal import Journal
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.models import SearchResultItem

SOURCES = [
    SearchResultItem(f"Tea {n}", f"https://site{n}.example.com/", "Spring tea is picked in March.") for n in "12"
]


def journal_of(answer: str) -> Journal:
    journal = Journal(TurnRecord("t", "tea"), labels={}, law_card=lambda _url: None)
    journal.text(answer)
    return journal


async def test_nothing_of_it_is_done_on_the_loop() -> None:
    processor = CitationProcessor(SOURCES)
    raw = "Spring tea is picked in March [1]. "
    journal = journal_of(processor.convert(raw))
    threads: list[threading.Thread] = []

    def references(text: str, heading: str) -> str:
        threads.append(threading.current_thread())
        return processor.references(text, heading)

    await conclude(journal, raw, processor, pages={}, references=references, finish="stop")
    assert threads
    assert threading.current_thread() not in threads
    assert journal.record.references.startswith("## References")
    assert journal.record.cited == (1,)
    assert journal.record.check is not None


async def test_an_answer_without_sources_has_neither_list_nor_check() -> None:
    journal = journal_of("Hello.")
    processor = CitationProcessor()
    await conclude(journal, "Hello.", processor, pages={}, references=processor.references, finish="stop")
    assert journal.record.answer == "Hello."
    assert journal.record.references == ""
    assert journal.record.check is None
