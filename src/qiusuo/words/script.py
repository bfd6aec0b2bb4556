"""Traditional and simplified characters: which of them a text is in, and one for the other.

Character by character (``data/traditional.txt``), without OpenCC: enough to recognise a text and to compare it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from qiusuo.words.languages import Language

_TABLE: Final = Path(__file__).with_name("data") / "traditional.txt"
_ENOUGH: Final = 2000  # characters of a text tell in which writing it is
_KNOWN: Final = 10_000  # characters, of which texts have the same few thousand again and again


def is_traditional(text: str) -> bool:
    """Tell whether a text has more characters that only traditional writing has than such of simplified writing."""
    text = text[:_ENOUGH]
    if not _is_in("gb2312", text):  # most texts end here: it has no traditional characters
        of_its_own = [_only_in(one) for one in text if not one.isascii()]
        return of_its_own.count(Language.TRADITIONAL) > of_its_own.count(Language.CHINESE)
    return False


def chinese_of(text: str) -> Language:
    """Return which Chinese a Chinese text is in."""
    return Language.TRADITIONAL if is_traditional(text) else Language.CHINESE


def simplified(text: str) -> str:
    """Return a text of the same length in simplified characters."""
    return text if text.isascii() else text.translate(_table())


def written_like(text: str, examples: str) -> str:
    """Return a simplified text with the traditional characters that stand for its own in the examples."""
    table = _table()
    back = {table[ord(one)]: one for one in reversed(examples) if ord(one) in table}
    return text.translate({ord(one): other for one, other in back.items()})


@cache
def _table() -> Mapping[int, str]:
    lines = _TABLE.read_text("utf-8").splitlines()
    return {ord(line[0]): line[2] for line in lines if not line.startswith("#")}


@lru_cache(maxsize=_KNOWN)
def _only_in(character: str) -> Language | None:
    """Return the one writing that has a character; None where both have it, or neither."""
    in_simplified = _is_in("gb2312", character)
    if not in_simplified and ord(character) in _table():
        return Language.TRADITIONAL
    return Language.CHINESE if in_simplified and not _is_in("big5", character) else None


def _is_in(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True
