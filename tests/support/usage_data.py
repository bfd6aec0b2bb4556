"""Weeks of searches and answers that never were, for what shows figures."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from qiusuo.chat.events.observe import Answered
from qiusuo.chat.stores.opening import open_store
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem
from qiusuo.pipeline.observe import Asked
from qiusuo.usage.recorder import HOUR, UsageRecorder
from qiusuo.usage.store import UsageStore

ITEM: Final = SearchResultItem("T", "https://e.example/", "s", "e.example")
PEOPLE: Final = ("amy", "bob", "王小明", "=HYPERLINK", None)
MODELS: Final = ("openai:gpt-5.5", "deepseek:deepseek-chat")


def fill(file: Path, now: float, *, days: int = 30, a_day: int = 60) -> int:
    """Write made-up figures of the days before ``now`` into a database; return how many searches there were."""
    made = Made(now)
    for hour in range(days * 24):
        at = now - hour * HOUR
        busy = 1.6 if 8 <= (at // HOUR) % 24 <= 20 else 0.2
        made.now = at
        for _ in range(round(a_day / 24 * busy * made.dice.uniform(0.5, 1.5))):
            made.search()
    with ThreadPoolExecutor(1) as thread:  # Playwright has a loop in this one
        thread.submit(asyncio.run, made.write(file)).result()
    return made.searches


class Made:
    """Makes things up, the same ones every time."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.dice = random.Random(7)  # noqa: S311 - no secrets
        self.searches = 0
        self._recorder = UsageRecorder(clock=lambda: self.now, keep_queries=True)

    def search(self) -> None:
        """Make one search up, and perhaps an answer over it."""
        self.searches += 1
        kind, seconds = self.dice.random(), self.dice.lognormvariate(-0.6, 0.7)
        user, query = self.dice.choice(PEOPLE), f"例子 {self.dice.randrange(40)}"
        if kind < 0.25:
            ended = SearchResponse(query, (ITEM,), "brave", cached=True)
            seconds = 0.002
        else:
            ended = self._searched(query, kind, round(seconds * 1000))
        self._recorder.search_ended(seconds, ended, Asked(query, user))
        if self.dice.random() < 0.3:
            tokens = (self.dice.randrange(500, 4000), self.dice.randrange(50, 900))
            state = self.dice.choices(["done", "stopped", "failed"], [30, 2, 1])[0]
            self._recorder.answer_ended(Answered(self.dice.choice(MODELS), state, user, seconds * 6, *tokens))

    def _searched(self, query: str, kind: float, ms: int) -> SearchResponse:
        engine, attempts = "brave" if kind < 0.75 else "tavily", []
        if kind > 0.9:
            attempts = [Attempt("brave", Outcome.TIMEOUT, 3000)]
        attempts.append(Attempt(engine, Outcome.OK if kind < 0.97 else Outcome.EMPTY, ms))
        for attempt in attempts:
            self._recorder.attempt_ended(attempt)
        return SearchResponse(query, (ITEM,) if kind < 0.97 else (), engine, tuple(attempts))

    async def write(self, file: Path) -> None:
        """Write all of it."""
        store = open_store(f"sqlite:///{file}")
        await UsageStore(store.database, clock=lambda: self.now).add(self._recorder.take())
        await store.aclose()
