"""How long ago something was, as people say it."""

from __future__ import annotations

from typing import Final

from qiusuo.words.facts import Fact

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


def ago(seconds: float) -> Fact:
    """Return how long ago something was, in its largest whole unit."""
    if seconds < _MINUTE:
        return Fact("search.seconds_ago", count=int(seconds))
    if seconds < _HOUR:
        return Fact("search.minutes_ago", count=int(seconds // _MINUTE))
    if seconds < _DAY:
        return Fact("search.hours_ago", count=int(seconds // _HOUR))
    return Fact("search.days_ago", count=int(seconds // _DAY))
