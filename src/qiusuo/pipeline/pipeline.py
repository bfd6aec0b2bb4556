"""The layers put together: one object that turns a request into a response."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from qiusuo.config import Settings
from qiusuo.engines.base import MAX_RELATED, SearchEngine, Storing
from qiusuo.errors import AllEnginesFailed
from qiusuo.logs import private
from qiusuo.models import Attempt, Outcome, SearchResponse, SearchResultItem, SearchType
from qiusuo.pipeline.attempt import Attempts, Lane
from qiusuo.pipeline.cache import ResponseCache
from qiusuo.pipeline.cooldown import Cooldowns
from qiusuo.pipeline.failover import Failover
from qiusuo.pipeline.flights import Flights
from qiusuo.pipeline.limits import Pace, UserLimit, Windows
from qiusuo.pipeline.merge import ask_all, fuse
from qiusuo.pipeline.observe import SearchObserver
from qiusuo.pipeline.quota import MonthlyQuota
from qiusuo.pipeline.request import SearchRequest
from qiusuo.pipeline.rules import Rules
from qiusuo.storage.redis import SharedState

logger = logging.getLogger(__name__)

MERGED = "merged"
EMPTY_TTL = 60.0
# An engine that had less than this (or half of a short SEARCH_TIMEOUT) is not blamed for its silence.
FAIR_TIME = 1.0
# What engines on this machine know about; for all else nobody need look whether one comes first.
_LOCAL_TYPES = frozenset({SearchType.REGULATION, SearchType.CASE})
_STRICTEST = (Storing.NEVER, Storing.MEMORY, Storing.SHARED)


@dataclass(frozen=True, slots=True)
class Choice:
    """The engines of one search, and receipt lines for those that were asked for but cannot take part."""

    engines: tuple[SearchEngine, ...]
    left_out: tuple[Attempt, ...] = ()


class _Answer(NamedTuple):
    items: tuple[SearchResultItem, ...]
    provider: str
    storing: Storing
    related: tuple[str, ...] = ()


Choose = Callable[[SearchRequest], Awaitable[Choice]]


class SearchPipeline:
    """normalised request -> cache -> joining -> user limit -> failover or merge -> response."""

    def __init__(
        self,
        settings: Settings,
        choose: Choose,
        *,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._choose = choose
        self._clock = clock
        self._timer = timer
        url = settings.redis_url.get_secret_value() if settings.redis_url else settings.private_store
        self._shared = SharedState(url) if url else None
        self._cache = ResponseCache(size=1, stale=0, longest=0, shared=self._shared, clock=clock)
        self._windows = Windows(self._shared)
        self.cooldowns = Cooldowns(shared=self._shared, clock=clock)
        self._flights: Flights[SearchResponse] = Flights()
        self._lanes: dict[int, Lane] = {}
        self._quotas: dict[str, MonthlyQuota] = {}
        self.observers: list[SearchObserver] = []
        self.rules = Rules()
        self._obey(settings)

    def _obey(self, settings: Settings) -> None:
        """Take over what the settings say of all searches."""
        self._settings = settings
        self._ttl = {kind: settings.ttl_for(kind) for kind in SearchType}
        self._cache.limit(size=settings.cache_size, stale=settings.cache_stale, longest=max(self._ttl.values()))
        explicit_limit = "rate_limit" in settings.model_fields_set
        self._user_limit = UserLimit(self._windows, settings.rate_limit, limit_anonymous=explicit_limit)
        self._attempts = Attempts(self.cooldowns, clock=self._timer, fair_time=min(FAIR_TIME, settings.timeout / 2))
        self._failover = Failover(self._attempts, settings.hedge_delay, settings.hedge_paid, self._timer)

    async def renew(self, settings: Settings, engines: Sequence[SearchEngine], anew: Sequence[str]) -> None:
        """Take over new settings; what was counted and kept stays. Engines that were made ``anew`` rest no longer."""
        before = self._settings
        self._obey(settings)
        present = {id(engine) for engine in engines}
        self._lanes = {
            number: lane
            for number, lane in self._lanes.items()
            if number in present and before.engine(lane.name) == settings.engine(lane.name)
        }
        for name in anew:
            await self.cooldowns.forget(name)

    @property
    def shared(self) -> SharedState | None:
        """What several processes share, where there is something."""
        return self._shared

    async def count(self, user: str | None) -> None:
        """Count as one search against a user's limit.

        Raises:
            UserRateLimited: the user must wait.
        """
        await self._user_limit.check(user, self.rules.terms(user).per_minute)

    async def run(self, request: SearchRequest) -> SearchResponse:
        """Answer a request.

        Raises:
            UserRateLimited: the user must wait, or has used up a budget.
            NotAllowed: the user may ask none of the engines.
            AllEnginesFailed: nobody could answer, and the cache has nothing either.
            ConfigurationError: no engine, or not the chosen one, can be used.
        """
        started = self._timer()
        request = self._within_rules(request)
        if not request.skip_cache:
            known = self._cache.fresh(request.key)
            if known is None:
                known = await self._cache.shared_fresh(request.key)
            if known is not None:
                return replace(known, query=request.asked, cached=True, search_time=self._ms(started))
        if self._is_limited(request.user) and (own := await self._from_this_machine(request)) is not None:
            return own
        choice = await self._choose(request)
        await self.learn_rests(choice.engines)
        counts = await self._counts(request, choice)
        # Only searches with the same time: nobody waits longer, or gives up earlier, than was asked for.
        response, joined = await self._flights.join(
            (request.key, request.timeout),
            lambda: self._search(request, choice),
            admit=(lambda: self._admit(request.user)) if counts else None,
        )
        if joined:
            return replace(response, query=request.asked, search_time=self._ms(started))
        return response

    def _within_rules(self, request: SearchRequest) -> SearchRequest:
        """Return the request with the engines that its user may ask; refuse another one that was chosen."""
        terms = self.rules.terms(request.user)
        if terms.engines is None:
            return request
        for name in request.engines:
            terms.check_engine(name)
        return request.only(terms.engines)

    def _is_limited(self, user: str | None) -> bool:
        return self._user_limit.concerns(user, self.rules.terms(user).per_minute) or self.rules.counts(user)

    async def _admit(self, user: str | None) -> None:
        """Count a search for which engines are asked, or refuse it."""
        self.rules.check_searches(user)
        await self.count(user)
        self.rules.check_searches(user)  # others may have searched meanwhile; from here on nobody does
        self.rules.searched(user)

    async def learn_rests(self, engines: Sequence[SearchEngine]) -> None:
        """Learn which engines others have put to rest, and which rests are over because a person has ended a block."""
        await self.cooldowns.refresh([engine.name for engine in engines])
        for engine in engines:
            self.cooldowns.wake(engine.name, engine.reopened_at)

    async def _counts(self, request: SearchRequest, choice: Choice) -> bool:
        """Tell whether a search counts against its user's limit: not where none of its engines can be asked."""
        if not self._is_limited(request.user):
            return False
        for engine in choice.engines:
            quota = self.lane(engine).quota
            if self.cooldowns.resting(engine.name) is None and (quota is None or await quota.left()):
                return True
        return False

    async def _from_this_machine(self, request: SearchRequest) -> SearchResponse | None:
        """Answer without counting where an engine on this machine comes first and has something."""
        if request.merge or request.query.type not in _LOCAL_TYPES:
            return None
        started = self._timer()
        choice = await self._choose(request)
        if not choice.engines or not choice.engines[0].local:
            return None
        tried = await self._attempts.make(self.lane(choice.engines[0]), request, request.timeout)
        if not tried.items or not tried.answers:
            return None
        self._tell([tried.attempt])
        receipt = (*choice.left_out, tried.attempt)
        ms = self._ms(started)
        return SearchResponse(request.asked, tuple(tried.items), tried.lane.name, receipt, request.query.type, ms)

    def _tell(self, attempts: Sequence[Attempt]) -> None:
        for observer in self.observers:
            for attempt in attempts:
                observer.attempt_ended(attempt)

    async def _search(self, request: SearchRequest, choice: Choice) -> SearchResponse:
        started = self._timer()
        if self._shared is not None and not request.skip_cache:
            # While this caller looked into Redis, another one may have searched.
            known = self._cache.fresh(request.key)
            if known is not None:
                return replace(known, query=request.asked, cached=True, search_time=self._ms(started))
        lanes = [self.lane(engine) for engine in choice.engines]
        answer: _Answer | None
        if request.merge:
            answer, attempts = await self._merged(request, lanes)
        else:
            winner, attempts = await self._failover.run(request, lanes)
            answer = winner and _Answer(
                tuple(winner.items or ()), winner.lane.name, winner.lane.storing, winner.related
            )
        self._tell(attempts)
        receipt = (*choice.left_out, *attempts)
        if answer is None:
            return await self._stale(request, receipt, started)
        response = SearchResponse(
            request.asked,
            answer.items,
            answer.provider,
            receipt,
            request.query.type,
            self._ms(started),
            related=answer.related,
        )
        ttl = self._ttl[request.query.type]
        # Pages appear, an engine may have been mistaken, and a page that did not come may come the next time.
        if not answer.items or _lacks_a_page(receipt):
            ttl = min(ttl, EMPTY_TTL)
        await self._cache.store(request.key, response, ttl, answer.storing)
        return response

    async def _merged(self, request: SearchRequest, lanes: Sequence[Lane]) -> tuple[_Answer | None, list[Attempt]]:
        if not request.engines:
            # The first of those that are awake; resting ones only where there are no others.
            lanes = sorted(lanes, key=lambda lane: self.cooldowns.resting(lane.name) is not None)
            lanes = lanes[: self._settings.merge_engines]
        answered, receipt = await ask_all(self._attempts, request, lanes)
        if not answered:
            return None, receipt
        items = fuse({tried.lane.name: tried.items or () for tried in answered})[: request.num_results]
        rules = {tried.lane.storing for tried in answered}
        related = tuple(dict.fromkeys(each for tried in answered for each in tried.related))[:MAX_RELATED]
        return _Answer(tuple(items), MERGED, next(rule for rule in _STRICTEST if rule in rules), related), receipt

    async def _stale(self, request: SearchRequest, receipt: tuple[Attempt, ...], started: float) -> SearchResponse:
        known = await self._cache.stale(request.key)
        failed = AllEnginesFailed.from_attempts(receipt)
        outcomes = ", ".join(f"{attempt.engine} {attempt.outcome.value}" for attempt in receipt)
        end = "an older answer is served from the cache" if known else "the search fails"
        logger.warning("no engine could answer (%s), %s: %s", outcomes, end, failed, extra=private(query=request.asked))
        if known is None:
            raise failed
        ms = self._ms(started)
        return replace(known, query=request.asked, cached=True, stale=True, attempts=receipt, search_time=ms)

    def lane(self, engine: SearchEngine) -> Lane:
        """Return the engine with its quota, pace and places; made once."""
        lane = self._lanes.get(id(engine))
        if lane is None:
            options = self._settings.engine(engine.name)
            pace = options.requests_per_second or engine.requests_per_second
            lane = Lane(
                engine,
                quota=self._quota(engine.name, options.monthly_quota),
                pace=Pace(self._windows, engine.name, pace) if pace else None,
                max_concurrency=options.max_concurrency,
                storing=Storing(options.store_results) if options.store_results else engine.storing,
            )
            self._lanes[id(engine)] = lane
        return lane

    def _quota(self, engine: str, limit: int | None) -> MonthlyQuota | None:
        """Return the quota of an engine: what was counted this month stays when the limit changes."""
        if limit is None:
            return None
        quota = self._quotas.get(engine)
        if quota is None:
            quota = self._quotas[engine] = MonthlyQuota(engine, limit, shared=self._shared, clock=self._clock)
        quota.limit = limit
        return quota

    async def aclose(self) -> None:
        """Close the connections of the shared state."""
        if self._shared is not None:
            await self._shared.aclose()

    def _ms(self, started: float) -> int:
        return round((self._timer() - started) * 1000)


def _lacks_a_page(receipt: Sequence[Attempt]) -> bool:
    answered = (attempt for attempt in receipt if attempt.outcome is Outcome.OK)
    return any(note.code == "engine.page_missing" for attempt in answered for note in attempt.notes)
