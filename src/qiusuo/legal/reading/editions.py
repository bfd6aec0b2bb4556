"""Which edition of a law is meant: 公司法（2018修正）, 2018年公司法, 97刑法, 旧公司法, 新商标法, 新旧仲裁法."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from qiusuo.legal.answers.validity import age, best_for, in_force
from qiusuo.legal.models import LawVersion
from qiusuo.numerals import han_number
from qiusuo.words import Fact

OLD_EDITION: Final = Fact("law.edition_old")
NEW_EDITION: Final = Fact("law.edition_new")
_YEAR: Final = r"(?P<year>(?:19|20)\d\d|[一二][九〇零][〇零一二三四五六七八九]{2})"
_COUNT: Final = r"\d{1,2}|[一二三四五六七八九十]{1,3}"
# 2018年, 2018年10月26日, 2018-10-26, 2018年10月, 二〇一八年十月.
_DAY: Final = rf"(?:(?:\s?年|[-./])\s*(?P<month>{_COUNT})(?:月|[-./](?=\d))(?:(?P<date>{_COUNT})日?)?|\s?年)?"
_CHANGED: Final = r"修正|修订|修改|公布|颁布|通过|施行|实施|版|文本"
# 版 needs no 年 before it, 修正 may have a number and more words behind it.
_STATED: Final = rf"(?P<stated>(?:第.{{1,3}}次)?\s*(?:{_CHANGED})(?:{_CHANGED}|本|的?文本)?)"
_AGO: Final = r"[以之]?前"
# 2018年时, 2018年以前, 2018年有效的; but 10年前 is no year.
_THEN: Final = rf"(?:(?P<until>{_AGO})|的?时候?|当时|那时候?|那年|期间|[初底末])?(?:(?:是否|还|仍)?(?:有效|生效|适用))?"
_BEFORE_CHANGE: Final = r"(?:修订|修正|修改|修法)[以之]?前"
_BOTH: Final = r"(?P<both>新[、和与]?旧(?:版本?|法)?(?:对[比照]|比较|变化|区别)?)"
# 原, 老 and 新 end other words as well: 还原民法典, 平原草原法.
_BEGINS: Final = r"(?:^|(?<=[^\u4e00-\u9fff])|(?<=[据照按依对在是看查问的与和及把将由用到同跟从比反]))"
# A year apart from the law is that of its edition only where nothing tells of something else: 成立于2018年，公司法….
_OPENS: Final = r"(?P<opens>^|(?<=[在按照据,:]))?"
_BEFORE: Final = re.compile(
    rf"(?:[(〔\[]?\s*{_OPENS}(?:{_YEAR}{_DAY}|(?<!\d)(?P<short>\d\d)(?=[年版])年?(?!{_AGO}))\s*(?:{_STATED}|{_THEN})"
    r"\s*[)〕\]]?(?(opens)[的,\s]{0,4}|的?)"
    rf"|{_BEGINS}(?P<shorter>[4-9]\d)的?"
    rf"|{_BEGINS}{_BOTH}的?"
    rf"|(?P<current>现行有?效?的?)"
    rf"|{_BEGINS}(?P<old>(?:旧|老|原|原来|上一|之前|此前|过去|以前|从前|{_BEFORE_CHANGE}|已?(?:废止|失效)前?)版?本?的?)"
    rf"|{_BEGINS}(?P<new>最?新(?:近?(?:修订|修正|修改|公布|施行|通过))?版?本?的?))$"
)
_OPEN, _CLOSE, _WITHIN = r"[(〔\[【]", r"[)〕\]】]", r"[^()〔〕\[\]【】]"
_AFTER: Final = re.compile(
    rf"(?:{_OPEN}?\s*在?{_YEAR}{_DAY}\s*(?:{_STATED}[^)〕\]】《》,，]{{0,6}}|{_THEN})"
    rf"|{_OPEN}\s*{_YEAR.replace('year', 'within')}{_WITHIN}{{0,60}}(?:修正|修订|通过|公布){_WITHIN}{{0,12}}"
    rf"|{_OPEN}?\s*(?P<short>\d\d)(?:年版?|版)"
    rf"|{_OPEN}?\s*{_BOTH}"
    rf"|(?:{_OPEN}\s*(?P<old>[旧原老]版?|已?(?:废止|失效))|{_OPEN}?(?P<former>旧版本?|{_BEFORE_CHANGE}))"
    rf"|(?:{_OPEN}\s*(?P<new>新版?)|{_OPEN}?(?P<newest>(?:最新|新)(?:版本?|修[订正])))"
    rf")\s*{_CLOSE}?(?P<quote>\s*》)?的?[\s,]*$"
)
# What stands behind an article is of its law: 仲裁法第16条（2017修正）, 第16条修订前怎么规定, 第16条 2017年. A year may
# be of the words that follow it: 第16条 2021年案例, 第16条2018号, 第16条（2018）京01民终5号.
HOW: Final = r"(?:究竟|到底|具体)?(?:又|都)?是?(?:怎么|如何|怎样|咋)(?:规定|说|写|讲|表述)的?"
_TEXT: Final = r"(?:版本?|文本|条文|原文|内容|规定|法条|[旧老]法(?!院))"
_ENDS: Final = (
    rf"(?:[的那个]{{0,3}}{_TEXT}|[的那个]{{0,3}}[\s,]*+(?:[吗么呢]?(?:[?!。;]|$)|{HOW}|是?(?:什么|啥)(?:样|规定|内容|[的?!。\s]*$)"
    # Another article comes: 第三条2018年和民法典第577条.
    r"|(?=(?:以及|还有|[和与及跟、/]|(?<=[\s,]))\s*[^\s,。;?!号例]{1,40}[\d一二三四五六七八九十百千零〇]\s?条)))"
)
_SUM: Final = rf"2000(?!\s?年|[-./]|\s*(?:{_CHANGED}))"
# 刑法第45条 15年, 民法典第188条 20年 and the like speak of time, not of an edition.
_SHORT_YEAR: Final = rf"(?P<short>0\d|1[146-9]|2[1-46-9]|79|[89]\d|\d\d(?=年\s*(?:{_CHANGED})))"
_BEHIND: Final = re.compile(
    rf"\s*(?:的?(?:规定|内容|原文|条文)|{HOW}|是什么)?[\s,?:—-]*+(?:"
    rf"(?P<opened>{_OPEN}\s*)?(?:在|按照?|依照?|根据|是)?"
    rf"(?:(?!{_SUM}){_YEAR}{_DAY}|(?<=[\s,:(〔\[【]){_SHORT_YEAR}年(?!{_AGO}))"
    rf"\s*(?:{_STATED}|{_THEN})(?(opened){_WITHIN}{{0,6}}{_CLOSE}(?!\s*[^\s,。]{{1,12}}\d{{1,6}}号)|{_ENDS})"
    rf"|{_OPEN}\s*(?P<old>[旧原老][版法]?本?|{_BEFORE_CHANGE}){_WITHIN}{{0,6}}{_CLOSE}"
    rf"|的?(?P<former>[旧老](?:版(?!教|软|系|合|协)|法(?![院轻重新优])|规定)|{_BEFORE_CHANGE}|(?:原来|以前|过去|从前|之前|当年)(?={HOW}))|的?{_BOTH}"
    r"|的?(?P<newest>新法(?![院律])|最?新版|最新修[订正])"
    r")"
)
_TURN_OF_CENTURY: Final = 49


class Age(StrEnum):
    """An edition by its place in their order."""

    OLD = "修改前"
    NEW = "最新"
    BOTH = "新旧"


@dataclass(frozen=True, slots=True)
class Edition:
    """What was said of the edition. ``stated``: the year is that of the text (2018修正), not just a day's (2018年).

    ``day``: the text of that day.
    """

    year: int | None = None
    stated: bool = False
    age: Age | None = None
    day: str = ""

    @property
    def label(self) -> Fact:
        """How a reader is told of it."""
        if self.day:
            return Fact("law.edition_of_day", day=self.day)
        if self.year:
            return Fact("law.edition_of_year", year=self.year)
        return NEW_EDITION if self.age is Age.NEW else OLD_EDITION

    @property
    def time(self) -> Fact:
        """The time of which the text is asked for."""
        return Fact("law.time_day", day=self.day) if self.day else Fact("law.time_year", year=self.year or 0)

    @property
    def last_day(self) -> str:
        """The last day on which the text that is meant should hold; empty where it is not meant by a time."""
        return self.day or (f"{self.year}-12-31" if self.year and not self.stated else "")

    def of(self, versions: Sequence[LawVersion], day: str) -> list[LawVersion]:
        """Return the versions that are meant, the likeliest first; none where the index lacks them."""
        current = best_for(versions, day)
        if current is None:
            return []
        if self.day:
            published = [version for version in versions if version.published == self.day]
            held = in_force(versions, self.day)
            return published[-1:] or ([held] if held else [])
        if self.year is not None:
            return self._of_year(versions, str(self.year))
        *_, newest = ordered = sorted(versions, key=age)
        before = ordered[-2:-1]  # what a text that is still to come makes old is in force
        if self.age is Age.OLD:
            return before
        if self.age is Age.BOTH:
            return [newest, *before]
        return [newest, current] if self.age is Age.NEW and newest.id != current.id else [current]

    def _of_year(self, versions: Sequence[LawVersion], year: str) -> list[LawVersion]:
        published = [version for version in versions if version.published.startswith(year)]
        begun = [version for version in versions if version.effective.startswith(year)]
        held = None if self.stated else in_force(versions, f"{year}-12-31")
        return sorted(published or begun, key=age)[-1:] or ([held] if held else [])


CURRENT: Final = Edition()


def edition_after(name: str) -> tuple[str, Edition]:
    """Take what says the edition off the end of a name; a closing 》 stays."""
    found = _AFTER.search(name)
    return (name[: found.start()] + (found["quote"] or ""), _read(found)) if found else (name, CURRENT)


def edition_before(words: str) -> tuple[str, Edition]:
    """Take what says the edition off the end of the words before a name."""
    found = _BEFORE.search(words)
    return (words[: found.start()], _read(found)) if found else (words, CURRENT)


def edition_behind(words: str) -> tuple[Edition, int]:
    """Return what the words behind an article say of the edition, and how many characters say it."""
    found = _BEHIND.match(words)
    return (_read(found), found.end()) if found else (CURRENT, 0)


def _read(found: re.Match[str]) -> Edition:
    said = {name: value for name, value in found.groupdict().items() if value}
    year = said.get("year") or said.get("within")
    short = said.get("short") or said.get("shorter")
    if year or short:
        value = _value_of(year) if year else _full_year(int(short or 0))
        if "stated" in said or "within" in said:
            return Edition(value, stated=True)
        day = _day(value, said)
        return Edition(day=day) if day else Edition(value)
    ages = {"both": Age.BOTH, "old": Age.OLD, "former": Age.OLD, "new": Age.NEW, "newest": Age.NEW}
    return next((Edition(age=ages[name]) for name in said if name in ages), CURRENT)


def _value_of(number: str) -> int:
    return int(number) if number.isdecimal() else int(han_number(number) or 0)


def _full_year(short: int) -> int:
    return short + (1900 if short >= _TURN_OF_CENTURY else 2000)


def _day(year: int, said: Mapping[str, str]) -> str:
    """Return the day that was said, or the last of the month; with 以前 the one before. Empty for a mere year."""
    month, date_ = (_value_of(said.get(part, "0")) for part in ("month", "date"))
    before = "until" in said
    if not month and not before:
        return ""
    try:
        if before:
            return (date(year, month or 1, date_ or 1) - timedelta(days=1)).isoformat()
        return date(year, month, date_ or monthrange(year, month)[1]).isoformat()
    except ValueError:
        return ""
