"""The sources of a turn: found now, numbered for the whole conversation, and the list of them below the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.linking.references import Reference, escape_markdown, reference_list
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.models import SearchResultItem
from qiusuo.words import Fact, Language


class TurnSources:
    """What a turn has found. All modes number with the conversation's registry, so no number means two pages.

    A page that was known before is shown and checked with the words under which this turn has found it: another query
    has another snippet.
    """

    def __init__(self, registry: CitationRegistry) -> None:
        self._registry = registry
        self._found: dict[int, Reference] = {}

    @property
    def found(self) -> CitationProcessor:
        """A processor that knows only what this turn has found."""
        return CitationProcessor.from_references(self._found)

    @property
    def known(self) -> CitationProcessor:
        """A processor that knows every source of the conversation."""
        before = {reference.number: reference for reference in self._registry.sources}
        return CitationProcessor.from_references(before | self._found)

    def add(self, query: str, items: Sequence[SearchResultItem]) -> list[int]:
        """Take the results of a search; return their numbers."""
        numbers = self._registry.add(query, items)
        self.note(numbers, items)
        return numbers

    def one(self, item: SearchResultItem) -> Reference:
        """Take a single source before the end of its search; return it with its number."""
        number = self._registry.number(item)
        self.note([number], [item])
        return self._found[number]

    def note(self, numbers: Sequence[int], items: Iterable[SearchResultItem]) -> None:
        """Take results that the registry has numbered already."""
        for number, item in zip(numbers, items, strict=False):
            new = Reference.of(number, item)
            known = self._found.setdefault(number, new)
            if new.snippet not in known.snippet:  # two searches of the turn show two parts of a page
                self._found[number] = replace(known, snippet=f"{known.snippet}\n{new.snippet}".strip())

    def cited_list(self, cited: Iterable[int], heading: str) -> str:
        """Return the list of the sources that an answer cites, as Markdown."""
        known = self.known.sources
        return reference_list((known[number] for number in cited), heading)

    def list_by_round(
        self, cited: Iterable[int], heading: str, rounds: Iterable[Mapping[str, Any]], language: Language
    ) -> str:
        """Return the list of an agent's answer: what it cites of earlier turns, then all that each round has found.

        The rounds are those of the turn's record, under the numbers that the reader has seen.
        """
        known = self.known.sources
        lines = [f"## {heading}"]
        earlier = [known[number] for number in cited if number not in self._found]
        lines += ["", *(reference.line() for reference in earlier)] if earlier else []
        listed: set[int] = set()
        for each in rounds:
            numbers = list(dict.fromkeys(each["numbers"]))
            if not numbers:
                continue
            title = Fact("citations.round", number=each["number"], query=escape_markdown(each["query"]))
            lines += ["", f"### {title.text(language)}", ""]
            lines += [known[number].line() for number in numbers if number not in listed]
            if repeated := [known[number].marker() for number in numbers if number in listed]:
                lines.append(f"- {Fact('citations.listed_before', markers=' '.join(repeated)).text(language)}")
            listed.update(numbers)
        return "\n".join(lines)
