"""Names in a sentence, and whether a source knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qiusuo.citations.gazetteer import chinese_names, is_demonym, is_english_name
from qiusuo.citations.wording import STOP_WORDS

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-'.&][A-Za-z0-9]+)*")
_JOINTS = re.compile("[-'.&]")
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", "\n")
_LOOK_BACK = 8
# 《书名》, “短语” in quotes, 名·姓 of foreigners
_TITLE = re.compile(r"《([^《》]{1,40})》|[“「]([^“”「」]{1,10})[”」]|([\u3400-\u9fff]{1,6}·[\u3400-\u9fff]{1,6})")
_CALENDAR = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
)
_NO_NAMES = STOP_WORDS | frozenset(
    {"i", "moon", "earth", "sun", "internet", "web", "bible", "covid", "tv", "ceo", "ok", "pdf"}
)
_SAME_BEGINNING = 5
_LONGEST_ACRONYM = 6


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a sentence: Latin ones in lower case, well-known Chinese ones with their kind, titles and quotes."""

    latin: frozenset[str]
    chinese: dict[str, str]
    titles: frozenset[str]


def names(text: str) -> Names:
    """Return the names in folded text."""
    latin: set[str] = set()
    tokens = list(_LATIN.finditer(text))
    for index, match in enumerate(tokens):
        if match[0].islower() and match[0].isalpha():
            continue
        token = match[0].removesuffix("'s")
        if len(token) == 1 and not (token.isupper() and text[match.start() - 1 : match.start()] > "\u33ff"):
            continue  # "I", "a"; but 维生素D
        follows = tokens[index + 1] if index + 1 < len(tokens) else None
        if _opens_sentence(text, match) and not _is_name_at_start(text, match, follows):
            continue
        words = [token] if any(map(str.isdigit, token)) else _JOINTS.split(token)
        latin.update(word.lower() for word in words if _looks_like_name(word))
    titles = frozenset(next(filter(None, groups)) for groups in _TITLE.findall(text))
    return Names(frozenset(latin), {} if text.isascii() else chinese_names(text), titles)


def _looks_like_name(word: str) -> bool:
    lowered = word.lower()
    if lowered in _NO_NAMES or is_demonym(lowered) or _CALENDAR.fullmatch(word):
        return False
    return lowered != word or not word.isalpha()


def _opens_sentence(text: str, match: re.Match[str]) -> bool:
    if not match[0][1:].islower():
        return False
    before = text[max(match.start() - _LOOK_BACK, 0) : match.start()].rstrip(" \"'“”(")
    return before.endswith(_SENTENCE_ENDS) if before else match.start() < _LOOK_BACK


def _is_name_at_start(text: str, match: re.Match[str], follows: re.Match[str] | None) -> bool:
    """Tell whether the first word of a sentence is a name: known as one, "Rafael Nadal", "Oregon's"."""
    word = match[0].lower().removesuffix("'s")
    if word in STOP_WORDS or is_english_name(word):
        return word not in STOP_WORDS
    joined = follows is not None and text[match.end() : follows.start()] == " " and follows[0][0].isupper()
    return joined or match[0].endswith("'s")


class KnownNames:
    """The names that a source knows, in its text and title."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = _LATIN.findall(text)
        self._words = {part for word in words for part in _parts(word.lower())}
        self._beginnings = {word[:_SAME_BEGINNING] for word in self._words if len(word) >= _SAME_BEGINNING}
        self._initials = "".join(word[0] for word in words if word[0].isupper()).lower()

    def has_latin(self, name: str) -> bool:
        """Tell whether the source has a Latin name, a word that begins like it, or what it is short for."""
        return (
            name in self._words
            or name[:_SAME_BEGINNING] in self._beginnings
            or all(part in self._words for part in _parts(name))
            or (1 < len(name) <= _LONGEST_ACRONYM and name.isalpha() and name in self._initials)
        )

    def has(self, name: str) -> bool:
        """Tell whether the source has a name as it is written."""
        return name in self._text


def _parts(word: str) -> set[str]:
    if word.isalnum():
        return {word}
    return {word, word.removesuffix("'s"), *_JOINTS.split(word)}
