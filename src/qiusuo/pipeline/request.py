"""From a caller's words to one well-formed request: checks, language, type, domains, cache key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from qiusuo.config import Settings
from qiusuo.errors import InvalidQuery
from qiusuo.models import Freshness, Query, SearchResultItem, SearchType, domain_of
from qiusuo.text import detect_language, normalise_query, without_controls
from qiusuo.words import Fact

MAX_QUERY_CHARS = 4000
MAX_RESULTS = 50
_LEGAL_WORDS = {
    SearchType.REGULATION: re.compile(r"法|条例|规定|办法|司法解释|法规|规章|决定|通知"),
    SearchType.CASE: re.compile(r"案|判决|裁定|裁判|判例|文书"),
}
_LANGUAGE = re.compile(r"auto|all|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_REGION = re.compile(r"[A-Za-z]{2}")
_DOMAIN = re.compile(r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9][a-z0-9-]{0,62}$")
E_ = TypeVar("E_", SearchType, Freshness)


class SearchOptions(TypedDict, total=False):
    """The options of a search; every one may be left out.

    Attributes:
        type: ``general``, ``news``, ``regulation`` or ``case``.
        engine: Ask this engine and no other.
        num_results: How many results are wanted (1 to 50).
        language: ``zh-CN``, ``en`` …, ``all``, or ``auto`` for the query's own.
        region: Two-letter country.
        freshness: ``hour``, ``day``, ``week``, ``month`` or ``year``.
        include_domains: Only results of these domains.
        exclude_domains: No results of these domains.
        merge: Ask several engines at once and fuse their results; True, or the engines' names.
        user: Whose limit per minute this search counts against.
        timeout: Seconds for the whole search.
        skip_cache: Search again even if the cache has an answer.
    """

    type: SearchType | str
    engine: str | None
    num_results: int | None
    language: str | None
    region: str | None
    freshness: Freshness | str | None
    include_domains: Iterable[str]
    exclude_domains: Iterable[str]
    merge: bool | Iterable[str]
    user: str | None
    timeout: float | None
    skip_cache: bool


class SearchRequest(msgspec.Struct, frozen=True):
    """A search as the pipeline carries it. ``engines`` names the chosen ones; empty means the configured order."""

    asked: str
    query: Query
    num_results: int
    timeout: float
    key: str
    engines: tuple[str, ...] = ()
    merge: bool = False
    user: str | None = None
    skip_cache: bool = False
    only_domains: tuple[str, ...] = ()
    """Domains the caller insists on; those of a search type are only preferred."""
    allowed: frozenset[str] | None = None
    """The only engines that this user may ask; None: all."""

    def only(self, engines: frozenset[str]) -> SearchRequest:
        """Return the request of somebody who may ask these engines alone; it shares no results with others."""
        return replace(self, key=f"{self.key}\x1fallowed {','.join(sorted(engines))}", allowed=engines)


def build_request(
    settings: Settings,
    text: object,
    *,
    type: SearchType | str = SearchType.GENERAL,  # noqa: A002 - the public name of the option
    num_results: int | None = None,
    language: str | None = None,
    region: str | None = None,
    freshness: Freshness | str | None = None,
    include_domains: Iterable[str] = (),
    exclude_domains: Iterable[str] = (),
    engine: str | None = None,
    merge: bool | Iterable[str] = False,
    user: str | None = None,
    timeout: float | None = None,
    skip_cache: bool = False,
) -> SearchRequest:
    """Check every parameter and build the request.

    Raises:
        InvalidQuery: something cannot be used; nothing was sent anywhere.
    """
    asked = _words(text)
    search_type = _member(SearchType, type, "query.type")
    fresh = None if freshness is None else _member(Freshness, freshness, "query.freshness")
    count = settings.max_results if num_results is None else _count(num_results)
    seconds = settings.timeout if timeout is None else _seconds(timeout)
    include = checked_domains(include_domains) if include_domains else ()
    exclude = checked_domains(exclude_domains) if exclude_domains else ()
    engines = _engine_names(engine, merge)
    if language is not None:
        language = _matching(_LANGUAGE, language, "query.language")
    wanted = language or settings.language
    if region is not None:
        region = _matching(_REGION, region, "query.region")
    query = Query(
        text=asked,
        type=search_type,
        language=detect_language(asked) if wanted == "auto" else None if wanted == "all" else wanted,
        region=region or settings.region or None,
        freshness=fresh,
        include_domains=include,
        exclude_domains=exclude,
        language_is_guess=wanted == "auto",
    )
    if search_type in _LEGAL_WORDS:
        query = _as_legal(settings, query)
    key = "\x1f".join(
        (
            normalise_query(asked, sort_words=settings.sort_words),
            search_type,
            query.language or "",
            query.region or "",
            fresh or "",
            ("only " if include else "") + ",".join(query.include_domains),
            ",".join(exclude),
            str(count),
            ",".join(engines),
            "merge" if merge else "",
        )
    )
    return SearchRequest(asked, query, count, seconds, key, engines, bool(merge), user, skip_cache, include)


def filter_results(request: SearchRequest, items: list[SearchResultItem]) -> tuple[list[SearchResultItem], int]:
    """Apply the domain filters that an engine may not have honoured; return what stays and how many were dropped."""
    query = request.query
    kept = items
    if query.exclude_domains:
        kept = [item for item in kept if not _is_of(item, query.exclude_domains)]
    if request.only_domains:
        kept = [item for item in kept if _is_of(item, request.only_domains)]
    elif query.include_domains:
        # The sites of a search type are a preference: theirs come first, nothing is lost.
        kept = sorted(kept, key=lambda item: not _is_of(item, query.include_domains))
    return kept, len(items) - len(kept)


def _as_legal(settings: Settings, query: Query) -> Query:
    regulation = query.type is SearchType.REGULATION
    sites = settings.regulation_sites if regulation else settings.case_sites
    keyword = settings.regulation_keyword if regulation else settings.case_keyword
    added = f" {keyword}" if keyword and not _LEGAL_WORDS[query.type].search(query.text) else ""
    return replace(query, text=query.text + added, added=added, include_domains=query.include_domains or sites)


def _engine_names(engine: object, merge: bool | Iterable[str]) -> tuple[str, ...]:
    if merge and not isinstance(merge, bool):
        names = merge.split(",") if isinstance(merge, str) else merge
        return tuple(dict.fromkeys(name.strip().lower() for name in names))
    if engine is not None and not isinstance(engine, str):
        raise InvalidQuery(Fact("query.engine", given=repr(engine)))
    return (engine.strip().lower(),) if engine else ()


def _matching(pattern: re.Pattern[str], value: object, code: str) -> str | None:
    if value == "":
        return None
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidQuery(Fact(code, given=repr(value)))
    return value


def _words(text: object) -> str:
    if not isinstance(text, str):
        raise InvalidQuery(Fact("query.no_text"))
    if not text.isascii():
        # Halves of characters (from file names, or cut JSON) cannot be sent; pairs of them become the character.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    words = " ".join(without_controls(text).split())
    if not words:
        raise InvalidQuery(Fact("query.empty"))
    if len(words) > MAX_QUERY_CHARS:
        raise InvalidQuery(Fact("query.too_long", limit=MAX_QUERY_CHARS))
    return words


def _member(kind: type[E_], value: str, code: str) -> E_:
    try:
        return kind(value)
    except ValueError:
        known = [member.value for member in kind]
        raise InvalidQuery(Fact(code, given=repr(value), known=known)) from None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidQuery(Fact("query.count", given=repr(value), most=MAX_RESULTS))
    return min(value, MAX_RESULTS)


def _seconds(value: object) -> float:
    if not isinstance(value, (int, float)) or not 0 < value <= 120:  # noqa: PLR2004 - NaN fails both comparisons
        raise InvalidQuery(Fact("query.timeout", given=repr(value)))
    return float(value)


def checked_domains(values: Iterable[str]) -> tuple[str, ...]:
    """Return domains as they are compared.

    Raises:
        InvalidQuery: one is no domain.
    """
    names = [values] if isinstance(values, str) else values
    found: list[str] = []
    for value in names:
        name = (
            str(value).strip().lower().removeprefix("https://").removeprefix("http://").removeprefix("www.").strip("/.")
        )
        try:
            name = name.encode("idna").decode() if not name.isascii() else name
        except UnicodeError:
            name = ""
        if not _DOMAIN.match(name):
            raise InvalidQuery(Fact("query.domain", given=repr(value)))
        found.append(name)
    return tuple(dict.fromkeys(found))


def _is_of(item: SearchResultItem, domains: tuple[str, ...]) -> bool:
    # The source is the true host where an address is a provider's redirect, and may be a mere label elsewhere.
    return is_within(item.source, domains) or is_within(domain_of(item.url), domains)


def is_within(host: str, domains: tuple[str, ...]) -> bool:
    """Tell whether a host is one of the domains, or below one."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
