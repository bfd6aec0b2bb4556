"""An English question as words with their kinds, and as the things that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qiusuo.chat.followups.conversation import Thing
from qiusuo.chat.followups.lexicon import read_words
from qiusuo.citations.meaning.wording import STOP_WORDS, stem

LEXICON: Final = read_words("english.tsv")
_VERB_STEMS: Final = frozenset(map(stem, LEXICON["verb"]))
_WORD: Final = re.compile(r"[^\W_]+(?:[-'’./&][^\W_]+|\.(?=\w\.))*|[?!.;,]")
_ENDS: Final = frozenset("?!.;")
# Words that may stand inside a name: the Lord of the Rings, Lewis and Clark.
_INSIDE_NAMES: Final = frozenset({"of", "and", "the", "de", "for", "in", "on"})
ARTICLES: Final = frozenset({"the", "a", "an"})
_DETERMINERS: Final = frozenset({"a", "an", "the", "some", "any"})
_KEEPS_QUALITY: Final = frozenset({"of", "about", "is", "was", "a", "an"})
_ADJECTIVE: Final = re.compile(r"(?:al|ary|ic|ive|ous|ful|able|ible|ish|ese|ean|ian)$")
_AUXILIARY: Final = frozenset(
    {
        "do",
        "does",
        "did",
        "can",
        "could",
        "will",
        "would",
        "should",
        "may",
        "might",
        "must",
        "don't",
        "doesn't",
        "didn't",
    }
)
_SUBJECTS: Final = frozenset({"it", "they", "he", "she", "i", "you", "we"})
_BE: Final = frozenset({"is", "are", "was", "were", "be", "been"})
_SHORTEST_PAST: Final = 5
SOFT: Final = frozenset({"aspect", "quality"})
HARD: Final = frozenset({"content", "name"})
NOUNS: Final = HARD | SOFT


@dataclass(frozen=True)
class Word:
    """A word of a question, its place, and what kind of word it is."""

    text: str
    low: str
    start: int
    end: int
    kind: str


def words_of(text: str) -> list[Word]:
    """Return the words and marks of a text."""
    found: list[Word] = []
    opening = True
    for match in _WORD.finditer(text):
        word = match[0]
        low = word.lower().replace("’", "'")
        kind = "mark" if word in _ENDS or word == "," else _kind(word, low, opening=opening)
        found.append(Word(word, low, match.start(), match.end(), kind))
        opening = word in _ENDS
    return [replace(word, kind="verb") if _is_verb(found, at) else word for at, word in enumerate(found)]


def _is_verb(words: Sequence[Word], at: int) -> bool:
    """Tell by its place that a word which no table has is a verb: who designed it, does it freeze, was Rome sacked."""
    if words[at].kind != "content" or not at:
        return False
    before = at - 1
    while before and words[before].kind in {"frame", "time"}:
        before -= 1
    if words[before].low == "who" or (
        before and words[before].low in _SUBJECTS and words[before - 1].low in _AUXILIARY
    ):
        return True
    after = words[at + 1].kind if at + 1 < len(words) else "mark"
    if words[at].low.endswith("ed") and len(words[at].low) > _SHORTEST_PAST:
        passive = any(word.low in _BE for word in words[:at])  # How is vitamin D deficiency diagnosed?
        return after == "name" or (after not in NOUNS and (passive or words[at - 1].kind == "name"))
    between = NOUNS if _object_comes_first(words) and after == "mark" else {"name"}
    while before and (words[before].kind in between or (len(between) > 1 and words[before].low in ARTICLES)):
        before -= 1
    # Does Lake Tahoe freeze in winter?
    return before < at - 1 and words[before].low in _AUXILIARY and after not in NOUNS


def _object_comes_first(words: Sequence[Word]) -> bool:
    """Tell whether the last word can only be a verb: How many keys can a transaction touch?"""
    return words[0].low in {"what", "which"} or [word.low for word in words[:2]] in (["how", "many"], ["how", "much"])


def _kind(word: str, low: str, *, opening: bool) -> str:
    if low in STOP_WORDS:
        return "stop"
    known = next((kind for kind in ("time", "frame", "aspect", "quality") if low in LEXICON[kind]), "")
    if not known and (low in LEXICON["verb"] or stem(low) in _VERB_STEMS):
        known = "verb"
    if word[0].isupper() and (not opening or not known) and low not in {"i", "i'm", "i've"}:
        return "name"
    return known or "content"


def things_of(words: Sequence[Word], text: str) -> list[Thing]:
    """Return what a question names, in its order; words that only ask about a thing are no part of it."""
    return [thing for run in _runs(words) if (thing := _trimmed(words, *run, text))]


def _runs(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of words that are neither grammar nor verbs."""
    at = 0
    while at < len(words):
        if words[at].kind not in NOUNS:
            at += 1
            continue
        first = at
        while at < len(words) and (words[at].kind in NOUNS or _glues(words, first, at)):
            at += 1
        yield first, at - 1


def _glues(words: Sequence[Word], first: int, at: int) -> bool:
    """Tell whether a small word belongs to the name or the thing around it."""
    low = words[at].low
    after = next((i for i in range(at + 1, min(at + 3, len(words))) if words[i].low not in _DETERMINERS), at)
    if low not in _INSIDE_NAMES or after == at or words[after].kind not in NOUNS:
        return False
    left, right = words[at - 1], words[after]
    if low in {"in", "on", "for"}:
        return left.kind == "content" and right.kind in HARD and low == "in"
    if left.kind == "name" and right.kind == "name":
        return low != "the" or words[at - 1].low in _INSIDE_NAMES
    if low == "the":
        return words[at - 1].low in _INSIDE_NAMES and at - 1 > first
    return low == "of" and left.kind == "content" and right.kind != "name"


def _trimmed(words: Sequence[Word], first: int, last: int, text: str) -> Thing | None:
    before = words[first - 1].low if first else ""
    keeps_quality = before in _KEEPS_QUALITY
    while first <= last and words[first].kind in SOFT:
        selects = before == "the" and words[first].low.endswith("est")  # the tallest mountain
        if (
            words[first].kind == "quality"
            and (keeps_quality or selects)
            and any(w.kind in HARD for w in words[first : last + 1])
        ):
            break
        first += 1
    while first <= last and (words[last].kind == "quality" or words[last].kind == "stop"):
        last -= 1
    while first < last and words[last].kind == "aspect" and not _ADJECTIVE.search(words[last - 1].low):
        last -= 1
    if first > last or not any(word.kind in HARD for word in words[first : last + 1]):
        return None
    return thing_from(words, first, last, text)


def thing_from(words: Sequence[Word], first: int, last: int, text: str) -> Thing:
    """Return a stretch of words as one thing."""
    inside = words[first : last + 1]
    spelled = text[inside[0].start : inside[-1].end].removesuffix("'s").removesuffix("’s")
    stems = frozenset(stem(word.low.removesuffix("'s")) for word in inside if word.kind != "stop")
    final = inside[-1].low.removesuffix("'s")
    plural = (final.endswith("s") and not final.endswith(("ss", "is", "us"))) or " and " in spelled
    names = [word.kind == "name" for word in inside]
    article = words[first - 1].low if first and words[first - 1].low in ARTICLES else ""
    return Thing(first, last, spelled, stems, named=any(names), whole_name=all(names), plural=plural, article=article)
