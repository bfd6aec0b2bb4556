"""LangChain tools over the search service (extra ``langchain``)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Protocol, runtime_checkable

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from qiusuo.bridge import SyncBridge
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.errors import SearchError
from qiusuo.models import SearchResponse
from qiusuo.pipeline.request import SearchOptions
from qiusuo.service import SearchService
from qiusuo.tools.base import invalid_arguments
from qiusuo.tools.render import error_text, language_for, results_text
from qiusuo.tools.specs import SEARCH_DESCRIPTION, QueryArguments, ToolSpec, disabled_text

MAX_RESULTS = 5

logger = logging.getLogger(__name__)


@runtime_checkable
class KeptResponses(Protocol):
    """Remembers the searches of one conversation by their query, for as long as they are good."""

    def get(self, query: str) -> SearchResponse | None:
        """Return the response to a query that was asked before, with its ``age`` where that is known."""

    def put(self, query: str, response: SearchResponse) -> None:
        """Keep a response."""


def _failure(error: SearchError, query: str) -> ToolException:
    return ToolException(error_text(error, language_for({"query": query})))


def _arguments_problem(error: ValidationError) -> str:
    return error_text(invalid_arguments(error))


class SearchTool(BaseTool):
    """``web_search`` for an agent: at most five numbered results (``SEARCH_MAX_RESULTS``: fewer) with short snippets.

    Give it the session's ``registry`` and the numbers run on over all searches of the session; with its ``cache`` no
    query is asked twice. ``engine`` names the one to ask instead of the usual order. The message's ``artifact`` is the
    whole :class:`~qiusuo.SearchResponse` as a dictionary, with the ``numbers`` of its results.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = "web_search"
    description: str = SEARCH_DESCRIPTION
    args_schema: type[BaseModel] = QueryArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = Field(default=_arguments_problem, exclude=True)
    service: SearchService = Field(exclude=True)
    registry: CitationRegistry | None = Field(default=None, exclude=True)
    cache: KeptResponses | None = Field(default=None, exclude=True)
    engine: str | None = None
    user: str | None = None

    # LangGraph runs synchronous calls of one turn in threads.
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def _run(self, query: str, run_manager: CallbackManagerForToolRun | None = None) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - LangChain's signature
        try:
            response = self._remembered(query)
            if response is None:
                response = self.service.search(query, **self._options())
                self._keep(query, response)
        except SearchError as error:
            raise _failure(error, query) from error
        return self.shown(response)

    async def _arun(
        self,
        query: str,
        run_manager: AsyncCallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
    ) -> tuple[str, dict[str, Any]]:
        try:
            return self.shown(await self.find(query))
        except SearchError as error:
            raise _failure(error, query) from error

    async def find(self, query: str) -> SearchResponse:
        """Search, or answer from the conversation's cache.

        Raises:
            SearchError: the search failed.
        """
        response = self._remembered(query)
        if response is None:
            response = await self.service.asearch(query, **self._options())
            self._keep(query, response)
        return response

    @property
    def _most(self) -> int:
        return min(MAX_RESULTS, self.service.settings.max_results)

    def _options(self) -> SearchOptions:
        return {"num_results": self._most, "user": self.user, "engine": self.engine}

    def _remembered(self, query: str) -> SearchResponse | None:
        response = self.cache.get(query.strip()) if self.cache is not None else None
        if response is None:
            return None
        logger.info("answered from the conversation's cache: %r", query)
        return replace(response, cached=True, search_time=0)

    def _keep(self, query: str, response: SearchResponse) -> None:
        # What came from a cache is as old as it is there; kept here once more it would seem new.
        if self.cache is not None and not response.cached and not response.stale:
            self.cache.put(query.strip(), response)

    def shown(self, response: SearchResponse) -> tuple[str, dict[str, Any]]:
        """Return the results as numbered text, and the artifact."""
        items = response.results[: self._most]
        if self.registry is None:
            numbers = list(range(1, len(items) + 1))
        else:
            with self._lock:
                numbers = self.registry.add(response.query, items)
        text = results_text(
            response, numbers=numbers, limit=self._most, snippet_length=self.service.settings.snippet_length
        )
        return text, {**response.to_dict(language_for({"query": response.query})), "numbers": numbers}


class SpecTool(BaseTool):
    """Any of the toolbox's tools for LangChain; synchronous calls run on a loop of their own."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = Field(default=_arguments_problem, exclude=True)
    spec: ToolSpec = Field(exclude=True)
    user: str | None = None

    def _run(
        self,
        run_manager: CallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
        **arguments: Any,
    ) -> tuple[str, dict[str, Any]]:
        bridge = SyncBridge()  # asyncio.run would refuse where a loop is running (notebooks)
        try:
            return bridge.run(self._call(arguments))
        finally:
            bridge.close()

    async def _arun(
        self,
        run_manager: AsyncCallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
        **arguments: Any,
    ) -> tuple[str, dict[str, Any]]:
        return await self._call(arguments)

    async def _call(self, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        try:
            output = await self.spec.run(arguments, self.user)
        except SearchError as error:
            raise ToolException(error_text(error, language_for(arguments))) from error
        return output.text, output.data


def as_langchain_tool(spec: ToolSpec, *, user: str | None = None) -> SpecTool:
    """Return a tool of the toolbox as a LangChain tool."""
    return SpecTool(name=spec.name, description=spec.description, args_schema=spec.arguments, spec=spec, user=user)


async def search_tools(
    service: SearchService, *, registry: CitationRegistry | None = None, user: str | None = None
) -> tuple[list[BaseTool], str]:
    """Return the search tools of an agent, and why there are none where search is off."""
    problem = await service.disabled()
    if problem is not None:
        return [], disabled_text(problem)
    return [SearchTool(service=service, registry=registry, user=user)], ""
