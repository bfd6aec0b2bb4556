"""What a turn has found for its question, as objects: the answerer without a model works on these, not on a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from qiusuo.plugins import Recognised
from qiusuo.tools.render import NumberedSource
from qiusuo.words import Fact, Language


@dataclass(slots=True)
class Material:
    """The question, how it is to be searched for, and what has come of that so far."""

    question: str
    language: Language
    recognised: Recognised | None = None
    sources: dict[int, NumberedSource] = field(default_factory=dict)
    remarks: list[Fact] = field(default_factory=list)
    """What engines and tools have to say of the question."""
    searches: list[tuple[str, str]] = field(default_factory=list)
    """The tools that were called to search, each with its query."""
    searched: bool = False
    failed: bool = False

    def found(self, sources: Iterable[NumberedSource]) -> None:
        """Note what a search has found, be it nothing."""
        self.searched = True
        self.sources.update((source.number, source) for source in sources)

    def told(self, remarks: Iterable[Fact] | None = None) -> str:
        """Return remarks, unless others are given all of them, as one text."""
        joint = "" if self.language is Language.CHINESE else " "
        chosen = self.remarks if remarks is None else remarks
        return joint.join(remark.text(self.language) for remark in chosen)
