"""Which engines exist, which can be used, and which take part in a search."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from qiusuo.config import Settings
from qiusuo.engines import discover_engines
from qiusuo.engines.base import EngineOptions, Joins, SearchEngine
from qiusuo.errors import (
    ConfigurationError,
    DuplicateEngine,
    NotAllowed,
    SearchDisabled,
    SearchError,
    UnknownEngine,
)
from qiusuo.http import HttpClient
from qiusuo.models import SearchType
from qiusuo.pipeline.attempt import failed_attempt
from qiusuo.pipeline.flights import Flights
from qiusuo.pipeline.pipeline import Choice
from qiusuo.pipeline.request import SearchRequest
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

# The model's own search: no engine, the chat layer looks for it in the priority list.
NATIVE = "native"
DETECTION_LASTS = 30.0


@dataclass(frozen=True, slots=True)
class Place:
    """An engine's place in the roster: ready (``engine``) or not (``problem``)."""

    kind: type[SearchEngine]
    engine: SearchEngine | None
    problem: SearchError | None = None
    made_of: EngineOptions | None = field(default=None, repr=False)


class _Lookup:
    """Looks variables up for one engine, and remembers what it was told."""

    def __init__(self, settings: Settings, keys: Mapping[str, str]) -> None:
        self._settings = settings
        self._keys = keys
        self._told: dict[str, str | None] = {}

    def __call__(self, name: str) -> str | None:
        found = self._told[name] = self._keys.get(name) or self._settings.value_of(name)
        return found

    def agrees(self, later: _Lookup) -> bool:
        """Tell whether another one says the same of all that was asked for."""
        return all(later(name) == value for name, value in self._told.items())


