"""Tools that a client brings along: our model calls them, the client runs them and sends what came of it."""

from __future__ import annotations

import inspect
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from qiusuo.chat.turns.thinking import whole
from qiusuo.errors import ModelError, ModelRejected

TOOL_CALLS: Final = "tool_calls"
"""How a turn has finished that goes on when the client has run its tools."""
REQUIRED: Final = "required"
Bindable = BaseChatModel | Runnable[Any, Any]


@dataclass(frozen=True, slots=True)
class ClientTools:
    """What a client wants of the model beside an answer.

    Attributes:
        tools: its functions, in OpenAI's shape.
        choice: ``required``, or the name of the one to call; None where the model decides.
        parallel: whether several may be called at once; None where nobody said so.
        since: what was called and answered since the question.
        asked: the question as the model was sent it then; empty where that is not known.
        form: OpenAI's ``response_format``, where the answer is to be JSON.
    """

    tools: tuple[dict[str, Any], ...] = ()
    choice: str | None = None
    parallel: bool | None = None
    since: tuple[BaseMessage, ...] = ()
    asked: str = ""
    form: Mapping[str, Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tools."""
        return tuple(str(tool["function"]["name"]) for tool in self.tools)

    @property
    def any(self) -> bool:
        """Whether the client wants anything of it."""
        return bool(self.tools or self.since or self.form)

    def beside(self, ours: Sequence[BaseTool]) -> list[BaseTool | dict[str, Any]]:
        """Return all tools that the model sees; of two with one name the client's."""
        return [*(tool for tool in ours if tool.name not in self.names), *self.tools]

    def bound(self, model: BaseChatModel, ours: Sequence[BaseTool] = (), *, must_call: bool = False) -> Bindable:
        """Return the model with the tools and the form of the answer; ``must_call`` where it may not answer yet."""
        bound: Bindable = model
        if tools := self.beside(ours):
            options: dict[str, Any] = {}
            choice = "any" if self.choice == REQUIRED or (must_call and not self.choice) else self.choice
            if choice is not None:
                options["tool_choice"] = choice
            if self.parallel is not None and "parallel_tool_calls" in inspect.signature(model.bind_tools).parameters:
                options["parallel_tool_calls"] = self.parallel
            bound = model.bind_tools(tools, **options)
        # Not as an argument of its own: LangChain then streams by a way of OpenAI's package that refuses plain tools.
        return bound.bind(extra_body={"response_format": dict(self.form)}) if self.form else bound

    def called(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Return the calls that the client is to make; none where ours are among them, which come first."""
        if any(call["name"] not in self.names for call in calls):
            return []
        return list(calls[:1] if self.parallel is False else calls)

    def ours(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Return the calls that are made here."""
        return [call for call in calls if call["name"] not in self.names]


def knows_no_tools(error: ModelError) -> bool:
    """Tell whether a model may have refused a request for the tools in it."""
    return isinstance(error, ModelRejected) and error.fact.code == "llm.request_refused"


def sound(calls: Sequence[ToolCall], before: Sequence[BaseMessage]) -> list[ToolCall]:
    """Return calls as every provider takes them back: with ids of their own, and arguments of whole characters."""
    taken = {call["id"] for message in before if isinstance(message, AIMessage) for call in message.tool_calls}
    sound: list[ToolCall] = []
    for call in calls:
        # Some servers give no id, or always the same.
        own = call["id"] if call["id"] and call["id"] not in taken else f"call_{secrets.token_hex(6)}"
        taken.add(own)
        arguments = json.loads(whole(json.dumps(call["args"], ensure_ascii=False)))
        sound.append(ToolCall(name=call["name"], args=arguments, id=own, type="tool_call"))
    return sound
