"""SearXNG, a metasearch engine that people run themselves: https://docs.searxng.org"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final, Self
from urllib.parse import unquote, urlsplit, urlunsplit

from qiusuo.engines.allowance import Allowance
from qiusuo.engines.base import (
    EngineOptions,
    EngineResults,
    Feature,
    HttpEngine,
    Joins,
    Probe,
    field_of,
    with_sites,
)
from qiusuo.engines.searxng_faults import (
    Silent,
    describe,
    fault_of_reply,
    fault_of_wire,
    listed_engines,
    silence,
    silent_engines,
)
from qiusuo.errors import (
    BadResponse,
    ConfigurationError,
    EngineError,
    RequestRejected,
    SearchError,
    SearchTimeout,
)
from qiusuo.http import HttpClient, Reply
from qiusuo.models import Freshness, Query, SearchResultItem
from qiusuo.words import Fact

DETECT_TIMEOUT: Final = 0.5
MAX_PAGES: Final = 5
# A page mixes the answers of all its engines; more than this is nothing SearXNG sends.
_MAX_ROWS: Final = 1000

_HEADERS: Final = {
    # Its bot detection wants text/html among the accepted types, and an Accept-Language. The latter is also the
    # language of the messages in unresponsive_engines, which are read below; that of results is a parameter.
    "Accept": "application/json, text/html;q=0.9",
    "Accept-Language": "en",
}

# A token that SearXNG may take as a command: !engine, !!elsewhere, :language, <timeout.
_COMMAND: Final = re.compile(r"(?<!\S)[!:<]\S*")
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")
_REGION: Final = re.compile(r"[A-Za-z]{2}")
_SCRIPT_REGION: Final = {"hans": "CN", "hant": "TW"}


class SearxngEngine(HttpEngine):
    """Your own SearXNG: free, asks many engines at once.

    ``basic_auth`` (``user:password``) and ``headers`` are for a proxy in front of it; their values are never shown.
    """

    name = "searxng"
    label = "SearXNG"
    docs_url = "https://docs.searxng.org"
    base_url = "http://localhost:8080"
    url_env = ("SEARXNG_URL",)
    priority = 100
    costs_money = False
    joins = Joins.DETECTED
    # As a GET parameter each Chinese character takes nine bytes, and proxies cut addresses at 8 KiB.
    max_query_chars = 800
    own_settings: ClassVar = {
        "basic_auth": "`user:password` for a proxy in front of it.",
        "headers": 'More headers for a proxy in front of it: `headers = {"X-Token" = "…"}`.',
    }
    features: ClassVar = frozenset(Feature)

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
        headers: Mapping[str, str] | None = None,
        basic_auth: str | None = None,
    ) -> None:
        address, login = _split_login(base_url or self.base_url)
        # People also paste the address of the search page.
        super().__init__(api_key, base_url=address.rstrip("/").removesuffix("/search"), timeout=timeout, http=http)
        secrets = list(self.endpoint.secrets)
        own = {**_HEADERS, **self.endpoint.headers}
        basic_auth = basic_auth or login
        if basic_auth:
            token = b64encode(basic_auth.encode()).decode()
            own["Authorization"] = f"Basic {token}"
            secrets += [basic_auth, token, basic_auth.partition(":")[2]]
        for name, value in (headers or {}).items():
            own[name] = value
            secrets += [value, value.rpartition(" ")[2]]
        self.endpoint = replace(self.endpoint, headers=own, secrets=tuple(secrets))

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        return cls(
            options.api_key,
            base_url=options.base_url,
            timeout=options.timeout,
            http=http,
            headers=_check_headers(options.extra.get("headers")),
            basic_auth=_check_basic_auth(options.extra.get("basic_auth")),
        )

    async def detect(self) -> bool:
        """Tell whether a SearXNG answers at the address. Takes half a second at most and never raises."""
        probe = replace(self.endpoint, timeout=DETECT_TIMEOUT)
        try:
            data = await probe.get("/config")
        except SearchError:
            return False
        return is_config(data)

    async def probe(self) -> Probe:
        """Tell whether a SearXNG answers and gives JSON, without making it search."""
        try:
            _, data = await self._ask("/config")
        except BadResponse as error:
            if error.fact.code != "searxng.other_service":
                raise
            data = None
        try:
            reply, _ = await self._ask("/search", {"format": "json"})
        except RequestRejected as error:  # "No query", said in JSON
            if is_config(data):
                return Probe()
            raise self._other_service((f"HTTP {error.status}",)) from None
        if is_config(data):
            raise self.bad_shape(Fact("engine.answer_to_nothing"))
        # What is there instead is told by what it says to a search, as a search tells it.
        raise self._other_service(describe(reply))

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        return await self.search_within(query, num_results, Allowance(self.endpoint.timeout, margin=0.0))

    async def search_within(self, query: Query, num_results: int, allowance: Allowance) -> list[SearchResultItem]:
        allowance.asked()
        allowance.shorten(self.endpoint.timeout)
        count = self.count(num_results)
        params = {
            "q": with_sites(query, plain_words(self.query_text(query)), max_chars=self.max_query_chars),
            "format": "json",
            "language": searxng_language(query),
            "categories": "news" if query.wants_news else None,
            # SearXNG knows no hour: a day is the nearest that leaves nothing out.
            "time_range": ("day" if query.freshness is Freshness.HOUR else query.freshness.value)
            if query.freshness
            else None,
        }
        found: dict[str, SearchResultItem] = {}
        notes: list[Fact | str] = []
        related: list[str] = []
        silent: Silent = {}
        for number in range(1, MAX_PAGES + 1):
            try:
                # The first page has the endpoint's own timeout, whose error names host and seconds.
                async with asyncio.timeout(allowance.left() if number > 1 else None):
                    page, missing = await self._page(params, number)
            except (EngineError, TimeoutError) as error:
                if number == 1:
                    raise
                reason = error.fact if isinstance(error, EngineError) else Fact("engine.no_time")
                notes.append(Fact("engine.page_missing", page=number, reason=reason))
                break
            silent |= missing
            notes += page.notes
            related += page.related
            before = len(found)
            for item in page:
                found.setdefault(item.url, item)
            if len(found) >= count or len(found) == before:
                break
        if silent:
            if not found:  # a failure, not an empty result
                raise self._fault(*silence(self._address, silent))
            notes.append(Fact("searxng.did_not_answer", engines=listed_engines(silent)))
        return EngineResults(list(found.values())[:count], notes, related)

    def notes(self, query: Query, num_results: int) -> tuple[Fact | str, ...]:
        found = super().notes(query, num_results)
        if searxng_language(query) == "all" and (query.language or query.region):
            found += (Fact("searxng.unknown_language" if query.language else "searxng.region_alone"),)
        if plain_words(query.text) != query.text:
            found += (Fact("searxng.plain_words"),)
        return found

    def too_late(self, seconds: float) -> SearchTimeout:
        fact = Fact("searxng.timeout", address=self._address, seconds=round(seconds, 1))
        return SearchTimeout(fact, engine=self.name, commands=_commands(fact))

    def classify(self, reply: Reply, detail: str) -> EngineError | None:  # noqa: ARG002 - its pages say little
        fault = fault_of_reply(reply, self._address)
        return self._fault(*fault, reply) if fault else None

    @property
    def _address(self) -> str:
        return self.endpoint.base_url.rstrip("/")

    async def _ask(self, path: str, params: Mapping[str, Any] | None = None) -> tuple[Reply, Any]:
        """Return a reply and its JSON. What goes wrong is told as a fault of SearXNG, as the doctor does."""
        try:
            reply = await self.endpoint.request("GET", path, params=params)
        except EngineError as error:
            if error.status is not None:  # classified already
                raise
            fact = fault_of_wire(error.fact, self._address, self.endpoint.client.connect_timeout)
            raise self._fault(type(error), fact) from None
        try:
            return reply, self.endpoint.json_of(reply)
        except BadResponse:
            raise self._other_service(describe(reply)) from None

    async def _page(self, params: Mapping[str, Any], number: int) -> tuple[EngineResults, Silent]:
        reply, data = await self._ask("/search", {**params, "pageno": number})
        rows = field_of(data, "results")
        if not isinstance(rows, list):
            raise self._other_service(describe(reply))
        page = self.collect(rows, self._item, limit=_MAX_ROWS)
        others = field_of(data, "suggestions")
        page = EngineResults(page, page.notes, others if isinstance(others, list) else ())
        return page, silent_engines(field_of(data, "unresponsive_engines"))

    def _other_service(self, seen: tuple[str, ...]) -> EngineError:
        return self._fault(BadResponse, Fact("searxng.other_service", address=self._address, seen=seen))

    def _fault(self, kind: type[EngineError], fact: Fact, reply: Reply | None = None) -> EngineError:
        status, wait = (reply.status, reply.retry_after) if reply else (None, None)
        return kind(fact, engine=self.name, status=status, retry_after=wait, commands=_commands(fact))

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        return self.item(
            row.get("title"),
            row["url"],
            row.get("content"),
            date=row.get("publishedDate") or row.get("pubdate"),
            score=row.get("score"),
        )


def is_config(data: object) -> bool:
    """Tell whether this is what SearXNG answers under ``/config``; a Qiusuo that stands in for one is none."""
    if field_of(data, "instance_name") == "Qiusuo":
        return False
    return isinstance(field_of(data, "engines"), list) and any(
        field_of(data, name) for name in ("version", "instance_name")
    )


def plain_words(text: str) -> str:
    """Take their effect from the commands that SearXNG reads out of a query, keeping the words.

    ``!!g cats`` would redirect to another site, ``!images`` and ``:fr`` would change the search and ``<3`` its timeout.
    """
    return _COMMAND.sub(_plain_word, text)


def _plain_word(match: re.Match[str]) -> str:
    token = match[0]
    if not any(char.isalnum() for char in token):
        # "!=" or ":)" is no command; "!!" and "!!?" are.
        return f'"{token}"' if token.startswith("!!") else token
    token = token.lstrip("!:")
    return f"< {token[1:]}" if token[0] == "<" and token[1:].isdigit() else token


def searxng_language(query: Query) -> str:
    """Return the language as SearXNG takes it (``zh``, ``zh-CN``), else ``all``: anything more is an error 400."""
    language, *rest = (query.language or "").replace("_", "-").split("-")
    language = language.lower()
    if not _LANGUAGE.fullmatch(language):
        return "all"
    scripts = (_SCRIPT_REGION.get(part.lower()) for part in rest if language == "zh")
    candidates = (*rest, query.region or "", *(region for region in scripts if region))
    region = next((part for part in candidates if _REGION.fullmatch(part)), None)
    return f"{language}-{region.upper()}" if region and language != "all" else language


def _commands(fact: Fact) -> tuple[str, ...]:
    from qiusuo.kit.commands import KitCommands  # noqa: PLC0415 - only where something is wrong

    return KitCommands().for_fault(fact)


def _split_login(url: str) -> tuple[str, str | None]:
    """Take ``user:password@`` out of an address, so that it is sent as a header and nowhere shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, None  # the endpoint will refuse it, in words
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    user, _, password = login.partition(":")
    return urlunsplit(parts._replace(netloc=host)), f"{unquote(user)}:{unquote(password)}"


def _check_headers(value: object) -> Mapping[str, str] | None:
    if value is None:
        return None
    if isinstance(value, Mapping) and all(
        isinstance(text, str) and text.isprintable() for pair in value.items() for text in pair
    ):
        return value
    raise ConfigurationError(Fact("searxng.bad_headers"), engine=SearxngEngine.name)


def _check_basic_auth(value: object) -> str | None:
    if value is None or (isinstance(value, str) and ":" in value):
        return value
    raise ConfigurationError(Fact("searxng.bad_login"), engine=SearxngEngine.name)
