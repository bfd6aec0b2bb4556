"""Finds numbers, dates and amounts in Chinese and English text.

百分之五 is read as 5%, 三百 as 300, 两个月 and six weeks as spans of time, "May 3, 2023" as year, month and day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from qiusuo.citations.meaning.quantity import Quantity
from qiusuo.citations.meaning.units import CURRENCY_SIGNS, MAGNITUDES, UNITS, unit_at
from qiusuo.citations.meaning.wording import STOP_WORDS, stem
from qiusuo.numerals import ENGLISH_NUMBERS, ENGLISH_ORDINALS, HAN_NUMERALS, english_number, han_number

_MONTHS = {
    name: index
    for index, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_PARTS = {"third": 100 / 3, "quarter": 25.0, "fifth": 20.0, "tenth": 10.0, "half": 50.0}
_MULTIPLES = {
    "twice": 200.0, "double": 200.0, "doubled": 200.0, "triple": 300.0, "tripled": 300.0, "双倍": 200.0, "翻倍": 200.0,
}  # fmt: skip
_WEEKDAYS = {"mon": 1, "tues": 2, "wednes": 3, "thurs": 4, "fri": 5, "satur": 6, "sun": 7, "日": 7, "天": 7}
_YEARS = range(1500, 2100)
_YEAR_DIGITS = 4


class _Reading(NamedTuple):
    kind: str
    value: float | None
    scale: float = 1.0
    soft: bool = False
    about: str = ""
    end: int = 0  # where it ends, if that is behind the match


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern for one of the words, longest first; what ends in a letter ends at a word's end."""
    patterns = []
    for word in sorted(words, key=len, reverse=True):
        letter = word[-1].isascii() and word[-1].isalpha()
        patterns.append(re.escape(word) + ("(?![A-Za-z])" if letter else ""))
    return "|".join(patterns)


# The 千 of 千瓦, 千米 and 千克 belongs to the unit. No real numeral is longer than 20 characters.
_HAN = f"(?:(?!千[瓦米克])[{HAN_NUMERALS}])"
_HANS = f"{_HAN}{{1,20}}"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![.,]?\d)"
_SCALE = f"(?=[{''.join(sorted({name[0] for name in MAGNITUDES}))}])(?!千[瓦米克])(?:{_any_of(MAGNITUDES)})"
_MONTH = _any_of(name.capitalize() for name in _MONTHS)
_WEEKDAY = "Mon|Tues|Wednes|Thurs|Fri|Satur|Sun"
_WORD = f"(?:{_any_of([*ENGLISH_NUMBERS, 'hundred', 'thousand', 'million', 'billion'])})"
_NOT_IN_NAME = r"(?<![A-Za-z0-9_.])(?<![A-Za-z]-)"


def _number(text: str) -> float | None:
    return float(text.replace(",", "")) if text[0].isdigit() else han_number(text)


def _iso_date(match: re.Match[str]) -> Iterator[_Reading]:
    year, month, day = (float(part) for part in re.split("[-/]", match["iso_date"]))
    yield from (_Reading("year", year), _Reading("month", month), _Reading("day", day))


def _decade(match: re.Match[str]) -> Iterator[_Reading]:
    yield _Reading("decade", (_number(match["decade"].rstrip("sS年代")) or 0) % 100)


def _chinese_date(match: re.Match[str]) -> Iterator[_Reading]:
    for kind in ("year", "month", "day"):
        if match[f"zh_{kind}"]:
            yield _Reading(kind, _number(match[f"zh_{kind}"]))


def _english_date(match: re.Match[str]) -> Iterator[_Reading]:
    yield _Reading("month", _MONTHS[(match["month_first"] or match["month_second"]).lower()])
    for kind in ("day", "year"):
        text = match[f"{kind}_second"] or match[f"{kind}_first"]
        if text:
            yield _Reading(kind, float(text))


def _fraction(match: re.Match[str]) -> Iterator[_Reading]:
    below = {"百": 100.0, "千": 1000.0}.get(match["below"]) or _number(match["below"])
    above = _number(match["above"])
    if below and above is not None:
        yield _Reading("percent", above / below * 100)


def _tenths(match: re.Match[str]) -> Iterator[_Reading]:
    yield _Reading("percent", _number(match["tenth"]), 10.0)


