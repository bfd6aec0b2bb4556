"""Questions in other writing than the statutes: traditional characters, and laws by their English names."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType

from qiusuo.tables import read_table
from qiusuo.words.script import simplified as one_by_one

ENGLISH_NAMES: Mapping[str, str] = MappingProxyType(
    {row["english"]: row["law"] for row in read_table(Path(__file__).parent.parent / "data" / "english_names.tsv")}
)
_NUMBER = r"\d{1,4}(?:-\d{1,4})?"
_ARTICLES = re.compile(
    rf"\b(?:articles?|arts?\.?|secs?\.?|sections?)\s*"
    rf"(?P<numbers>{_NUMBER}(?:\s*(?:,\s*and|,|and|&|to|through)\s*(?:articles?\s*|arts?\.?\s*)?{_NUMBER})*)\b"
)
_NAMES = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(ENGLISH_NAMES, key=len, reverse=True)))
_CHINESE = re.compile(r"\b(?:people'?s republic\s+(?:of\s+)?china|prc|p\.r\.c\.?|chinese|china(?:'s)?)(?!\w)")
_EDITION = re.compile(r"\b(?:(?P<year>(?:19|20)\d\d)|old|former|previous)\b")
# What may stand around a reference and asks for nothing more.
_KNOWN_WORDS = re.compile(
    r"\b(?:what|does|do|is|are|says?|said|the|of|in|under|text|full|please|show|me|find|look|up|about|and|version|a|read|"
    r"give|tell|which|content|provisions?|stipulates?)\b"
)
_HAN = re.compile("[\u4e00-\u9fff]")


def simplified(text: str) -> str:
    """Return text in simplified characters: word by word where OpenCC is installed (extra ``legal``)."""
    try:
        text.encode("gb2312")  # has no traditional characters
    except UnicodeEncodeError:
        with suppress(UnicodeError):  # half a character, which no encoding has
            return _converter()(text)
    return text


@cache
def _converter() -> Callable[[str], str]:
    if importlib.util.find_spec("opencc") is None:
        return one_by_one
    convert: Callable[[str], str] = importlib.import_module("opencc").OpenCC("t2s").convert
    return convert


def has_han(text: str) -> bool:
    """Tell whether a text has a Chinese character at all."""
    return bool(_HAN.search(text))


def from_english(query: str) -> tuple[str, bool] | None:
    """Return a question for a law of China by its English name in Chinese, and whether it says that China's is meant.

    ``Article 577 of the PRC Civil Code`` is 民法典第577条. None where it asks for something else as well, or for
    another country's: a search of the web knows more about that.
    """
    if has_han(query):
        return None
    words = re.sub(r"\s+", " ", query.lower().replace("labour", "labor"))
    found = list(_NAMES.finditer(words))
    articles = list(_ARTICLES.finditer(words))
    rest = _KNOWN_WORDS.sub(" ", _NAMES.sub(" ", _ARTICLES.sub(" ", words)))
    ours, edition = bool(_CHINESE.search(words)), _EDITION.search(rest)
    unread = _EDITION.sub(" ", _CHINESE.sub(" ", rest))
    if len(found) != 1 or not (articles or ours) or re.search(r"\w", unread):
        return None
    law = ENGLISH_NAMES[found[0][0]]
    if edition:
        law = f"{law}（{edition['year']}）" if edition["year"] else f"旧{law}"
    numbers = "、".join(_in_chinese(match["numbers"]) for match in articles)
    return law + (f"第{numbers}条" if articles else ""), ours


def _in_chinese(numbers: str) -> str:
    text = re.sub(r"(?:articles?|arts?\.?)\s*", "", numbers)
    return re.sub(r"\s*(?:,\s*and|,|and|&)\s*", "、", re.sub(r"\s*(?:to|through)\s*", "至", text))
