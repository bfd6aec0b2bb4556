"""The agent's tools as a turn uses them: each call is told to the reader, each source gets its number."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForToolRun
from langchain_core.tools import BaseTool, ToolException
from pydantic import Field

from qiusuo.chat.events import Stage
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.notices import notes_of, notice, reason_of, search_notice
from qiusuo.chat.turns.prompts import CHINESE, ENGLISH
from qiusuo.errors import (
    AllEnginesFailed,
    ConfigurationError,
    PageError,
    SearchDisabled,
    SearchError,
    Unavailable,
    UserRateLimited,
)
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.roster import LAWS
from qiusuo.text import truncate
from qiusuo.tools.langchain import SearchTool, SpecTool
from qiusuo.tools.render import error_text, neutral, untrusted
from qiusuo.tools.specs import MAX_PAGE_CHARS, Toolbox, ToolOutput, ToolSpec
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

_SNIPPET_CHARS: Final = 300
_ENTRY: Final = re.compile(r"(?m)^\[(\d+)\] ")
# The same words as the tool's own, but for machines; the agent has the one that numbers.
_LEFT_OUT: Final = {"web_search", "webSearch"}
_DOWN: Final = {
    CHINESE: "联网搜索在本轮已不可用（已告知）。不要再搜索，请用已有资料和自身知识回答，并说明无法核实最新信息。",
    ENGLISH: "Web search is down for this turn (you were told). Do not search again: answer with what you have and "
    "from your own knowledge, and say that recent facts could not be verified.",
}


class Desk:
    """What the tools of a turn share: the turn, and whether searching the web still makes sense in it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.down = False

    def failed(self, number: int, kind: str, query: str, error: SearchError) -> ToolException:
        """Tell the reader of a failure; return what tells the model."""
        attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
        self.context.journal.fail_round(number, kind, query, reason_of(error), attempts)
        self.context.journal.notice(search_notice(error))
        # The next query would meet these as well.
        if kind == "web_search" and isinstance(error, AllEnginesFailed | ConfigurationError | UserRateLimited):
            self.down = True
        return ToolException(error_text(error, self.context.language))


class AgentSearch(SearchTool):
    """``web_search`` in a turn."""

    desk: Desk = Field(exclude=True)

    async def _arun(
        self,
        query: str,
        run_manager: AsyncCallbackManagerForToolRun | None = None,  # noqa: ARG002 - LangChain's signature
    ) -> tuple[str, dict[str, Any]]:
        context, journal = self.desk.context, self.desk.context.journal
        if self.desk.down:
            raise ToolException(_DOWN[context.language])
        number = journal.begin_round(self.name, query)
        journal.status(Stage.SEARCHING, query)
        try:
            response = await self.find(query)
        except Exception as error:
            raise self.desk.failed(number, self.name, query, _known(error, self.name)) from error
        await journal.read_laws(response)
        text, artifact = self.shown(response)
        journal.end_round(number, self.name, response, artifact["numbers"])
        if response.stale:
            journal.notice(notice("search_stale", "warning"))
        return text, artifact


class AgentSpecTool(SpecTool):
    """Any other tool in a turn: reading a page, legal search."""

    desk: Desk = Field(exclude=True)

    async def _call(self, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        context, journal = self.desk.context, self.desk.context.journal
        subject = str(next((arguments[name] for name in ("url", "query", "id", "case_id") if arguments.get(name)), ""))
        number = journal.begin_round(self.name, subject)
        journal.status(Stage.READING if self.name == "fetch_page" else Stage.SEARCHING, subject)
        try:
            output = await self.spec.run(arguments, self.user)
        except Exception as error:
            raise self.desk.failed(number, self.name, subject, _known(error, self.name)) from error
        items = found_in(self.name, output)
        numbers = context.memory.registry.add(subject, items)
        engine = LAWS if output.data.get("origin") == "index" else ""
        response = SearchResponse(subject, tuple(items), engine, search_time=output.data.get("searchTime", 0))
        await journal.read_laws(response)
        journal.end_round(number, self.name, response, numbers)
        if notes := output.data.get("notes"):
            level = "info" if items else "warning"
            journal.notice(notice("law_note", level, reason=notes_of(notes)))
        if self.name == "fetch_page":
            context.pages[numbers[0]] = output.data["text"]
            journal.page_was_read(items[0].url)
            return f"[{numbers[0]}] {output.text}", output.data
        if self.name == "caseDetail" and numbers:
            # It comes as JSON, for machines; here it is a source with a number, and words of others.
            context.pages[numbers[0]] = output.data["results"][0].get("text", "")
            document = truncate(neutral(output.text), MAX_PAGE_CHARS)
            return f"[{numbers[0]}] {items[0].title}\n{untrusted(document)}", output.data
        return renumbered(output.text, numbers), output.data


def _known(error: Exception, tool: str) -> SearchError:
    """Return an error that can be told; for one of our own making the turn goes on as for any other."""
    if isinstance(error, SearchError):
        return error
    logger.error("the tool %s has a fault", tool, exc_info=error)
    kind = PageError if tool == "fetch_page" else Unavailable
    return kind(Fact("turn.tool_broke", tool=tool))


def found_in(tool: str, output: ToolOutput) -> list[SearchResultItem]:
    """Return what a tool has found as sources."""
    data = output.data
    if tool == "fetch_page":
        text = data["text"][:_SNIPPET_CHARS]
        title = data["title"] or data["finalUrl"]
        return [SearchResultItem(title, data["finalUrl"], text, published_at=data.get("publishedAt"))]
    engines = (LAWS,) if data.get("origin") == "index" else ()
    return [
        SearchResultItem(
            _title(entry), entry.get("url") or "", entry.get("content") or entry.get("summary") or "", engines=engines
        )
        for entry in data.get("results", ())
    ]


def _title(entry: dict[str, Any]) -> str:
    name = entry.get("lawName") or entry.get("caseName") or ""
    number = entry.get("articleNumber") or entry.get("caseNumber") or ""
    status = f"（{entry['status']}）" if entry.get("status") else ""
    return f"{name} {number}".strip() + status


def renumbered(text: str, numbers: Sequence[int]) -> str:
    """Return the text of a tool whose entries count from 1 with the numbers of the conversation."""

    def number_of(entry: re.Match[str]) -> str:
        index = int(entry[1]) - 1
        return f"[{numbers[index]}] " if index < len(numbers) else entry[0]

    return _ENTRY.sub(number_of, text)


async def tools_for(desk: Desk) -> tuple[list[BaseTool], SearchDisabled | None]:
    """Return the tools of a turn, and why there is no web search where there is none."""
    context, ask = desk.context, desk.context.ask
    problem = await context.service.disabled()
    tools: list[BaseTool] = []
    if problem is None:
        tools.append(
            AgentSearch(
                service=context.service,
                registry=context.memory.registry,
                cache=context.memory.cache,
                engine=ask.settings.engine,
                user=ask.user,
                desk=desk,
            )
        )
    toolbox = Toolbox(context.service, context.reader, extra=context.legal)
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
