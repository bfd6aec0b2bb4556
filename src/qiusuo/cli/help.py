"""The help of commands and options."""

from __future__ import annotations

from qiusuo.words import Fact, Language


def about(key: str, file: str = "help") -> str:
    """Return what a command or an option does, in English and Chinese: the reference in the docs is for both."""
    return in_both(Fact(f"{file}.{key}"))


def in_both(fact: Fact) -> str:
    """Return a fact in English and Chinese."""
    return f"{fact.text(Language.ENGLISH)} {fact.text(Language.CHINESE)}"
