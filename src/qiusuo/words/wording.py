"""A fact in words: what is so, why, and what to do."""

from __future__ import annotations

from typing import NamedTuple

from qiusuo.words.catalogue import Part
from qiusuo.words.facts import Fact, said
from qiusuo.words.languages import Language


class Wording(NamedTuple):
    """What was seen, why that is so or matters, what to do; ``title`` is a heading, where there is one."""

    what: str
    why: str = ""
    fix: str = ""
    title: str = ""


def wording(fact: Fact, remedy: Fact | None = None, language: Language = Language.ENGLISH) -> Wording:
    """Return a fact in words. A remedy of its own goes before the one that stands in the catalogue."""
    return Wording(
        fact.text(language),
        fact.text(language, Part.WHY),
        remedy.text(language) if remedy else fact.text(language, Part.FIX),
        fact.text(language, Part.TITLE),
    )


def remedy_of(fix: Fact | str) -> Fact | None:
    """Return what to do as a fact; None where nothing is said."""
    if isinstance(fix, Fact):
        return fix
    return said(fix) if fix else None
