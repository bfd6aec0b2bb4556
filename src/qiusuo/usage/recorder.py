"""Counts searches and answers in memory, until somebody writes the counts down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from threading import Lock
from typing import Final, NamedTuple

from qiusuo.chat.events.observe import Answered, AnswerObserver
from qiusuo.chat.live.places import owner_named
from qiusuo.chat.stores.database.schema import is_storable, storable
from qiusuo.models import Attempt, Outcome, SearchResponse
from qiusuo.pipeline.observe import Asked, SearchObserver, outcome_of
from qiusuo.usage.histogram import PARTS, part_of

HOUR: Final = 3600
SEARCH: Final = "search"
ATTEMPT: Final = "attempt"
SKIPPED: Final = "skipped"
"""An engine that would have been asked, but rested or had no quota left."""
ANSWER: Final = "answer"
OTHERS: Final = ":others"
"""Stands for the names beyond the limits; no token can have this name."""
SLOW: Final = "slow"
FAILING: Final = "failing"

MAX_NAME: Final = 100
MAX_NAMES: Final = 100
MAX_OWNERS: Final = 1000
"""Of one hour. Those who come later are counted together."""
MAX_PENDING: Final = 20_000
MAX_TOKENS: Final = 10**9
"""Of one answer: a server that says more is mistaken, and must not overflow the sums."""
MAX_QUERIES: Final = 20
MAX_QUERY: Final = 200
_SUMS: Final = 4
_WORKED: Final = frozenset({Outcome.OK, Outcome.EMPTY})
_FOUND_NOTHING: Final = frozenset({"failed", "error", "empty"})
_SEARCHED: Final = frozenset({"ok", "empty", "failed", "error"})


class Key(NamedTuple):
    """What is counted together."""

    bucket: int
    kind: str
    name: str
    outcome: str
    owner: str


class QueryKey(NamedTuple):
    """A query of one day that was slow, or found nothing."""

    bucket: int
    kind: str
    query: str


@dataclass(slots=True)
class QueryCount:
    """How often, how long at most, and how it ended last."""

    n: int = 0
    ms: int = 0
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Counts to be written down at once. Each has a number, so that none is ever added twice.

    The counts are: how many, how many of them another engine has saved, tokens in and out, and the histogram.
    """

    number: int
    counts: dict[Key, list[int]] = field(default_factory=dict)
    queries: dict[QueryKey, QueryCount] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts or self.queries)


class UsageRecorder(SearchObserver, AnswerObserver):
    """Counts what it is told. May be told from any thread; telling it costs some microseconds."""

    def __init__(self, *, keep_queries: bool = False, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._keep_queries = keep_queries
        self._lock = Lock()
        self._batch = Batch(1)
        self._names: dict[str, str] = {}
        self._owners: tuple[int, dict[str | None, str]] = (0, {})

    def search_ended(self, seconds: float, ended: SearchResponse | BaseException, asked: Asked) -> None:
        outcome = outcome_of(ended)
        engine = ended.provider if isinstance(ended, SearchResponse) else ""
        saved = isinstance(ended, SearchResponse) and was_saved(ended)
        with self._lock:
            self._count(SEARCH, engine, outcome, self._owner(asked.user), seconds, saved=int(saved))
            if self._keep_queries:
                self._add_query(asked.query, outcome, seconds)

    def attempt_ended(self, attempt: Attempt) -> None:
        kind = SKIPPED if attempt.skipped else ATTEMPT
        with self._lock:
            self._count(kind, attempt.engine, attempt.outcome.value, "", attempt.ms / 1000)

    def answer_ended(self, answer: Answered) -> None:
        tokens = (answer.input_tokens, answer.output_tokens)
        with self._lock:
            owner = self._owner(answer.user)
            self._count(ANSWER, answer.model, answer.outcome, owner, answer.seconds, tokens=tokens)

    def take(self) -> Batch:
        """Return what was counted since the last call."""
        with self._lock:
            batch, self._batch = self._batch, Batch(self._batch.number + 1)
        return Batch(batch.number, batch.counts, _most_telling(batch.queries)) if batch.queries else batch

    def __bool__(self) -> bool:
        return bool(self._batch)

    def _count(
        self,
        kind: str,
        name: str,
        outcome: str,
        owner: str,
        seconds: float,
        *,
        saved: int = 0,
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        key = Key(self._hour(), kind, self._name(name), outcome, owner)
        counts = self._batch.counts
        known = counts.get(key)
        if known is None:
            if len(counts) >= MAX_PENDING:
                return  # the database has been gone for very long
            known = counts[key] = [0] * (_SUMS + PARTS)
        known[0] += 1
        known[1] += saved
        known[2] += max(min(tokens[0], MAX_TOKENS), 0)
        known[3] += max(min(tokens[1], MAX_TOKENS), 0)
        known[_SUMS + part_of(seconds)] += 1

    def _add_query(self, query: object, outcome: str, seconds: float) -> None:
        if outcome not in _SEARCHED or not isinstance(query, str):
            return
        day = self._hour() // (24 * HOUR) * 24 * HOUR
        text = " ".join(storable(query).split())[:MAX_QUERY]
        for kind in (SLOW, *((FAILING,) if outcome in _FOUND_NOTHING else ())):
            key, queries = QueryKey(day, kind, text), self._batch.queries
            if key not in queries and len(queries) >= MAX_PENDING:
                return
            count = queries.setdefault(key, QueryCount())
            count.n, count.ms, count.outcome = count.n + 1, max(count.ms, round(seconds * 1000)), outcome

    def _hour(self) -> int:
        return int(self._clock()) // HOUR * HOUR

    def _name(self, name: str) -> str:
        known = self._names.get(name)
        if known is None:
            if len(self._names) >= MAX_NAMES:
                return OTHERS
            known = self._names[name] = storable(name)[:MAX_NAME]
        return known

    def _owner(self, user: str | None) -> str:
        hour, owners = self._owners
        if hour != self._hour():
            hour, owners = self._owners = self._hour(), {}
        known = owners.get(user)
        if known is None:
            owner = owner_named(user)
            if len(owners) >= MAX_OWNERS or not is_storable(owner):
                return OTHERS
            known = owners[user] = owner
        return known


def was_saved(response: SearchResponse) -> bool:
    """Tell whether an engine has answered after an earlier one had failed, or while that one rested for it."""
    if response.cached:
        return False
    for attempt in response.attempts:
        if attempt.engine == response.provider:
            return False
        resting = attempt.fact is not None and attempt.fact.code == "search.resting"
        if attempt.outcome not in _WORKED and (resting or not attempt.skipped):
            return any(later.engine == response.provider for later in response.attempts)
    return False


def _most_telling(queries: dict[QueryKey, QueryCount]) -> dict[QueryKey, QueryCount]:
    """Return the slowest, and those that found nothing most often."""

    def of(kind: str, weight: Callable[[QueryCount], int]) -> Iterable[tuple[QueryKey, QueryCount]]:
        return nlargest(
            MAX_QUERIES, ((key, count) for key, count in queries.items() if key.kind == kind), lambda e: weight(e[1])
        )

    return dict((*of(SLOW, lambda count: count.ms), *of(FAILING, lambda count: count.n)))
