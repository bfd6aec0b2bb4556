"""What clients send to ``/v1/responses``: read as the conversation that ``/v1/chat/completions`` would get."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.turns.context import Ask
from qiusuo.web.invalid import invalid_body
from qiusuo.web.openai.errors import ApiError, unsupported
from qiusuo.web.openai.request import MAX_MESSAGES, CompletionBody, checked, conversation
from qiusuo.words import Fact

_MOST_KEPT: Final = 500
_PASSED_OVER: Final = frozenset({"reasoning", "web_search_call"})

Items = list[dict[str, Any]]


class ResponsesBody(BaseModel):
    """OpenAI's fields that have an effect here, and our own; others are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    model: str
    input: str | Annotated[Items, Field(max_length=MAX_MESSAGES)]
    instructions: str | None = None
    stream: bool | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    text: dict[str, Any] | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    background: bool | None = None
    search: bool | None = None
    references: bool | None = None

    @property
    def form(self) -> dict[str, Any] | None:
        """The form of the answer, as chat completions have it."""
        told = (self.text or {}).get("format")
        if not isinstance(told, Mapping) or told.get("type") != "json_schema":
            return dict(told) if isinstance(told, Mapping) else None
        schema = {name: value for name, value in told.items() if name != "type"}
        return {"type": "json_schema", "json_schema": schema}


class KeptItems:
    """The last answers by their ids: some clients refer to them instead of sending them back."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()

    def keep(self, owner: str, items: Items) -> None:
        """Keep what an answer is made of."""
        for item in items:
            self._kept[owner, str(item["id"])] = item
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)

    def get(self, owner: str, name: str) -> dict[str, Any] | None:
        """Return an item; None where it is not known here (any more)."""
        return self._kept.get((owner, name))


def read_responses(
    raw: bytes, user: str | None, kept: KeptItems, owner: str, names: Collection[str] = ()
) -> tuple[CompletionBody, Ask, Memory]:
    """Read a request as chat completions would have it: its settings, its question, and what was said before.

    Raises:
        ApiError: it is not valid, or asks for what there is not.
    """
    try:
        body = ResponsesBody.model_validate_json(raw)
    except ValidationError as error:
        where = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
        raise _wrong(invalid_body(error).fact, str(where[0]) if where else None) from None
    for name in ("previous_response_id", "conversation", "background"):
        if getattr(body, name):
            raise unsupported(Fact("openai.nothing_kept"), name)
    items = [{"role": "user", "content": body.input}] if isinstance(body.input, str) else body.input
    if not items:
        raise _wrong(Fact("openai.last_message"), "input")
    messages: Items = [{"role": "system", "content": body.instructions}] if body.instructions else []
    for number, item in enumerate(items, 1):
        _add(messages, item, number, kept, owner)
    shared = ("model", "stream", "temperature", "tools", "tool_choice", "parallel_tool_calls", "search", "references")
    fields = {name: value for name in shared if (value := getattr(body, name)) is not None}
    fields |= {"messages": messages, "max_completion_tokens": body.max_output_tokens, "response_format": body.form}
    try:
        wanted = checked(CompletionBody.model_validate(fields), names)
        return wanted, *conversation(wanted, user)
    except ValidationError as error:
        raise _wrong(invalid_body(error).fact, "input") from None
    except ApiError as error:
        error.param = {"messages": "input", "response_format": "text"}.get(error.param or "", error.param)
        raise


def _add(messages: Items, item: Mapping[str, Any], number: int, kept: KeptItems, owner: str) -> None:
    kind = item.get("type") or "message"
    if kind == "item_reference":
        known = kept.get(owner, str(item.get("id")))
        if known is None:
            raise _wrong(Fact("openai.unknown_item", id=str(item.get("id"))[:60]), "input")
        item, kind = known, known["type"]
    if kind == "message":
        messages.append({"role": item.get("role"), "content": item.get("content")})
    elif kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        last = messages[-1] if messages else {}
        if last.get("role") == "assistant":  # calls of one answer belong together
            last["tool_calls"] = [*last.get("tool_calls", ()), call]
        else:
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    elif kind == "function_call_output":
        messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
    elif kind not in _PASSED_OVER:
        raise unsupported(Fact("openai.part_type", number=number, type=repr(str(kind)[:40])), "input")


def _wrong(fact: Fact, param: str | None) -> ApiError:
    return ApiError(HTTPStatus.BAD_REQUEST, fact, param=param)
