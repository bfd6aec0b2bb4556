"""A research at work: what it may still use, what it tells, and how it asks engines and the model."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from langchain_core.messages import AIMessageChunk, BaseMessage

from qiusuo import plugins
from qiusuo.chat.events.progress import ResearchStage, StepState
from qiusuo.chat.events.turn import Stage
from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.questions import without_secrets
from qiusuo.chat.research.state import State, Step
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.history import estimate_tokens, message_tokens
from qiusuo.chat.turns.notices import reason_of, search_notice
from qiusuo.chat.turns.sources.private import without_file_words
from qiusuo.chat.turns.thinking import ThinkFilter, has_thought_apart
from qiusuo.details import Quotation
from qiusuo.errors import AllEnginesFailed, ModelError, SearchError, UserRateLimited
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

SEARCH: Final = "web_search"
_LONGEST_WAIT: Final = 60.0
_WITHOUT_END: Final = 4
"""A text of so many times the tokens that it should have will not end by itself."""
# As far as the last full stop, with the citations that belong to it.
_SENTENCES: Final = re.compile(r".*(?:[。！？!?]|\.(?=\s|$))(?:\s?\[\d+\])*", re.DOTALL)

Numbered = tuple[int, SearchResultItem]


class Run:
    """The research of one turn."""

    def __init__(self, context: Context, state: State) -> None:
        self.context = context
        self.state = state
        self.reached: set[str] = set()
        """The limits that it came to: ``searches``, ``pages``, ``tokens``, ``seconds``."""
        self.may_keep = True
        """Whether the pages that were found may be kept for the next question."""
        self.whole: dict[int, Quotation] = {}
        """Sources that are quoted whole, by their numbers."""
        self._related: set[int] = set()
        self._before = state.ms

    @property
    def has_model(self) -> bool:
        """Whether there is a model that writes."""
        return self.context.has_model

    @property
    def language(self) -> Language:
        return self.context.language

    @property
    def seconds_left(self) -> float:
        return max(self.state.limits.seconds - (self._before + self.context.journal.ms) / 1000, 0)

    @property
    def tokens_left(self) -> int:
        return max(self.state.limits.tokens - self.state.tokens, 0)

    def answers_whole(self, number: int) -> bool:
        """Tell whether a source is quoted whole and more than merely related to what was searched for."""
        return number in self.whole and number not in self._related

    def take_pages(self, wanted: int) -> int:
        """Return how many of so many pages may still be read, and count them."""
        given = min(wanted, self.state.limits.pages - self.state.pages)
        if given < wanted and self.state.limits.pages:  # who allows none knows that none are read
            self.reached.add("pages")
        self.state.pages += given
        return given

    def tell(self, stage: ResearchStage | None = None) -> None:
        """Tell how far it has come, and note what is needed to go on from here."""
        state, journal = self.state, self.context.journal
        state.stage = stage or state.stage
        state.ms = self._before + journal.ms
        journal.record.kept = None if state.stage is ResearchStage.DONE else state.to_dict()
        journal.emit(state.progress())

    def tell_step(self, step: Step, state: StepState) -> None:
        """Tell what a sub-question is busy with."""
        step.state = state
        self.tell()

    async def search(self, query: str) -> list[Numbered] | SearchError:
        """Make one search, if one is left; its results have their numbers. A failure is told and returned."""
        context, journal = self.context, self.context.journal
        if self.state.searches >= self.state.limits.searches:
            self.reached.add("searches")
            return []
        self.state.searches += 1
        query = await without_file_words(context, without_secrets(query))
        number = journal.begin_round(SEARCH, query)
        journal.status(Stage.SEARCHING, query)
        try:
            response = await self._ask_engines(query)
        except SearchError as error:
            logger.warning("a search of a research failed: %s", error)
            attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
            journal.fail_round(number, SEARCH, query, reason_of(error), attempts)
            missing = Fact("notice.part_is_missing")
            journal.notice(search_notice(error, has_model=self.has_model, then=missing))
            return error
        self.may_keep = self.may_keep and context.may_keep_pages(response.provider)
        numbers = context.sources.add(query, response.results)
        for each, item in zip(numbers, response.results, strict=True):
            quotation = item.details.quotation(self.language) if item.details is not None else None
            if quotation is not None:
                self.whole[each] = quotation
                self._related.update({each} if item.related else ())
        journal.end_round(number, SEARCH, response, numbers)
        return list(zip(numbers, response.results, strict=True))

    async def _ask_engines(self, query: str) -> SearchResponse:
        ask, scope = self.context.ask, self.context.scope
        known = plugins.recognise(query) if scope.asks_plugins else None
        options = scope.options(known.search_type if known is not None else None)
        wanted = self.context.settings.max_results
        options.update({"num_results": wanted, "engine": self.context.engine, "user": ask.user})
        while True:
            try:
                return await self.context.service.asearch(query, **options)
            except UserRateLimited as error:
                # Side by side the searches of one research can be more than a minute allows: the rest waits its turn.
                wait = error.retry_after or 1.0
                if wait > min(self.seconds_left / 2, _LONGEST_WAIT):
                    raise
                await asyncio.sleep(wait)

    async def write(self, messages: Sequence[BaseMessage], seconds: float, most: int) -> str:
        """Return what the model says, its thoughts left out: whole sentences, as far as tokens and seconds allow.

        Raises:
            ModelError: the model failed.
        """
        needed = sum(map(message_tokens, messages))
        if needed + most // 2 > self.tokens_left:
            self.reached.add("tokens")
            return ""
        try:
            return await self._written(messages, seconds, most, needed)
        except ModelError as error:
            if not self.context.take_second(error):
                raise
        return await self._written(messages, seconds, most, needed)

    async def _written(self, messages: Sequence[BaseMessage], seconds: float, most: int, needed: int) -> str:
        self.state.tokens += needed
        spent, most_spent = 0, self.tokens_left
        spoken = _Spoken()
        self.context.journal.status(Stage.THINKING)
        model = await self.context.chat_model()
        stream = stream_model(
            model, messages, model=self.context.model.info.name, idle_timeout=self.context.settings.model_timeout
        )
        try:
            async with asyncio.timeout(seconds), aclosing(stream):
                async for chunk in stream:
                    self.context.heed_stop()
                    spoken.take(chunk)
                    self.context.journal.count_tokens(chunk.usage_metadata)
                    spent += estimate_tokens(chunk.text)  # with its thoughts
                    if spent >= most_spent or estimate_tokens(spoken.text) > _WITHOUT_END * most:
                        self.reached.update({"tokens"} if spent >= most_spent else ())
                        spoken.cut_off()
                        break
        except TimeoutError:
            self.reached.add("seconds")
            spoken.cut_off()
        spoken.finish()
        self.state.tokens += min(spent, most_spent)
        return spoken.text.strip()


class _Spoken:
    """What a model has said so far, its thoughts left out."""

    def __init__(self) -> None:
        self.text = ""
        self._thoughts = ThinkFilter()
        self._cut = False

    def take(self, chunk: AIMessageChunk) -> None:
        if has_thought_apart(chunk):
            self._thoughts.thoughts_come_apart()
        self._add(self._thoughts.feed(chunk.text))

    def cut_off(self) -> None:
        """The message was left before its end: only whole sentences count."""
        self._cut = True

    def finish(self) -> None:
        self._add(self._thoughts.finish())
        if self._cut:
            self.text = whole_sentences(self.text)

    def _add(self, piece: str) -> None:
        if self._thoughts.retracts:
            self.text = ""
        self.text += piece


def whole_sentences(text: str) -> str:
    """Return a text that was cut off without its last sentence, which has no end."""
    found = _SENTENCES.match(text)
    return found[0] if found else ""
