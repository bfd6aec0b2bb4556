"""One finding: how bad, what, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import about
from qiusuo.words.wording import Wording, wording


class Level(IntEnum):
    """How much a finding matters, in rising order."""

    OK = 0
    NOTE = 1  # good to know; nothing needs to be done
    WARNING = 2  # search works, but not as well as it could, or not for long
    PROBLEM = 3  # something that is set up does not work

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check has found. ``code`` names the cause and picks the words, which ``values`` fill in.

    ``commands`` are exact and the same in every language. Neither they nor the values ever hold a key or a password.
    """

    code: str
    level: Level
    values: Mapping[str, object] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    docs_url: str = ""
    place: str = ""
    """Which file or host is meant: for who runs the server, in no answer of it."""

    @property
    def guide(self) -> str:
        """Where our own guide treats this, as a path in the documentation; empty where nothing needs to be done."""
        return self.guide_in(Language.ENGLISH)

    @property
    def link(self) -> str:
        """Where the thing itself is documented, on the web."""
        return self.docs_url or about(self.code, "docs_url")

    def guide_in(self, language: Language) -> str:
        """Return the place in the guide of that language."""
        page = "docs/troubleshooting.zh-CN.md" if language.is_chinese else "docs/troubleshooting.md"
        return f"{page}#{anchor(self.code)}" if self.level >= Level.WARNING else ""

    @property
    def fact(self) -> Fact:
        """The finding as a fact."""
        return Fact(self.code, **self.values)

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the finding in words."""
        words = wording(self.fact, None, language)
        if not self.place:
            return words
        place = f"（{self.place}）" if language.is_chinese else f" ({self.place})"
        return words._replace(what=words.what + place)

    def public(self) -> Finding:
        """Return the finding without its place."""
        return replace(self, place="")

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the finding in its JSON shape: facts for programs, and words in a language."""
        words = self.wording(language)
        return {
            "check": self.code.partition(".")[0],
            **self.fact.to_dict(),
            "level": self.level.label,
            "what": words.what,
            "why": words.why,
            "fix": words.fix,
            "commands": list(self.commands),
            "guide": self.guide_in(language),
            "docsUrl": self.link,
        }


def worst_level(findings: Iterable[Finding]) -> Level:
    """Return the level of the gravest finding."""
    return max((finding.level for finding in findings), default=Level.OK)


def anchor(code: str) -> str:
    """Return the name of a code's place in the guide."""
    return code.replace(".", "-").replace("_", "-")
