"""One numbering for all searches of an agent's session."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qiusuo.citations.linking.processor import CitationProcessor, page_key
from qiusuo.citations.linking.references import HEADING, Reference, escape_markdown
from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.models import SearchResultItem
from qiusuo.words import Fact, Language
from qiusuo.words.script import chinese_of


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One search: its query, the sources it was the first to find, and those that earlier rounds had found."""

    query: str
    references: tuple[Reference, ...]
    repeated: tuple[Reference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the round in its JSON shape."""
        return {
            "query": self.query,
            "references": [reference.to_dict() for reference in self.references],
            "repeated": [reference.number for reference in self.repeated],
        }


class CitationRegistry:
    """Gives every source of a session its number: numbers run on over searches, the same page keeps its own."""

    def __init__(self) -> None:
        self._sources: dict[int, Reference] = {}
        self._number_of: dict[str, int] = {}
        self._rounds: list[tuple[str, tuple[int, ...]]] = []
        self._last = 0
        # Agents run synchronous tools of one turn in threads.
        self._lock = threading.RLock()

    def add(self, query: str, results: Sequence[SearchResultItem]) -> list[int]:
        """Take the results of a search; return their numbers, one per result.

        A search that is repeated with the same outcome (a cached one) does not count as another round.
        """
        with self._lock:
            numbers = [self.number(item) for item in results]
            found = (query, tuple(dict.fromkeys(numbers)))
            if found not in self._rounds:
                self._rounds.append(found)
            return numbers

    def number(self, item: SearchResultItem) -> int:
        """Return the number of a source, a new one if it is not known yet. It belongs to no round until ``add``."""
        with self._lock:
            return self.known_as(self._last + 1, item)

    def known_as(self, number: int, item: SearchResultItem) -> int:
        """Take a source under a number that readers know it by; return the one it has, which may be another."""
        with self._lock:
            free = number if number not in self._sources else self._last + 1
            number = self._number_of.setdefault(page_key(item), free)
            if number not in self._sources:
                self._sources[number] = Reference.of(number, item)
                self.begin_after(number)
            return number

    def begin_after(self, number: int) -> None:
        """Give new sources larger numbers than this one."""
        self._last = max(self._last, number)

    def forget(self) -> None:
        """Forget all sources; their numbers are not given again."""
        with self._lock:
            self._sources.clear()
            self._number_of.clear()
            self._rounds.clear()

    @property
    def sources(self) -> tuple[Reference, ...]:
        """All sources by number."""
        return tuple(self._sources[number] for number in sorted(self._sources))

    @property
    def rounds(self) -> tuple[SearchRound, ...]:
        """All searches in their order."""
        rounds, seen = [], set[int]()
        for query, numbers in self._rounds:
            new = tuple(self._sources[number] for number in numbers if number not in seen)
            known = tuple(self._sources[number] for number in numbers if number in seen)
            rounds.append(SearchRound(query, new, known))
            seen.update(numbers)
        return tuple(rounds)

    def processor(self) -> CitationProcessor:
        """Return a processor for the sources found so far."""
        return CitationProcessor.from_references(self._sources)

    def references(self, answer_text: str | None = None, heading: str = HEADING, *, since: int = 0) -> str:
        """Return all sources as Markdown, grouped by search round.

        The words are in the language of the heading. An answer that is given and cites nothing gets no list: an empty
        string. ``since`` leaves out that many rounds, those of earlier answers; what is cited of them comes first.
        """
        if not self.references_data(answer_text):
            return ""
        lines = [f"## {heading}"]
        language = chinese_of(heading) if is_chinese(heading) else Language.ENGLISH
        rounds = self.rounds
        if since and answer_text is not None:
            before = {reference.number for earlier in rounds[:since] for reference in earlier.references}
            cited = [self._sources[n] for n in self.processor().analyse(answer_text).used if n in before]
            lines += ["", *(reference.line() for reference in cited)] if cited else []
        for index, search_round in enumerate(rounds[since:], 1):
            if not search_round.references and not search_round.repeated:
                continue
            title = Fact("citations.round", number=index, query=escape_markdown(search_round.query))
            lines += ["", f"### {title.text(language)}", ""]
            lines += [reference.line() for reference in search_round.references]
            if search_round.repeated:
                markers = " ".join(reference.marker() for reference in search_round.repeated)
                lines.append(f"- {Fact('citations.listed_before', markers=markers).text(language)}")
        return "\n".join(lines)

    def references_data(self, answer_text: str | None = None) -> tuple[SearchRound, ...]:
        """Return what ``references`` shows in structured form."""
        if not self._sources or (answer_text is not None and not self.processor().analyse(answer_text).used):
            return ()
        return self.rounds

    def to_dict(self) -> dict[str, Any]:
        """Return the registry in its JSON shape."""
        return {
            "sources": [reference.to_dict() for reference in self.sources],
            "rounds": [{"query": query, "numbers": list(numbers)} for query, numbers in self._rounds],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CitationRegistry:
        """Rebuild a registry from ``to_dict``."""
        registry = cls()
        for source in data["sources"]:
            reference = Reference.from_dict(source)
            registry._sources[reference.number] = reference
            item = SearchResultItem(reference.title, reference.url, reference.snippet, reference.domain)
            registry._number_of[page_key(item)] = reference.number
            registry.begin_after(reference.number)
        registry._rounds = [(entry["query"], tuple(entry["numbers"])) for entry in data["rounds"]]
        return registry
