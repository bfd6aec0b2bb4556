"""Which version of a law holds on a day, and how each version stands."""

from __future__ import annotations

from collections.abc import Sequence

from qiusuo.legal.models import LawVersion, Repeal, Validity

_STATED_REPEALED = "已废止"
_STATED_AMENDED = ("已被修改", "已修改")


def in_force(versions: Sequence[LawVersion], day: str) -> LawVersion | None:
    """Return the version that holds on ``day``; before the first one took effect, None."""
    begun = [version for version in versions if version.effective <= day]
    return max(begun, key=_age, default=None)


def best_for(versions: Sequence[LawVersion], day: str, year: int | None = None) -> LawVersion | None:
    """Return the version that a reader means: of the year named, else the one in force, else the first to come."""
    if year is not None:
        named = [version for version in versions if version.published.startswith(str(year))]
        return max(named, key=_age, default=None)
    return in_force(versions, day) or min(versions, key=_age, default=None)


def validity(version: LawVersion, versions: Sequence[LawVersion], repeal: Repeal | None, day: str) -> Validity:
    """Tell how a version stands on ``day``. Dates decide; a source's word counts where it gives no date."""
    if version.effective > day:
        return Validity.NOT_YET
    if repeal is not None:
        repealed = not repeal.date or repeal.date <= day
    else:
        repealed = _STATED_REPEALED in version.stated_status
    if repealed:
        return Validity.REPEALED
    newest = in_force(versions, day)
    if newest is not None and newest.id != version.id:
        return Validity.AMENDED
    # The newest text that the index has, of which the source says that a newer one exists.
    return Validity.AMENDED if version.stated_status in _STATED_AMENDED else Validity.IN_FORCE


def _age(version: LawVersion) -> tuple[str, str]:
    return version.effective, version.published
