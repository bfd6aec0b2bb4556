"""A conversation over search for a LangChain agent of one's own: tools, prompt, numbers, references in one object."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.tools import BaseTool

from qiusuo.chat.sessions.searches import SessionCache
from qiusuo.chat.turns.agent.recent import RecentSearches
from qiusuo.chat.turns.prompts import search_rules
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.pages import PageReader
from qiusuo.service import SearchService
from qiusuo.tools.langchain import SearchTool, as_langchain_tool
from qiusuo.tools.specs import SearchArguments, Toolbox, offered, plugin_tools
from qiusuo.words import Fact, Language


class SearchSession:
    """What an agent needs for one conversation.

    ``tools`` go to the agent: ``web_search``, those of plug-ins, and ``fetch_page`` where a ``reader`` is given. All of
    them number their sources in one ``registry``, and ``cache`` answers a query that was asked lately. ``kept`` is what
    ``to_dict`` gave earlier. Threads may share it.
    """

    def __init__(
        self,
        service: SearchService,
        reader: PageReader | None = None,
        *,
        language: Language = Language.ENGLISH,
        user: str | None = None,
        engine: str | None = None,
        kept: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.language = language
        self._pages = reader is not None
        self.registry = CitationRegistry.from_dict(kept["registry"]) if kept else CitationRegistry()
        self.cache = SessionCache.from_dict(kept["cache"]) if kept else SessionCache()
        search = SearchTool(
            service=service,
            registry=self.registry,
            cache=RecentSearches(self.cache, service.settings, clock, engine=engine),
            engine=engine,
            user=user,
            args_schema=SearchArguments,
        )
        others = list(offered(plugin_tools(service)))
        if reader is not None:
            others.append(Toolbox(service, reader).specs["fetch_page"])
        added = [as_langchain_tool(spec, user=user, registry=self.registry) for spec in others]
        self.tools: list[BaseTool] = [search, *added]

    def prompt(self) -> str:
        """Return how to search, read results and cite, with examples: a part of the agent's system text."""
        return search_rules(self.language, pages=self._pages)

    def linked(self, answer: str) -> str:
        """Return an answer whose ``[1]`` are links to its sources."""
        return self.registry.processor().convert(answer)

    def references(self, answer: str | None = None) -> str:
        """Return the sources as Markdown, grouped by search; empty where the answer cites none of them."""
        return self.registry.references(answer, Fact("citations.references").text(self.language))

    def finished(self, answer: str) -> str:
        """Return an answer as its reader gets it: with links, and with its references below."""
        return "\n\n".join(part for part in (self.linked(answer), self.references(answer)) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return what the next part of the conversation needs, in its JSON shape."""
        return {"registry": self.registry.to_dict(), "cache": self.cache.to_dict()}
