"""What an engine is.

A new engine is one file in this folder (or a part of a plug-in, see :mod:`qiusuo.plugins`): a subclass of
:class:`SearchEngine` whose class attributes are the facts about the vendor. Every list of engines is derived from them.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self

from qiusuo.details import Details
from qiusuo.engines.allowance import Allowance
from qiusuo.engines.price import Price
from qiusuo.errors import BadResponse, EngineError, EngineNotConfigured, SearchTimeout
from qiusuo.http import TOTAL_TIMEOUT, Endpoint, HttpClient, Reply
from qiusuo.models import Query, SearchResultItem, SearchType
from qiusuo.text import clean, iso_date, shorten_query, web_address
from qiusuo.words import Fact, Language, as_fact

logger = logging.getLogger(__name__)

# Some providers answer with whole pages as "snippet".
MAX_SNIPPET_CHARS = 2000
MAX_TITLE_CHARS = 300
MAX_RELATED = 20


class Feature(StrEnum):
    """Options of a query that an engine can honour."""

    NEWS = "news"
    LANGUAGE = "language"
    REGION = "region"
    FRESHNESS = "freshness"
    INCLUDE_DOMAINS = "include_domains"
    EXCLUDE_DOMAINS = "exclude_domains"


class Joins(StrEnum):
    """When an engine takes part without being named."""

    CONFIGURED = "configured"  # as soon as its key or address is set
    DETECTED = "detected"  # as above, or when a look shows that it is there
    LAST_RESORT = "last_resort"  # only when nothing else is there: it sends queries outside without anybody's key
    NAMED = "named"  # only when named


class Storing(StrEnum):
    """Where results of a provider may be kept."""

    SHARED = "shared"  # in any cache, Redis too
    MEMORY = "memory"  # for a while, in this process only
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What configuration says about one engine. ``extra`` holds settings that only this engine knows."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    # Looks a variable up in the environment (and the keys of other engines, for those that share one).
    lookup: Callable[[str], str | None] = field(default=lambda _name: None, repr=False)


@dataclass(frozen=True, slots=True)
class Probe:
    """What an engine's cheapest question has told: it can be used, and how much of the plan is, where it says so."""

    used: int | None = None
    limit: int | None = None


class EngineResults(list[SearchResultItem]):
    """A list of results that may carry notes for the receipt, and what the provider says others ask beside it."""

    notes: tuple[Fact, ...]
    related: tuple[str, ...]

    def __init__(
        self, items: Iterable[SearchResultItem] = (), notes: Iterable[Fact | str] = (), related: Iterable[object] = ()
    ) -> None:
        super().__init__(items)
        self.notes = tuple(map(as_fact, notes))
        self.related = tuple(filter(None, dict.fromkeys(clean(each) for each in related)))[:MAX_RELATED]


