"""An article in two versions of its law, side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, Final

from qiusuo.legal.answers.standing import UNDATED, label_of
from qiusuo.legal.answers.validity import age
from qiusuo.legal.index.store import LegalStore
from qiusuo.legal.models import Article, ArticleNumber, LawVersion
from qiusuo.legal.reading.numbers import MAX_ARTICLE
from qiusuo.words import Fact, Language

# With a smaller share of pairs of characters in common, two articles are not the same one in other words.
ALIKE: Final = 0.4
# From here on an article of the same number is taken for the same without a look at the others.
SURELY_THE_SAME: Final = 0.6
# Fewer equal characters between two changes belong to the change: single ones are equal by chance.
_LEAST_EQUAL: Final = 2


class Change(StrEnum):
    """What became of a part of a text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Side:
    """The article in one version. ``text`` is empty where that version has no such article."""

    law_name: str
    article_number: str
    version: str
    effective_date: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the text. The old text is what is the same or removed, the new one what is the same or added."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """An article, old and new."""

    old: Side | None
    new: Side
    parts: tuple[Part, ...]
    notes: tuple[Fact, ...]
    versions: tuple[str, ...]
    """The days on which the versions that the index has were published, oldest first."""

    @property
    def changed(self) -> bool:
        """Whether the words differ."""
        return any(part.change is not Change.SAME for part in self.parts)

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "lawName": self.new.law_name,
            "articleNumber": self.new.article_number,
            "changed": self.changed,
            "old": _as_dict(self.old) if self.old else None,
            "new": _as_dict(self.new),
            "parts": [{"change": part.change.value, "text": part.text} for part in self.parts],
            "versions": list(self.versions),
            "notes": [note.text(language) for note in self.notes],
        }


def compare_article(store: LegalStore, article: Article, other: LawVersion | None = None) -> Comparison:
    """Compare an article with another version of its law: the one before it, where none is given.

    Where there is none before, with the one after it.
    """
    versions = sorted(store.versions_of(article.version.law.id), key=age)
    days = tuple(version.published for version in versions)
    place = next(place for place, version in enumerate(versions) if version.id == article.version.id)
    if len(versions) == 1:
        only = Fact("legal_diff.one_version", law=article.version.law.name, published=days[0] or UNDATED)
        return Comparison(None, _side(article), (Part(Change.SAME, article.text),), (only,), days)
    other = other or (versions[place - 1] if place else versions[1])
    is_new = age(other) < age(article.version)
    match = _counterpart(store, article, other)
    if match is None:
        missing = Side(article.version.law.name, "", other.published, other.effective, "")
        note = Fact("legal_diff.no_counterpart", published=other.published or UNDATED)
        old, new = (missing, _side(article)) if is_new else (_side(article), missing)
        return Comparison(old, new, _parts(old.text, new.text), (note,), days)
    before, after = (match, article) if is_new else (article, match)
    parts = _parts(before.text, after.text)
    notes = []
    if before.number != after.number:
        notes.append(Fact("legal_diff.renumbered", old=label_of(before), new=label_of(after)))
    if all(part.change is Change.SAME for part in parts):
        notes.append(Fact("legal_diff.unchanged"))
    return Comparison(_side(before), _side(after), parts, tuple(notes), days)


def _counterpart(store: LegalStore, article: Article, other: LawVersion) -> Article | None:
    """Return the article of another version that says the same in its own words; numbers move when others come in."""
    same = store.articles(other, article.number) if article.number else []
    if same and _likeness(same[0].text, article.text) >= SURELY_THE_SAME:
        return same[0]
    everything = store.articles(other, ArticleNumber(0), ArticleNumber(MAX_ARTICLE + 1), limit=None)
    best = max(everything, key=lambda candidate: _likeness(candidate.text, article.text), default=None)
    return best if best is not None and _likeness(best.text, article.text) >= ALIKE else None


def _likeness(one: str, other: str) -> float:
    """Return the share of pairs of characters that two texts have in common."""
    first, second = _pairs(one), _pairs(other)
    return 2 * (first & second).total() / ((first.total() + second.total()) or 1)


def _pairs(text: str) -> Counter[str]:
    return Counter(text[place : place + 2] for place in range(len(text) - 1))


def _parts(old: str, new: str) -> tuple[Part, ...]:
    steps: list[tuple[str, str, str]] = []
    for kind, one, two, three, four in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        removed, added = old[one:two], new[three:four]
        by_chance = kind == "equal" and steps and two - one < _LEAST_EQUAL and two < len(old) and four < len(new)
        if kind == "equal" and not by_chance:
            steps.append((removed, "", ""))
        elif steps and not steps[-1][0]:
            steps[-1] = ("", steps[-1][1] + removed, steps[-1][2] + added)
        else:
            steps.append(("", removed, added))
    parts = [
        Part(change, text)
        for step in steps
        for change, text in zip((Change.SAME, Change.REMOVED, Change.ADDED), step, strict=True)
        if text
    ]
    return tuple(parts)


def _side(article: Article) -> Side:
    version = article.version
    return Side(version.law.name, label_of(article), version.published, version.effective, article.text)


def _as_dict(side: Side) -> dict[str, str]:
    return {
        "articleNumber": side.article_number,
        "version": side.version,
        "effectiveDate": side.effective_date,
        "text": side.text,
    }
