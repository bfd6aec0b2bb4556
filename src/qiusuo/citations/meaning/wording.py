"""What a sentence is about, as a set that can be compared: stems of English words and pairs of Chinese characters.

Lexical on purpose: fast enough for every answer, and every decision can be shown to the reader.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add

from qiusuo.citations.meaning.units import UNITS
from qiusuo.words.script import is_traditional, simplified

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:[-'.&][A-Za-z0-9]++)*|\d[\d,]*(?:\.\d+)?|[\u3400-\u9fff]+")
_HANS = re.compile(r"[\u3400-\u9fff]+")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_EMPHASIS = re.compile(r"[*`~]+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
# Characters that only join words. 地, 等, 有, 将, 会 and the like also stand inside words and are left in.
_HAN_JOINTS = "的了是在和与及或也并被把其该此之们着而但于以"

STOP_WORDS = frozenset(
    """
    a an the and or but nor so yet of in on at to for from by with as into onto over under about after before between
    during through up down out off than then that this these those it its he his she her they them their we our you your
    i my is are was were be been being am has have had having do does did done will would shall should can could may
    might must not no there here who whom whose which what when where why how all any both each few more most other some
    such only own same very just also while if because since until although though however according said says say one
    am pm s t
    """.split()  # noqa: SIM905 - data
)
# A number with its measure word; numbers are compared apart.
_MEASURES = "".join(unit for unit in UNITS if _HANS.fullmatch(unit) and len(unit) == 1)
_BETWEEN_HAN_WORDS = re.compile(
    f"[{_HAN_JOINTS}]|[一二两三四五六七八九十百千万亿]{{2,}}|[一二两三四五六七八九十](?=[{_MEASURES}小])"
)


def fold(text: str) -> str:
    """Return text in one spelling: NFKC, simplified characters, straight quotes, no emphasis marks."""
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    if is_traditional(folded):
        folded = simplified(folded)
    if "*" in folded or "_" in folded or "`" in folded or "~" in folded:
        return _EMPHASIS.sub("", folded)
    return folded


def is_chinese(text: str) -> bool:
    """Tell whether text is mostly written in Chinese characters; names and terms in Latin letters may stand in it."""
    if text.isascii():
        return False
    return len(text) - len(_HANS.sub("", text)) > len(_LATIN_WORD.findall(text))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a rough stem of an English word in lower case."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):  # noqa: PLR2004 - "dies" stays
        word = word[:-3] + "y"
    for suffix in ("ingly", "ing", "edly", "ed", "ly", "es", "s", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):  # noqa: PLR2004
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt" else word  # noqa: PLR2004


def bigrams(text: str) -> Iterator[str]:
    """Yield the pairs of neighbouring characters."""
    return map(add, text, text[1:])


def terms(text: str) -> set[str]:
    """Return the content of folded text: stems of words, Han bigrams, and numbers as they are written."""
    found: set[str] = set()
    tokens = _TOKEN.findall(text if text.isascii() else _BETWEEN_HAN_WORDS.sub(" ", text))
    for token in set(tokens) - STOP_WORDS:
        first = token[0]
        if first > "\u33ff":
            found.update(map(add, token, token[1:]))
        elif first.isdigit():
            found.add("#" + token.replace(",", ""))
        else:
            word = token.lower()
            if word not in STOP_WORDS:
                found.add(stem(word))
            if "-" in word:
                found.update(stem(part) for part in word.split("-") if part not in STOP_WORDS)
    return found


def words_of(content: set[str]) -> set[str]:
    """Return those of the terms that are no numbers."""
    return {term for term in content if term[0] != "#"}
