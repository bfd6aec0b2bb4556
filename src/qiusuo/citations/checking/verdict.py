"""What a judge of support says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Support(StrEnum):
    """Whether the source says what the sentence says."""

    SUPPORTED = "supported"
    WEAK = "weak"
    NOT_FOUND = "not_found"


class Reason(StrEnum):
    """Why a sentence is not simply supported."""

    NO_PASSAGE = "no_passage"  # nothing in the source is about it
    NUMBER_DIFFERS = "number_differs"
    NUMBER_MISSING = "number_missing"
    NAME_DIFFERS = "name_differs"
    NAME_MISSING = "name_missing"
    DENIED = "denied"  # one of the two has a negation
    OPPOSITE = "opposite"  # rises against falls
    REPLACED = "replaced"  # other words between the same words
    PART_MISSING = "part_missing"  # a clause of the sentence is not in the source
    OTHER_LANGUAGE = "other_language"  # only numbers and names could be compared
    LITTLE_IN_COMMON = "little_in_common"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How well a source supports a claim; ``passage`` is the text of the source that comes nearest to it."""

    support: Support
    score: float
    passage: str = ""
    reasons: tuple[Reason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict in its JSON shape."""
        return {
            "support": self.support.value,
            "score": round(self.score, 3),
            "passage": self.passage,
            "reasons": [reason.value for reason in self.reasons],
        }
