"""The search service: what applications, tools and commands use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, Unpack

from qiusuo.bridge import SyncBridge
from qiusuo.config import Settings
from qiusuo.engines.base import SearchEngine
from qiusuo.errors import SearchDisabled, SearchError
from qiusuo.http import HttpClient
from qiusuo.models import SearchResponse, SearchType
from qiusuo.pipeline.observe import Asked, SearchObserver, observed
from qiusuo.pipeline.pipeline import Choice, SearchPipeline
from qiusuo.pipeline.request import SearchOptions, SearchRequest, build_request
from qiusuo.pipeline.rules import Rules
from qiusuo.retiring import Retiring
from qiusuo.roster import Place, Roster
from qiusuo.words import Fact, Language, said
from qiusuo.words.wording import Wording, wording


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far an engine may be asked: seconds for which it still rests, and what is used of its month's quota."""

    engine: str
    rest_seconds: float = 0.0
    quota: int | None = None
    quota_used: int | None = None


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """How an engine stands: ``state`` is ready, resting, idle (configured, but not taking part) or missing."""

    name: str
    label: str
    state: str
    fact: Fact | None = None
    remedy: Fact | None = None
    commands: tuple[str, ...] = ()
    retry_after: float | None = None
    quota: int | None = None
    quota_used: int | None = None
    costs_money: bool = True
    docs_url: str = ""
    title: Fact | None = None

    def called(self, language: Language) -> str:
        """Return its name for readers of a language."""
        return self.title.text(language) if self.title else self.label

    @property
    def reason(self) -> str:
        """Why it cannot be used now, in English."""
        return self.wording().what

    @property
    def fix(self) -> str:
        """What to do, in English."""
        return self.wording().fix

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return why it cannot be used now, and what to do, in words."""
        return wording(self.fact or said(""), self.remedy, language)


class SearchService:
    """One search over many engines, with failover, cache, limits and a receipt.

    ``SearchService.from_settings()`` takes the engines from the configuration, ``SearchService([engine, …])`` yours.
    Use it as a context manager (``with`` or ``async with``) or close it. It may be shared by threads and event loops.
    """

    def __init__(
        self,
        engines: Sequence[SearchEngine] = (),
        settings: Settings | None = None,
        *,
        roster: Roster | None = None,
        http: HttpClient | None = None,
    ) -> None:
        self.settings = settings or Settings.load()
        self._own_engines = roster is None
        self._roster = roster or Roster.of(engines)
        self._http = http
        self._bridge = SyncBridge()
        self._pipeline = SearchPipeline(self.settings, self._choose)
        self._retiring = Retiring()

    @classmethod
    def from_settings(cls, settings: Settings | None = None) -> Self:
        """Build the service and all engines that the configuration allows."""
        settings = settings or Settings.load()
        http = HttpClient()
        return cls(settings=settings, roster=Roster.from_settings(settings, http), http=http)

    async def asearch(self, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """Search the web; the options are those of :class:`~qiusuo.pipeline.request.SearchOptions`.

        Returns:
            The results with their receipt; no results means that nothing was found.

        Raises:
            SearchError: see :mod:`qiusuo.errors`; a failure is never an empty response.
        """
        asked = Asked(query, options.get("user"))
        return await observed(self._pipeline.observers, self._run(query, options), asked)

    async def _run(self, query: str, options: SearchOptions) -> SearchResponse:
        user = self._retiring.enter()
        try:
            return await self._pipeline.run(build_request(self.settings, query, **options))
        finally:
            await self._retiring.leave(user)

    async def _choose(self, request: SearchRequest) -> Choice:
        return await self._roster.choose(request)

    async def renew(self, settings: Settings) -> None:
        """Take over new settings at once: engines, order, limits. Searches under way end on the engines they have.

        What is known stays: the cache, what was counted, and the rests of engines whose settings did not change. A
        service over engines of its caller's keeps these.
        """
        before = self._roster
        if not self._own_engines and self._http is not None:
            self._roster = Roster.from_settings(settings, self._http, before)
        self.settings = settings
        now, earlier = self._roster.engines, {id(engine) for engine in before.engines}
        anew = [engine.name for engine in now if id(engine) not in earlier]
        await self._pipeline.renew(settings, now, anew)
        kept = {id(engine) for engine in now}
        await self._retiring.retire([engine for engine in before.engines if id(engine) not in kept])

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """Search the web from synchronous code; see :meth:`asearch`."""
        return self._bridge.run(self.asearch(query, **options))

    async def status(self) -> list[EngineStatus]:
        """Tell how every known engine stands, in the order of priority."""
        choices = [await self._roster.available(kind) for kind in SearchType]
        taking_part = {engine.name for choice in choices for engine in choice.engines}
        places = self._roster.places.values()
        await self._pipeline.learn_rests([place.engine for place in places if place.engine is not None])
        return [
            await self._status_of(name, place, takes_part=name in taking_part)
            for name, place in self._roster.places.items()
        ]

    async def allowances(self) -> list[Allowance]:
        """Tell how far every engine that is set up may be asked. Cheaper than ``status``: no engine is looked at."""
        engines = [place.engine for place in self._roster.places.values() if place.engine is not None]
        await self._pipeline.learn_rests(engines)
        return [await self._allowance(engine) for engine in engines]

    async def available(self, search_type: SearchType = SearchType.GENERAL) -> tuple[str, ...]:
        """Return the names of the engines that take part, in their order; empty means that search is off."""
        return tuple(engine.name for engine in (await self._roster.available(search_type)).engines)

    @property
    def pipeline(self) -> SearchPipeline:
        """What searches go through; ``shared`` of it is the memory that several processes share."""
        return self._pipeline

    @property
    def rules(self) -> Rules:
        """What is set for single users."""
        return self._pipeline.rules

    async def count(self, user: str | None) -> None:
        """Count something else that costs as much as a search against a user's limit.

        Raises:
            UserRateLimited: the user must wait.
        """
        await self._pipeline.count(user)

    async def disabled(self) -> SearchDisabled | None:
        """Return why search is off and how to enable it; None while some engine can be asked."""
        return None if (await self._roster.available()).engines else self._roster.disabled()

    def engine_problems(self) -> dict[str, SearchError | None]:
        """Return every known engine by name, with the reason why it cannot be used where it cannot."""
        return {name: place.problem for name, place in self._roster.places.items()}

    def kind_of(self, engine: str) -> type[SearchEngine] | None:
        """Return what kind of engine has a name; its class attributes are the facts."""
        place = self._roster.places.get(engine)
        return place.kind if place else None

    @property
    def roster(self) -> Roster:
        """The engines and their places, for those who examine the set-up."""
        return self._roster

    def observe(self, observer: SearchObserver) -> None:
        """Tell ``observer`` of every search from now on."""
        self._pipeline.observers.append(observer)

    async def _status_of(self, name: str, place: Place, *, takes_part: bool) -> EngineStatus:
        kind = place.kind
        status = EngineStatus(
            name,
            kind.label or name,
            "missing",
            costs_money=kind.costs_money,
            docs_url=kind.docs_url,
            title=kind.title,
        )
        if place.engine is None:
            problem = place.problem
            return _told(status, problem) if problem else status
        allowance = await self._allowance(place.engine)
        status = replace(status, quota=allowance.quota, quota_used=allowance.quota_used)
        rest = self._pipeline.cooldowns.resting(name)
        if rest is not None:
            told = replace(status, fact=rest.fact, remedy=rest.remedy, commands=rest.commands)
            return replace(told, state="resting", retry_after=round(self._pipeline.cooldowns.seconds_left(rest), 1))
        if not takes_part and self._roster.absent(name):
            return replace(status, fact=Fact("engine.absent", variables=list(kind.url_env)))
        return replace(status, state="ready" if takes_part else "idle")

    async def _allowance(self, engine: SearchEngine) -> Allowance:
        cooldowns, quota = self._pipeline.cooldowns, self._pipeline.lane(engine).quota
        rest = cooldowns.resting(engine.name)
        return Allowance(
            engine.name,
            cooldowns.seconds_left(rest) if rest else 0.0,
            quota.limit if quota else None,
            await quota.used() if quota else None,
        )

    async def aclose(self) -> None:
        """Close connections, engines and the background loop."""
        await self._close_connections()
        self._bridge.close()

    def close(self) -> None:
        """Close the service from synchronous code."""
        self._bridge.run(self._close_connections())
        self._bridge.close()

    async def _close_connections(self) -> None:
        await self._retiring.aclose()
        await self._roster.aclose()
        await self._pipeline.aclose()
        if self._http is not None:
            await self._http.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _told(status: EngineStatus, problem: SearchError) -> EngineStatus:
    return replace(status, fact=problem.fact, remedy=problem.remedy, commands=problem.commands)
