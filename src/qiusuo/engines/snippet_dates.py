"""The date with which result pages begin a snippet: "May 3, 2024 — …", "3 days ago — …", "2024年5月3日 · …"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAY: Final = r"(?P<day>\d{1,2})"
_NUMBER_OF_MONTH: Final = r"(?P<month>\d{1,2})"
_TIME_OF_DAY: Final = r"(?:\s*\d{1,2}:\d{2})?"

_EN_UNITS: Final = {
    "second": "seconds", "sec": "seconds", "minute": "minutes", "min": "minutes", "hour": "hours", "hr": "hours",
    "day": "days", "week": "weeks", "month": "months", "year": "years",
}  # fmt: skip
_ZH_UNITS: Final = {
    "秒": "seconds", "秒钟": "seconds", "分": "minutes", "分钟": "minutes", "分鐘": "minutes", "小时": "hours",
    "小時": "hours", "天": "days", "日": "days", "周": "weeks", "週": "weeks", "星期": "weeks", "个月": "months",
    "個月": "months", "月": "months", "年": "years",
}  # fmt: skip
_NAMED_DAYS: Final = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "前天": 2}

_SHAPES: Final = tuple(
    re.compile(shape + _TIME_OF_DAY, re.IGNORECASE)
    for shape in (
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_DAY}\s+{_MONTH},?\s+{_YEAR}",
        rf"(?:{_YEAR}\s*年\s*)?{_NUMBER_OF_MONTH}\s*月\s*{_DAY}\s*[日号號]",
        rf"{_YEAR}(?P<mark>[-/.]){_NUMBER_OF_MONTH}(?P=mark){_DAY}(?!\d)",
        rf"{_DAY}\.{_NUMBER_OF_MONTH}\.{_YEAR}",
        rf"(?P<count>\d{{1,3}}|an?)\s+(?P<unit>{'|'.join(_EN_UNITS)})s?\s+ago",
        rf"(?P<count>\d{{1,3}})\s*(?P<unit>{'|'.join(sorted(_ZH_UNITS, key=len, reverse=True))})\s*之?前",
        rf"(?P<named>{'|'.join(_NAMED_DAYS)})",
    )
)
# What stands between the date and the text. A hyphen or a blank alone may as well belong to the text.
_BETWEEN: Final = re.compile(r"\s*(?:[—–―·•|]|\.{3}|…|\s-\s)\s*")
# A page may be dated in a time zone where tomorrow has begun.
_AHEAD: Final = timedelta(days=1)


def utc_now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def split_date(snippet: str, now: datetime) -> tuple[str | None, str]:
    """Return the date before a snippet as ISO 8601, and the snippet without it; None and all of it where there is none.

    A text that merely begins with a date stays whole: only what is set off from the text is taken for its date.
    """
    for found in (shape.match(snippet) for shape in _SHAPES):
        between = found and _BETWEEN.match(snippet, found.end())
        if found and between:
            rest = snippet[between.end() :]
            # "May 3, 2024 – May 5, 2024" is when something takes place.
            moment = None if any(shape.match(rest) for shape in _SHAPES) else _moment(found, now)
            return (moment, rest) if moment else (None, snippet)
    return None, snippet


def read_date(text: str, now: datetime) -> str | None:
    """Return a text that is a date and nothing else as ISO 8601; None for any other one."""
    return next((_moment(found, now) for shape in _SHAPES if (found := shape.fullmatch(text.strip()))), None)


def _moment(found: re.Match[str], now: datetime) -> str | None:
    parts = found.groupdict()
    try:
        if parts.get("unit"):
            return _ago(parts, now)
        if parts.get("named"):
            return (now.date() - timedelta(days=_NAMED_DAYS[parts["named"].lower()])).isoformat()
        return _day(parts, now)
    except (ValueError, OverflowError):
        return None  # February 30th


def _ago(parts: Mapping[str, str], now: datetime) -> str:
    count = int(parts["count"]) if parts["count"].isdecimal() else 1
    unit = _EN_UNITS.get(parts["unit"].lower()) or _ZH_UNITS[parts["unit"]]
    if unit in {"seconds", "minutes", "hours"}:
        return (now - timedelta(**{unit: count})).replace(microsecond=0).isoformat()
    if unit in {"days", "weeks"}:
        return (now.date() - timedelta(**{unit: count})).isoformat()
    years, month = divmod(now.year * 12 + now.month - 1 - count * (12 if unit == "years" else 1), 12)
    return date(years, month + 1, min(now.day, calendar.monthrange(years, month + 1)[1])).isoformat()


def _day(parts: Mapping[str, str | None], now: datetime) -> str | None:
    name, day, year = parts["month"] or "", int(parts["day"] or 0), parts.get("year")
    month = int(name) if name.isdecimal() else _MONTHS.index(name[:3].lower()) + 1
    latest = now.date() + _AHEAD
    if year:
        found = date(int(year), month, day)
        return found.isoformat() if found <= latest else None
    # Without a year it is the last such day.
    found = date(now.year, month, day)
    return (found if found <= latest else date(now.year - 1, month, day)).isoformat()
