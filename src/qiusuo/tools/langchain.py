"""LangChain tools over the search service (extra ``langchain``)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal, Protocol, cast, runtime_checkable

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qiusuo.bridge import SyncBridge
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.errors import SearchError
from qiusuo.models import SearchResponse, SearchType
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


class ModelTool(BaseTool):
    """What our tools share: failures are messages that a model can act on, and it is sent the whole schema."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = Field(default=_arguments_problem, exclude=True)
    registry: CitationRegistry | None = Field(default=None, exclude=True)
    user: str | None = None

    @property
    def tool_call_schema(self) -> ArgsSchema:
        """The schema that models are sent: with the examples and limits, which LangChain's own copy leaves out."""
        assert self.args_schema is not None  # noqa: S101 - every tool of ours has one
        return self.args_schema


class SearchTool(ModelTool):
    """``web_search`` for an agent: at most five numbered results (``SEARCH_MAX_RESULTS``: fewer) with short snippets.

    Give it the session's ``registry`` and the numbers run on over all searches of the session; with its ``cache`` no
    query is asked twice. ``engine`` names the one to ask instead of the usual order. With ``SearchArguments`` as its
    ``args_schema`` the model may also say the type of search. ``narrowing`` are options of every search; what they say
    of the type counts, whatever the model says. The message's ``artifact`` is the whole
    :class:`~qiusuo.SearchResponse` as a dictionary, with the ``numbers`` of its results.
    """

    name: str = "web_search"
    description: str = SEARCH_DESCRIPTION
    args_schema: type[BaseModel] = QueryArguments
    service: SearchService = Field(exclude=True)
    cache: KeptResponses | None = Field(default=None, exclude=True)
    engine: str | None = None
    narrowing: dict[str, Any] = Field(default_factory=dict, exclude=True)

    def _run(
        self,
        query: str,
        type: str = SearchType.GENERAL,  # noqa: A002 - the argument's public name
        run_manager: CallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
    ) -> tuple[str, dict[str, Any]]:
        try:
            response = self._remembered(query, type)
            if response is None:
                response = self.service.search(query, **self._options(type))
                self._keep(query, response)
        except SearchError as error:
            raise _failure(error, query) from error
        return self.shown(response)

    async def _arun(
        self,
        query: str,
        type: str = SearchType.GENERAL,  # noqa: A002 - the argument's public name
        run_manager: AsyncCallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
    ) -> tuple[str, dict[str, Any]]:
        try:
            return self.shown(await self.find(query, type))
        except SearchError as error:
            raise _failure(error, query) from error

    async def find(self, query: str, search_type: str = SearchType.GENERAL) -> SearchResponse:
        """Search, or answer from the conversation's cache.

        Raises:
            SearchError: the search failed.
        """
        response = self._remembered(query, search_type)
        if response is None:
            response = await self.service.asearch(query, **self._options(search_type))
            self._keep(query, response)
        return response

    @property
    def _most(self) -> int:
        return min(MAX_RESULTS, self.service.settings.max_results)

    def _options(self, search_type: str) -> SearchOptions:
        own: SearchOptions = {"num_results": self._most, "user": self.user, "engine": self.engine}
        return cast(SearchOptions, {"type": search_type, **own, **self.narrowing})

    def _remembered(self, query: str, search_type: str) -> SearchResponse | None:
        kind = self.narrowing.get("type", search_type)
        response = self.cache.get(_kept_as(query, kind)) if self.cache is not None else None
        if response is None:
            return None
        logger.info("answered from the conversation's cache: %r", query)
        return replace(response, cached=True, search_time=0)

    def _keep(self, query: str, response: SearchResponse) -> None:
        # What came from a cache is as old as it is there; kept here once more it would seem new.
        if self.cache is not None and not response.cached and not response.stale:
            self.cache.put(_kept_as(query, response.type), response)

    def shown(self, response: SearchResponse) -> tuple[str, dict[str, Any]]:
        """Return the results as numbered text, and the artifact."""
        items = response.results[: self._most]
        counted = list(range(1, len(items) + 1))
        numbers = self.registry.add(response.query, items) if self.registry is not None else counted
        text = results_text(
            response, numbers=numbers, limit=self._most, snippet_length=self.service.settings.snippet_length
        )
        return text, {**response.to_dict(language_for({"query": response.query})), "numbers": numbers}


def _kept_as(query: str, search_type: str) -> str:
    """Return the words under which a conversation keeps a search: the query, for other types with the type."""
    words = query.strip()
    return words if search_type == SearchType.GENERAL else f"{search_type}\x1f{words}"


class SpecTool(ModelTool):
    """Any of the toolbox's tools for LangChain; synchronous calls run on a loop of their own."""

    spec: ToolSpec = Field(exclude=True)

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
        if self.registry is None:
            return output.text, output.data
        numbers = self.registry.add(self.spec.subject_of(arguments), output.sources)
        return output.with_numbers(numbers), output.data


def as_langchain_tool(spec: ToolSpec, *, user: str | None = None, registry: CitationRegistry | None = None) -> SpecTool:
    """Return a tool of the toolbox as a LangChain tool; with a ``registry`` its sources get their numbers there."""
    return SpecTool(
        name=spec.name,
        description=spec.description,
        args_schema=spec.arguments,
        spec=spec,
        user=user,
        registry=registry,
    )


async def search_tools(
    service: SearchService, *, registry: CitationRegistry | None = None, user: str | None = None
) -> tuple[list[BaseTool], str]:
    """Return the search tools of an agent, and why there are none where search is off."""
    problem = await service.disabled()
    if problem is not None:
        return [], disabled_text(problem)
    return [SearchTool(service=service, registry=registry, user=user)], ""
