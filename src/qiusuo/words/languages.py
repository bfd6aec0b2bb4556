"""The languages that Qiusuo speaks, and which of them somebody wants."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

_MOST_WISHES: Final = 20


class Language(StrEnum):
    """A language of the catalogue."""

    CHINESE = "zh"
    ENGLISH = "en"

    @property
    def tag(self) -> str:
        """Its name as HTML and HTTP write it."""
        return "zh-CN" if self is Language.CHINESE else "en"

    @property
    def joint(self) -> str:
        """What stands between the items of a list."""
        return "、" if self is Language.CHINESE else ", "

    @property
    def between(self) -> str:
        """What stands between clauses."""
        return "；" if self is Language.CHINESE else "; "

    @property
    def stop(self) -> str:
        """What ends a sentence."""
        return "。" if self is Language.CHINESE else "."

    @property
    def after_sentence(self) -> str:
        """What stands between whole sentences."""
        return "" if self is Language.CHINESE else " "


_TAGS: Final = {str(language): language for language in Language}


def language_of(wish: str | None, otherwise: Language = Language.ENGLISH) -> Language:
    """Return the language of a tag (``zh-CN``) or of an ``Accept-Language`` header; of several the one liked best."""
    liked = [_weighed(part) for part in (wish or "").split(",")[:_MOST_WISHES]]
    for _, language in sorted((each for each in liked if each[0] > 0), key=lambda each: -each[0]):
        if language is not None:
            return language
    return otherwise


def _weighed(part: str) -> tuple[float, Language | None]:
    tag, _, weight = part.strip().lower().partition(";")
    try:
        worth = float(weight.strip().removeprefix("q=")) if weight else 1.0
    except ValueError:
        worth = 0.0
    primary = tag.strip().replace("_", "-").partition("-")[0]
    return worth, _TAGS.get(primary)