def _half(match: re.Match[str]) -> Iterator[_Reading]:
    unit = match["half_unit"]
    if unit:
        kind, size = UNITS[unit]
        yield _Reading(kind, 0.5, size)
    else:
        yield _Reading("percent", 50.0, soft=match["half"] == "half")


def _ordinal(match: re.Match[str]) -> Iterator[_Reading]:
    word = match["ordinal_word"]
    value = ENGLISH_ORDINALS[word.lower()] if word else _number(match["ordinal_zh"] or match["ordinal_en"])
    yield _Reading("ordinal", value, soft=bool(word) or value == 1)


def _money(match: re.Match[str]) -> Iterator[_Reading]:
    scale = MAGNITUDES.get((match["money_scale"] or "").lower(), 1.0)
    yield _Reading(CURRENCY_SIGNS[match["sign"].lower()], _number(match["money_value"]), scale)


def _digits(match: re.Match[str]) -> Iterator[_Reading]:
    text, whole, end = match["digits_value"], match.string, match.end()
    scale = MAGNITUDES.get((match["digits_scale"] or "").lower(), 1.0)
    about = "over" if match["digits_more"] or match["digits_some"] else ""
    unit, unit_end = unit_at(whole, end + (whole[end : end + 1] in {" ", "-"}))
    if unit:
        kind, size = UNITS[unit]
        yield _Reading(kind, _number(text), scale * size, about=about, end=unit_end)
    elif whole[end : end + 1].isascii() and whole[end : end + 1].isalpha():
        return  # part of a name, as in 4o
    elif scale == 1.0 and len(text) == _YEAR_DIGITS and text.isdigit() and int(text) in _YEARS:
        yield _Reading("year", float(text))
    else:
        yield _Reading("number", _number(text), scale, about=about)


def _han(match: re.Match[str]) -> Iterator[_Reading]:
    text, value = match["han_value"], han_number(match["han_value"])
    unit, end = unit_at(match.string, match.end())
    # Most single numerals are parts of words (四川, 三星, 统一); a run needs a power of ten to be a number (三百).
    if not unit and (len(text) == 1 or not set(text) & set("十百千亿") or text in {"千万", "百万"}):
        return
    kind, size = UNITS[unit] if unit else ("number", 1.0)
    scale = MAGNITUDES.get(match["han_scale"] or "", 1.0) * size
    soft = value == 1 and (kind.startswith("count:") or unit in {"年", "天", "日"})
    yield _Reading(kind, value, scale, soft, "over" if match["han_more"] else "", end)


def _words(match: re.Match[str]) -> Iterator[_Reading]:
    words = re.split(r"[\s-]+", match["words_value"].lower())
    value, parts, end = english_number(words), match["words_parts"], match.end()
    if value is None:
        return
    if match["words_of"]:
        whole = english_number([match["words_of"].lower()])
        yield _Reading("percent", value / whole * 100 if whole else None)
    elif parts:
        yield _Reading("percent", value, _PARTS[parts.lower().rstrip("s")])
    else:
        unit, end = unit_at(match.string, end + 1) if match.string[end : end + 1] in {" ", "-"} else ("", end)
        kind, size = UNITS[unit] if unit else ("number", 1.0)
        yield _Reading(kind, value, size, soft=words == ["one"], end=end if unit else 0)


def _period(match: re.Match[str]) -> Iterator[_Reading]:
    unit = (match["every"] or match["every_zh"]).lower()
    yield _Reading("period", 1.0, UNITS["个月" if unit == "月" else unit][1], soft=True)


def _part(match: re.Match[str]) -> Iterator[_Reading]:
    yield _Reading("percent", _PARTS[match["part_name"].lower()])


def _weekday(match: re.Match[str]) -> Iterator[_Reading]:
    day = (match["weekday_en"] or match["weekday_zh"]).lower()
    yield _Reading("weekday", _WEEKDAYS.get(day) or han_number(day))


def _multiple(match: re.Match[str]) -> Iterator[_Reading]:
    yield _Reading("percent", _MULTIPLES[match["multiple"].lower()])


