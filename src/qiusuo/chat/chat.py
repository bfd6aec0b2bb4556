"""Answers over search: the way in. One ``Chat`` serves all conversations; it keeps nothing of them."""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import Final

from langchain_core.messages import AIMessage, HumanMessage, ToolCall

from qiusuo import plugins
from qiusuo.chat.events.observe import Answered, AnswerObserver
from qiusuo.chat.events.turn import RESEARCH, Done, Event, TurnRecord, TurnStarted, TurnState
from qiusuo.chat.followups import resolve
from qiusuo.chat.models.book import FIRST, AtHand, ModelBook
from qiusuo.chat.models.material import Material
from qiusuo.chat.models.native import native_search_for
from qiusuo.chat.models.port import Model, NativeSearch
from qiusuo.chat.models.vendors import EXTRACTIVE, point_to_table
from qiusuo.chat.questions import is_task, question_in
from qiusuo.chat.research.turn import research_turn
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode, now
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.beforehand import tell_beforehand
from qiusuo.chat.turns.chat_turn import chat_turn
from qiusuo.chat.turns.context import Ask, Context
from qiusuo.chat.turns.history import remember, without_links
from qiusuo.chat.turns.journal import Journal
from qiusuo.chat.turns.native_turn import native_turn
from qiusuo.chat.turns.notices import model_notice, notice
from qiusuo.chat.turns.sources.files import ENGINE as FILES
from qiusuo.chat.turns.sources.private import without_file_words
from qiusuo.chat.turns.unsearched import tell_what_is_here
from qiusuo.config import Settings
from qiusuo.errors import InvalidQuery, ModelError, NotAllowed, SearchError
from qiusuo.models import SearchType
from qiusuo.pages import PageReader, RecentPages
from qiusuo.pipeline.request import MAX_QUERY_CHARS
from qiusuo.roster import NATIVE
from qiusuo.service import SearchService
from qiusuo.tools.specs import offered, plugin_tools
from qiusuo.tracing import span
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

MAX_QUESTION: Final = 20_000
_LONGEST_THANKS: Final = 40
_SUBJECT_TURNS: Final = 3


