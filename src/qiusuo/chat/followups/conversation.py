"""What a conversation has been about so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

# Longer names of things are sentences; a query must stay short.
LONGEST_THING: Final = 60
_LONGEST_QUESTION: Final = 200
_THINGS_KEPT: Final = 8
_CHARACTERS_OF_THE_THEME: Final = 200
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


class Leaning(Enum):
    """How a question leans on what was said."""

    ALONE = "alone"
    COURTESY = "courtesy"  # thanks, hello: asks nothing
    MORE = "more"  # the same again: why? what else?
    INSTEAD = "instead"  # something in the place of something: what about Germany?
    POINTING = "pointing"  # a pronoun stands for it
    ELLIPSIS = "ellipsis"  # it is just left out


@dataclass(frozen=True)
class Thing:
    """Something that a question names.

    Attributes:
        first: where it begins in its question (counted in words in English, in characters in Chinese).
        last: its last place there.
        text: as it was spelled.
        article: the, a or an, where one stood before it.
        full: with the aspect of it that was asked for (the author of a book, where text is the book).
        stems: its words, to be compared.
        named: whether a name is in it.
        whole_name: whether it is nothing but a name.
        plural: whether "they" would fit.
        person: whether somebody asked who it is.
    """

    first: int
    last: int
    text: str
    stems: frozenset[str]
    named: bool = False
    whole_name: bool = False
    plural: bool = False
    person: bool = False
    article: str = ""
    full: str = ""


@dataclass
class Conversation:
    """What has been asked, as far as it matters for the next question.

    Attributes:
        things: what questions were about, the most recent last.
        theme: what the conversation is about as a whole, while its parts are asked for.
        asked: the last question, as it was understood.
        answer: how its answer began.
    """

    things: list[Thing] = field(default_factory=list)
    theme: Thing | None = None
    asked: str = ""
    answer: str = ""

    def ask(self, query: str) -> None:
        """Remember a question as it was understood."""
        self.asked = query[:_LONGEST_QUESTION]

    def introduce(self, thing: Thing, *, instead: bool = False, exactly: bool = False) -> None:
        """Go on with something: it is what "it" means from now on, perhaps instead of what it meant before.

        Unless exactly it is meant, it may be short for something longer that was named before.
        """
        if len(thing.text) > LONGEST_THING:
            return
        longer = next((known for known in self.things if thing.stems < known.stems and not exactly), thing)
        others = [known for known in self.things if known.stems != longer.stems]
        self.things = [*others[-_THINGS_KEPT:], longer]
        replaced = instead and self.theme in self.things[-2:-1]
        narrowed = exactly and self.theme is not None and longer.stems < self.theme.stems
        if self.theme is None or replaced or narrowed or _same_kind(self.theme, longer):
            self.theme = longer

    def was_in_another_script(self, *, chinese: bool) -> bool:
        """Tell whether what was spoken of is said in another script than the question; a name is the same in all."""
        last = self.things[-1] if self.things else None
        return last is not None and not last.named and bool(_HAN.search(last.text)) != chinese

    def hear(self, answer: str) -> None:
        """Leave the theme behind where the answer about something else does not come back to it."""
        self.answer = answer
        if answer and self.theme and self.things and self.things[-1] is not self.theme:
            said = answer[:_CHARACTERS_OF_THE_THEME].lower()
            if not any(word.lower() in said for word in self.theme.text.split()):
                self.theme = self.things[-1]


def _same_kind(one: Thing, other: Thing) -> bool:
    """Tell whether two things end alike: throat cancer, lung cancer. Then one takes the place of the other."""
    return one.text.split()[-1].lower() == other.text.split()[-1].lower()
