"""Asks the model for a query: of a follow-up question, of a long message. One short call with a deadline of its own.

The conversation is quoted inside a single message: given as messages, models answer the question instead. What comes
back is used only where it looks like a query made of the conversation's own words; else the rule's query stands.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from qiusuo.chat.followups import Exchange
from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.thinking import ThinkFilter
from qiusuo.citations.meaning.wording import fold, terms
from qiusuo.errors import ModelError, ModelRejected
from qiusuo.words import Language

logger = logging.getLogger(__name__)

SECONDS: Final = 3.0
_TURNS: Final = 4
_CHARS: Final = 300
_LONGEST: Final = 200
_READ: Final = 400
_AROUND: Final = 20  # quotes and a label, which are no part of the query
_OWN_WORDS: Final = 0.6
_ALIKE: Final = 0.5
_REQUEST_REFUSED: Final = "llm.request_refused"
_COPIED: Final = 40
_LABEL: Final = re.compile(r"^(?:search )?(?:query|查询|检索词|搜索词)\s*[:：]\s*", re.IGNORECASE)
_QUOTES: Final = "\"'“”‘’「」`*<> "


async def query_by_model(
    model: Model, question: str, said: Sequence[Exchange], language: Language, *, seconds: float = SECONDS
) -> str | None:
    """Return what the model would search for; None where it fails, is late, or says something else than a query."""
    try:
        query = await line_of_model(model, question, said, language, seconds=seconds)
    except (TimeoutError, ModelError) as error:
        logger.info("the model did not say what to search for: %s", type(error).__name__)
        return None
    return query if is_query(query, question, said) else None


async def line_of_model(
    model: Model, question: str, said: Sequence[Exchange], language: Language, *, seconds: float
) -> str:
    """Return the line that the model gives for a query, whatever it is.

    Raises:
        TimeoutError: it took too long.
        ModelError: the model failed.
    """
    lines = [(each.question[:_CHARS], each.answer[:_CHARS]) for each in said[-_TURNS:]]
    message = HumanMessage(prompts.as_query(question, lines, language))
    async with asyncio.timeout(seconds):
        return _bare(await _said(model, message, _longest(question), seconds))


async def _said(model: Model, message: HumanMessage, longest: int, seconds: float) -> str:
    """Return the model's line, at temperature 0 unless the model refuses that."""
    chat = await model.chat_model()
    steady = chat.model_copy(update={"temperature": 0}) if "temperature" in type(chat).model_fields else chat
    try:
        return await _first_line(steady, message, longest, model.info.name, seconds)
    except ModelRejected as refusal:
        if refusal.fact.code != _REQUEST_REFUSED:
            raise
    return await _first_line(chat, message, longest, model.info.name, seconds)


async def _first_line(chat: BaseChatModel, message: HumanMessage, longest: int, name: str, seconds: float) -> str:
    """Return the first line that the model says aloud; what small models add is not waited for, nor a long one."""
    thoughts = ThinkFilter()
    spoken, read = "", 0
    async with aclosing(stream_model(chat, [message], model=name, idle_timeout=seconds, retries=0)) as stream:
        async for chunk in stream:
            spoken += thoughts.feed(chunk.text)
            read += len(chunk.text)
            begun = spoken.lstrip()
            if read > _READ or "\n" in begun or len(begun) > longest + _AROUND:
                break
    spoken = (spoken + thoughts.finish()).strip()
    return spoken.splitlines()[0] if spoken else ""


def is_query(text: str, question: str, said: Sequence[Exchange]) -> bool:
    """Tell whether a text may be the query of a question that leans on others.

    It is short and made of words of question and conversation, but neither the question alone, to which nothing was
    added, nor what was said earlier once more.
    """
    if not text or len(text) > _longest(question):
        return False
    words, asked = _terms(text), _terms(question)
    earlier = [_terms(f"{each.question} {each.answer}") for each in said[-_TURNS:]]
    if not words or words <= asked or any(words <= each for each in earlier):
        return False
    return len(words & asked.union(*earlier)) >= _OWN_WORDS * len(words)


def _longest(question: str) -> int:
    return min(_LONGEST, 60 + 3 * len(question))


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(fold(text.lower())))


async def query_of_message(model: Model, message: str, language: Language, *, seconds: float = SECONDS) -> str | None:
    """Return what the model would search for to answer a long message; None as above, and where it copies from it."""
    try:
        async with asyncio.timeout(seconds):
            asked = HumanMessage(prompts.query_of(message, language))
            query = _bare(await _said(model, asked, _LONGEST, seconds))
    except (TimeoutError, ModelError) as error:
        logger.info("the model did not say what to search for: %s", type(error).__name__)
        return None
    words = _terms(query)
    # It is asked for other words than those of the message.
    about_it = len(words & _terms(message)) >= _OWN_WORDS / 2 * len(words)
    return query if words and len(query) <= _LONGEST and about_it and not _copies(query, message) else None


def _copies(query: str, message: str) -> bool:
    """Tell whether a query has whole pieces of a message: what somebody wrote there is not for a search provider."""
    one, other = (" ".join(text.lower().split()) for text in (query, message))
    return any(one[start : start + _COPIED] in other for start in range(max(len(one) - _COPIED + 1, 0)))


def differ_much(one: str, other: str) -> bool:
    """Tell whether two queries would find different pages."""
    mine, theirs = _terms(one), _terms(other)
    return len(mine & theirs) < _ALIKE * len(mine | theirs)


def _bare(line: str) -> str:
    """Return a query without the quotes and the label that models put around it."""
    return _LABEL.sub("", line.strip(_QUOTES)).strip(_QUOTES)
