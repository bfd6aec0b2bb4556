"""What a turn has found for its question, as objects: the answerer without a model works on these, not on a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from qiusuo.passages import Difference
from qiusuo.plugins import Recognised
from qiusuo.tools.render import NumberedSource
from qiusuo.words import Fact, Language


@dataclass(frozen=True, slots=True)
class Remark:
    """What an engine or a tool has to say of the question; ``heading`` is the code of the words it is told under."""

    heading: str
    note: Fact


@dataclass(slots=True)
class Material:
    """The question, how it is to be searched for, and what has come of that so far."""

    question: str
    language: Language
    recognised: Recognised | None = None
    sources: dict[int, NumberedSource] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    searches: list[tuple[str, str]] = field(default_factory=list)
    """The tools that were called to search, each with its query."""
    differences: Sequence[Difference] = ()
    """Where sources contradict one another on what is asked."""
    asks_nothing: bool = False
    """The message is thanks or a greeting."""
    of_the_whole: bool = False
    """A summary of files is asked for: no word of the question stands in what answers it."""
    searched: bool = False
    failed: bool = False

    def found(self, sources: Iterable[NumberedSource]) -> None:
        """Note what a search has found, be it nothing."""
        self.searched = True
        self.sources.update((source.number, source) for source in sources)

    def remark(self, remarks: Iterable[Remark]) -> None:
        """Note what is said of the question, once."""
        self.remarks += [one for one in remarks if one not in self.remarks]

    def told(self, remarks: Iterable[Remark] | None = None) -> str:
        """Return remarks (all, unless some are given) as one text."""
        groups = self.by_heading(self.remarks if remarks is None else remarks)
        joint = self.language.after_sentence
        words = {code: joint.join(note.text(self.language) for note in notes) for code, notes in groups.items()}
        return joint.join(Fact(code, words=each).text(self.language) for code, each in words.items())

    def by_heading(self, remarks: Iterable[Remark]) -> dict[str, list[Fact]]:
        """Return remarks by their headings."""
        groups: dict[str, list[Fact]] = {}
        for one in remarks:
            groups.setdefault(one.heading, []).append(one.note)
        return groups
