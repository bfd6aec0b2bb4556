"""Tool calls of small local models, whatever their template knows of tools.

Tools are described in the system message, in the form that most open models have been trained on (``<tool_call>``).
A call that is demanded (``tool_choice``) is held to the tool's schema by a grammar, so that even a model of a hundred
million parameters makes a valid one; calls that a model makes by itself come as text, which the turn recognises.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from qiusuo.text import truncate

# Without a bound a weak model may fill a string for ever.
_LONGEST_STRING: Final = 120
_CALL_TOKENS: Final = 256
_REPEAT_PENALTY: Final = 1.05

_INTRODUCTION: Final = (
    "# Tools\n\nYou may call a function to assist with the user query. Functions, as JSON:\n"
    "<tools>\n{tools}\n</tools>\n\nTo call one, answer with nothing but:\n<tool_call>\n{example}\n</tool_call>"
)


def demanded(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools of which one must be called now; empty where the model may answer."""
    tools, choice = options.get("tools") or [], options.get("tool_choice")
    if choice in (None, "auto", "none"):
        return []
    name = choice.get("function", choice).get("name") if isinstance(choice, Mapping) else choice
    return [tool for tool in tools if tool["function"]["name"] == name] or list(tools)


def adapted(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a request in which tools are words, and a demanded call is a grammar."""
    wanted = demanded(payload)
    offered = [] if payload.get("tool_choice") == "none" else payload.get("tools") or []
    body = {key: value for key, value in payload.items() if key not in {"tools", "tool_choice", "parallel_tool_calls"}}
    # A weak model copies the example: of a call that it must make, the example had better be right.
    value = _question(payload["messages"]) if wanted else "…"
    body["messages"] = _plain_messages(payload["messages"], wanted or offered, value)
    if wanted:
        schema = {"name": "tool_call", "schema": _call_schema(wanted)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
        # Weak models repeat themselves within a string.
        body["extra_body"] = {**(payload.get("extra_body") or {}), "repeat_penalty": _REPEAT_PENALTY}
        body["max_tokens"] = min(payload.get("max_tokens") or _CALL_TOKENS, _CALL_TOKENS)
    return body


def _call_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool["function"]["name"]},
                "arguments": _bounded(tool["function"].get("parameters") or {"type": "object"}),
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def _bounded(schema: Any) -> Any:
    """Return a schema whose strings all have an end, and of whose optional fields none is filled in."""
    schema = copy.deepcopy(schema)
    required = schema.get("required")
    if isinstance(required, list) and required and isinstance(schema.get("properties"), dict):
        schema["properties"] = {name: kind for name, kind in schema["properties"].items() if name in required}
    _bound_strings(schema)
    return schema


def _bound_strings(schema: Any) -> None:
    if isinstance(schema, list):
        for each in schema:
            _bound_strings(each)
    elif isinstance(schema, dict):
        if schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & set(schema):
            schema["maxLength"] = min(schema.get("maxLength", _LONGEST_STRING), _LONGEST_STRING)
            schema.setdefault("minLength", 1)
        for each in schema.values():
            _bound_strings(each)


def _question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the first line of what the user has said last."""
    said = next((_text(each.get("content")) for each in reversed(messages) if each["role"] == "user"), "")
    return truncate(said.strip().partition("\n")[0], _LONGEST_STRING) or "…"


def _plain_messages(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], value: str
) -> list[dict[str, Any]]:
    """Return messages of the three roles that every template knows, no role twice in a row."""
    plain: list[dict[str, Any]] = []
    for message in messages:
        role, text = message["role"], _text(message.get("content"))
        if role == "tool":
            role, text = "user", f"<tool_response>\n{text}\n</tool_response>"
        for call in message.get("tool_calls") or ():
            text = f"{text}\n{_written(call['function'])}".strip()
        if plain and plain[-1]["role"] == role:
            plain[-1]["content"] += f"\n\n{text}"
        else:
            plain.append({"role": "system" if role == "developer" else role, "content": text})
    if tools:
        lines = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
        words = _INTRODUCTION.format(tools=lines, example=_example(tools[0]["function"], value))
        if plain and plain[0]["role"] == "system":
            plain[0]["content"] += f"\n\n{words}"
        else:
            plain.insert(0, {"role": "system", "content": words})
    return plain


def _example(function: Mapping[str, Any], value: str) -> str:
    parameters = function.get("parameters") or {}
    names = parameters.get("required") or list(parameters.get("properties") or ())[:1]
    return json.dumps({"name": function["name"], "arguments": dict.fromkeys(names, value)}, ensure_ascii=False)


def _written(function: Mapping[str, Any]) -> str:
    name = json.dumps(function["name"], ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {function["arguments"] or "{}"}}}\n</tool_call>'


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in content)
    return content or ""