class Turn:
    """One question and what becomes of it. ``events`` does the work; it ends with ``Done`` whatever happens."""

    def __init__(self, chat: Chat, context: Context) -> None:
        self._chat = chat
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._begun = False

    @property
    def record(self) -> TurnRecord:
        """What has become of the turn so far."""
        return self._context.journal.record

    @property
    def language(self) -> Language:
        """The language in which the reader is told things."""
        return self._context.language

    @property
    def memory(self) -> Memory:
        """What the conversation remembers; changed when the turn has ended."""
        return self._context.memory

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls that the client is to make before the turn goes on."""
        return self._context.calls

    async def events(self) -> AsyncGenerator[Event]:
        """Answer, and tell what happens. Whoever stops listening stops the turn."""
        if self._task is not None:
            raise RuntimeError("a turn is answered once")
        self._task = asyncio.create_task(self._work())
        try:
            async for event in self._context.journal.events():
                yield event
        finally:
            self.stop()
            # Not awaited itself: whoever is cancelled in here would pass that on to the work that is just ending.
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()

    def break_off(self) -> None:
        """Stop because the server stops: the reader is told so."""
        self._context.journal.breaking_off = True
        self.stop()

    def stop(self) -> None:
        """Stop model and search at once; what there is of the answer stays."""
        if self._context.stopped:
            return  # a second time would break off the closing of connections
        self._context.stopped = True
        # A task that is cancelled before its first step never runs, and nobody would hear of the turn's end.
        if self._task is not None and self._begun:
            self._task.cancel()

    async def _work(self) -> None:
        self._begun = True
        if self._context.stopped and self._task is not None:
            self._task.cancel()
        await self._chat.work(self._context)


class Chat:
    """Answers questions over a search service with a model.

    ::

        chat = Chat(service, open_model(settings))
        async for event in chat.turn(Ask("Python 3.14 有什么新变化?", ChatSettings(search=True))).events():
            ...
    """

    def __init__(
        self,
        service: SearchService,
        model: Model,
        *,
        reader: PageReader | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.service = service
        self.settings = settings or service.settings
        self.book = ModelBook(self.settings, model)
        self._clock = clock
        self.observers: list[AnswerObserver] = []
        self._own_reader = reader is None
        self._reader = reader or PageReader.from_settings(self.settings)
        self._recent_pages = RecentPages(self._reader, self.settings.ttl_for(SearchType.GENERAL), clock=clock)
        # One set for all turns: what a plug-in opens for its tools may take a while.
        self._tools = plugin_tools(service)
        plugins.recognise("")  # so that no first question waits for what the recognisers load

    @property
    def model(self) -> Model:
        """The first model."""
        return self.book.chosen(FIRST).model

    def chosen(self, ask: Ask) -> AtHand:
        """Return the model for a question: the one of this message, else that of the conversation, else the first.

        Raises:
            NotAllowed: its user may not use that one.
        """
        return self.model_for(ask.user, ask.settings.model if ask.model is None else ask.model)

    def model_for(self, user: str | None, wanted: str | None = None) -> AtHand:
        """Return the model of a name for a user; without a name the first of those that the user may use.

        Raises:
            NotAllowed: the user may not use it.
        """
        allowed = self.service.rules.terms(user).models
        if wanted not in self.book.names:  # none, or one that is gone since it was chosen
            wanted = FIRST
        if allowed is None or wanted in allowed:
            return self.book.chosen(wanted)
        first = next((name for name in self.book.names if name in allowed), None)
        if wanted or first is None:
            names = sorted(name for name in allowed if name) or "—"
            raise NotAllowed(Fact("people.model_not_allowed", name=(wanted or "—")[:60], allowed=names))
        return self.book.chosen(first)

    async def renew(self, settings: Settings, first: Model | None = None) -> None:
        """Answer by other settings from the next turn on; those that run keep theirs, and their models stay open.

        ``first`` stays the first model where it is given, whatever the settings say.
        """
        self.settings = settings
        self._recent_pages.ttl = settings.ttl_for(SearchType.GENERAL)
        if self.book.is_of(settings):
            self.book.settings = settings
            return
        old, self.book = self.book, ModelBook(settings, first) if first is not None else ModelBook.of(settings)
        await old.retire(keeping=first)

    @property
    def usual_settings(self) -> ChatSettings:
        """The settings of a new conversation: without a model it searches, as there is nothing else to answer from."""
        search = self.settings.search_default
        return ChatSettings(search=self.model.info.kind == EXTRACTIVE if search is None else search)

    def turn(self, ask: Ask, memory: Memory | None = None) -> Turn:
        """Return the turn for a question; nothing happens before its events are read.

        Raises:
            InvalidQuery: there is no question, or it is too long.
            NotAllowed: its user may not use the engine or the model.
            BudgetUsedUp: its user has no tokens of models left in this month.
        """
        if not ask.question.strip():
            raise InvalidQuery(Fact("turn.no_question"))
        if len(ask.question) > MAX_QUESTION:
            raise InvalidQuery(Fact("turn.question_too_long", limit=MAX_QUESTION))
        polite = _asks_nothing(ask)
        if is_task(ask.question) or polite:
            ask = replace(ask, settings=replace(ask.settings, mode=Mode.CHAT, search=False))
        language = prompts.language_of(ask.question, ask.language)
        labels = {name: place.kind.called(language) for name, place in self.service.roster.places.items()}
        hand = self.chosen(ask)
        self._check_rules(ask, hand)
        labels |= {NATIVE: hand.model.info.label, FILES: Fact("file.engine").text(language)}
        related = ask.related and not ask.research and not is_task(ask.question) and not _is_polite(ask.question)
        journal = Journal(TurnRecord(ask.id, ask.question, language=language), labels=labels, related=related)
        agent = ask.settings.mode is Mode.AGENT
        memory = memory if memory is not None else Memory()
        query, leans = self._query(ask, memory)
        scope = ask.settings.scope
        searches = agent or ask.settings.search
        recognised = _recognised(query, memory, leans=leans) if query and searches and scope.asks_plugins else None
        context = Context(
            ask,
            memory,
            journal,
            self.service,
            self.book,
            hand,
            self._reader,
            self._recent_pages,
            Material(query or ask.question[:MAX_QUERY_CHARS], Language(language), recognised, asks_nothing=polite),
            self._clock,
            query,
            leans,
            tools=offered(self._tools) if agent and scope.asks_plugins else (),
        )
        return Turn(self, context)

    def _check_rules(self, ask: Ask, hand: AtHand) -> None:
        rules = self.service.rules
        if hand.model.info.kind != EXTRACTIVE:  # what is made of sources alone takes no tokens
            rules.check_tokens(ask.user)
        if ask.settings.engine and (ask.settings.search or ask.settings.mode is Mode.AGENT or ask.research):
            rules.terms(ask.user).check_engine(ask.settings.engine)

    def _query(self, ask: Ask, memory: Memory) -> tuple[str, bool]:
        """Return what to search for, and whether the question leans on what was said before.

        It is what the reader wants, else the question in the message as what was said explains it; nothing where a
        long message has none that a rule finds.
        """
        question, said = question_in(ask.question), list(memory.said.values())
        if ask.query and ask.query.strip():
            return ask.query.strip()[:MAX_QUERY_CHARS], False
        if not self.settings.followups or not question:
            return question, False
        meant = resolve(question, said)
        return meant.query[:MAX_QUERY_CHARS], meant.leans

    async def work(self, context: Context) -> None:
        """Do the work of a turn."""
        journal, ask = context.journal, context.ask
        searches = ask.research or ask.settings.search or ask.settings.mode is Mode.AGENT
        mode = RESEARCH if ask.research else ask.settings.mode.value
        scope = context.scope.to_dict() if searches and context.scope.narrowed else None
        model, called = context.model.info.name, context.hand.name
        journal.emit(TurnStarted(ask.id, ask.question, mode, model, searches, now(), scope, called))
        self.tell_begun()
        try:
            with span("turn", mode=mode, model=model) as told:
                async with context.book.in_use():
                    await journal.run(lambda: self._answer(context))
                told.note(state=journal.record.state.value)
        finally:
            self.tell(Answered.of(journal.record, ask.user))
            if ask.id not in context.memory.starts and journal.record.answer:
                # Stopped or broken off: what was said so far has been said.
                said = [HumanMessage(ask.question), AIMessage(without_links(journal.record.answer))]
                remember(context.memory, ask.id, said)
            context.memory.note(
                ask.id, context.query or question_in(ask.question), without_links(journal.record.answer)
            )

    def tell_begun(self) -> None:
        """Tell those who watch of an answer that is begun; :meth:`tell` must follow."""
        for observer in self.observers:
            observer.answer_started()

    def tell(self, answer: Answered) -> None:
        """Tell those who watch of an answer that has ended."""
        for observer in self.observers:
            observer.answer_ended(answer)

    async def _answer(self, context: Context) -> None:
        journal, ask = context.journal, context.ask
        tell_beforehand(context)
        if context.model.info.kind == EXTRACTIVE and ask.client.tools:
            context.leave_out_client_tools()
        await tell_what_is_here(context)
        if ask.files:
            context.query = await without_file_words(context, context.query)
        try:
            if ask.research:
                await research_turn(context)
                return
            native = await self._native(context)
            if native is not None and await native_turn(context, native):
                return
            if ask.settings.mode is Mode.CHAT:
                await chat_turn(context)
                return
            # LangGraph takes a second to load, in which other conversations must not stand still.
            agent = await asyncio.to_thread(importlib.import_module, "qiusuo.chat.turns.agent.turn")
            await agent.agent_turn(context)
        except ModelError as error:
            point_to_table(error, context.hand.name)
            logger.warning("the model failed: %s", error)
            journal.notice(model_notice(error, context.model.info.label, context.failed))
            journal.finish(Done(TurnState.FAILED, journal.record.answer, finish="error"))

    async def _native(self, context: Context) -> NativeSearch | None:
        """Return the model's own search where it is first in the order; else None."""
        settings = context.ask.settings
        first = (context.settings.provider_priority or (NATIVE,))[0]
        if (settings.mode is Mode.CHAT and not settings.search) or context.ask.client.any:
            return None
        if context.ask.files:  # a model that searches by itself might search for what stands in them
            return None
        if (settings.engine or first) != NATIVE or context.settings.model_search == "off":
            return None
        engines = self.service.rules.terms(context.ask.user).engines
        if context.model.info.kind == EXTRACTIVE or (engines is not None and NATIVE not in engines):
            return None
        if context.scope.narrowed:
            # It cannot be told where to search; engines can.
            if await self.service.available(context.scope.search_type()):
                return None
            context.journal.notice(notice("focus_not_kept", "warning"))
        if settings.engine != NATIVE and await self._is_answered_here(context):
            return None
        chat_model = await context.chat_model()
        own = context.settings.model_search
        return native_search_for(context.model.info, chat_model, vendor=None if own == "auto" else own)

    async def _is_answered_here(self, context: Context) -> bool:
        """Tell whether an engine that answers first has the answer: what it knows, it knows exactly."""
        known, ask = context.recognised, context.ask
        first = self.service.roster.answers_first(known.search_type) if known is not None else None
        if known is None or first is None:
            return False
        by_tool = any(spec.name == known.tool for spec in context.tools)
        if not by_tool and (await self.service.available(known.search_type))[:1] != (first,):
            return False
        try:
            found = await self.service.asearch(
                context.query, type=known.search_type, engine=first, num_results=context.wanted, user=ask.user
            )
        except SearchError as error:  # whatever is wrong with it: the model's own search still works
            logger.warning("%s cannot be asked: %s", first, error)
            return False
        if all(item.related for item in found.results):  # 旧公司法第16条: the web may have what it lacks
            context.remark(context.remarks_of(found.attempts), found=True)
            return False
        context.found = found  # chat mode answers from it
        return True

    async def aclose(self) -> None:
        """Close the models, and the page reader if it is our own. The service stays its owner's."""
        await self.book.aclose()
        if self._own_reader:
            await self._reader.aclose()


def _recognised(query: str, memory: Memory, *, leans: bool) -> plugins.Recognised | None:
    """Return how a plug-in that knows the question wants it searched; one that leans on others is of their subject."""
    known = plugins.recognise(query)
    if known is not None or not leans:
        return known
    before = [plugins.recognise(said.question) for said in list(memory.said.values())[-_SUBJECT_TURNS:]]
    last = next(filter(None, reversed(before)), None)
    return plugins.Recognised(last.search_type, last.tool) if last is not None else None


def _asks_nothing(ask: Ask) -> bool:
    """Tell whether a message of chat mode is thanks or a greeting, for which there is nothing to search."""
    chatting = ask.settings.mode is Mode.CHAT and not ask.query and not ask.research
    return chatting and _is_polite(ask.question)


def _is_polite(question: str) -> bool:
    return len(question) <= _LONGEST_THANKS and not resolve(question.strip(), ()).asks
