"""The pages that a turn reads before it answers, as an event."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

from qiusuo.chat.events.base import Event, camel, plain
from qiusuo.chat.events.notice import is_known
from qiusuo.words import Fact, Language, said


class PageState(StrEnum):
    """How a page stands: being read, read with something in it that is used or not, or not to be read."""

    READING = "reading"
    USED = "used"
    UNUSED = "unused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page that is read; ``number`` is that of its source, ``fact`` why it could not be read."""

    number: int
    url: str
    domain: str
    title: str
    state: PageState = PageState.READING
    ms: int = 0
    cached: bool = False
    fact: Fact | None = None

    def why(self, language: Language) -> str:
        """Return why it could not be read."""
        return self.fact.text(language) if self.fact else ""

    def told(self, language: Language) -> dict[str, Any]:
        """Return the page in its JSON shape, what it has of words in a language."""
        data = {camel(each.name): plain(getattr(self, each.name)) for each in fields(self) if each.name != "fact"}
        return data | {"reason": self.why(language)} | (self.fact.to_dict() if self.fact else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PageRead:
        """Rebuild a page from what was told of it."""
        known = {each.name: data[camel(each.name)] for each in fields(cls) if each.name != "fact"}
        fact = Fact.from_dict(data) if "code" in data else None
        why = fact if fact and is_known(fact) else said(data.get("reason", "")) or None
        return cls(**known | {"state": PageState(data["state"])}, fact=why)


@dataclass(frozen=True, slots=True)
class Reading(Event):
    """Pages that are read side by side, first as they begin, then once more with what came of each."""

    type: ClassVar[str] = "reading"
    number: int
    pages: tuple[PageRead, ...]
    done: bool = False
    ms: int = 0

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the event in its JSON shape."""
        return Event.to_dict(self, language) | {"pages": [page.told(language) for page in self.pages]}
