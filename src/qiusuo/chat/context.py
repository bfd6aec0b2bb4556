"""What the work of one turn has at hand."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from qiusuo.chat import prompts
from qiusuo.chat.answer import MessageText
from qiusuo.chat.events import Stage
from qiusuo.chat.history import estimate_tokens, recall, trim, with_shorter_results
from qiusuo.chat.journal import Journal
from qiusuo.chat.model_errors import stream_model
from qiusuo.chat.notices import notice
from qiusuo.chat.port import Model
from qiusuo.chat.session import ChatSettings, Memory, new_id
from qiusuo.config import Settings
from qiusuo.errors import ContextOverflow
from qiusuo.pages import PageReader
from qiusuo.service import SearchService
from qiusuo.tools.specs import ToolSpec

logger = logging.getLogger(__name__)

_ANSWER_SHARE: Final = 4
_OVERFLOW_TRIES: Final = 3
TOO_LONG: Final = {"finish_reason": "length"}
"""What is told of a message that was broken off because it found no end."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked in a turn. ``language`` None: that of the question. ``system`` are words of the caller's own."""

    question: str
    settings: ChatSettings = field(default_factory=ChatSettings)
    language: str | None = None
    user: str | None = None
    id: str = field(default_factory=new_id)
    system: str = ""


@dataclass(slots=True)
class Context:
    """The parts that a turn works with. ``pages`` has the text of pages that were read, by source number."""

    ask: Ask
    memory: Memory
    journal: Journal
    service: SearchService
    model: Model
    settings: Settings
    reader: PageReader
    legal: Sequence[ToolSpec] = ()
    pages: dict[int, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return self.journal.language

    @property
    def history_budget(self) -> int:
        """The tokens that earlier turns may take: what the model has room for, less its answer and this question."""
        room = self.model.info.context_tokens
        wanted = self.settings.history_tokens or room // 2
        return max(min(wanted, room - room // _ANSWER_SHARE - self._own_tokens), 0)

    @property
    def injection_budget(self) -> int:
        """The tokens that search results may take."""
        return min(self.settings.injection_tokens, self.model.info.context_tokens // 2)

    @property
    def _own_tokens(self) -> int:
        return estimate_tokens(self.ask.question) + self.injection_budget

    def prompt(self, system: str, question: str, *, tools: bool) -> list[BaseMessage]:
        """Return what the model is sent: the rules, the conversation so far (kept short), the question."""
        if trim(self.memory, self.history_budget):
            self.journal.notice(notice("context_trimmed", self.language))
        rules = f"{system}\n\n{self.ask.system}" if self.ask.system else system
        return [SystemMessage(rules), *recall(self.memory, tools=tools), HumanMessage(question)]

    async def say(
        self,
        model: BaseChatModel | Runnable[Any, Any],
        messages: Sequence[BaseMessage],
        text: MessageText,
    ) -> AIMessage:
        """Let the model answer; its text goes to the reader as it comes, the whole message is returned.

        Raises:
            ModelError: the model failed. ContextOverflow is dealt with here as long as something can be dropped.
        """
        self.journal.status(Stage.THINKING)
        for left in reversed(range(_OVERFLOW_TRIES)):
            try:
                return await self._stream(model, messages, text)
            except ContextOverflow:
                shorter = _shorter(messages)
                if text.raw or not left or shorter is None:
                    raise
                logger.info("the model's context is too short; it is sent less")
                self.journal.notice(notice("context_trimmed", self.language))
                messages = shorter
        raise AssertionError("unreachable")

    async def _stream(
        self, model: BaseChatModel | Runnable[Any, Any], messages: Sequence[BaseMessage], text: MessageText
    ) -> AIMessage:
        carrying: AIMessageChunk | None = None  # adding up every chunk would cost more than all the rest
        facts: dict[str, Any] = {}
        stream = stream_model(model, messages, model=self.model.info.name, idle_timeout=self.settings.model_timeout)
        async with aclosing(stream):
            async for chunk in stream:
                piece = chunk.text
                if piece:
                    text.feed(piece)
                if chunk.response_metadata:
                    facts |= chunk.response_metadata  # not added up: some servers tell twice why they stop
                if chunk.tool_call_chunks or chunk.usage_metadata:
                    kept = chunk.model_copy(update={"content": "", "response_metadata": {}})
                    carrying = kept if carrying is None else carrying + kept
                if text.full:
                    break
        calls = text.finish()
        if carrying is None:
            carrying = AIMessageChunk(content="")
        self.journal.count_tokens(carrying.usage_metadata)
        return AIMessage(
            text.raw,
            tool_calls=[*carrying.tool_calls, *calls],
            invalid_tool_calls=carrying.invalid_tool_calls,
            response_metadata=TOO_LONG if text.full else facts,
        )


def finish_of(message: AIMessage) -> str:
    """Return why the model stopped, in OpenAI's words."""
    facts: Mapping[str, Any] = message.response_metadata
    reason = facts.get("finish_reason") or facts.get("stop_reason") or facts.get("done_reason") or "stop"
    return {"end_turn": "stop", "max_tokens": "length", "MAX_TOKENS": "length", "STOP": "stop"}.get(reason, reason)


def _shorter(messages: Sequence[BaseMessage]) -> list[BaseMessage] | None:
    """Return less of the messages: without the oldest half of the turns before, else with shorter results of tools."""
    rules, rest = messages[0], list(messages[1:])
    questions = [index for index, message in enumerate(rest) if _is_question(message)]
    if len(questions) > 1:
        return [rules, *rest[questions[len(questions) // 2] :]]
    shorter = with_shorter_results(messages)
    return shorter if shorter != list(messages) else None


def _is_question(message: BaseMessage) -> bool:
    # Directions to the model have the same role; what stands before them is what they are about.
    return isinstance(message, HumanMessage) and not prompts.is_direction(message.text)