class SearchEngine(ABC):
    """One search provider. Instances hold no state of a query and may be shared by any number of searches."""

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    title: ClassVar[Fact | None] = None
    """What it is called where that is another name in each language; else it is ``label`` in all."""
    docs_url: ClassVar[str] = ""
    key_env: ClassVar[tuple[str, ...]] = ()
    """Environment variables that may hold the key, first one wins. Empty: no key is needed."""
    url_env: ClassVar[tuple[str, ...]] = ()
    """Environment variables that may hold the address."""
    features: ClassVar[frozenset[Feature]] = frozenset()
    max_results: ClassVar[int] = 50
    max_query_chars: ClassVar[int | None] = None
    max_query_words: ClassVar[int | None] = None
    costs_money: ClassVar[bool] = True
    price_per_search: ClassVar[Price | None] = None
    """What one search costs without a plan of one's own; None where nobody has said it for sure."""
    local: ClassVar[bool] = False
    """On this machine: asking it takes nothing from anybody, so no user's limit counts it."""
    priority: ClassVar[int] = 1000
    """Place in the default order; smaller comes first."""
    storing: ClassVar[Storing] = Storing.SHARED
    requests_per_second: ClassVar[float | None] = None
    """The provider's own pace, where it states one that ordinary use can reach."""
    joins: Joins = Joins.CONFIGURED
    """May be narrowed by an instance."""
    search_types: ClassVar[frozenset[SearchType] | None] = None
    """The only types of search for which it is asked unless a search names it; None: all. Such an engine knows one
    subject, so its "nothing found" says nothing about the web."""
    quoted_whole: ClassVar[bool] = False
    """Its results are the text that is asked for, not a page about it: they are shown and quoted whole, never cut."""
    answers_first: ClassVar[bool] = False
    """In its types of search it is asked before a model's own search: what it knows, it knows exactly."""
    explains: ClassVar[str] = ""
    """Where its notes say how it understood the question, or why it has nothing: the code of the words (``title``, and
    ``what`` with a place for ``words``) under which reader and model are told them. Empty: they stay in the receipt."""
    own_settings: ClassVar[Mapping[str, str]] = {}
    """Keys under ``[engines.NAME]`` that only this engine knows, with their meaning."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Name an engine that can search and says no name: ``ShopEngine`` is ``shop``."""
        super().__init_subclass__(**options)
        unsaid = not cls.name and "name" not in cls.__dict__
        if unsaid and not getattr(cls.search, "__isabstractmethod__", False):
            cls.name = (cls.__name__.removesuffix("Engine") or cls.__name__).lower()

    @classmethod
    def called(cls, language: Language) -> str:
        """Return its name for readers of a language."""
        return cls.title.text(language) if cls.title else cls.label or cls.name

    @abstractmethod
    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        """Return up to ``num_results`` results, ``[]`` only if nothing was found.

        Raises:
            SearchError: one of its subclasses, for everything that is not an answer.
        """

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> list[SearchResultItem]:
        """Search as :meth:`search` does. An engine that can end early with what it has looks at the time it is allowed.

        Raises:
            SearchError: as above.
        """
        allowance.asked()
        return await self.search(query, num_results)

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - for engines to override
        """Build the engine from configuration; one that needs none of it need not say how.

        Raises:
            EngineNotConfigured: what it needs is not set; the error's ``fix`` says how to set it.
        """
        return cls()

    async def detect(self) -> bool:
        """Tell whether an engine with ``Joins.DETECTED`` is really there."""
        return True

    async def probe(self) -> Probe | None:
        """Ask the provider, for free, whether key and address are right; None where that cannot be had for free.

        Raises:
            SearchError: what is wrong, as :meth:`search` would raise it.
        """
        return None

    def reopened_at(self) -> float | None:
        """Return when a person last answered what the provider wanted of one, in seconds since the epoch."""
        return None

    async def aclose(self) -> None:  # noqa: B027 - most engines own nothing that must be closed
        """Release what the engine itself has opened."""

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        """Say what of this query the engine cannot honour; it goes into the receipt."""
        asked = (
            (Feature.NEWS, query.wants_news),
            (Feature.LANGUAGE, query.language and not query.language_is_guess),
            (Feature.REGION, query.region),
            (Feature.FRESHNESS, query.freshness),
            (Feature.INCLUDE_DOMAINS, query.include_domains),
            (Feature.EXCLUDE_DOMAINS, query.exclude_domains),
        )
        found: list[Fact | str] = []
        ignored = [feature.value for feature, value in asked if value and feature not in self.features]
        if ignored:
            found.append(Fact("engine.ignored", features=ignored))
        sent = self.query_text(query)
        if sent != query.text:
            found.append(Fact("engine.shortened", count=len(sent)))
        if num_results > self.max_results:
            found.append(Fact("engine.at_most", count=self.max_results))
        return tuple(found)

    def too_late(self, seconds: float) -> SearchTimeout:
        """Return the error for a search that did not end within the time that it had."""
        code = "search.late_here" if self.local else "search.late"
        return SearchTimeout(Fact(code, seconds=f"{seconds:.1f}"), engine=self.name)

    def query_text(self, query: Query) -> str:
        """Return the query's words within the provider's limits."""
        return shorten_query(query.text, self.max_query_chars, self.max_query_words)

    def count(self, num_results: int) -> int:
        """Clamp the number of results to what the provider can give."""
        return max(1, min(num_results, self.max_results))

    @cached_property
    def _finders(self) -> tuple[str, ...]:
        # One for all results of the engine: they stay in the cache by the thousand.
        return (self.name,)

    def item(
        self,
        title: object,
        url: object,
        snippet: object,
        *,
        date: object = None,
        score: object = None,
        source: str = "",
        details: Details | None = None,
    ) -> SearchResultItem | None:
        """Build one clean result; None without a web address."""
        address = web_address(url)
        if address is None:
            return None
        url, host = address
        return SearchResultItem(
            title=clean(title, MAX_TITLE_CHARS) or url,
            url=url,
            snippet=clean(snippet, MAX_SNIPPET_CHARS),
            source=clean(source) or host,
            published_at=iso_date(date),
            score=float(score) if isinstance(score, (int, float)) else None,
            engines=self._finders,
            details=details,
        )


