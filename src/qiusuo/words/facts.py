"""A fact: what is so, as a code with values. Sentences are made of it where somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from qiusuo.commands import typed
from qiusuo.words.catalogue import Part, template
from qiusuo.words.languages import Language

SAID: Final = "said"
"""The code of somebody's own words, such as a provider's: they have no other language."""

USUAL: Final[Mapping[str, Callable[[], str]]] = {
    "database_setting": lambda: "QIUSUO_DATABASE_URL",
    "qiusuo": lambda: typed("qiusuo"),
}
"""Values that a fact needs not have: where something is written unless an option has it, our program as typed here."""

_STOPS: Final = (".", "。")

Value: TypeAlias = "str | int | float | Fact | tuple[str | Fact, ...]"


@dataclass(frozen=True, slots=True, init=False)
class Fact:
    """What is so. ``code`` picks the sentences in the catalogue, which ``values`` fill in; a value may be a fact too.

    A fact that rests on another one, or on several (its value ``reason``), and says nothing of what to do has their
    remedies.
    Neither code nor values ever hold a key or a password.
    """

    code: str
    values: Mapping[str, Any] = field(hash=False)

    def __init__(self, code: str, /, **values: Any) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", {name: _frozen(value) for name, value in values.items()})

    def __str__(self) -> str:
        """Return what is so in English, for logs."""
        return self.text()

    def __bool__(self) -> bool:
        """Somebody's own words may be none at all."""
        return self.code != SAID or bool(self.values.get("text"))

    def text(self, language: Language = Language.ENGLISH, part: Part = Part.WHAT) -> str:
        """Return a part of what is told about it; an empty string where the catalogue has no such part."""
        if self.code == SAID:
            return str(self.values.get("text", "")) if part is Part.WHAT else ""
        words = template(self.code, language, part)
        if words:
            return words.format_map(_Texts(self.values, language))
        return self._fix_of_reasons(language) if part is Part.FIX else ""

    def _fix_of_reasons(self, language: Language) -> str:
        """Return what to do about that on which it rests, each remedy once."""
        reason = self.values.get("reason")
        reasons = reason if isinstance(reason, tuple) else (reason,)
        fixes = (each.text(language, Part.FIX) for each in reasons if isinstance(each, Fact))
        return language.after_sentence.join(dict.fromkeys(fix for fix in fixes if fix))

    def with_values(self, **values: Any) -> Fact:
        """Return the fact with more values, also in those that it rests on."""

        def filled(value: object) -> object:
            if isinstance(value, tuple):
                return tuple(map(filled, value))
            return value.with_values(**values) if isinstance(value, Fact) else value

        return Fact(self.code, **{**{name: filled(value) for name, value in self.values.items()}, **values})

    def to_dict(self) -> dict[str, Any]:
        """Return the fact in its JSON shape."""
        return {"code": self.code, "values": {name: _plain(value) for name, value in self.values.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Fact:
        """Rebuild a fact from ``to_dict``."""
        return cls(str(data["code"]), **{str(name): _read(value) for name, value in data.get("values", {}).items()})

    def __reduce__(self) -> tuple[Any, ...]:
        """Let errors travel between processes."""
        return Fact.from_dict, (self.to_dict(),)


def said(text: str) -> Fact:
    """Return somebody's own words as a fact."""
    return Fact(SAID, text=text)


def as_fact(told: Fact | str) -> Fact:
    """Return what is told as a fact; text is somebody's own words."""
    return told if isinstance(told, Fact) else said(told)


class _Texts(dict[str, str]):
    """The values as text. One that is missing shows as a gap: an error must not fail in being told."""

    def __init__(self, values: Mapping[str, Any], language: Language) -> None:
        super().__init__({name: in_words(value, language) for name, value in values.items()})

    def __missing__(self, name: str) -> str:
        return USUAL[name]() if name in USUAL else "…"


def whole(text: str, language: Language) -> str:
    """Return a text as a whole sentence: headlines have no full stop of their own."""
    return text if not text or text.endswith(_STOPS) else text + language.stop


def sentences(language: Language, *texts: str) -> str:
    """Return texts one after the other; those before the last end with a full stop."""
    told = [text for text in texts if text]
    return language.after_sentence.join([*(whole(text, language) for text in told[:-1]), *told[-1:]])


def in_words(value: object, language: Language) -> str:
    """Return a value as text in a language."""
    match value:
        case Fact():
            return value.text(language)
        case tuple() | list():
            clauses = any(isinstance(each, Fact) for each in value)
            texts = [in_words(each, language) for each in value]
            if clauses and any(text.endswith(_STOPS) for text in texts):
                return language.after_sentence.join(whole(text, language) for text in texts)
            return (language.between if clauses else language.joint).join(texts)
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _frozen(value: object) -> object:
    return tuple(_frozen(each) for each in value) if isinstance(value, list | tuple) else value


def _plain(value: object) -> object:
    match value:
        case Fact():
            return value.to_dict()
        case tuple():
            return [_plain(each) for each in value]
        case str() | int() | float():
            return value
        case _:
            return str(value)


def _read(value: object) -> object:
    match value:
        case dict() if isinstance(value.get("code"), str):
            return Fact.from_dict(value)
        case list():
            return tuple(_read(each) for each in value)
        case _:
            return value
