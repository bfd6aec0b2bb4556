"""Exa: https://exa.ai/docs"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from unicodedata import category

from qiusuo.engines.base import MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, EngineOptions, Feature, HttpEngine, field_of
from qiusuo.engines.price import Price
from qiusuo.errors import ConfigurationError
from qiusuo.http import HttpClient
from qiusuo.models import Query, SearchResultItem
from qiusuo.text import clean, earliest, region_for
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page as Exa read it; where that failed, ``error`` says why and the texts are empty."""

    url: str
    title: str = ""
    text: str = ""
    summary: str = ""
    error: str | None = None


class ExaEngine(HttpEngine):
    """Search by meaning. Snippets are passages that fit the query, or what ``summary`` and ``text`` ask for."""

    name = "exa"
    label = "Exa"
    docs_url = "https://dashboard.exa.ai"
    base_url = "https://api.exa.ai"
    key_env = ("EXA_API_KEY",)
    priority = 30
    price_per_search = Price(0.007, "USD", "2026-11-15")
    max_results = 100
    own_settings: ClassVar = {
        "summary": "`true`: snippets are summaries that Exa writes (costs more).",
        "text": "`true` or a number of characters: snippets are the page's text.",
    }
    features: ClassVar = frozenset(Feature) - {Feature.LANGUAGE}

    def __init__(
        self,
        api_key: str | None = None,
        *,
        summary: bool = False,
        text: bool | int = False,
        base_url: str | None = None,
        timeout: float | None = None,
        http: HttpClient | None = None,
    ) -> None:
        super().__init__(api_key, base_url=base_url, timeout=timeout, http=http)
        self._summary = summary
        self._text = MAX_SNIPPET_CHARS if text is True else int(text)

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:
        own = {name: options.extra.get(name, False) for name in ("summary", "text")}
        if not isinstance(own["summary"], bool) or not isinstance(own["text"], int) or own["text"] < 0:
            raise ConfigurationError(Fact("exa.settings", engine=cls.name), engine=cls.name)
        return cls(options.api_key, **own, base_url=options.base_url, timeout=options.timeout, http=http)

    def auth_headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        count = self.count(num_results)
        contents = {"highlights": True, "summary": self._summary, "text": self._text and {"maxCharacters": self._text}}
        body = {
            "query": self.query_text(query),
            "numResults": count,
            "category": "news" if query.wants_news else None,
            "startPublishedDate": f"{earliest(query.freshness):%Y-%m-%dT%H:%M:%S.000Z}" if query.freshness else None,
            "includeDomains": list(query.include_domains) or None,
            "excludeDomains": list(query.exclude_domains) or None,
            "userLocation": region_for(None, query.region),
            "contents": {name: value for name, value in contents.items() if value},  # without it: no snippets
        }
        data = await self.endpoint.post("/search", body)
        told = (*_rows(data, "notices"), *_rows(data, "warnings"))  # what it ignored or relaxed
        notes = [message for entry in told if (message := clean(field_of(entry, "message"), 200))]
        return self.collect(field_of(data, "results"), self._item, limit=count, notes=notes)

    def _item(self, row: dict[str, Any]) -> SearchResultItem | None:
        summary, text = row.get("summary") or "", row.get("text") or ""
        asked = f"{summary if self._summary else ''}\n{text if self._text else ''}".strip()  # paid for: it goes first
        snippet = asked or " … ".join(row.get("highlights") or ()) or summary or text
        return self.item(row.get("title"), row["url"], snippet, date=row.get("publishedDate"), score=row.get("score"))

    async def contents(
        self, urls: Iterable[str], *, summary: bool = False, max_characters: int = 10_000
    ) -> list[PageContent]:
        """Read whole pages, in the order of ``urls``; one that cannot be read carries its error and fails no other."""
        if not (wanted := [urls] if isinstance(urls, str) else list(urls)):
            return []
        body = {"urls": wanted, "text": {"maxCharacters": max_characters}, "summary": summary or None}
        data = await self.endpoint.post("/contents", body)
        if not isinstance(field_of(data, "results"), list):
            raise self.bad_shape(Fact("engine.no_pages"))
        errors = {_key(status, "id"): field_of(status, "error") for status in _rows(data, "statuses")}
        pages = {_key(row, name): row for name in ("url", "id") for row in data["results"]}
        return [_page(url, pages.get(url.rstrip("/")), errors.get(url.rstrip("/"))) for url in wanted]


def _key(row: object, name: str) -> str:
    return str(field_of(row, name)).rstrip("/")


def _rows(data: object, name: str) -> list[Any]:
    rows = field_of(data, name)
    return rows if isinstance(rows, list) else []


def _page(url: str, row: object, error: object) -> PageContent:
    if row is None:
        tag, code = clean(field_of(error, "tag"), 100) or "no content", field_of(error, "httpStatusCode")
        return PageContent(url, error=f"{tag} (HTTP {code})" if code else tag)
    # Only what nobody can see is taken out: blanks and lines are part of a page.
    seen = (char for char in str(field_of(row, "text") or "") if char in "\n\t" or category(char) not in {"Cc", "Cf"})
    title = clean(field_of(row, "title"), MAX_TITLE_CHARS)
    return PageContent(url, title, "".join(seen), clean(field_of(row, "summary")))
