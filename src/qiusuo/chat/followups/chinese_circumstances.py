"""A follow-up may add a circumstance and name nothing instead of what was asked about: 那已经领证了呢."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.chat.followups.chinese_questions import Question
from qiusuo.chat.followups.chinese_words import LEXICON, NUMBER
from qiusuo.chat.followups.conversation import Thing

_BEGINS: Final = tuple(LEXICON["circumstance_begin"])
_INSIDE: Final = tuple(LEXICON["circumstance_in"])
_ENDS: Final = tuple(LEXICON["circumstance_end"])
_QUANTITY: Final = re.compile(
    rf"[{NUMBER}]+(?P<unit>{'|'.join(sorted(LEXICON['unit'], key=len, reverse=True))})(?!级|[{NUMBER}])"
)
_BEFORE_VERB: Final = tuple(LEXICON["before_verb"])
_AFTER_VERB: Final = tuple(LEXICON["after_verb"])
_DESCRIBES: Final = LEXICON["describing"] | {"的", "其他", "其它"}
_SHORTEST_HEAD: Final = 2
# What befalls somebody, by what it is told of: it says under which circumstance is asked, and is no thing by itself.
_HAPPENINGS: Final = tuple(
    words for kind, words in LEXICON.items() if kind.startswith("happening_") and kind != "happening_if"
)
_MEANING: Final = re.compile(r"^(?:什么是|何为|什么叫)|是(?:什么|啥)(?:意思)?$")
_IF: Final = re.compile(rf"^(?:{'|'.join(LEXICON['happening_if'])})+|的$|的话$")


def beside(last: Question, fresh: Question) -> str:
    """Return the last question with a circumstance; nothing where something else is asked about."""
    new = fresh.text
    if query := _happening(last.text, new):
        return query
    if len(fresh.words) == 1 and fresh.has("name", "title", "latin", "time", "article"):
        return ""
    if _is_condition(new):
        return with_circumstance(last.text, new)
    if place := _place_of_head(last, fresh):
        return f"{last.text[: place[0]]}{new}{last.text[place[1] :]}"
    return with_circumstance(last.text, new) if _is_circumstance(new, last) else ""


def _happening(asked: str, new: str) -> str:
    """Return the last question where something happens, in the place of what is like it: 那难产呢, then 双胞胎呢."""
    named = _IF.sub("", new)
    family = next((words for words in _HAPPENINGS if named in words), None)
    if family is None:
        return ""
    there = max((one for one in family if one in asked), key=len, default="")
    if there:
        return asked.replace(there, named, 1)
    return "" if _MEANING.search(asked) else f"{asked} {named}"  # who asks what a word means asks for the next one


def _is_condition(new: str) -> bool:
    return new.startswith(_BEGINS) or any(sign in new[1:] for sign in _INSIDE)


def _is_circumstance(new: str, last: Question) -> bool:
    """Tell whether words look like a circumstance; what ends like the thing is of its kind: 实习期 after 试用期."""
    if _QUANTITY.search(new):
        return True
    ends = any(new.endswith(end) and len(new) > len(end) for end in _ENDS)
    old = last.subject() if ends else None
    return ends and (old is None or not old.text.endswith(new[-1]))


def with_circumstance(asked: str, new: str) -> str:
    """Return the last question with a circumstance beside it, in the place of one that was added before."""
    question, _, added = asked.rpartition(" ")
    looks_added = question and (_is_condition(added) or _is_circumstance(added, Question(question)))
    if looks_added and _asks(question) and not _asks(added):  # what was typed behind a question stays
        asked = question
    return f"{asked} {new}"


def other_quantity(asked: str, new: str) -> str:
    """Return the last question with another number of the same unit: 那五年呢 after 三年; else nothing."""
    number = _QUANTITY.fullmatch(new)
    old = [match for match in _QUANTITY.finditer(asked) if number and match["unit"] == number["unit"]]
    return f"{asked[: old[-1].start()]}{new}{asked[old[-1].end() :]}" if old else ""


def _place_of_head(last: Question, fresh: Question) -> tuple[int, int] | None:
    """Return where the last question has the noun that a new thing says more exactly: 十岁的孩子, 孩子."""
    described = len(fresh.words) > 1 and fresh.words[-2].text in _DESCRIBES
    head = fresh.words[-1]
    if not described or head.kind != "aspect":
        return None
    return next(((word.start, word.end) for word in last.words if word.text == head.text), None)


def happens(last: Question, thing: Thing) -> bool:
    """Tell whether what looks like a thing is done, so that no noun fits into its place: 被撞了, 公司不交社保."""
    around = last.text[: thing.first].endswith(_BEFORE_VERB) or last.text.startswith(_AFTER_VERB, thing.last)
    return around or any(sign in thing.text[1:-1] for sign in _INSIDE)


def overlap(subject: str, new: str) -> int:
    """Return how many characters at the end of a thing a new one begins with: 公司试用期, 试用期工资."""
    lengths = range(min(len(subject), len(new) - 1), _SHORTEST_HEAD - 1, -1)
    return next((length for length in lengths if new.startswith(subject[-length:])), 0)


def _asks(text: str) -> bool:
    return text.endswith(("吗", "呢", "不", "没有")) or Question(text).has("asking")
