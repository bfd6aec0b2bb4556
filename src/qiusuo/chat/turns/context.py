"""What the work of one turn has at hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolCall
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from qiusuo.chat.depth import Depth, usual_depth
from qiusuo.chat.events.turn import ModelTaken, Stage, TurnRecord
from qiusuo.chat.focus import Scope
from qiusuo.chat.models.book import FIRST, AtHand, ModelBook
from qiusuo.chat.models.material import Material, Remark
from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.models.vendors import EXTRACTIVE, LOCAL
from qiusuo.chat.sessions.session import ChatSettings, Memory, new_id
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.client_tools import ClientTools
from qiusuo.chat.turns.answer import CUT, MessageText
from qiusuo.chat.turns.history import estimate_tokens, message_tokens, recall, tool_tokens, trim, with_shorter_results
from qiusuo.chat.turns.journal import Journal
from qiusuo.chat.turns.notices import notice, remark_notice
from qiusuo.chat.turns.sources.numbered import TurnSources
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.config import Settings
from qiusuo.engines.base import Storing
from qiusuo.errors import (
    ContextOverflow,
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelNotConfigured,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
)
from qiusuo.files import FileText
from qiusuo.models import Attempt, SearchResponse
from qiusuo.pages import PageReader, RecentPages
from qiusuo.plugins import Recognised
from qiusuo.roster import NATIVE
from qiusuo.service import SearchService
from qiusuo.tools.specs import ToolSpec
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

_ANSWER_SHARE: Final = 4
_LEAST_SHARE: Final = 8
_OVERFLOW_TRIES: Final = 3
_SECOND_MAY_HELP: Final = (
    ModelAuthFailed,
    ModelBroken,
    ModelNotConfigured,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
)
"""What another model may not fail with. What one refuses or has no room for is the question's own."""
TOO_LONG: Final = {"finish_reason": CUT}
"""What is told of a message that was broken off because it found no end."""


class Direction(HumanMessage):
    """A direction of ours to the model, in the user's role: no question."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked in a turn. ``language`` None: that of the question. ``system`` are words of the caller's own.

    ``query`` is what to search for where the reader says so; else it is the question as the conversation explains it.
    With ``research`` the question is looked into from several sides; ``earlier`` is one that broke off, to go on with.
    ``client`` has the tools of a program that runs them itself. ``model`` is the name of the one that is to answer this
    message; None: that of the conversation. ``files`` are those of the conversation. ``related``: the reader would like
    to be told what may be asked next.
    """

    question: str
    settings: ChatSettings = field(default_factory=ChatSettings)
    language: str | None = None
    user: str | None = None
    id: str = field(default_factory=new_id)
    system: str = ""
    query: str | None = None
    research: bool = False
    earlier: TurnRecord | None = None
    client: ClientTools = field(default_factory=ClientTools)
    model: str | None = None
    files: Sequence[FileText] = ()
    related: bool = False


