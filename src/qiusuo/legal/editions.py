"""Which edition of a law is meant: 公司法（2018修正）, 2018年公司法, 97刑法, 旧公司法, 新商标法, 新旧仲裁法."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from qiusuo.legal.models import LawVersion
from qiusuo.legal.validity import age, best_for, in_force
from qiusuo.numerals import han_number

_YEAR: Final = r"(?P<year>(?:19|20)\d\d|[一二][九〇零][〇零一二三四五六七八九]{2})"
_DAY: Final = r"(?:-\d{1,2}-\d{1,2}|年?(?:\d{1,2}月(?:\d{1,2}日)?)?)"
_CHANGED: Final = r"修正|修订|修改|公布|颁布|通过|施行|实施|版|文本"
# 版 needs no 年 before it, 修正 may have a number and more words behind it.
_STATED: Final = rf"(?P<stated>(?:第.{{1,3}}次)?\s*(?:{_CHANGED})(?:{_CHANGED}|本|的?文本)?)"
_BEFORE_CHANGE: Final = r"(?:修订|修正|修改|修法)[以之]?前"
_BOTH: Final = r"(?P<both>新[、和与]?旧(?:版本?|法)?(?:对[比照]|比较|变化|区别)?)"
# 原, 老 and 新 end other words as well: 还原民法典, 平原草原法.
_BEGINS: Final = r"(?:^|(?<=[^\u4e00-\u9fff])|(?<=[据照按依对在是看查问的与和及把将由用到同跟从比反]))"
_BEFORE: Final = re.compile(
    rf"(?:[(〔\[]?\s*{_YEAR}{_DAY}\s*{_STATED}?\s*[)〕\]]?的?"
    rf"|(?:(?<!\d)(?P<short>\d\d)(?:年版?|版)|{_BEGINS}(?P<shorter>[4-9]\d))的?"
    rf"|{_BEGINS}{_BOTH}的?"
    rf"|(?P<current>现行有?效?的?)"
    rf"|{_BEGINS}(?P<old>(?:旧|老|原|原来|上一|之前|此前|过去|以前|从前|{_BEFORE_CHANGE}|已?(?:废止|失效)前?)版?本?的?)"
    rf"|{_BEGINS}(?P<new>最?新(?:近?(?:修订|修正|修改|公布|施行|通过))?版?本?的?))$"
)
_OPEN, _CLOSE, _WITHIN = r"[(〔\[【]", r"[)〕\]】]", r"[^()〔〕\[\]【】]"
_AFTER: Final = re.compile(
    rf"(?:{_OPEN}?\s*{_YEAR}{_DAY}\s*(?:{_STATED}[^)〕\]】《》,，]{{0,6}})?"
    rf"|{_OPEN}\s*{_YEAR.replace('year', 'within')}{_WITHIN}{{0,60}}(?:修正|修订|通过|公布){_WITHIN}{{0,12}}"
    rf"|{_OPEN}?\s*(?P<short>\d\d)(?:年版?|版)"
    rf"|{_OPEN}?\s*{_BOTH}"
    rf"|(?:{_OPEN}\s*(?P<old>[旧原老]版?|已?(?:废止|失效))|{_OPEN}?(?P<former>旧版本?|{_BEFORE_CHANGE}))"
    rf"|(?:{_OPEN}\s*(?P<new>新版?)|{_OPEN}?(?P<newest>(?:最新|新)(?:版本?|修[订正])))"
    rf")\s*{_CLOSE}?(?P<quote>\s*》)?的?\s*$"
)
# What stands behind an article is of its law: 仲裁法第16条（2017修正）, 第16条修订前怎么规定, 第16条 2017年.
_BEHIND: Final = re.compile(
    rf"^\s*(?:{_OPEN}\s*(?:{_YEAR}{_DAY}\s*{_STATED}?|(?P<old>[旧原]版?|{_BEFORE_CHANGE}))[^()〔〕]{{0,6}}{_CLOSE}"
    rf"|的?(?P<former>旧版|{_BEFORE_CHANGE})|的?{_BOTH}"
    rf"|[\s,]+{_YEAR.replace('year', 'trailing')}(?:年|年?版)?\s*$)"
)
_TURN_OF_CENTURY: Final = 49


class Age(StrEnum):
    """An edition by its place in their order."""

    OLD = "修改前"
    NEW = "最新"
    BOTH = "新旧"


@dataclass(frozen=True, slots=True)
class Edition:
    """What was said of the edition. ``stated``: the year is that of the text (2018修正), not just a day's (2018年)."""

    year: int | None = None
    stated: bool = False
    age: Age | None = None

    @property
    def label(self) -> str:
        """How a reader is told of it."""
        return f"{self.year}年的" if self.year else f"{self.age or ''}的"

    def of(self, versions: Sequence[LawVersion], day: str) -> list[LawVersion]:
        """Return the versions that are meant, the likeliest first; none where the index lacks them."""
        current = best_for(versions, day)
        if current is None:
            return []
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


def edition_behind(words: str) -> Edition:
    """Return what the words behind an article say of the edition."""
    found = _BEHIND.match(words)
    return _read(found) if found else CURRENT


def _read(found: re.Match[str]) -> Edition:
    said = {name: value for name, value in found.groupdict().items() if value}
    year = said.get("year") or said.get("within") or said.get("trailing")
    if year:
        value = int(year) if year.isdecimal() else int(han_number(year) or 0)
        return Edition(value, "stated" in said or "within" in said)
    if "short" in said or "shorter" in said:
        short = int(said.get("short") or said["shorter"])
        return Edition(short + (1900 if short >= _TURN_OF_CENTURY else 2000))
    ages = {"both": Age.BOTH, "old": Age.OLD, "former": Age.OLD, "new": Age.NEW, "newest": Age.NEW}
    return next((Edition(age=ages[name]) for name in said if name in ages), CURRENT)