class HttpEngine(SearchEngine):
    """An engine that speaks JSON over HTTP."""

    base_url: ClassVar[str] = ""
    error_words: ClassVar[tuple[str, ...]] = ()
    """Keys under which an error of the provider has its words, beside the usual ones (``error``, ``message`` …)."""

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
    ) -> None:
        key = (api_key or "").strip()
        if self.key_env and not key:
            raise self.not_configured()
        client = http or HttpClient()
        self._own_http = client if http is None else None
        self.endpoint = Endpoint(
            client=client,
            engine=self.name,
            base_url=base_url or self.base_url,
            headers=self.auth_headers(key),
            secrets=(key,),
            classify=self.classify,
            error_words=self.error_words,
            timeout=timeout or TOTAL_TIMEOUT,
        )

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        return cls(options.api_key, base_url=options.base_url, timeout=options.timeout, http=http)

    @classmethod
    def not_configured(cls) -> EngineNotConfigured:
        """Return the error that tells how to give this engine its key."""
        needed = Fact(
            "engine.needs_key",
            label=cls.title or cls.label,
            variable=cls.key_env[0],
            engine=cls.name,
            docs_url=cls.docs_url,
        )
        return EngineNotConfigured(needed, engine=cls.name)

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def classify(self, reply: Reply, detail: str) -> EngineError | None:  # noqa: ARG002 - for engines to override
        """Read this provider's own meaning out of an error reply; None leaves it to the general rules."""
        return None

    def collect(
        self,
        rows: object,
        parse: Callable[[dict[str, Any]], SearchResultItem | None],
        *,
        limit: int,
        notes: Iterable[Fact | str] = (),
    ) -> EngineResults:
        """Read each row; one that cannot be read is skipped and logged, the rest is used."""
        if not isinstance(rows, list):
            raise self.bad_shape(Fact("engine.no_list"))
        items: list[SearchResultItem] = []
        skipped = 0
        for row in rows:
            try:
                item = parse(row)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                logger.warning(
                    "%s: skipped a result that cannot be read (%s: %s)",
                    self.name,
                    type(error).__name__,
                    self.endpoint.scrub(str(error)),
                )
                item = None
            if item is None:
                skipped += 1
            elif len(items) < limit:
                items.append(item)
        if rows and not items:
            raise self.bad_shape(Fact("engine.none_readable"))
        if skipped:
            notes = (*notes, Fact("engine.unreadable", count=skipped))
        return EngineResults(items, notes)

    def bad_shape(self, what: Fact | str) -> BadResponse:
        """Return the error for an answer that is JSON, but not this provider's; ``what`` ends "the answer has ..."."""
        return BadResponse(Fact("engine.bad_shape", host=self.endpoint.host, what=as_fact(what)), engine=self.name)

    async def aclose(self) -> None:
        if self._own_http is not None:
            await self._own_http.aclose()


def count_of(data: object, *path: str) -> int | None:
    """Follow ``path`` to a number, as a whole one; None where there is none."""
    value = field_of(data, *path)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def field_of(data: object, *path: str) -> Any:
    """Follow ``path`` through nested objects; None where a step is missing."""
    for key in path:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def with_sites(
    query: Query, text: str, *, max_chars: int | None = None, max_sites: int = 10, exclude: str = "-site:"
) -> str:
    """Add ``site:`` operators to ``text``, leaving the words their room within ``max_chars``."""
    include = " OR ".join(f"site:{domain}" for domain in query.include_domains[:max_sites])
    if len(query.include_domains) > 1:
        include = f"({include})"
    left_out = " ".join(f"{exclude}{domain}" for domain in query.exclude_domains[:max_sites])
    operators = " ".join(part for part in (include, left_out) if part)
    if not operators:
        return text
    if max_chars is not None:
        room = max_chars - len(operators) - 1
        if room < max_chars // 3:
            # The words matter more than the filter; the pipeline filters domains again.
            return (
                with_sites(query, text, max_chars=max_chars, max_sites=max_sites // 2, exclude=exclude)
                if max_sites > 1
                else text
            )
        text = shorten_query(text, room)
    return f"{text} {operators}"
