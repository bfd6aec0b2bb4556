"""The way in: replays the earlier questions, so that the last one meets what the conversation is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qiusuo.chat.followups import chinese, english, everyday
from qiusuo.chat.followups.conversation import Conversation, Leaning
from qiusuo.chat.followups.model import Exchange, Resolved
from qiusuo.words.script import is_traditional, simplified, written_like

_WORD: Final = re.compile(r"[^\W_]")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
# What is read of a conversation, so that a long one costs no more. Longer questions say themselves what they are about.
_EXCHANGES_READ: Final = 12
_CHARACTERS_READ: Final = 500
_LONGEST_FOLLOW_UP: Final = 200
_CHARACTERS_OF_A_QUESTION: Final = 120
_CHARACTERS_OF_AN_ANSWER: Final = 600


def resolve(question: str, before: Sequence[Exchange]) -> Resolved:
    """Return the query that a question stands for, after what was said before."""
    if is_traditional(question):
        return _as_written(question, before)
    leaning, resolved = _understand(question, before)
    return replace(
        resolved,
        leans=leaning not in {Leaning.ALONE, Leaning.COURTESY},
        asks=leaning is not Leaning.COURTESY,
    )


def _as_written(question: str, before: Sequence[Exchange]) -> Resolved:
    """Resolve a question in traditional characters: the rules know the simplified ones, the query has its own again."""
    plain = [
        replace(each, question=simplified(each.question), answer=simplified(each.answer)) for each in _read(before)
    ]
    resolved = resolve(simplified(question), plain)
    said = "".join(
        [question, *(f"{each.question}{each.answer[:_CHARACTERS_OF_AN_ANSWER]}" for each in reversed(before))]
    )
    carried = tuple(written_like(each, said) for each in resolved.carried)
    return replace(resolved, query=written_like(resolved.query, said), carried=carried)


def leans_on_what_was_said(question: str, before: Sequence[Exchange]) -> bool:
    """Tell whether a question cannot be understood without what was said before."""
    return resolve(question, before).leans


def _understand(question: str, before: Sequence[Exchange]) -> tuple[Leaning, Resolved]:
    if len(question) > _LONGEST_FOLLOW_UP or not _WORD.search(question):
        return Leaning.ALONE, Resolved(question)
    talk = Conversation()
    for exchange in _read(before):
        _step(exchange.question[:_CHARACTERS_OF_A_QUESTION].strip(), talk)
        talk.hear(exchange.answer[:_CHARACTERS_OF_AN_ANSWER])
    return _step(question, talk)


def _read(before: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the last exchanges, at least one."""
    budget = _CHARACTERS_READ
    first = len(before)
    while first > max(0, len(before) - _EXCHANGES_READ) and budget > 0:
        first -= 1
        budget -= min(len(before[first].question), _CHARACTERS_OF_A_QUESTION)
    return before[first:]


def _step(question: str, talk: Conversation) -> tuple[Leaning, Resolved]:
    if not _WORD.search(question):
        return Leaning.ALONE, Resolved(question)
    if (topic := everyday.topic(question)) and (understood := everyday.understand(question, topic, talk)):
        return understood
    if _HAN.search(question):
        return chinese.understand(question, talk)
    return english.understand(question, talk)
