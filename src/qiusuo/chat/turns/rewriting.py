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

from langchain_core.messages import HumanMessage

from qiusuo.chat.followups import Exchange
from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.thinking import ThinkFilter
from qiusuo.citations.meaning.wording import fold, terms
from qiusuo.errors import ModelError
from qiusuo.words import Language

logger = logging.getLogger(__name__)

SECONDS: Final = 3.0
_TURNS: Final = 4
_CHARS: Final = 300
_LONGEST: Final = 200
_READ: Final = 400
_OWN_WORDS: Final = 0.6
_ALIKE: Final = 0.5
_COPIED: Final = 40
_LABEL: Final = re.compile(r"^(?:search )?(?:query|查询|检索词|搜索词)\s*[:：]\s*", re.IGNORECASE)
_QUOTES: Final = "\"'“”‘’「」`*<> "


async def query_by_model(
    model: Model, question: str, said: Sequence[Exchange], language: Language, *, seconds: float = SECONDS
) -> str | None:
    """Return what the model would search for; None where it fails, is late, or says something else than a query."""
    recent = said[-_TURNS:]
    lines = [(each.question[:_CHARS], each.answer[:_CHARS]) for each in recent]
    query = await _said(model, prompts.as_query(question, lines, language), seconds)
    return query if is_query(query, question, recent) else None


async def query_of_message(model: Model, message: str, language: Language, *, seconds: float = SECONDS) -> str | None:
    """Return what the model would search for to answer a long message; None as above, and where it copies from it."""
    query = await _said(model, prompts.query_of(message, language), seconds)
    about_it = is_query(query, message, (), own_words=_OWN_WORDS / 2)  # it is asked for other words
    return query if about_it and not _copies(query, message) else None


async def _said(model: Model, prompt: str, seconds: float) -> str:
    """Return the first line that the model says; nothing where it fails or is late."""
    message = HumanMessage(prompt)
    text = ""
    try:
        async with asyncio.timeout(seconds):
            chat = (await model.chat_model()).bind(temperature=0)
            stream = stream_model(chat, [message], model=model.info.name, idle_timeout=seconds, retries=0)
            async with aclosing(stream):
                async for chunk in stream:
                    text += chunk.text
                    if len(text) > _READ:
                        break
    except (TimeoutError, ModelError) as error:
        logger.info("the model did not say what to search for: %s", type(error).__name__)
        return ""
    return _line_of(text)


def is_query(text: str, question: str, said: Sequence[Exchange], *, own_words: float = _OWN_WORDS) -> bool:
    """Tell whether a text may be the query of a question: short, and made of words of question and conversation."""
    if not text or len(text) > min(_LONGEST, 60 + 3 * len(question)):
        return False
    own = terms(fold(" ".join([question, *(f"{each.question} {each.answer}" for each in said)]).lower()))
    words = terms(fold(text.lower()))
    return bool(words) and len(words & own) >= own_words * len(words)


def _copies(query: str, message: str) -> bool:
    """Tell whether a query has whole pieces of a message: what somebody wrote there is not for a search provider."""
    one, other = (" ".join(text.lower().split()) for text in (query, message))
    return any(one[start : start + _COPIED] in other for start in range(max(len(one) - _COPIED + 1, 0)))


def differ_much(one: str, other: str) -> bool:
    """Tell whether two queries would find different pages."""
    mine, theirs = terms(fold(one.lower())), terms(fold(other.lower()))
    return len(mine & theirs) < _ALIKE * len(mine | theirs)


def _line_of(text: str) -> str:
    thoughts = ThinkFilter()
    spoken = thoughts.feed(text) + thoughts.finish()
    first = next((line for line in map(str.strip, spoken.splitlines()) if line), "")
    return _LABEL.sub("", first.strip(_QUOTES)).strip(_QUOTES)
