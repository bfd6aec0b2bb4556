"""The languages that Qiusuo speaks, and which of them somebody wants."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

_MOST_WISHES: Final = 20


class Language(StrEnum):
    """A language of the catalogue. Traditional Chinese is made of the Chinese texts (``scripts/traditional.py``)."""

    CHINESE = "zh"
    TRADITIONAL = "zh-Hant"
    ENGLISH = "en"

    @property
    def tag(self) -> str:
        """Its name as HTML and HTTP write it."""
        return "zh-CN" if self is Language.CHINESE else self.value

    @property
    def is_chinese(self) -> bool:
        """Whether it is Chinese, in whichever characters."""
        return self is not Language.ENGLISH

    @property
    def written(self) -> Language:
        """The language of texts that are written by hand: Chinese in simplified characters stands for both."""
        return Language.CHINESE if self.is_chinese else Language.ENGLISH

    @property
    def joint(self) -> str:
        """What stands between the items of a list."""
        return "、" if self.is_chinese else ", "

    @property
    def between(self) -> str:
        """What stands between clauses."""
        return "；" if self.is_chinese else "; "

    @property
    def stop(self) -> str:
        """What ends a sentence."""
        return "。" if self.is_chinese else "."

    @property
    def after_sentence(self) -> str:
        """What stands between whole sentences."""
        return "" if self.is_chinese else " "


LANGUAGE_PATTERN: Final = f"^({'|'.join(Language)})$"
"""What may stand where somebody names one of our languages."""
_TRADITIONAL_PLACES: Final = frozenset({"tw", "hk", "mo"})


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
    return worth, _named(tag)


def _named(tag: str) -> Language | None:
    """Return the language of a tag (``zh-Hant-HK``) or a locale (``zh_TW.UTF-8``); None: we do not speak it."""
    primary, *rest = tag.strip().partition(".")[0].replace("_", "-").split("-")
    if primary == Language.ENGLISH:
        return Language.ENGLISH
    if primary != Language.CHINESE:
        return None
    script = next((part for part in rest if part in {"hans", "hant"}), "")
    traditional = script == "hant" or (not script and not _TRADITIONAL_PLACES.isdisjoint(rest))
    return Language.TRADITIONAL if traditional else Language.CHINESE
