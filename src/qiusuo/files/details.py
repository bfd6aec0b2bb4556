"""What is known of a source that is a part of a file: the file's name, the page or line, and the heading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qiusuo.details import VALUE, Card, CardFact, Details, text_in
from qiusuo.words import Fact, Language


@dataclass(frozen=True, slots=True)
class FileDetails(Details):
    """Where in which file a passage stands."""

    kind: ClassVar[str] = "file"

    file: str
    name: str
    page: int = 0
    heading: str = ""
    line: int = 0
    text: str = ""
    """The passages, for the card."""

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:  # noqa: ARG002 - nothing is said of ours
        return {
            "file": self.file,
            "name": self.name,
            "page": self.page,
            "heading": self.heading,
            "line": self.line,
            "text": self.text,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FileDetails:
        words = {name: text_in(data, name) for name in ("file", "name", "heading", "text")}
        return cls(**words, page=int(data.get("page", 0)), line=int(data.get("line", 0)))

    def card(self, language: Language = Language.ENGLISH) -> Card | None:  # noqa: ARG002 - its facts have both
        facts = []
        if self.page:
            facts.append(CardFact(str(self.page), _labels("file.page")))
        elif self.line:
            facts.append(CardFact(str(self.line), _labels("file.line")))
        if self.heading:
            facts.append(CardFact(self.heading))
        return Card(self.name, self.text, facts=tuple(facts))


def _labels(code: str) -> dict[str, str]:
    return {language.value: Fact(code, value=VALUE).text(language) for language in Language}
