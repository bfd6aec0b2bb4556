"""Days in laws and judgments: 二〇一六年三月一日, 2021年1月1日, 2021-01-01; and when a version really took effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType

from qiusuo.legal.models import DateBasis
from qiusuo.legal.reading.names import name_key
from qiusuo.legal.reading.numbers import folded
from qiusuo.numerals import han_number
from qiusuo.tables import read_table

_DAY = re.compile(
    r"(?P<year>(?:19|20)\d{2}|[一二][〇○零0O九一二三四五六七八]{3})\s*年\s*"
    r"(?P<month>\d{1,2}|[元一二三四五六七八九十]{1,2})\s*月\s*"
    r"(?P<day>\d{1,2}|[一二三四五六七八九十廿]{1,3})\s*日"
)
_ISO = re.compile(r"(?P<year>(?:19|20)\d{2})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})")
_TABLE = Path(__file__).parent.parent / "data" / "known_effective.tsv"
KNOWN_EFFECTIVE: Mapping[tuple[str, str], str] = MappingProxyType(
    {(row["law"], row["version"]): row["effective"] for row in read_table(_TABLE)}
)
"""The day on which a version took effect, where its source states another."""


def _value(text: str) -> int | None:
    text = text.replace("元", "一").replace("廿", "二十").replace("○", "〇").replace("O", "〇").replace("0", "〇")
    number = int(text.replace("〇", "0")) if text.replace("〇", "0").isdecimal() else han_number(text)
    return None if number is None else int(number)


def read_day(text: str) -> str:
    """Return the first day in ``text`` as ISO 8601, an empty string if there is none that exists."""
    days = all_days(text)
    return days[0] if days else ""


def all_days(text: str) -> list[str]:
    """Return every day in ``text``, in its order."""
    text = folded(text)
    found: list[str] = []
    for match in sorted((*_DAY.finditer(text), *_ISO.finditer(text)), key=lambda match: match.start()):
        year, month, day = (_value(match[part]) for part in ("year", "month", "day"))
        try:
            found.append(date(year or 0, month or 0, day or 0).isoformat())
        except ValueError:
            continue
    return found


def effective_day(name: str, published: str, effective: str, decisions: Mapping[str, str]) -> tuple[str, DateBasis]:
    """Return when a version took effect and how that is known.

    A day before the publication is that of the original law. ``decisions`` has the days of the decisions that made a
    version, under ``key|published``.
    """
    key = name_key(name)
    known = decisions.get(f"{key}|{published}") or KNOWN_EFFECTIVE.get((key, published))
    if known:
        return known, DateBasis.STATED if known == effective else DateBasis.CORRECTED
    if effective and (not published or effective >= published):
        return effective, DateBasis.STATED
    if published:
        return published, DateBasis.PUBLISHED
    return "", DateBasis.UNKNOWN
