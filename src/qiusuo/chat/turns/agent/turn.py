"""A turn of agent mode: the model decides to search, as often as it may, then answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from qiusuo.chat.models.vendors import EXTRACTIVE
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.client_tools import TOOL_CALLS, sound
from qiusuo.chat.turns.agent.files import AgentFiles, list_of_files
from qiusuo.chat.turns.agent.pages import AgentPages
from qiusuo.chat.turns.agent.tools import Desk, is_empty_search, search_tools_for
from qiusuo.chat.turns.answer import MessageText, conclude
from qiusuo.chat.turns.context import Context, Direction, finish_of
from qiusuo.chat.turns.history import as_words, message_tokens, remember
from qiusuo.chat.turns.notices import notice, search_notice
from qiusuo.chat.turns.sources.files import look_in_files
from qiusuo.errors import ModelError
from qiusuo.tools.specs import disabled_text
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

_CALLS_AT_ONCE: Final = 5
_CALLS_ANSWERED: Final = 50
"""A model that calls without end is not answered to each."""


async def agent_turn(context: Context) -> None:
    """Answer one question in agent mode."""
    desk = Desk(context)
    searching, off = await search_tools_for(desk)
    tools = [*searching, AgentPages(desk=desk)]
    tools += [AgentFiles(desk=desk)] if context.ask.files else []
    # A question with a tool of its own does not miss the web.
    own = context.recognised is not None and any(tool.name == context.recognised.tool for tool in tools)
    if off is not None and not own:
        context.journal.notice(search_notice(off, has_model=context.can_answer))
    loop = AgentLoop(desk)
    chat_model = await context.chat_model()
    system = prompts.agent_system(context.language, disabled=disabled_text(off, context.language) if off else "")
    client = context.ask.client
    question = client.asked or prompts.with_date(context.ask.question, context.language)
    if context.ask.files:
        # Without a model nobody would call the tool: what the files have is there at once.
        alone = context.model.info.kind == EXTRACTIVE
        found = await look_in_files(context, beside_web=True, or_nothing=True) if alone else None
        question = f"{list_of_files(desk, found)}\n\n{question}"
    rules, *history = context.prompt(system, question, tools=client.beside(tools))
    agent = create_agent(chat_model, tools, system_prompt=rules.text, middleware=[loop])
    limit = 4 * context.settings.agent_rounds + 10  # each round takes two steps; the cap is ours, not the graph's
    start: Any = {"messages": history}
    state = await agent.ainvoke(start, {"recursion_limit": limit, "callbacks": []})
    new: list[BaseMessage] = state["messages"][len(history) :]
    last = new[-1]
    if context.calls:
        new[-1] = AIMessage(last.text, tool_calls=context.calls)
    remember(context.memory, context.ask.id, [HumanMessage(question), *client.since, *new])
    finish = finish_of(last) if isinstance(last, AIMessage) else "stop"
    await conclude(
        context.journal,
        loop.raw,
        context.sources,
        pages=context.pages,
        finish=TOOL_CALLS if context.calls else finish,
        by_round=True,
        as_it_is=client.form is not None,
    )


class AgentLoop(AgentMiddleware[Any, Any, Any]):
    """Stands between the agent and its model: streams the text, counts the rounds, takes the tools away at the end."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._context = desk.context
        self._desk = desk
        self._rounds = 0
        self._too_many: set[str | None] = set()
        self._messages: list[MessageText] = []

    @property
    def raw(self) -> str:
        """Everything that the model has said to the reader in this turn."""
        return "\n\n".join(text for message in self._messages if (text := message.raw.strip()))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],  # noqa: ARG002 - we ask the model
    ) -> ModelResponse[Any]:
        context = self._context
        capped = self._rounds >= context.settings.agent_rounds
        tools = [] if capped else self._usable(request.tools)
        messages: list[BaseMessage] = list(request.messages)
        if capped:
            context.journal.notice(notice("rounds_capped"))
            said = [message for message in messages if not isinstance(message, ToolMessage)]
            rules = [] if request.system_message is None else [request.system_message]
            fixed = sum(map(message_tokens, [*rules, *said]))
            messages, results = as_words(messages, context.results_budget(fixed))
            messages.append(Direction(content=prompts.last_turn(results, context.language)))
        if request.system_message is not None:
            messages.insert(0, request.system_message)
        message = await self._ask(request, messages, tools)
        if message.tool_calls:
            self._rounds += 1
        return ModelResponse(result=[message])

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        call, language = request.tool_call, self._context.language
        why = ""
        if call["id"] in self._too_many:
            why = prompts.NOT_RUN[language.written].format(most=_CALLS_AT_ONCE)
        elif is_empty_search(request.tool, call["args"]):
            self._context.journal.notice(notice("empty_query"))
            why = prompts.EMPTY_QUERY[language.written]
        if not why:
            return self._with_budget(await handler(request))
        return ToolMessage(why, tool_call_id=str(call["id"]), name=call["name"], status="error")

    def _with_budget(self, answer: ToolMessage | Command[Any]) -> ToolMessage | Command[Any]:
        """Return what a tool says with the rounds that are left, in its first line: the end may be cut."""
        if not isinstance(answer, ToolMessage):
            return answer
        left = self._context.settings.agent_rounds - self._rounds
        told = prompts.ROUNDS_LEFT[self._context.language.written].format(left=left)
        return answer.model_copy(update={"content": f"{told}\n{answer.text}"})

    def _usable(self, tools: Sequence[BaseTool | dict[str, Any]]) -> list[BaseTool]:
        known = [tool for tool in tools if isinstance(tool, BaseTool)]
        return [tool for tool in known if tool.name != "web_search" or not self._desk.down]

    async def _ask(
        self, request: ModelRequest[Any], messages: Sequence[BaseMessage], tools: Sequence[BaseTool]
    ) -> AIMessage:
        context, client = self._context, self._context.ask.client
        # Recognised even where no tool may be called any more, so that no reader sees the JSON of one.
        names = [*(tool.name for tool in request.tools if isinstance(tool, BaseTool)), *client.names]
        lead = "\n\n" if any(text.raw for text in self._messages) else ""
        text = MessageText(context.journal, context.linking, names, lead=lead)
        self._messages.append(text)
        forced = context.settings.agent_tool_choice == "required" and not self._rounds and not client.since
        message = await self._said(messages, text, tools, must_call=bool(tools) and forced)
        if not tools and not client.tools:
            return AIMessage(message.text, response_metadata=message.response_metadata)
        asked = [*message.tool_calls, *_repaired(message, names)]
        calls = sound(asked[:_CALLS_ANSWERED], messages)
        context.calls = client.called(calls)
        if context.calls:  # without a call in it the loop ends here
            return AIMessage(message.text, response_metadata=message.response_metadata)
        calls = client.ours(calls)
        if client.form and calls:  # what was said before a search is no part of the JSON
            self._messages.clear()
            context.journal.retract("")
        if len(asked) > _CALLS_AT_ONCE:
            self._too_many.update(call["id"] for call in calls[_CALLS_AT_ONCE:])
            capped = Fact("notice.calls_capped", asked=len(asked), most=_CALLS_AT_ONCE)
            context.journal.notice(notice(capped))
        return AIMessage(message.text, tool_calls=calls, response_metadata=message.response_metadata)

    async def _said(
        self, messages: Sequence[BaseMessage], text: MessageText, tools: Sequence[BaseTool], *, must_call: bool
    ) -> AIMessage:
        """Let the model speak; the second goes on where the first fails and nothing was said in this turn."""
        context = self._context
        asked = context.ask.client.bound(await context.chat_model(), tools, must_call=must_call)
        try:
            return await context.say(asked, messages, text)
        except ModelError as error:
            if self.raw or not context.take_second(error):
                raise
        other = context.ask.client.bound(await context.chat_model(), tools, must_call=must_call)
        return await context.say(other, messages, text)


def _repaired(message: AIMessage, tools: Sequence[str]) -> list[ToolCall]:
    """Return the calls whose arguments are not JSON: most often the bare query."""
    calls = []
    for broken in message.invalid_tool_calls:
        name, words = broken.get("name"), (broken.get("args") or "").strip()
        if not name:
            continue
        if name in tools:
            logger.info("arguments of %s are no JSON; taken as its query", name)
        # Of a tool that there is not, the model is told so, whatever the arguments are.
        arguments = _loosely(words) if name in tools and words else {}
        calls.append(ToolCall(name=name, args=arguments, id=broken.get("id"), type="tool_call"))
    return calls


def _loosely(words: str) -> dict[str, Any]:
    for closing in ("", '"}', "}"):
        try:
            value = json.loads(words + closing)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {"query": words.strip('{}":')}