class Roster:
    """The engines of one service."""

    def __init__(
        self,
        places: Mapping[str, Place],
        order: Sequence[str],
        *,
        named: bool,
        addressed: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.places = dict(places)
        self._order = tuple(order)
        self._named = named
        self._addressed = addressed
        self._clock = clock
        self._detected: dict[str, tuple[float, bool]] = {}
        self._looks: Flights[bool] = Flights()
        self._ready = {kind: self._ready_for(kind) for kind in SearchType}
        # With named engines nothing depends on what is found at the moment.
        self._fixed = {kind: self._all_named(kind) for kind in SearchType} if named else None

    @classmethod
    def of(cls, engines: Sequence[SearchEngine]) -> Roster:
        """Build a roster of engines that the caller has made: all take part, in this order."""
        places: dict[str, Place] = {}
        for engine in engines:
            if engine.name in places:
                raise DuplicateEngine(Fact("engine.named_twice", name=engine.name), engine=engine.name)
            places[engine.name] = Place(type(engine), engine)
        return cls(places, list(places), named=True)

    @classmethod
    def from_settings(cls, settings: Settings, http: HttpClient, earlier: Roster | None = None) -> Roster:
        """Build every engine that the settings allow; those of an ``earlier`` roster stay where nothing changes."""
        kinds = discover_engines()
        before = earlier.places if earlier is not None else {}
        places = {name: _place(settings, kind, http, before.get(name)) for name, kind in kinds.items()}
        made = cls._ordered(settings, places)
        if earlier is not None:
            made.remember(earlier)
        return made

    def remember(self, earlier: Roster) -> None:
        """Take over what another roster has seen of the same engines."""
        for name, seen in earlier._detected.items():
            if name in self.places and self.places[name].engine is earlier.places[name].engine:
                self._detected[name] = seen

    @classmethod
    def _ordered(cls, settings: Settings, places: dict[str, Place]) -> Roster:
        kinds = {name: place.kind for name, place in places.items()}
        addressed = frozenset(name for name, kind in kinds.items() if address_of(settings, kind))
        wanted = settings.provider_priority
        if wanted is None:
            return cls(places, list(places), named=False, addressed=addressed)
        known = [name for name in wanted if name in places]
        places = {name: places[name] for name in (*known, *places)}
        for name in wanted:
            if name not in places and name != NATIVE:
                logger.warning("SEARCH_PROVIDER_PRIORITY: no engine is named %r; known: %s", name, ", ".join(places))
        if not known and NATIVE not in wanted:
            logger.warning("SEARCH_PROVIDER_PRIORITY names no known engine; the default order is used")
            return cls(places, list(places), named=False, addressed=addressed)
        return cls(places, known, named=True, addressed=addressed)

    @property
    def engines(self) -> tuple[SearchEngine, ...]:
        """The engines that can be used."""
        return tuple(place.engine for place in self.places.values() if place.engine is not None)

    async def choose(self, request: SearchRequest) -> Choice:
        """Return the engines for a request.

        Raises:
            UnknownEngine: a chosen engine does not exist.
            EngineNotConfigured: a chosen engine lacks its key or address.
            SearchDisabled: no engine can be used.
            NotAllowed: the user may use none of those that can be.
        """
        if request.engines:
            return Choice(tuple(self.get(name) for name in request.engines))
        choice = await self.available(request.query.type)
        if not choice.engines:
            raise self.disabled()
        return choice if request.allowed is None else self._allowed(choice, request.query.type, request.allowed)

    def _allowed(self, choice: Choice, search_type: SearchType, names: frozenset[str]) -> Choice:
        """Return those of a choice that somebody may ask; else others that they may, though nobody else asks these."""
        engines = tuple(engine for engine in choice.engines if engine.name in names)
        if not engines:
            others = [place for name, place in self.places.items() if name in names and _serves(place, search_type)]
            engines = tuple(place.engine for place in others if place.engine is not None)
        if not engines:
            raise NotAllowed(Fact("people.no_engine", allowed=sorted(names)))
        return Choice(engines, tuple(attempt for attempt in choice.left_out if attempt.engine in names))

    async def available(self, search_type: SearchType = SearchType.GENERAL) -> Choice:
        """Return the engines that take part in searches of a type without being chosen for one search."""
        if self._fixed is not None:
            return self._fixed[search_type]
        ready = self._ready[search_type]
        taking_part = [engine for engine in ready if await self._joins(engine)]
        # One that knows a single subject does not stand in for the web.
        if all(engine.search_types is not None for engine in taking_part) and not self._spoilt():
            taking_part += [engine for engine in ready if engine.joins is Joins.LAST_RESORT]
        return Choice(tuple(taking_part))

    def _ready_for(self, search_type: SearchType) -> tuple[SearchEngine, ...]:
        """Return the engines of the order that can be used in searches of a type."""
        places = (self.places[name] for name in self._order)
        return tuple(place.engine for place in places if place.engine is not None and _serves(place, search_type))

    def _all_named(self, search_type: SearchType) -> Choice:
        """Return all engines of the order; those that cannot be used stand in the receipt."""
        left_out = [
            failed_attempt(name, problem, skipped=True)
            for name in self._order
            if (problem := self.places[name].problem) is not None and _serves(self.places[name], search_type)
        ]
        return Choice(self._ready[search_type], tuple(left_out))

    def searches_the_web(self) -> bool:
        """Tell whether an engine that knows more than a single subject could be asked."""
        return any(engine.search_types is None for engine in self._ready[SearchType.GENERAL])

    def answers_first(self, search_type: SearchType) -> str | None:
        """Return the engine whose answers come before all others in searches of a type; None where there is none."""
        ready = ((name, place) for name, place in self.places.items() if place.engine is not None)
        return next((name for name, place in ready if place.kind.answers_first and _serves(place, search_type)), None)

    def get(self, name: str) -> SearchEngine:
        """Return the engine of that name, or raise why it cannot be used."""
        place = self.places.get(name)
        if place is None:
            raise UnknownEngine(Fact("engine.unknown", name=repr(name), known=list(self.places)), engine=name)
        if place.engine is None:
            problem = place.problem or UnknownEngine(Fact("engine.not_available"), engine=name)
            raise problem.with_traceback(None)  # kept for ever, it would gather the frames of every raise
        return place.engine

    def disabled(self) -> SearchDisabled:
        """Return the error that says how to enable search."""
        if not self.places:
            return SearchDisabled(Fact("search.no_engine"))
        if self._named:
            return self._none_usable()
        spoilt = self._spoilt()
        if spoilt:
            first = spoilt[0]
            off = Fact("search.spoilt", engine=first.engine or "", reason=first.told)
            return SearchDisabled(off, commands=first.commands)
        variables = [place.kind.key_env[0] for place in self.places.values() if place.kind.key_env]
        return SearchDisabled(Fact("search.not_configured", variables=variables))

    def _none_usable(self) -> SearchDisabled:
        problems = {name: problem for name in self._order if (problem := self.places[name].problem)}
        if not problems:
            others = [name for name in self.places if name not in self._order and self._searches_the_web(name)]
            return SearchDisabled(Fact("search.none_named", others=others))
        reasons = [Fact("search.unusable", engine=name, reason=problem.told) for name, problem in problems.items()]
        commands = dict.fromkeys(command for problem in problems.values() for command in problem.commands)
        return SearchDisabled(Fact("search.none_usable", reason=reasons), commands=tuple(commands))

    def _searches_the_web(self, name: str) -> bool:
        return _serves(self.places[name], SearchType.GENERAL)

    def absent(self, name: str) -> bool:
        """Tell whether a look has shown that an engine is not there."""
        seen = self._detected.get(name)
        return seen is not None and not seen[1]

    def _spoilt(self) -> list[SearchError]:
        """Return what keeps engines of the user's own from being used: queries must not go elsewhere instead."""
        own = [place for name, place in self.places.items() if name in self._addressed]
        return [place.problem for place in own if place.problem and place.kind.joins is Joins.DETECTED]

    async def _joins(self, engine: SearchEngine) -> bool:
        if engine.joins is Joins.CONFIGURED or (engine.joins is Joins.DETECTED and engine.name in self._addressed):
            return True
        return engine.joins is Joins.DETECTED and await self._detect(engine)

    async def _detect(self, engine: SearchEngine) -> bool:
        seen = self._detected.get(engine.name)
        if seen is None or self._clock() - seen[0] > DETECTION_LASTS:
            found, _ = await self._looks.join(engine.name, engine.detect)
            seen = (self._clock(), found)
            self._detected[engine.name] = seen
        return seen[1]

    async def aclose(self) -> None:
        """Close every engine."""
        for place in self.places.values():
            if place.engine is not None:
                try:
                    await place.engine.aclose()
                except Exception:  # a plug-in that cannot be closed must not keep the others open
                    logger.exception("the engine %s cannot be closed", place.engine.name)


def _serves(place: Place, search_type: SearchType) -> bool:
    return place.kind.search_types is None or search_type in place.kind.search_types


def options_of(settings: Settings, kind: type[SearchEngine]) -> EngineOptions:
    """Return what the settings say about an engine."""
    own = secrets_of(settings, kind)
    stored = settings.engine(kind.name)
    return EngineOptions(
        api_key=own[0][1] if own else None,
        base_url=address_of(settings, kind),
        timeout=stored.timeout,
        extra=stored.model_extra or {},
        lookup=_Lookup(settings, _all_keys(settings)),
    )


def _all_keys(settings: Settings) -> dict[str, str]:
    """Return the keys of all engines by their variables; some engines share one."""
    return {name: key for kind in discover_engines().values() for name, key in secrets_of(settings, kind)}


def _place(settings: Settings, kind: type[SearchEngine], http: HttpClient, before: Place | None) -> Place:
    options = options_of(settings, kind)
    if before is not None and before.engine is not None and before.kind is kind and _same(before.made_of, options):
        return replace(before, made_of=options)
    try:
        engine = kind.from_options(options, http)
    except SearchError as problem:
        return Place(kind, None, problem)
    except Exception as fault:  # a plug-in that cannot be built must not take the other engines along
        logger.exception("the engine %s cannot be set up and is left out", kind.name)
        broken = Fact("engine.not_built", fault=type(fault).__name__)
        return Place(kind, None, ConfigurationError(broken, engine=kind.name))
    return Place(kind, engine, made_of=options)


def _same(before: EngineOptions | None, after: EngineOptions) -> bool:
    """Tell whether an engine that was made before would be made alike now."""
    if before is None or not isinstance(before.lookup, _Lookup) or not isinstance(after.lookup, _Lookup):
        return False
    return replace(before, lookup=after.lookup) == after and before.lookup.agrees(after.lookup)


def secrets_of(settings: Settings, kind: type[SearchEngine]) -> list[tuple[str, str]]:
    """Return the engine's key under the name of its variable: the environment first, then the file."""
    for name in kind.key_env:
        value = settings.env(name)
        if value:
            return [(name, value)]
    stored = settings.engine(kind.name).api_key
    if kind.key_env and stored and stored.get_secret_value().strip():
        return [(kind.key_env[0], stored.get_secret_value())]
    return []


def address_of(settings: Settings, kind: type[SearchEngine]) -> str | None:
    """Return the address that is set for an engine; None: its own."""
    if "SEARXNG_URL" in kind.url_env and settings.searxng_url:
        return settings.searxng_url
    for name in kind.url_env:
        value = settings.env(name)
        if value and name != "SEARXNG_URL":  # that one is checked by the settings
            return value
    return settings.engine(kind.name).base_url
