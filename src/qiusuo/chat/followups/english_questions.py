"""Does an English question lean on what was said before?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.english_words import (
    HARD,
    LEXICON,
    NOUNS,
    SOFT,
    Word,
    thing_from,
    things_of,
    words_of,
)
from qiusuo.chat.followups.lexicon import is_made_of

QUESTION_WORDS: Final = frozenset({"what", "who", "whom", "whose", "which", "when", "where", "why", "how"})
_BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "will"})
_ASKING: Final = QUESTION_WORDS | _BE | {"do", "does", "did", "can", "could", "would", "should", "has", "have", "had"}
_TIMES: Final = frozenset({"year", "week", "month", "morning", "evening", "time", "weekend", "afternoon", "season"})
_CLOCK: Final = frozenset({"time", "day", "date", "year", "month", "late"})  # What day is it?
_POINTS_BACK: Final = frozenset({"other", "another", "else", "nearby", "similar", "same", "instead", "such"})
_NO_POINTER_BEFORE: Final = frozenset({"possible", "take", "takes", "rain", "raining", "snow", "necessary", "true"})
_THAT_POINTS_AFTER: Final = _BE | {"does", "did", "about", "of", "for", "with", "like", "than", "do", "to", "by", "why"}
POINTERS: Final = {
    word: kind
    for kind in ("pronoun_thing", "pronoun_many", "pronoun_person", "pronoun_place", "pronoun_one")
    for word in LEXICON[kind]
}
PREPOSITIONS: Final = frozenset({"in", "on", "at", "for", "with", "during", "from", "under", "after", "before", "to"})
_SMALL: Final = frozenset({"a", "an", "the", "some", "any", "of"})
# What is the impact on …, the relationship to …, the difference with …: of what?
_OWNERLESS: Final = frozenset({"on", "to", "with", "in"})
_LONGEST_CIRCUMSTANCE: Final = 5
_LONGEST_OPENING: Final = 6
# With more words of its own a question has a subject, even if it names nobody.
_FEW_WORDS: Final = 1
# Can I use whole wheat flour? Do I need an appointment? One more is allowed where somebody asks what to do.
_MAY: Final = frozenset({"can", "could", "do", "should", "will", "must", "may", "am"})
_ME: Final = (["i"], ["we"], ["you"])


@dataclass
class Question:
    """A question, taken apart."""

    text: str
    words: list[Word] = field(init=False)
    things: list[Thing] = field(init=False)
    bare: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.words = words_of(self.text)
        self.things = things_of(self.words, self.text)
        self.bare = [word.low for word in self.words if word.kind != "mark"]

    def says(self, kind: str) -> bool:
        """Tell whether the whole question is a phrase of a kind, or several of them."""
        if " ".join(self.bare) in LEXICON[kind]:
            return True
        marked = " ".join("," if word.kind == "mark" else word.low for word in self.words)
        parts = [part.strip() for part in marked.split(",") if part.strip()]
        return bool(parts) and all(part in LEXICON[kind] for part in parts)

    def is_courtesy(self) -> bool:
        """Tell whether nothing but thanks and greetings was said, however many: ok great, thank you so much."""
        return is_made_of(self.bare, LEXICON["courtesy"], between=" ", longest=_LONGEST_OPENING)

    def opens_with(self, kind: str) -> int:
        """Return how many words of the beginning are a phrase of a kind."""
        for count in range(min(_LONGEST_OPENING, len(self.bare)), 0, -1):
            if " ".join(self.bare[:count]) in LEXICON[kind]:
                return count
        return 0

    def subject(self) -> Thing | None:
        """Return what the question is about: the first name in it, else the first thing."""
        if not self.things:
            return self._softest()
        named = next((thing for thing in self.things if thing.named), None)
        if named is None and not self.asks() and not self.opens_with("request"):  # python list vs tuple
            first, last = self.things[0].first, self.things[-1].last
            return thing_from(self.words, first, last, self.text)
        return named or self.things[0]

    def asks(self) -> bool:
        return any(word in _ASKING for word in self.bare[:2])

    def _softest(self) -> Thing | None:
        """Where nothing harder is named: the last words that say what is asked for, as in "saving time"."""
        last = next((at for at in range(len(self.words) - 1, -1, -1) if self.words[at].kind == "aspect"), None)
        if last is None:
            return None
        first = last
        while first and self.words[first - 1].kind in SOFT:
            first -= 1
        return thing_from(self.words, first, last, self.text)


def leaning(question: Question, talk: Conversation) -> Leaning:
    """Tell how a question leans on the conversation before it."""
    if question.is_courtesy():
        return Leaning.COURTESY
    if not talk.asked:
        return Leaning.ALONE
    if question.says("more"):
        return Leaning.MORE
    if question.opens_with("correction") or _asks_instead(question):
        return Leaning.INSTEAD
    if pointers_in(question):
        return Leaning.POINTING
    if question.opens_with("versus"):
        return Leaning.ELLIPSIS
    if talk.was_in_another_script(chinese=False) and _has_subject(question):
        return Leaning.ALONE
    return Leaning.ELLIPSIS if _leaves_out(question, talk) else Leaning.ALONE


def _asks_instead(question: Question) -> bool:
    opening = question.opens_with("opener")
    if not opening and not _is_circumstance(question):
        return False
    rest = question.bare[opening:]
    return not any(word in _ASKING for word in rest) and not any(word.kind == "verb" for word in question.words)


def _is_circumstance(question: Question) -> bool:
    """Tell whether only a place, a time or the like is named: in 2020? for children? in simple terms."""
    if question.bare[0] not in PREPOSITIONS or len(question.bare) > _LONGEST_CIRCUMSTANCE:
        return False
    return any(
        word.kind in {"name", "aspect", "time"} or word.text.isdigit() or word.low in LEXICON["group"]
        for word in question.words[1:]
    )


def pointers_in(question: Question) -> list[int]:
    """Return the places of words that stand for something said earlier."""
    words = question.words
    found = [at for at, word in enumerate(words) if word.low in POINTERS and _points(words, at)]
    return [] if found and _explained_before(question, found[0]) else found


def _points(words: list[Word], at: int) -> bool:
    low = words[at].low
    before = words[at - 1].low if at else ""
    after = words[at + 1].low if at + 1 < len(words) else "?"
    ends = at + 1 == len(words) or words[at + 1].kind == "mark"
    if low == "there":
        return not {before, after} & _BE and before != "are"
    if low == "here":
        return ends
    if low == "it":
        asks_the_time = ends and before in _BE and any(word.low in _CLOCK for word in words[:at])
        return after not in _NO_POINTER_BEFORE and not asks_the_time
    if low == "that":
        return ends or at == 0 or (before in _THAT_POINTS_AFTER and after not in LEXICON["pronoun_many"])
    if low in {"this", "these", "those"}:
        return after not in _TIMES
    if low == "one":
        return ends or before in {"which", "this", "that", "another"}
    if low == "both":
        return after != "of" and "and" not in {word.low for word in words[at:]}
    return True


def _explained_before(question: Question, at: int) -> bool:
    """Tell whether the pronoun means something of the same question: What is kimchi, and where is it from?"""
    if not any(thing.last < at for thing in question.things):
        return False
    words = question.words
    return any(
        (words[i].low in {"and", "but"} or words[i].kind == "mark")
        and words[i + 1].low in _ASKING | {"and", "but", "if"}
        for i in range(at)
    )


def _leaves_out(question: Question, talk: Conversation) -> bool:
    if not question.things or short_for(question, talk) is not None:
        return True
    known = talk.things[-1].stems if talk.things else frozenset()
    if any(thing.stems & known for thing in question.things):
        return False
    if any(word.low in _POINTS_BACK for word in question.words) or _lacks_noun(question.words):
        return True
    if _lacks_owner(question):
        return True
    if any(thing.named for thing in question.things):
        return False
    own = sum(word.kind in HARD for word in question.words)
    if own > 1 and _introduces(question):
        return False
    if any(_is_definite(question, thing) for thing in question.things):
        return True
    # A single word that asks nothing is a new search.
    few = _FEW_WORDS + (question.bare[0] in _MAY and question.bare[1:2] in _ME)
    return question.asks() and not _introduces(question) and own <= few


def _has_subject(question: Question) -> bool:
    """Tell whether something of several words is asked about: the project budget, not the budget."""
    words = question.words
    return any(
        sum(word.kind in HARD for word in words[thing.first : thing.last + 1])
        + (thing.first > 0 and words[thing.first - 1].kind == "aspect")
        > _FEW_WORDS
        for thing in question.things
    )


def _introduces(question: Question) -> bool:
    """Tell whether a question says itself what it is about: Tell me about heat pumps. What are types of bridges?"""
    if question.opens_with("request") and not _is_definite(question, question.things[0]):
        return True
    words, first = question.words, question.things[0].first
    if any(word.kind == "aspect" and words[at + 1].low == "of" for at, word in enumerate(words[:-1])):
        return True
    opening = question.opens_with("what_is")
    if not opening or not all(word.low in _SMALL or word.kind == "quality" for word in words[opening:first]):
        return False
    last = question.things[0].last
    described = any(word.kind == "quality" for word in words[opening:first])  # What are typical street snacks?
    return not (described and last + 1 < len(words) and words[last + 1].kind == "aspect")


def _lacks_noun(words: list[Word]) -> bool:
    """Tell whether something is only described: the largest in the world, any related to it."""
    for at, word in enumerate(words[:-1]):
        if word.low not in {"the", "any"}:
            continue
        end = at + 1
        while end < len(words) and (words[end].kind == "quality" or words[end].low in {"most", "least", "ever"}):
            end += 1
        if end > at + 1 and (end == len(words) or words[end].kind not in NOUNS):
            return True
    return False


def _lacks_owner(question: Question) -> bool:
    """Tell whether an aspect is asked for and nobody says of what: What is the impact on prices?"""
    words = question.words
    for at, word in enumerate(words[:-1]):
        if word.kind in HARD:
            return False
        if word.kind == "aspect" and words[at + 1].kind not in NOUNS:
            later = {after.low for after in words[at + 1 :]}
            return words[at + 1].low in _OWNERLESS and not later & {"of", "between"}
    return False


def _is_definite(question: Question, thing: Thing) -> bool:
    """Tell whether a thing is spoken of as known: the valve, the filters."""
    words = question.words
    start = thing.first
    while start > 0 and words[start - 1].kind in SOFT:
        start -= 1
    followed = words[thing.last + 1].low if thing.last + 1 < len(words) else ""
    return start > 0 and words[start - 1].low == "the" and followed not in {"of", "for", "in", "that", "who", "between"}


def short_for(question: Question, talk: Conversation) -> tuple[Thing, Thing] | None:
    """Return a thing with the one it is short for: the Bank, the European Central Bank."""
    for thing in question.things:
        if not thing.first or question.words[thing.first - 1].low != "the":
            continue
        for known in reversed(talk.things):
            if thing.stems < known.stems:
                return thing, known
    return None