# Each form with its pattern; the first that fits is taken.
_FORMS: dict[Callable[[re.Match[str]], Iterator[_Reading]], str] = {
    _iso_date: r"(?<!\d)\d{4}[-/]\d{1,2}[-/]\d{1,2}(?!\d)",
    _decade: rf"(?<!\d)\d{{4}}s|\d0年代|{_HAN}{{2}}年代",
    _chinese_date: (
        r"(?<![\d.])(?=[\d零〇一二三四五六七八九十]+\s?[年月])"
        r"(?:(?P<zh_year>\d{4}|[零〇一二三四五六七八九]{4})\s?年(?!代))?"
        r"(?:\s?(?P<zh_month>\d{1,2}|[一二三四五六七八九十]{1,2})\s?月(?![球亮面背])份?"
        r"(?:\s?(?P<zh_day>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号])?)?(?<=[年月日号份])"
    ),
    _english_date: (
        rf"(?<![\d.])(?P<day_first>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?-i:(?P<month_first>{_MONTH}))"
        r"(?:,?\s+(?P<year_first>\d{4})(?!\d))?"
        rf"|\b(?-i:(?P<month_second>{_MONTH}))\.?(?:\s+(?P<day_second>\d{{1,2}})(?:st|nd|rd|th)?(?![\d,.]\d|\d))?"
        r"(?:,?\s+(?P<year_second>\d{4})(?!\d))?"
    ),
    _fraction: (
        rf"(?=[\d{HAN_NUMERALS}]+分之)"
        rf"(?P<below>[百千]|{_HANS}|\d+)分之(?P<above>{_DIGITS}|{_HANS}(?:点{_HANS})?)"
    ),
    _tenths: r"(?P<tenth>\d|[一二两三四五六七八九])成(?![员立为本功长熟分])",
    _half: r"一半|half(?![A-Za-z])|半(?P<half_unit>个?小时|年|个月|天|勺)",
    _ordinal: (
        rf"第(?P<ordinal_zh>\d+|{_HANS})|{_NOT_IN_NAME}(?P<ordinal_en>\d+)(?:st|nd|rd|th)(?![A-Za-z])"
        rf"|\b(?P<ordinal_word>{_any_of(ENGLISH_ORDINALS)})"
    ),
    _money: rf"(?P<sign>(?:US|HK)?\$|[€£¥])\s?(?P<money_value>{_DIGITS})(?:\s?(?P<money_scale>{_SCALE}))?",
    _digits: (
        rf"{_NOT_IN_NAME}(?P<digits_value>{_DIGITS})(?:\s?(?P<digits_more>[多余几])?(?P<digits_scale>{_SCALE}))?"
        r"(?P<digits_some>[多余几])?"
    ),
    _han: rf"(?P<han_value>{_HANS}(?:点{_HANS})?)(?P<han_more>[多余几])?(?P<han_scale>[万亿])?",
    _words: (
        rf"\b(?P<words_value>{_WORD}(?:[\s-](?:and\s)?{_WORD}){{0,8}})"
        rf"(?:\s+in\s+(?P<words_of>{_WORD})|[\s-](?P<words_parts>(?:third|quarter|fifth|tenth)s?)(?![A-Za-z]))?"
    ),
    _period: (
        r"\b(?:an?|per|each|every)\s(?P<every>day|week|month|year|hour)(?![A-Za-z])"
        r"|每(?P<every_zh>天|日|周(?![一二三四五六日天])|月|年|小时)"
    ),
    _part: r"\ban?\s(?P<part_name>third|quarter|fifth|tenth)(?![A-Za-z])",
    _weekday: rf"\b(?-i:(?P<weekday_en>{_WEEKDAY}))days?(?![a-z])|(?:周|星期|礼拜)(?P<weekday_zh>[一二三四五六日天])",
    _multiple: rf"(?<![A-Za-z])(?:{_any_of(_MULTIPLES)})",
}
_ENGLISH_WORDS = (
    *_MONTHS, *ENGLISH_NUMBERS, *ENGLISH_ORDINALS, *_MULTIPLES, *_WEEKDAY.lower().split("|"),
    "hundred", "thousand", "million", "billion", "half", "each", "every",
)  # fmt: skip
_READERS = {reader.__name__.strip("_"): reader for reader in _FORMS}
_QUANTITY = re.compile(
    "|".join(f"(?P<{reader.__name__.strip('_')}>{pattern})" for reader, pattern in _FORMS.items()), re.IGNORECASE
)


def _any_beginning(beginnings: Iterable[str]) -> str:
    """Return a pattern for one of the beginnings in any case: by first letter, so that most words fail at once."""
    by_letter = {
        f"{letter}{letter.upper()}": "|".join(beginning[1:] for beginning in group)
        for letter, group in groupby(sorted(set(beginnings)), key=lambda beginning: beginning[0])
    }
    return f"(?=[{''.join(by_letter)}])(?:{'|'.join(f'[{first}](?i:{rest})' for first, rest in by_letter.items())})"


