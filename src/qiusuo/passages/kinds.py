"""What questions ask for, recognised by its form: dates, amounts, persons, places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from qiusuo.passages.question import Question
from qiusuo.tables import read_table

_PERSON_NAMES: Final = Path(__file__).parent / "data" / "person_names.tsv"
_HAN: Final = r"[\u4e00-\u9fff]"
_HAN_DIGITS: Final = "一二两三四五六七八九十百千万亿"
_DIGITS: Final = r"(?<!\d)\d[\d,.]{0,20}"
_NUMBER: Final = rf"(?:{_DIGITS}|[{_HAN_DIGITS}]{{1,8}})"
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# The day on which something is reported is not the day on which it happened; snippets often begin with such a day.
_REPORTED: Final = re.compile(
    r"(?:[社网报][\u4e00-\u9fff]{2,4})?\d{1,2}月\d{1,2}日\s?(?:[电讯]|消息|报道|获悉|发布|公布|表示|回应|从)|\d{1,2}日(?:[电讯]|消息|报道|获悉)|"
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{4}}年\d+月\d+日)\s\d\d:\d\d|\A\s*{_MONTH}\s\d{{1,2}},\s\d{{4}}\s?\.\.\.",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\d{4}\s?年(?:\s?\d{1,2}\s?月)?(?:\s?\d{1,2}\s?[日号])?|\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?|"
    # 超过30日 and 7日内 are spans of time.
    r"(?<!\d)(?<!超过)(?<!逾期)(?<!满)\d{1,2}[日时点](?!以?内|之内|以上)|"
    rf"\b{_MONTH}\s+\d{{1,2}}(?:,?\s+\d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}(?:,?\s+\d{{4}})?|"
    r"\b\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\b\d{1,2}/\d{1,2}/\d{4}\b|"
    r"(?<![\d.,$])(?:1[5-9]|20)\d\d(?![\d.,]\d|\d|\s?(?:[万亿个名人辆元米吨斤层次家台件座]|公[里斤]|千[米克]|平方|"
    r"k?m\b|(?:kilo)?met(?:er|re)s?\b|feet\b|miles?\b|kg\b|dollars|euros|people\b|%))",
    re.IGNORECASE,
)
AMOUNTS: Final = {
    "money": re.compile(
        rf"[$€£¥]\s?\d[\d,.]{{0,20}}(?:\s?(?:million|billion|trillion))?|"
        rf"{_NUMBER}\s?[多余]?[万亿]*\s?(?:元|美元|欧元|英镑|港元|日元|韩元|卢布|美金)|"
        rf"{_DIGITS}\s?(?:(?:million|billion|trillion)\s)?(?:dollars|euros|pounds|yuan)\b",
        re.IGNORECASE,
    ),
    "percent": re.compile(rf"{_DIGITS}\s?(?:[%‰％]|per ?cent\b)|百分之{_NUMBER}", re.IGNORECASE),
    "length": re.compile(
        rf"{_NUMBER}\s?[万亿]?(?:米|公里|千米|英里|英尺|厘米|里)|{_DIGITS}\s?(?:k?m|(?:kilo|centi)?met(?:er|re)s?|feet|ft|miles?)\b",
        re.IGNORECASE,
    ),
    # 第三条 is a place in a text and no amount.
    "number": re.compile(
        rf"{_DIGITS}|[{_HAN_DIGITS}]{{1,8}}(?=[个名位人支只家次种辆艘枚部座套台吨米])|"
        rf"(?<![第{_HAN_DIGITS}])[{_HAN_DIGITS}]{{1,8}}(?=条)"
    ),
    "span": re.compile(
        rf"{_NUMBER}\s?多?个?(?:天|日|年|月|小时|分钟|周|星期)|{_DIGITS}\s?-?(?:days?|years?|months?|hours?|minutes?|weeks?)\b"
    ),
}
_PLACE: Final = re.compile(
    rf"{_HAN}{{1,4}}?[省市县区州镇村岛]|位于{_HAN}+|坐落|在{_HAN}{{2,12}}?(?=举行|举办|召开|开幕)|"
    r"\b(?:in|at|near)\s+[A-Z][\w'-]+(?:,? [A-Z][\w'-]+){0,4}|located"
)


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    parts: dict[str, list[str]] = {"family": [], "before": [], "behind": [], "joint": []}
    for row in read_table(_PERSON_NAMES):
        parts[row["part"]] += row["words"].split()
    name = f"[{''.join(parts['family'])}]{_HAN}{{1,2}}"
    # Names of foreigners end where a word begins that may stand beside a name: 导演|诺兰|执导.
    ends = {word[-1] for word in parts["before"] + parts["joint"]}, {word[0] for word in parts["behind"]}
    first, last = (f"(?:(?![{''.join(sorted(characters))}]){_HAN})" for characters in ends)
    person = (
        rf"{first}{{1,6}}(?:·{last}{{1,5}})+|(?<!{_HAN}){name}(?=[、，。（(\s/：:]|{'|'.join(parts['behind'])})|"
        rf"(?:{'|'.join(f'(?<={before})' for before in parts['before'])}){name}|"
        r"(?<!\w)(?<![Tt]he )[A-Z][\w'-]+(?: (?:[A-Z]\.? ?)*[A-Z][\w'-]+){1,3}"
    )
    return {
        **AMOUNTS,
        "date": _DATE,
        "place": _PLACE,
        "person": re.compile(person),
        "winner": re.compile(rf"{person}|{_HAN}{{2,8}}队"),
    }


def has_form(question: Question) -> bool:
    """Tell whether what is asked for can be recognised by its form."""
    return not question.kinds.isdisjoint(_forms())


def asked_for(question: Question, sentence: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield where a sentence has what is asked for, with the kind of it. What the question itself says is none."""
    plain = without_report(sentence)
    undated = _DATE.sub(_blanks, plain) if not question.kinds.isdisjoint(AMOUNTS) else plain
    for kind in sorted(question.kinds & _forms().keys()):
        for match in _forms()[kind].finditer(undated if kind in AMOUNTS else plain):
            if match[0].lower() not in question.text:
                yield match.span(), kind


def without_report(sentence: str) -> str:
    """Return a sentence with blanks instead of where and when it was reported."""
    return _REPORTED.sub(_blanks, sentence)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
