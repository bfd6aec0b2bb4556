"""A turn in which the model searches by itself: no other search API is called, its sources reach the same list."""

from __future__ import annotations

import logging
from contextlib import aclosing

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from qiusuo.chat.events.turn import Stage
from qiusuo.chat.models.port import NativePiece, NativeSearch, NativeSource
from qiusuo.chat.sessions.session import Mode
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.answer import MessageText, conclude
from qiusuo.chat.turns.context import TOO_LONG, Context, finish_of
from qiusuo.chat.turns.history import remember, without_links
from qiusuo.chat.turns.notices import notice, reason_of
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.linking.references import Reference
from qiusuo.errors import ModelError
from qiusuo.models import SearchResponse, SearchResultItem

logger = logging.getLogger(__name__)

_KIND = "native"


async def native_turn(context: Context, native: NativeSearch) -> bool:
    """Answer with the model's own search; False: it failed before it said anything, and the next provider is due."""
    question = prompts.with_date(context.ask.question, context.language)
    text = MessageText(context.journal, CitationProcessor())
    rounds = NativeRounds(context, native)
    chat_model = await context.chat_model()
    messages = context.prompt(prompts.chat_system(context.language), question)
    context.journal.status(Stage.THINKING)
    last: AIMessageChunk | None = None
    try:
        async with aclosing(native.answer(chat_model, messages)) as pieces:
            async for piece in pieces:
                context.heed_stop()
                text.know(rounds.take(piece))
                if piece.chunk is not None:
                    text.look_for_thoughts(piece.chunk)
                    context.journal.count_tokens(piece.chunk.usage_metadata)
                    last = piece.chunk if piece.chunk.response_metadata else last
                await text.feed(piece.text)
                if text.full:
                    break
    except ModelError as error:
        if text.raw:
            raise
        logger.warning("the model's own search failed, trying the next provider: %s", error)
        rounds.fail(error)
        context.journal.notice(notice("native_failed", "warning", reason=reason_of(error)))
        return False
    text.finish()
    rounds.close()
    # The numbers of the conversation stand in the linked text; the model's own words have those of the provider.
    answer = context.journal.record.answer
    remember(context.memory, context.ask.id, [HumanMessage(question), AIMessage(without_links(answer))])
    facts = last.response_metadata if last else {}
    await conclude(
        context.journal,
        answer,
        context.sources,
        pages=context.pages,
        finish=finish_of(AIMessage("", response_metadata=TOO_LONG if text.full else facts)),
        by_round=context.ask.settings.mode is Mode.AGENT,
    )
    return True


class NativeRounds:
    """The searches that a model makes by itself, as rounds: each query begins one, sources belong to the last."""

    def __init__(self, context: Context, native: NativeSearch) -> None:
        self._context = context
        self._provider = native.provider
        self._number = 0
        self._query = ""
        self._items: list[SearchResultItem] = []
        self._known: dict[int, Reference] = {}

    def take(self, piece: NativePiece) -> dict[int, Reference]:
        """Note queries and sources; return the new sources by the numbers that the text has for them."""
        for query in piece.queries:
            self._begin(query)
        return dict(self._source(source) for source in piece.sources)

    def _begin(self, query: str) -> None:
        self.close()
        self._query = query
        self._number = self._context.journal.begin_round(_KIND, query)
        self._context.journal.status(Stage.SEARCHING, query)

    def _source(self, source: NativeSource) -> tuple[int, Reference]:
        if not self._number:
            self._begin(self._context.ask.question)
        item = SearchResultItem(source.title, source.url, source.cited_text, engines=(self._provider,))
        self._items.append(item)
        reference = self._context.sources.one(item)
        self._context.journal.sources(self._number, [(reference.number, item)])
        local = len(self._known) + 1
        self._known[local] = reference
        return local, self._known[local]

    def close(self) -> None:
        """End the round that is open."""
        if not self._number:
            return
        response = SearchResponse(self._query, tuple(self._items), _KIND)
        numbers = self._context.sources.add(self._query, self._items)
        self._context.journal.end_round(self._number, _KIND, response, numbers)
        self._number, self._items = 0, []

    def fail(self, error: ModelError) -> None:
        """End the round that is open as failed."""
        if self._number:
            self._context.journal.fail_round(self._number, _KIND, self._query, reason_of(error))
            self._number, self._items = 0, []