# What cannot begin a quantity: all but some characters, and words that do not begin like one of ours. Much faster than
# to try the forms at each place. (İ and ı are letters to a pattern that takes no notice of case.)
_LETTER = "[A-Za-zİı]"
_NO_BEGINNING = rf"[^\d$€£¥半第每双翻周星礼{HAN_NUMERALS}A-Za-zİı]*+"
_WORD_BEGINNINGS = _any_beginning(
    [*(word[:4] for word in _ENGLISH_WORDS if word.isascii()), r"an?\s[dwmyhtqf]", r"per\s[dwmyh]", r"us\$", r"hk\$"]
)
_SKIPPED = re.compile(
    rf"(?:(?<={_LETTER}){_LETTER}++)?(?:{_NO_BEGINNING}(?!{_WORD_BEGINNINGS}){_LETTER}++)*{_NO_BEGINNING}"
)

_BEFORE = {
    "over": "超过 逾 多达 突破 高于 大于 more_than over at_least exceed exceeds exceeded exceeding above",
    "under": "将近 接近 近 不到 不足 nearly almost less_than under close_to",
    "about": "大约 大概 约 about around roughly approximately some ~ ≈",
}
_EXACTNESS = {word.replace("_", " "): about for about, words in _BEFORE.items() for word in words.split()}
_ANY_BEFORE = tuple(_EXACTNESS)
_ENDS_BEFORE = frozenset(word[-1] for word in _EXACTNESS)
_NOT_OVER = ("不超过", "不得超过", "未超过")
_AFTER = re.compile(r"\s?(?:(?P<about>左右|上下|or so)|(?P<over>以上|多|余|or more|出头|还多))")
_RANGE = re.compile(r"\s?(?:-|–|~|至|到|to|and|or|或|和|、)\s?")
_LONGEST_RANGE_MARK = len(" and ")
_LOOK_BACK = 14
_COUNTED = re.compile(r"[\s-]([a-z]{3,})(?:\s([a-z]{3,}))?")


def quantities(text: str) -> list[Quantity]:
    """Return the quantities in ``text`` (in NFKC form), in their order."""
    found = []
    position = 0
    while (skipped := _SKIPPED.match(text, position)) and (start := skipped.end()) < len(text):
        match = _QUANTITY.match(text, start)
        if match is None:
            position = start + 1
            continue
        end = match.end()
        for reading in _READERS[match.lastgroup or ""](match):
            end = max(end, reading.end)
            if reading.value is not None:
                about = reading.about or _exactness(text, start, end)
                value = reading.value * reading.scale
                kind = reading.kind if reading.kind != "number" else _counted(text, end)
                found.append(Quantity(kind, value, start, end, reading.scale, about, reading.soft))
        position = max(end, start + 1)
    # In "six to eight weeks" the six are weeks too.
    for index in range(len(found) - 2, -1, -1):
        first, second = found[index], found[index + 1]
        if second.start - first.end > _LONGEST_RANGE_MARK:
            continue
        if first.family == "number" and second.family != "number" and _RANGE.fullmatch(text, first.end, second.start):
            found[index] = first._replace(kind=second.kind, value=first.value * second.scale, scale=second.scale)
    return found


def _counted(text: str, end: int) -> str:
    """Return the kind of a bare number that ends at ``end``, by what it counts: "300 workers"."""
    match = _COUNTED.match(text, end)
    stems = [stem(word) for word in match.groups() if word and word not in STOP_WORDS] if match else []
    return f"count:{'+'.join(stems)}" if stems else "number"


def _exactness(text: str, start: int, end: int) -> str:
    before = text[max(start - _LOOK_BACK, 0) : start].rstrip().lower()
    if before[-1:] in _ENDS_BEFORE and before.endswith(_ANY_BEFORE) and not before.endswith(_NOT_OVER):
        word = next(word for word in _EXACTNESS if before.endswith(word))
        # "over" counts, "moreover" does not.
        if not word.isascii() or not before[: -len(word)][-1:].isalpha():
            return _EXACTNESS[word]
    match = _AFTER.match(text, end)
    return (match.lastgroup or "") if match else ""
