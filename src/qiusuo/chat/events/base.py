"""The base of what is told of a turn."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar

from qiusuo.words import Language


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; ``type`` is its name in JSON."""

    type: ClassVar[str] = ""

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:  # noqa: ARG002 - some have words
        """Return the event in its JSON shape (camelCase), what it has of words in a language."""
        data: dict[str, Any] = {"type": self.type}
        for each in fields(self):
            data[camel(each.name)] = plain(getattr(self, each.name))
        return data


def plain(value: Any) -> Any:
    """Return a value of an event in its JSON shape."""
    if isinstance(value, tuple):
        return [item.to_dict() if hasattr(item, "to_dict") else item for item in value]
    return value.value if isinstance(value, StrEnum) else value


def camel(name: str) -> str:
    """Return the name of a field as JSON has it."""
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)
