"""A short answer to a search, written by the model from what was found: no conversation, no tools, no references."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import aclosing
from typing import Final

from langchain_core.messages import HumanMessage, SystemMessage

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.observe import Answered
from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.vendors import EXTRACTIVE
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.notices import model_code
from qiusuo.chat.turns.thinking import ThinkFilter
from qiusuo.errors import ModelError, SearchError
from qiusuo.models import SearchResponse

logger = logging.getLogger(__name__)

SECONDS: Final = 30.0
_LONGEST: Final = 20_000
_MARKER: Final = re.compile(r"[ \t]?\[\d{1,3}\]")


async def short_answer(
    chat: Chat, question: str, response: SearchResponse, *, user: str | None = None, seconds: float = SECONDS
) -> str | None:
    """Return what the model answers; None where there is no model, or it fails or is late."""
    try:
        hand = chat.model_for(user)
        chat.service.rules.check_tokens(user)
    except SearchError as error:
        logger.info("no model answers beside the results: %s", error)
        return None
    if hand.model.info.kind == EXTRACTIVE or not response.results:
        return None
    language = prompts.language_of(question)
    numbers = range(1, len(response.results) + 1)
    length = hand.settings.snippet_length
    asked = prompts.with_results(question, response, language, numbers=numbers, snippet_length=length)
    messages = [SystemMessage(prompts.chat_system(language)), HumanMessage(asked)]
    thoughts, said = ThinkFilter(), ""
    state, started, tokens = TurnState.STOPPED, time.perf_counter(), [0, 0]
    first: float | None = None
    failures: tuple[str, ...] = ()
    chat.tell_begun()
    try:
        async with asyncio.timeout(seconds):
            model = await hand.model.chat_model()
            stream = stream_model(model, messages, model=hand.model.info.name, idle_timeout=seconds, retries=0)
            async with aclosing(stream):
                async for chunk in stream:
                    said += thoughts.feed(chunk.text)
                    if said and first is None:
                        first = time.perf_counter() - started
                    if used := chunk.usage_metadata:
                        tokens = [tokens[0] + used["input_tokens"], tokens[1] + used["output_tokens"]]
                    if len(said) > _LONGEST:
                        break
        state = TurnState.DONE
    except (TimeoutError, ModelError) as error:
        state, failures = TurnState.FAILED, (model_code(error),)
        logger.warning("the model gave no answer to a search: %s", type(error).__name__)
        return None
    finally:
        seconds = time.perf_counter() - started
        told = Answered(hand.model.info.name, state.value, user, seconds, tokens[0], tokens[1], first, failures)
        chat.tell(told)
    return _MARKER.sub("", said + thoughts.finish()).strip() or None