@dataclass(slots=True)
class Context:
    """The parts that a turn works with.

    ``hand`` is the model that answers, out of the ``book``. ``sources`` is what it has found. ``tools`` are those of
    plug-ins. ``pages`` has the text of pages that were read, by source number. ``found`` is a search that was made
    before it was clear whose turn it is to search. ``query`` is what is searched for: the question, understood by what
    was said before where it ``leans`` on that. ``calls`` are those that the client is to make. ``failed`` is why the
    first model could not answer, and what it is called, where the second has taken its place. ``injected`` are the
    tokens that passages of files take in the question.
    """

    ask: Ask
    memory: Memory
    journal: Journal
    service: SearchService
    book: ModelBook
    hand: AtHand
    reader: PageReader
    recent_pages: RecentPages
    material: Material
    clock: Callable[[], float]
    query: str
    leans: bool = False
    tools: Sequence[ToolSpec] = ()
    pages: dict[int, str] = field(default_factory=dict)
    found: SearchResponse | None = None
    stopped: bool = False
    calls: list[ToolCall] = field(default_factory=list)
    failed: tuple[ModelError, str] | None = None
    injected: int = 0
    sources: TurnSources = field(init=False)

    def __post_init__(self) -> None:
        self.sources = TurnSources(self.memory.registry)

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self.hand.model

    @property
    def settings(self) -> Settings:
        """The settings, as they hold for the model."""
        return self.hand.settings

    async def chat_model(self) -> BaseChatModel:
        """Return the model to ask; where the first cannot be used at all, the second.

        Raises:
            ModelError: there is none that can be used.
        """
        try:
            return await self.model.chat_model()
        except ModelError as error:
            if not self.take_second(error):
                raise
        return await self.model.chat_model()

    def take_second(self, error: ModelError) -> bool:
        """Go on with the second model, and say so, where the first has failed before it said anything.

        A model that was chosen by its name is not replaced: it may have been chosen because of who reads along.
        """
        second = self.book.second if self.hand.name == FIRST else None
        allowed = self.service.rules.terms(self.ask.user).models
        if second is not None and allowed is not None and second.name not in allowed:
            second = None
        if second is None or self.journal.record.answer or not isinstance(error, _SECOND_MAY_HELP):
            return False
        logger.warning("the first model failed, the second is asked: %s", error)
        first, self.hand = self.model.info, second
        self.failed = error, first.label
        told = Fact("notice.second_model", first=first.label, second=second.model.info.title)
        self.journal.notice(notice(told, "warning", reason=error.told, commands=error.commands or None))
        self.journal.emit(ModelTaken(second.model.info.name, second.name))
        if second.model.info.kind == EXTRACTIVE and self.ask.client.tools:
            self.leave_out_client_tools()
        return True

    @property
    def recognised(self) -> Recognised | None:
        """How the question is searched for, where a plug-in knows it."""
        return self.material.recognised

    def remarks_of(self, attempts: Iterable[Attempt]) -> list[Remark]:
        """Return what engines that explain themselves have to say of the question."""
        return [
            Remark(kind.explains, note)
            for attempt in attempts
            if (kind := self.service.kind_of(attempt.engine)) is not None and kind.explains
            for note in attempt.notes
        ]

    def remark(self, remarks: Sequence[Remark], *, found: bool) -> None:
        """Tell the reader what an engine or a tool has to say of the question, and note it for the answer."""
        self.material.remark(remarks)
        if self.model.info.kind == EXTRACTIVE and not self.ask.research:
            return  # the answer itself says it
        for heading, notes in self.material.by_heading(remarks).items():
            self.journal.notice(remark_notice(heading, notes, "info" if found else "warning"))

    @property
    def can_answer(self) -> bool:
        """Whether there is something to answer with where no search works: a model, or what files and engines said."""
        return self.has_model or bool(self.material.sources or self.material.remarks)

    def leave_out_client_tools(self) -> None:
        """Go on without the client's tools, and say so."""
        self.journal.notice(notice("client_tools_left_out", "warning"))
        self.ask = replace(self.ask, client=replace(self.ask.client, tools=(), choice=None))

    @property
    def scope(self) -> Scope:
        """What searches are kept to."""
        return self.ask.settings.scope

    @property
    def engine(self) -> str | None:
        """The engine that is asked; None for the usual order. A model's own search is none of ours."""
        chosen = self.ask.settings.engine
        return chosen if chosen != NATIVE else None

    @property
    def linking(self) -> CitationProcessor:
        """What makes links of citations; nothing in JSON, where ``[1]`` is a list."""
        return CitationProcessor() if self.ask.client.form else self.sources.known

    @property
    def most_results(self) -> int:
        """How many results of the web go before the question."""
        return min(self.ask.settings.results, self.settings.max_results)

    @property
    def has_model(self) -> bool:
        """Whether a language model answers, not sentences of the sources."""
        return self.model.info.kind != EXTRACTIVE

    @property
    def wanted(self) -> int:
        """How many results are asked for. A question that names articles gets these, however many."""
        usual = self.most_results
        return max(usual, self.recognised.wanted) if self.recognised is not None else usual

    def quotes_whole(self, engine: str) -> bool:
        """Tell whether results of an engine are the text itself, which is not cut."""
        kind = self.service.kind_of(engine)
        return kind is not None and kind.quoted_whole

    def may_keep_pages(self, engine: str) -> bool:
        """Tell whether pages that an engine has found may be kept for the next question, as its results may."""
        kind = self.service.kind_of(engine)
        storing = self.settings.engine(engine).store_results or (kind.storing if kind is not None else Storing.SHARED)
        return storing != Storing.NEVER

    @property
    def depth(self) -> Depth:
        """What the answer rests on."""
        return self.ask.settings.depth or usual_depth(self.settings)

    def heed_stop(self) -> None:
        """End the work here if the turn was stopped.

        Its task is cancelled as well, but a package that waits with ``asyncio.wait_for`` loses a cancellation that
        comes together with a chunk (Python 3.11), and then the model would talk to its end for nobody.
        """
        if self.stopped:
            raise asyncio.CancelledError

    @property
    def language(self) -> Language:
        return self.journal.language

    def fixed_tokens(self, system: str, question: str, tools: Sequence[BaseTool | dict[str, Any]] = ()) -> int:
        """Return the tokens that every request of the turn has: the rules, what the tools are, the question."""
        return estimate_tokens(self._rules(system)) + tool_tokens(tools) + estimate_tokens(question)

    def results_budget(self, fixed: int) -> int:
        """Return the tokens that results may take beside so many that are fixed; some always may."""
        room = self.model.info.context_tokens
        return min(room // 2, max(self._room - fixed, room // _LEAST_SHARE))

    def injection_budget(self, fixed: int) -> int:
        """Return the tokens that search results may take in a question, beside what passages of files take."""
        whole = min(self.settings.injection_tokens, self.results_budget(fixed))
        return max(whole - self.injected, whole // _LEAST_SHARE)

    @property
    def _room(self) -> int:
        """The tokens that the model has room for, less its answer."""
        room = self.model.info.context_tokens
        return room - room // _ANSWER_SHARE

    @property
    def _suggests(self) -> bool:
        """Whether the model is to say what may be asked next; on this machine it would take too long for that."""
        return self.journal.suggestions.wanted and self.model.info.kind not in {EXTRACTIVE, LOCAL}

    def _rules(self, system: str) -> str:
        system = f"{system}\n\n{prompts.RELATED[self.language.written]}" if self._suggests else system
        return f"{system}\n\n{self.ask.system}" if self.ask.system else system

    def prompt(
        self, system: str, question: str, *, tools: Sequence[BaseTool | dict[str, Any]] = ()
    ) -> list[BaseMessage]:
        """Return what the model is sent: the rules, the conversation so far (kept short), the question.

        What the client's tools have answered since then follows.
        """
        since = self.ask.client.since
        self.journal.suggestions.by_model = self._suggests
        fixed = self.fixed_tokens(system, question, tools) + sum(map(message_tokens, since))
        # Chat mode has its results in the question already; those of tools are still to come.
        needed = fixed + self.injection_budget(fixed) if tools else fixed
        wanted = self.settings.history_tokens or self.model.info.context_tokens // 2
        if trim(self.memory, max(min(wanted, self._room - needed), 0)):
            self.journal.notice(notice("context_trimmed"))
        before = recall(self.memory, tools=bool(tools))
        return [SystemMessage(self._rules(system)), *before, HumanMessage(question), *since]

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
        if self.model.info.kind == EXTRACTIVE:
            model = model.bind(material=self.material)
        for left in reversed(range(_OVERFLOW_TRIES)):
            try:
                return await self._stream(model, messages, text)
            except ContextOverflow:
                shorter = _shorter(messages)
                if text.raw or not left or shorter is None:
                    raise
                logger.info("the model's context is too short; it is sent less")
                self.journal.notice(notice("context_trimmed"))
                messages = shorter
        raise AssertionError("unreachable")

    async def _stream(
        self, model: BaseChatModel | Runnable[Any, Any], messages: Sequence[BaseMessage], text: MessageText
    ) -> AIMessage:
        carrying: list[AIMessageChunk] = []  # added up at the end: one by one, hundreds of calls would take seconds
        facts: dict[str, Any] = {}
        stream = stream_model(model, messages, model=self.model.info.name, idle_timeout=self.settings.model_timeout)
        async with aclosing(stream):
            async for chunk in stream:
                self.heed_stop()
                await text.take(chunk)
                if chunk.response_metadata:
                    facts |= chunk.response_metadata  # not added up: some servers tell twice why they stop
                if chunk.tool_call_chunks or chunk.usage_metadata:
                    carrying.append(chunk.model_copy(update={"content": "", "response_metadata": {}}))
                if text.full:
                    break
        calls = text.finish()
        carried = add_ai_message_chunks(AIMessageChunk(content=""), *carrying)
        self.journal.count_tokens(carried.usage_metadata)
        return AIMessage(
            text.raw,
            tool_calls=[*carried.tool_calls, *calls],
            invalid_tool_calls=carried.invalid_tool_calls,
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
    # What stands before a direction is what it is about.
    return isinstance(message, HumanMessage) and not isinstance(message, Direction)
