"""One finding: how bad, what, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from qiusuo.chat.chinese import in_chinese
from qiusuo.doctor.wording import Wording
from qiusuo.doctor.words import TEXTS


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
        return self.guide_in(chinese=False)

    @property
    def link(self) -> str:
        """Where the thing itself is documented, on the web."""
        return self.docs_url or TEXTS[self.code].docs_url

    def guide_in(self, *, chinese: bool) -> str:
        """Return the place in the guide of that language."""
        page = "docs/troubleshooting.zh-CN.md" if chinese else "docs/troubleshooting.md"
        return f"{page}#{anchor(self.code)}" if self.level >= Level.WARNING else ""

    def wording(self, *, chinese: bool = False) -> Wording:
        """Return the finding in words."""
        texts = TEXTS[self.code]
        chosen = texts.chinese if chinese else texts.english
        # Errors speak English everywhere below.
        values = {name: in_chinese(str(value)) if chinese else value for name, value in self.values.items()}
        what, why, fix = (part.format(**values) for part in (chosen.what, chosen.why, chosen.fix))
        return Wording(f"{what} ({self.place})" if self.place else what, why, fix)

    def public(self) -> Finding:
        """Return the finding without its place."""
        return replace(self, place="")

    def to_dict(self, *, chinese: bool = False) -> dict[str, Any]:
        """Return the finding in its JSON shape."""
        words = self.wording(chinese=chinese)
        return {
            "check": self.code.partition(".")[0],
            "code": self.code,
            "level": self.level.label,
            "what": words.what,
            "why": words.why,
            "fix": words.fix,
            "commands": list(self.commands),
            "guide": self.guide_in(chinese=chinese),
            "docsUrl": self.link,
        }


def worst_level(findings: Iterable[Finding]) -> Level:
    """Return the level of the gravest finding."""
    return max((finding.level for finding in findings), default=Level.OK)


def anchor(code: str) -> str:
    """Return the name of a code's place in the guide."""
    return code.replace(".", "-").replace("_", "-")
