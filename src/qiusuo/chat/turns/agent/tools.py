"""The agent's tools as a turn uses them: each call is told to the reader, each source gets its number."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForToolRun
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, Field

from qiusuo.chat.events.turn import Stage
from qiusuo.chat.focus import WEB
from qiusuo.chat.models.material import Remark
from qiusuo.chat.questions import LONGEST, question_in, without_secrets
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.recent import RecentSearches
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.notices import notice, reason_of, search_notice
from qiusuo.chat.turns.sources.private import without_file_words
from qiusuo.errors import (
    AllEnginesFailed,
    ConfigurationError,
    InvalidQuery,
    NotAllowed,
    PageError,
    SearchDisabled,
    SearchError,
    Unavailable,
    UserRateLimited,
)
from qiusuo.logs import log_fault
from qiusuo.models import SearchResponse, SearchType
from qiusuo.text import truncate
from qiusuo.tools.langchain import SearchTool, SpecTool
from qiusuo.tools.render import error_text, numbered_sources
from qiusuo.tools.specs import SEARCH_DESCRIPTION, SearchArguments, Toolbox, ToolSpec
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

# The agent has those that number, and a way to read several pages at once; the others are for machines.
_LEFT_OUT: Final = {"web_search", "webSearch", "fetch_page"}


class Desk:
    """What the tools of a turn share: the turn, and whether searching the web still makes sense in it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.down = False

    def failed(self, number: int, kind: str, query: str, error: SearchError) -> ToolException:
        """Tell the reader of a failure; return what tells the model."""
        attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
        self.context.journal.fail_round(number, kind, query, reason_of(error), attempts)
        self.context.journal.notice(search_notice(error, has_model=self.context.can_answer))
        self.context.material.failed = True
        # The next query would meet these as well.
        if kind == "web_search" and isinstance(
            error, AllEnginesFailed | ConfigurationError | UserRateLimited | NotAllowed
        ):
            self.down = True
        return ToolException(error_text(error, self.context.language))


class AgentSearch(SearchTool):
    """``web_search`` in a turn."""

    args_schema: type[BaseModel] = SearchArguments
    desk: Desk = Field(exclude=True)

    async def _arun(
        self,
        query: str,
        type: str = SearchType.GENERAL,  # noqa: A002 - the argument's public name
        run_manager: AsyncCallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
    ) -> tuple[str, dict[str, Any]]:
        context, journal = self.desk.context, self.desk.context.journal
        if self.desk.down:
            raise ToolException(prompts.DOWN[context.language.written])
        short = question_in(query)  # a weak model hands over the whole message
        query = await without_file_words(context, without_secrets(short) or truncate(query, LONGEST))
        number = journal.begin_round(self.name, query)
        if not short:
            error = InvalidQuery(Fact("query.too_long", limit=LONGEST))
            raise self.desk.failed(number, self.name, query, error)
        journal.status(Stage.SEARCHING, query)
        context.material.searches.append((self.name, query))
        try:
            response = await self.find(query, type)
        except Exception as error:
            raise self.desk.failed(number, self.name, query, known_error(error, self.name)) from error
        text, artifact = self.shown(response)
        context.sources.note(artifact["numbers"], response.results)
        journal.end_round(number, self.name, response, artifact["numbers"])
        length = context.settings.snippet_length
        context.material.found(numbered_sources(response.results, artifact["numbers"], snippet_length=length))
        if response.stale:
            journal.notice(notice("search_stale", "warning"))
        return text, artifact


class AgentSpecTool(SpecTool):
    """Any other tool in a turn: those of plug-ins."""

    desk: Desk = Field(exclude=True)

    async def _call(self, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        context, journal = self.desk.context, self.desk.context.journal
        if isinstance(query := arguments.get("query"), str):
            arguments = {**arguments, "query": await without_file_words(context, query)}
        subject = self.spec.subject_of(arguments)
        number = journal.begin_round(self.name, subject)
        journal.status(Stage.SEARCHING, subject)
        context.material.searches.append((self.name, subject))
        try:
            output = await self.spec.run(arguments, self.user)
        except Exception as error:
            raise self.desk.failed(number, self.name, subject, known_error(error, self.name)) from error
        numbers = context.sources.add(subject, output.sources)
        response = SearchResponse(
            subject, output.sources, output.engine, search_time=output.search_time, cached=output.cached
        )
        journal.end_round(number, self.name, response, numbers)
        context.material.found(numbered_sources(output.sources, numbers))
        said = [Remark(self.spec.explains, note) for note in output.notes if self.spec.explains]
        context.remark(said, found=bool(output.sources))
        for read, source, document in zip(numbers, output.sources, output.documents, strict=False):
            context.pages[read] = document
            journal.page_was_read(source.url)
        return output.with_numbers(numbers), output.data


def is_empty_search(tool: BaseTool | None, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a call asks a search for nothing."""
    schema = tool.args_schema if isinstance(tool, AgentSearch | AgentSpecTool) else None
    field = schema.model_fields.get("query") if isinstance(schema, type) and issubclass(schema, BaseModel) else None
    words = arguments.get("query")
    return field is not None and field.is_required() and not (isinstance(words, str) and words.strip())


def known_error(error: Exception, tool: str) -> SearchError:
    """Return an error that can be told; for one of our own making the turn goes on as for any other."""
    if isinstance(error, SearchError):
        return error
    log_fault(logger, "the tool %s has a fault", tool, error=error)
    kind = PageError if tool == "fetch_page" else Unavailable
    return kind(Fact("turn.tool_broke", tool=tool))


async def search_tools_for(desk: Desk) -> tuple[list[BaseTool], SearchDisabled | None]:
    """Return the tools of a turn, and why there is no web search where there is none."""
    context, ask = desk.context, desk.context.ask
    scope = context.scope
    narrowing: dict[str, Any] = {"include_domains": scope.sites, "freshness": scope.freshness}
    if scope.focus != WEB:  # within all of the web the model chooses
        narrowing["type"] = scope.search_type()
    problem = await context.service.disabled()
    tools: list[BaseTool] = []
    if problem is None:
        tools.append(
            AgentSearch(
                service=context.service,
                registry=context.memory.registry,
                cache=RecentSearches(
                    context.memory.cache, context.settings, context.clock, engine=context.engine, scope=scope.key
                ),
                engine=context.engine,
                user=ask.user,
                desk=desk,
                narrowing=narrowing,
                description=prompts.with_scope(SEARCH_DESCRIPTION, scope),
            )
        )
    toolbox = Toolbox(context.service, context.reader, extra=context.tools)
    tools += [_spec_tool(spec, desk) for name, spec in toolbox.specs.items() if name not in _LEFT_OUT]
    return tools, problem


def _spec_tool(spec: ToolSpec, desk: Desk) -> AgentSpecTool:
    return AgentSpecTool(
        name=spec.name,
        description=spec.description,
        args_schema=spec.arguments,
        spec=spec,
        user=desk.context.ask.user,
        desk=desk,
    )
