"""What a reader is told beside an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from qiusuo.chat.events.base import Event
from qiusuo.words import Fact, Language, said, sentences
from qiusuo.words.catalogue import Part, entry
from qiusuo.words.facts import SAID
from qiusuo.words.wording import Wording

_NOTICE: Final = "notice."


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """Something the reader should know: what happened, what to do. The conversation goes on.

    ``fact`` is one of ``notice.*`` and names the class of failure, or the heading under which an engine explains itself
    (``law.note``). ``reason`` tells more of this one, ``remedy`` what to do where neither of them does; ``commands``
    can be copied, ``doc`` is a page under ``/docs``. ``title``, ``message`` and ``fix`` are English. ``kept`` are the
    words of a notice of which only they were kept.
    """

    type: ClassVar[str] = "notice"
    fact: Fact
    level: str = "info"
    reason: Fact | None = None
    remedy: Fact | None = None
    commands: tuple[str, ...] = ()
    doc: str = ""
    retry_after: float | None = None
    kept: Wording | None = None

    @property
    def code(self) -> str:
        """The class of failure: ``search_timeout``, ``search_unavailable`` …"""
        return self.fact.code.removeprefix(_NOTICE).replace(".", "_")

    @property
    def _is_heading(self) -> bool:
        return not self.fact.code.startswith(_NOTICE)

    @property
    def title(self) -> str:
        """What it is about, in English."""
        return self.wording().title

    @property
    def message(self) -> str:
        """What happened, in English."""
        return self.wording().what

    @property
    def fix(self) -> str:
        """What to do, in English."""
        return self.wording().fix

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the notice in words."""
        if self.kept:
            return self.kept
        reason = self.reason or said("")
        own = "" if self._is_heading else self.fact.text(language)
        fix = self.remedy.text(language) if self.remedy else reason.text(language, Part.FIX)
        return Wording(
            sentences(language, own, reason.text(language)),
            fix=fix or self.fact.text(language, Part.FIX),
            title=self.fact.text(language, Part.TITLE),
        )

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the notice in its JSON shape: facts for programs, and words in a language."""
        words = self.wording(language)
        data = {
            "type": self.type,
            "code": self.code,
            "level": self.level,
            "title": words.title,
            "message": words.what,
            "fix": words.fix,
            "commands": list(self.commands),
            "doc": self.doc,
            "retryAfter": None if self.retry_after is None else round(self.retry_after, 1),
        }
        if self.kept:
            return data
        heading = {"heading": self.fact.code} if self._is_heading else {}
        return (
            data
            | heading
            | {
                "values": self.fact.to_dict()["values"],
                "reason": self.reason.to_dict() if self.reason else None,
                "remedy": self.remedy.to_dict() if self.remedy else None,
            }
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Notice:
        """Rebuild a notice from ``to_dict``; one of before facts, or of a code that is gone, keeps its words."""
        code = data.get("heading") or _NOTICE + data["code"]
        fact = Fact.from_dict({"code": code, "values": data.get("values", {})})
        reason, remedy = (Fact.from_dict(told) if (told := data.get(name)) else None for name in ("reason", "remedy"))
        known = "values" in data and all(is_known(each) for each in (fact, reason, remedy) if each)
        kept = Wording(data.get("message", ""), fix=data.get("fix", ""), title=data.get("title", ""))
        return cls(
            fact,
            data["level"],
            reason,
            remedy,
            tuple(data.get("commands", ())),
            data.get("doc", ""),
            data.get("retryAfter"),
            None if known else kept,
        )


def is_known(fact: Fact) -> bool:
    """Tell whether there are words for a fact."""
    return fact.code == SAID or entry(fact.code) is not None
