"""Names in a sentence, and whether a source knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from qiusuo.citations.meaning.gazetteer import chinese_names, is_demonym, is_english_name
from qiusuo.citations.meaning.wording import STOP_WORDS

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:[-'.&][A-Za-z0-9]++)*")
# The same without plain words in small letters, which are no names; the last match has none.
_UNUSUAL_LATIN = re.compile(rf"[^A-Za-z]*+(?:[a-z]++(?![A-Z0-9]|[-'.&][A-Za-z0-9])[^A-Za-z]*+)*({_LATIN.pattern})?")
_CAPITAL_FOLLOWS = re.compile(" [A-Z]")
_JOINTS = re.compile("[-'.&]")
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", "\n")
_LOOK_BACK = 8
# 《书名》, “短语” in quotes, 名·姓 of foreigners
_QUOTED = re.compile(r"《([^《》]{1,40})》|[“「]([^“”「」]{1,10})[”」]")
_TITLE = re.compile(rf"{_QUOTED.pattern}|([\u3400-\u9fff]{{1,6}}·[\u3400-\u9fff]{{1,6}})")
_CALENDAR = re.compile(
    r"Christmas|(?:(?:mid|early|late|pre|post)-)?\d+s|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
)
_NO_NAMES = STOP_WORDS | frozenset(
    {"i", "moon", "earth", "sun", "internet", "web", "bible", "covid", "tv", "ceo", "ok", "pdf"}
)
_SAME_BEGINNING = 5
_LONGEST_ACRONYM = 6
_TELLING_ACRONYM = 3


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a sentence: Latin ones in lower case, well-known Chinese ones with their kind, titles and quotes."""

    latin: frozenset[str]
    chinese: dict[str, str]
    titles: frozenset[str]


def names(text: str) -> Names:
    """Return the names in folded text."""
    if text.isascii():
        return Names(latin_names(text), {}, frozenset())
    titles = frozenset(next(filter(None, groups)) for groups in (_TITLE if "·" in text else _QUOTED).findall(text))
    return Names(latin_names(text), chinese_names(text), titles)


def latin_names(text: str) -> frozenset[str]:
    """Return the Latin names in folded text, in lower case."""
    found: set[str] = set()
    for match in _UNUSUAL_LATIN.finditer(text):
        written, start = match[1], match.start(1)
        if written is None:
            break
        token = written.removesuffix("'s")
        if len(token) == 1 and not (token.isupper() and text[start - 1 : start] > "\u33ff"):
            continue  # "I", "a"; but 维生素D
        if _opens_sentence(text, written, start) and not _is_name_at_start(text, written, start):
            continue
        words = [token] if token.isalnum() or any(map(str.isdigit, token)) else _JOINTS.split(token)
        found.update(word.lower() for word in words if _looks_like_name(word))
    return frozenset(found)


def _looks_like_name(word: str) -> bool:
    lowered = word.lower()
    if lowered in _NO_NAMES or is_demonym(lowered) or _CALENDAR.fullmatch(word):
        return False
    return lowered != word or not word.isalpha()


def _opens_sentence(text: str, written: str, start: int) -> bool:
    if not written[1:].islower():
        return False
    before = text[max(start - _LOOK_BACK, 0) : start].rstrip(" \"'“”(")
    return before.endswith(_SENTENCE_ENDS) if before else start < _LOOK_BACK


def _is_name_at_start(text: str, written: str, start: int) -> bool:
    """Tell whether the first word of a sentence is a name: known as one, "Rafael Nadal", "Oregon's"."""
    word = written.lower().removesuffix("'s")
    if word in STOP_WORDS or is_english_name(word):
        return word not in STOP_WORDS
    return bool(_CAPITAL_FOLLOWS.match(text, start + len(written))) or written.endswith("'s")


class KnownNames:
    """The names that a source knows, in its text and title."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _written(self) -> list[str]:
        return _LATIN.findall(self._text)

    @cached_property
    def _words(self) -> set[str]:
        words = {word.lower() for word in self._written}
        return words.union(*(_parts(word) for word in words if not word.isalnum()))

    @cached_property
    def _beginnings(self) -> set[str]:
        return {word[:_SAME_BEGINNING] for word in self._words if len(word) >= _SAME_BEGINNING}

    @cached_property
    def _initials(self) -> str:
        return "".join(word[0] for word in self._written if word[0].isupper()).lower()

    @cached_property
    def _all_initials(self) -> str:
        return "".join(word[0] for word in self._written).lower()

    def _is_short_for(self, name: str) -> bool:
        """Tell whether words of the source begin like the letters of the name; of two letters only capitals count."""
        if not (1 < len(name) <= _LONGEST_ACRONYM and name.isalpha()):
            return False
        return name in self._initials or (len(name) >= _TELLING_ACRONYM and name in self._all_initials)

    def has_latin(self, name: str) -> bool:
        """Tell whether the source has a Latin name, a word that begins like it, or what it is short for."""
        return (
            name in self._words
            or name[:_SAME_BEGINNING] in self._beginnings
            or all(part in self._words for part in _parts(name))
            or self._is_short_for(name)
        )

    def has(self, name: str) -> bool:
        """Tell whether the source has a name as it is written."""
        return name in self._text


def _parts(word: str) -> set[str]:
    if word.isalnum():
        return {word}
    return {word, word.removesuffix("'s"), *_JOINTS.split(word)}
