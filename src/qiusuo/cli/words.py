"""The words of the command line in the reader's language."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from qiusuo.models import Outcome
from qiusuo.words import Fact, Language, language_of


class Words:
    """Looks words of the command line up in one language."""

    prefix: ClassVar[str] = "cli"

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, key: str, **values: object) -> str:
        return self.tell(Fact(f"{self.prefix}.{key}", **values))

    def tell(self, fact: Fact) -> str:
        """Return what is so in words."""
        return fact.text(self.language)

    def outcome(self, outcome: Outcome) -> str:
        """Return an outcome's name."""
        return self.tell(outcome.fact)


def words_for_terminal(environ: Mapping[str, str] = os.environ) -> Words:
    """Choose the language: ``QIUSUO_LANG`` if set, else the terminal's own language."""
    for name in ("QIUSUO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name)
        if value:
            return Words(language_of(value))
    return Words(Language.ENGLISH)
