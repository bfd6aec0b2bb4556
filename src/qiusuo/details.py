"""What an engine knows of a result beyond its words, and how that is quoted and shown.

An engine gives a result its details (``SearchResultItem.details``); a plug-in makes their kind known, so that they can
be read back from a store. Whoever shows or quotes a result asks its details and need not know what they are about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final, Self

from qiusuo.words import Language


@dataclass(frozen=True, slots=True)
class Quotation:
    """A result as it is quoted whole: under which name, its words, and what has to be said of them."""

    name: str
    text: str
    remark: str = ""
    follows: bool = False
    """It changes the one before it: neither is quoted without the other."""


class Tone(StrEnum):
    """How the badge of a card looks."""

    HOLDS = "force"
    CHANGES = "pending"
    GONE = "gone"


VALUE: Final = "{value}"
"""Where in a label the value stands, if not behind it."""


@dataclass(frozen=True, slots=True)
class CardFact:
    """A fact on a card; ``labels`` has its name by language (``zh``, ``en``), ``day`` says that it is an ISO date."""

    value: str
    labels: Mapping[str, str] = field(default_factory=dict)
    day: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {"value": self.value, "labels": dict(self.labels), "day": self.day}


@dataclass(frozen=True, slots=True)
class Card:
    """What a page shows of a result in the place of its snippet."""

    title: str
    text: str = ""
    badge: str = ""
    tone: Tone = Tone.HOLDS
    facts: tuple[CardFact, ...] = ()
    notes: tuple[str, ...] = ()
    mark: str = ""
    """How it stands to the question, where it is no answer to it."""
    compare: str = ""
    """Where on this server the text is compared with an older or newer one (``old``, ``new``, ``parts``, ``notes``)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape."""
        return {
            "title": self.title,
            "text": self.text,
            "badge": self.badge,
            "tone": self.tone.value,
            "facts": [fact.to_dict() for fact in self.facts],
            "notes": list(self.notes),
            "mark": self.mark,
            "compare": self.compare,
        }


class Details(ABC):
    """Base of all details. A kind is a frozen dataclass that says its ``kind`` and how it becomes JSON and back."""

    __slots__ = ()
    kind: ClassVar[str] = ""

    @abstractmethod
    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the JSON shape, without the kind; what we say ourselves stands there in a language."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild details from ``to_dict``.

        Raises:
            KeyError, TypeError, ValueError: the data are none of these.
        """

    @property
    def related(self) -> bool:
        """Whether the result is merely near what was asked for: others are asked too, and it is quoted as no answer."""
        return False

    def quotation(self, language: Language = Language.ENGLISH) -> Quotation | None:  # noqa: ARG002 - for kinds
        """Return how the result is quoted whole; None: sentence by sentence, as any page is."""
        return None

    def card(self, language: Language = Language.ENGLISH) -> Card | None:  # noqa: ARG002 - for kinds
        """Return what a page shows of it; None: title and snippet, as of any page."""
        return None


@dataclass(frozen=True, slots=True)
class PlainDetails(Details):
    """Details of a kind that nobody here knows (its plug-in is not installed): kept as they are."""

    name: str
    data: Mapping[str, Any] = field(hash=False)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind that they say they are."""
        return self.name

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:  # noqa: ARG002 - nobody knows its words
        return {name: value for name, value in self.data.items() if name != "kind"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(str(data["kind"]), data)


def text_in(data: Mapping[str, Any], name: str) -> str:
    """Return a text of JSON data, empty where there is none.

    Raises:
        TypeError: it is no text.
    """
    value = data.get(name, "")
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return value


def list_in(data: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of JSON data, empty where there is none.

    Raises:
        TypeError: it is no list.
    """
    value = data.get(name, [])
    if not isinstance(value, list):
        raise TypeError(f"{name} is no list")
    return value
