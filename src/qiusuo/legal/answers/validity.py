"""Which version of a law holds on a day, and how each version stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qiusuo.legal.models import LawVersion, Repeal, Validity

_STATED_REPEALED = "已废止"
_STATED_AMENDED = ("已被修改", "已修改")


def in_force(versions: Sequence[LawVersion], day: str) -> LawVersion | None:
    """Return the version that holds on ``day``; before the first one took effect, None."""
    begun = [version for version in versions if version.effective <= day]
    return max(begun, key=age, default=None)


def best_for(versions: Sequence[LawVersion], day: str) -> LawVersion | None:
    """Return the version that a reader means: the one in force, else the first to come."""
    return in_force(versions, day) or min(versions, key=age, default=None)


def repealed(repeal: Repeal | None, day: str) -> bool:
    """Tell whether a law is known to be repealed on ``day``; a repeal without a day counts at any time."""
    return repeal is not None and (not repeal.date or repeal.date <= day)


def said_repealed(version: LawVersion) -> bool:
    """Tell whether the source calls a version repealed."""
    return _STATED_REPEALED in version.stated_status


def said_amended(version: LawVersion) -> bool:
    """Tell whether the source calls a version amended."""
    return version.stated_status in _STATED_AMENDED


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a law. ``amendments`` are all later than the version asked about.

    ``source_day`` is the newest day that its source knows: on it, what the source says without a day holds.
    """

    versions: Sequence[LawVersion]
    repeal: Repeal | None = None
    amendments: Sequence[LawVersion] = ()
    source_day: str = ""


def validity(version: LawVersion, record: Record, day: str, *, touched: bool = True) -> Validity:
    """Tell how a version stands on ``day``. Dates decide; the bare word of a source counts where there are none.

    ``touched``: whether the amendments in force change what is asked about; they may leave an article alone.
    """
    if version.effective > day:
        return Validity.NOT_YET
    if repealed(record.repeal, day):
        return Validity.REPEALED
    newest = in_force(record.versions, day)
    if newest is not None and newest.id != version.id:
        return Validity.AMENDED
    since_then = day >= record.source_day
    if record.repeal is None and said_repealed(version) and since_then:
        return Validity.REPEALED
    if record.amendments:
        begun = any(amendment.effective <= day for amendment in record.amendments)
        return Validity.AMENDED if begun and touched else Validity.IN_FORCE
    return Validity.AMENDED if said_amended(version) and since_then else Validity.IN_FORCE


def age(version: LawVersion) -> tuple[str, str]:
    """Return what versions of a law are ordered by."""
    return version.effective, version.published
