"""Carries the events of a turn from where they happen to whoever listens, and keeps their sum."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qiusuo.chat.events.folding import fold
from qiusuo.chat.events.turn import (
    SEARCH_FILES,
    SERVER_STOPPING,
    Delta,
    Done,
    Event,
    Notice,
    PageRead,
    PageState,
    Reading,
    Retraction,
    Round,
    RoundState,
    Source,
    Sources,
    Stage,
    Status,
    TurnRecord,
    TurnState,
    Usage,
)
from qiusuo.chat.turns.notices import notice
from qiusuo.chat.turns.related import Suggestions
from qiusuo.models import Attempt, SearchResponse, SearchResultItem
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)


class Journal:
    """Where the work of one turn writes down what happens. Only the event loop that runs the turn may use it."""

    def __init__(self, record: TurnRecord, *, labels: dict[str, str], related: bool = False) -> None:
        self.record = record
        self.suggestions = Suggestions(record.question, wanted=related)
        self.breaking_off = False
        """The server stops, so the turn does."""
        self.with_sources: Notice | None = None
        """What is told with the first source, and not where nothing is found."""
        self._labels = labels
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._started = time.perf_counter()
        self._first_token: int | None = None
        self._searches = 0
        self._asked: dict[int, str] = {}
        self._search_ms = 0
        self._tokens: dict[str, int] = {}
        self._sources: dict[int, Source] = {}
        self._reading: dict[int, tuple[PageRead, ...]] = {}

    @property
    def language(self) -> Language:
        """The language of the turn."""
        return Language(self.record.language)

    @property
    def ms(self) -> int:
        """Milliseconds since the turn began."""
        return round((time.perf_counter() - self._started) * 1000)

    def emit(self, event: Event) -> None:
        """Tell of an event. After the end there are none: what still ran beside a failure is not heard any more."""
        if self.record.state is not TurnState.RUNNING:
            return
        fold(self.record, event)
        self._queue.put_nowait(event)

    def text(self, text: str) -> None:
        """Give out a piece of the answer."""
        if not text:
            return
        if self._first_token is None:
            self._first_token = self.ms
        self.emit(Delta(text))

    def retract(self, answer: str) -> None:
        """Take back what was given out of the answer, but for ``answer``, its beginning."""
        if self.record.answer == answer:
            return
        self.emit(Retraction(answer))
        if not answer:
            self._first_token = None
        self.status(Stage.THINKING)

    def status(self, stage: Stage, detail: str = "") -> None:
        """Tell what the turn is busy with."""
        if self.record.stage is not stage or detail:
            self.emit(Status(stage, detail))

    def notice(self, told: Notice) -> None:
        """Tell the reader something, once."""
        shown = told.to_dict(self.language)
        if all(any(known[name] != shown[name] for name in ("code", "message")) for known in self.record.notices):
            self.emit(told)

    def begin_round(self, kind: str, query: str, asked: str = "", *, engine: str = "") -> int:
        """Tell that a search begins; return its number. ``asked``: the reader's words, where the query is another.

        ``engine`` is the one that is asked before all others, where that is known.
        """
        number = len(self.record.rounds) + 1
        self._asked[number] = asked if asked != query else ""
        label = self.label(engine) if engine else ""
        words = self._asked[number]
        self.emit(Round(number, kind, query, RoundState.RUNNING, engine=engine, engine_label=label, asked=words))
        return number

    def end_round(self, number: int, kind: str, response: SearchResponse, numbers: list[int]) -> None:
        """Tell how a search ended, and of its sources."""
        self._searches += kind != SEARCH_FILES
        self._search_ms += response.search_time
        self.suggestions.found += response.related
        shown = response.results[: len(numbers)]
        self.emit(
            Round(
                number,
                kind,
                response.query,
                RoundState.DONE if shown else RoundState.EMPTY,
                engine=response.provider,
                engine_label=self.label(response.provider),
                found=len(shown),
                numbers=tuple(numbers),
                ms=response.search_time,
                cached=response.cached,
                stale=response.stale,
                age=response.age,
                asked=self._asked.get(number, ""),
                attempts=response.attempts,
            )
        )
        self.sources(number, zip(numbers, shown, strict=True))

    def sources(self, round_number: int, numbered: Iterable[tuple[int, SearchResultItem]]) -> None:
        """Tell of the sources that are new."""
        new: dict[int, Source] = {}
        for number, item in numbered:
            if number not in self._sources and number not in new:
                new[number] = self._source(number, item, round_number)
        self._sources.update(new)
        if not new:
            return
        self.emit(Sources(tuple(new.values())))
        if self.with_sources is not None:
            self.notice(self.with_sources)

    def page_was_read(self, url: str) -> None:
        """Tell that the page of a source has been read."""
        for number, source in self._sources.items():
            if source.url == url and not source.page_read:
                better = replace(source, page_read=True)
                self._sources[number] = better
                self.emit(Sources((better,)))

    def begin_reading(self, pages: tuple[PageRead, ...]) -> int:
        """Tell that pages are being read; return the number of the reading."""
        number = len(self.record.readings) + 1
        self._reading[number] = pages
        self.emit(Reading(number, pages))
        return number

    def end_reading(self, number: int, pages: tuple[PageRead, ...], ms: int) -> None:
        """Tell what became of the pages."""
        self._reading.pop(number, None)
        self.emit(Reading(number, pages, done=True, ms=ms))

    def weighed(self, passages: Mapping[int, tuple[str, ...]], weak: Collection[int]) -> None:
        """Tell what is used of the pages that were read, and which sources hardly touch the question."""
        better: list[Source] = []
        for number, source in self._sources.items():
            read = number in passages
            new = replace(source, page_read=source.page_read or read, weak=number in weak)
            new = replace(new, passages=passages[number]) if read else new
            if new != source:
                better.append(new)
        self._sources |= {source.number: source for source in better}
        if better:
            self.emit(Sources(tuple(better)))

    def fail_round(self, number: int, kind: str, query: str, reason: Fact, attempts: Sequence[Attempt] = ()) -> None:
        """Tell that a search failed."""
        self._searches += 1
        asked = self._asked.get(number, "")
        self.emit(Round(number, kind, query, RoundState.FAILED, asked=asked, attempts=tuple(attempts), fact=reason))

    def count_tokens(self, usage: Any) -> None:
        """Add what the model says it has used."""
        for name in ("input_tokens", "output_tokens"):
            if usage and usage.get(name) is not None:
                self._tokens[name] = self._tokens.get(name, 0) + int(usage[name])

    def finish(self, done: Done) -> None:
        """End the turn. A search or a reading that still runs ends with it."""
        for each in [each for each in self.record.rounds if each["state"] == RoundState.RUNNING]:
            why = Fact("turn.broken_off")
            asked = each.get("asked", "")
            self.emit(Round(each["number"], each["kind"], each["query"], RoundState.FAILED, asked=asked, fact=why))
        for number, pages in list(self._reading.items()):
            broken_off = (replace(page, state=PageState.FAILED, fact=Fact("turn.broken_off")) for page in pages)
            self.end_reading(number, tuple(broken_off), 0)
        self.emit(
            Usage(
                self._tokens.get("input_tokens"),
                self._tokens.get("output_tokens"),
                searches=self._searches,
                search_ms=self._search_ms,
                first_token_ms=self._first_token,
                total_ms=self.ms,
            )
        )
        self.emit(done)

    def label(self, engine: str) -> str:
        """Return the name of an engine as people know it."""
        return self._labels.get(engine, engine)

    def _source(self, number: int, item: SearchResultItem, round_number: int) -> Source:
        return Source(
            number,
            item.title,
            item.url,
            item.source,
            item.snippet,
            round=round_number,
            published_at=item.published_at,
            engines=item.engines,
            card=self._card(item),
        )

    def _card(self, item: SearchResultItem) -> dict[str, Any] | None:
        try:
            card = item.details.card(Language(self.language)) if item.details is not None else None
        except Exception:  # a fault of a plug-in: a result without a card is a result like any other
            logger.exception("there is no card for %s", item.url)
            return None
        return card.to_dict() if card is not None else None

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work of the turn; whatever happens, the turn ends with ``Done``."""
        try:
            await work()
        except asyncio.CancelledError:
            if self.breaking_off:
                self.notice(notice(SERVER_STOPPING, "warning"))
            finish = SERVER_STOPPING if self.breaking_off else "stopped"
            self.finish(Done(TurnState.STOPPED, self.record.answer, finish=finish))
            raise
        except Exception:  # raised again: a fault of ours too must end the turn for its readers
            if self.record.state is TurnState.RUNNING:
                self.notice(notice("server_error", "error"))
                self.finish(Done(TurnState.FAILED, self.record.answer, finish="error"))
            raise
        finally:
            self._queue.put_nowait(None)

    async def events(self) -> AsyncIterator[Event]:
        """Give out the events as they come, to one listener."""
        while (event := await self._queue.get()) is not None:
            yield event
