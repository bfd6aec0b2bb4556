"""Which edition of a law is meant: 公司法（2018修正）, 公司法2018年, 2018年公司法, 97刑法, 旧公司法, 新商标法."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from qiusuo.legal.models import LawVersion
from qiusuo.legal.validity import best_for, in_force

_CHANGED = r"修正|修订|修改|公布|颁布|通过|施行|实施|版|文本"
_DAY = r"-\d{1,2}-\d{1,2}|年?(?:\d{1,2}月(?:\d{1,2}日)?)?"
_AFTER = re.compile(
    rf"[(〔\[【]?\s*(?:(?P<year>(?:19|20)\d\d)(?:{_DAY})\s*(?P<stated>(?:第.{{1,3}}次)?\s*(?:{_CHANGED})[^)〕\]】《》]{{0,6}})?"
    rf"|(?P<old>(?:旧版?|(?:修订|修正|修改)前)(?=\s*[)〕\]】])|旧版|(?:修订|修正|修改)前)"
    rf"|(?P<new>新版?(?=\s*[)〕\]】])|(?:最新|新)(?:版本?|修[订正])))\s*[)〕\]】]?(?P<quote>\s*》)?\s*$"
)
_BEFORE = re.compile(
    rf"(?:(?P<year>(?:19|20)\d\d)\s*年?\s*(?P<stated>{_CHANGED})?的?|(?<!\d)(?P<short>[4-9]\d)年?版?的?"
    r"|(?P<current>现行的?)|(?P<old>旧|老|原来?的?|以前的?|(?:修订|修正|修改|修法)[以之]?前的?)"
    r"|(?P<new>最?新(?:的|版的?|近?(?:修订|修正|修改|公布|施行|通过)的?)?))$"
)


class Age(StrEnum):
    """An edition by its place before or after the one in force."""

    OLD = "修改前"
    NEW = "最新"


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
        if self.age is Age.OLD:
            return sorted((v for v in versions if v.effective < current.effective), key=_begin)[-1:]
        newest = max(versions, key=_begin)
        return [newest, current] if self.age is Age.NEW and newest.id != current.id else [current]

    def _of_year(self, versions: Sequence[LawVersion], year: str) -> list[LawVersion]:
        published = [version for version in versions if version.published.startswith(year)]
        begun = [version for version in versions if version.effective.startswith(year)]
        held = None if self.stated else in_force(versions, f"{year}-12-31")
        return sorted(published or begun, key=_begin)[-1:] or ([held] if held else [])


CURRENT = Edition()


def edition_after(name: str) -> tuple[str, Edition]:
    """Take what says the edition off the end of a name; a closing 》 stays."""
    found = _AFTER.search(name)
    if found is None:
        return name, CURRENT
    return name[: found.start()] + (found["quote"] or ""), _read(found)


def edition_before(words: str) -> tuple[str, Edition]:
    """Take what says the edition off the end of the words before a name."""
    found = _BEFORE.search(words)
    if found is None:
        return words, CURRENT
    rest = words[: found.start()]
    if found["current"]:
        return rest, CURRENT
    return rest, Edition(1900 + int(found["short"])) if found["short"] else _read(found)


def _read(found: re.Match[str]) -> Edition:
    if found["year"]:
        return Edition(int(found["year"]), bool(found["stated"]))
    return Edition(age=Age.OLD if found["old"] else Age.NEW)


def _begin(version: LawVersion) -> tuple[str, str]:
    return version.effective, version.published
