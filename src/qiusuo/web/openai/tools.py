"""Tools that clients send: read, refused where they cannot be, and shown to clients as calls."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import orjson
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from qiusuo.chat.turns.agent.client_tools import REQUIRED
from qiusuo.web.openai.errors import ApiError, unsupported
from qiusuo.words import Fact

MAX_TOOLS: Final = 256
_NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_OUR_SEARCH: Final = ("web_search", "web_search_preview")


class Tools(NamedTuple):
    """The client's functions in OpenAI's shape, which is to be called, and whether our search is asked for."""

    functions: tuple[dict[str, Any], ...] = ()
    choice: str | None = None
    search: bool = False


class Said(NamedTuple):
    """One message as it came: who said what, and calls or the call that it answers."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


def read_tools(tools: Sequence[Any] | None, choice: Any) -> Tools:
    """Return what a client sends as tools.

    Raises:
        ApiError: one is of a kind that there is not, or is called by a name that cannot be.
    """
    functions, search = [], False
    if tools and len(tools) > MAX_TOOLS:
        raise _wrong(Fact("openai.too_many_tools", most=MAX_TOOLS), "tools")
    for number, tool in enumerate(tools or (), 1):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if isinstance(kind, str) and kind.startswith(_OUR_SEARCH):
            search = True
        elif kind == "function":
            functions.append(_function(tool, number))
        else:
            raise unsupported(Fact("openai.tool_type", number=number, type=repr(str(kind)[:40])), "tools")
    names = [function["function"]["name"] for function in functions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _wrong(Fact("openai.tool_twice", name=twice), "tools")
    if choice == "none" or not functions:
        return Tools((), None, search and choice != "none")
    return Tools(tuple(functions), _choice(choice, names), search)


def _function(tool: dict[str, Any], number: int) -> dict[str, Any]:
    # Chat completions have the function in a field of its own, Responses beside the type.
    function = tool["function"] if isinstance(tool.get("function"), dict) else tool
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(parameters, dict | None):
        raise _wrong(Fact("openai.tool_invalid", number=number), "tools")
    kept = {key: function[key] for key in ("description", "strict") if function.get(key) is not None}
    schema = parameters or {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": schema, **kept}}


def _choice(choice: Any, names: Sequence[str]) -> str | None:
    if choice is None or choice == "auto":
        return None
    if choice in ("required", "any"):
        return REQUIRED
    if isinstance(choice, dict):
        inner = choice.get("function")
        name = (inner if isinstance(inner, dict) else choice).get("name")
        if isinstance(name, str) and name in names:
            return name
    raise _wrong(Fact("openai.tool_choice"), "tool_choice")


def _wrong(fact: Fact, param: str) -> ApiError:
    return ApiError(HTTPStatus.BAD_REQUEST, fact, param=param)


def read_call(call: Any) -> ToolCall | None:
    """Return an earlier call of the model as clients send it back; None where it is none."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError):
        arguments = {}
    own = arguments if isinstance(arguments, dict) else {}
    return ToolCall(name=function["name"], args=own, id=str(call.get("id") or ""), type="tool_call")


def as_messages(said: Sequence[Said]) -> list[BaseMessage]:
    """Return messages that every provider takes: calls with their answers, answers with their calls."""
    messages: list[BaseMessage] = []
    for index, each in enumerate(said):
        if each.role == "user":
            messages.append(HumanMessage(each.text))
        elif each.role == "assistant":
            answers = _answers(said[index + 1 :])
            calls = [call for call in each.calls if call["id"] in answers]
            if each.text or calls:
                messages.append(AIMessage(each.text, tool_calls=calls))
            messages += [ToolMessage(answers[str(call["id"])], tool_call_id=str(call["id"])) for call in calls]
    return messages


def _answers(following: Sequence[Said]) -> dict[str, str]:
    answers: dict[str, str] = {}
    for each in following:
        if each.role != "tool":
            break
        answers.setdefault(each.answers, each.text)
    return answers


def call_shape(call: ToolCall) -> dict[str, Any]:
    """Return a call as OpenAI has it."""
    function = {"name": call["name"], "arguments": orjson.dumps(call["args"]).decode()}
    return {"id": call["id"], "type": "function", "function": function}
