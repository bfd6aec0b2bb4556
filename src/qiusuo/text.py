"""Cleaning of provider text and shaping of queries. Pure functions."""

from __future__ import annotations

import html
import re
import unicodedata
from datetime import UTC, date, datetime, timedelta

from qiusuo.models import Freshness, domain_of
from qiusuo.words.script import is_traditional

# Only real tags: "a < b and c > d" is prose and stays.
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# C0/C1 controls, and the invisible direction and zero-width marks.
_CONTROL = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_UNSEEN = re.compile(_CONTROL.pattern[:-1] + r"\t\n\x0b\x0c\r\x85\u2028\u2029]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")
_US_DATE = re.compile(r"^(\d{1,2})/(\d{1,2})/(\d{4})$")

FRESHNESS_SPAN = {
    Freshness.HOUR: timedelta(hours=1),
    Freshness.DAY: timedelta(days=1),
    Freshness.WEEK: timedelta(weeks=1),
    Freshness.MONTH: timedelta(days=31),
    Freshness.YEAR: timedelta(days=366),
}


def clean(text: object, limit: int | None = None) -> str:
    """Turn provider text into one plain line: no tags, entities resolved, no control characters, blanks folded."""
    if not text or not isinstance(text, str):
        return ""
    if "<" in text:
        text = _TAG.sub("", _without_comments(text))
    text = html.unescape(text)
    if not text.isprintable() or "  " in text:  # the only blank that is printable is the ordinary one
        text = " ".join(_CONTROL.sub("", text).split())
    text = text.strip()
    return text if limit is None else truncate(text, limit)


def _without_comments(text: str) -> str:
    # Not by a pattern: a page full of comments without an end would take it minutes.
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join((*kept, text[at:]))


def visible(text: str) -> str:
    """Take out what a terminal or a browser would act on instead of showing it: controls, breaks, direction marks."""
    return text if text.isprintable() else _UNSEEN.sub("", text)


def web_address(url: object) -> tuple[str, str] | None:
    """Return the address of a result and its host; None for what is no address of the web."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    url = visible(url.strip())
    return url, domain_of(url)


def without_controls(text: str) -> str:
    """Return text without control characters and invisible marks; line breaks and tabs stay."""
    return text if text.isprintable() else _CONTROL.sub("", text)


def truncate(text: str, limit: int) -> str:
    """Cut ``text`` to at most ``limit`` characters, with an ellipsis where something was cut."""
    if len(text) <= limit:
        return text
    return text[: max(limit - 1, 0)].rstrip() + "…"


def shorten_query(text: str, max_chars: int | None, max_words: int | None = None) -> str:
    """Shorten an over-long query at a word boundary; text without blanks is cut at the limit."""
    if max_words is not None:
        words = text.split()
        if len(words) > max_words:
            text = " ".join(words[:max_words])
    if max_chars is None or len(text) <= max_chars:
        return text
    cut = text[:max_chars]
    head, blank, _ = cut.rpartition(" ")
    # A boundary that would lose more than a third is worse than a cut word (Chinese has no blanks at all).
    if blank and not text[max_chars].isspace() and len(head) >= max_chars * 2 // 3:
        cut = head
    return cut.rstrip()


def normalise_query(text: str, *, sort_words: bool = False) -> str:
    """Return the form of a query that serves as cache key: NFKC, lower case, single blanks, optionally sorted words."""
    # Lower-casing can leave the normal form (İ), so NFKC comes again behind it: a second pass changes nothing.
    words = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()).split()
    if sort_words:
        words.sort()
    return " ".join(words)


def detect_language(text: str) -> str | None:
    """Guess the language from the script: ``zh-CN``, ``zh-TW``, ``ja``, ``ko``; None where the script does not tell."""
    if text.isascii():
        return None
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    if _HAN.search(text):
        return "zh-TW" if is_traditional(text) else "zh-CN"
    return None


def primary_language(tag: str | None) -> str | None:
    """Return the language part of a tag: ``zh`` of ``zh-CN``."""
    return tag.split("-", 1)[0].lower() if tag else None


def is_traditional_chinese(tag: str | None) -> bool:
    """Tell whether a tag stands for Chinese in traditional characters."""
    return (tag or "").lower() in {"zh-tw", "zh-hk", "zh-mo", "zh-hant"}


def region_for(language: str | None, region: str | None) -> str | None:
    """Return the given country, else the one a language tag names (``CN`` of ``zh-CN``)."""
    if region:
        return region.upper()
    if language and "-" in language:
        tail = language.rsplit("-", 1)[1]
        if len(tail) == 2:  # noqa: PLR2004 - ISO 3166 codes have two letters
            return tail.upper()
    return None


def iso_date(value: object) -> str | None:
    """Return a date as ISO 8601 where it can be read, the provider's own words otherwise, None for nothing."""
    if not isinstance(value, str):
        return None
    text = clean(value, 60)
    if not text:
        return None
    us_date = _US_DATE.match(text)
    try:
        if us_date:
            month, day, year = (int(part) for part in us_date.groups())
            return date(year, month, day).isoformat()
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    # fromisoformat also takes "20261115"; only what had a time keeps one.
    return moment.isoformat() if "T" in text or ":" in text else moment.date().isoformat()


def earliest(freshness: Freshness, now: datetime | None = None) -> datetime:
    """Return the oldest moment that ``freshness`` allows."""
    return (now or datetime.now(UTC)) - FRESHNESS_SPAN[freshness]
