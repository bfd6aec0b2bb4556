"""What clients send to ``/v1/chat/completions``, and the question that it is to us."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from langchain_core.messages import ToolMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qiusuo.chat.depth import Depth
from qiusuo.chat.questions import question_in
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.client_tools import ClientTools
from qiusuo.chat.turns.context import Ask
from qiusuo.chat.turns.history import remember
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.web.invalid import invalid_body
from qiusuo.web.openai.earlier import EarlierAnswers
from qiusuo.web.openai.errors import ApiError, unknown_model, unsupported
from qiusuo.web.openai.tools import Said, as_messages, read_call, read_tools
from qiusuo.words import Fact

CHAT_MODEL: Final = "qiusuo-chat"
AGENT_MODEL: Final = "qiusuo-agent"
MODELS: Final = (CHAT_MODEL, AGENT_MODEL)
MAX_MESSAGES: Final = 2000
"""Of one request. Tens of thousands, each of a word, took a second in which nobody else was served."""
MAX_PARTS: Final = 500

_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_JSON: Final = frozenset({"json_object", "json_schema"})
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class ContentPart(_Lenient):
    """A piece of a message."""

    type: str
    text: str | None = None
    refusal: str | None = None


class ChatMessage(_Lenient):
    """A message, with calls of the client's tools or what one of them has answered."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[ContentPart], Field(max_length=MAX_PARTS)] | None = None
    tool_calls: Annotated[list[Any], Field(max_length=MAX_PARTS)] | None = None
    tool_call_id: str | None = None


class StreamOptions(_Lenient):
    """What a stream has besides the text."""

    include_usage: bool | None = None


class ResponseFormat(_Lenient):
    """The form of the answer."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = "text"


class SearchOptions(_Lenient):
    """How much of what was found goes into the answer."""

    search_context_size: Literal["low", "medium", "high"] | None = None


class CompletionBody(_Lenient):
    """OpenAI's fields that have an effect here, and our own (``search``, ``references``); others are ignored."""

    model: str
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    functions: list[Any] | None = None
    logprobs: bool | None = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None
    web_search_options: SearchOptions | None = None
    search: bool | None = None
    references: bool | None = None

    @property
    def wants_json(self) -> bool:
        """Whether the answer is to be JSON."""
        return self.response_format is not None and self.response_format.type != "text"

    @property
    def wishes(self) -> dict[str, Any]:
        """What the model is to be asked for; None where nothing was said."""
        length = self.max_completion_tokens or self.max_tokens
        return {
            "temperature": self.temperature,
            # Some clients write 0 or -1 for "as long as it takes".
            "max_tokens": length if length and length > 0 else None,
            "stop": ([self.stop] if isinstance(self.stop, str) else self.stop) or None,
            "seed": self.seed,
        }


def read_completion(raw: bytes, names: Collection[str] = ()) -> CompletionBody:
    """Read a request's body; ``names`` are those of the models behind ours.

    Raises:
        ApiError: it is not valid, or asks for what there is not.
    """
    try:
        body = CompletionBody.model_validate_json(raw)
    except ValidationError as error:
        where = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
        param = str(where[0]) if where else None
        raise ApiError(HTTPStatus.BAD_REQUEST, invalid_body(error).fact, param=param) from None
    return checked(body, names)


def checked(body: CompletionBody, names: Collection[str] = ()) -> CompletionBody:
    """Return a body that asks for what there is.

    Raises:
        ApiError: it does not.
    """
    if not is_model(body.model, names):
        raise unknown_model(body.model)
    _refuse_what_there_is_not(body)
    return body


def is_model(name: str, names: Collection[str]) -> bool:
    """Tell whether there is such a model: one of ours, one behind it, or both (``qiusuo-agent:cheap``)."""
    ours, colon, behind = name.partition(":")
    return name in names or (ours in MODELS and (behind in names if colon else True))


def behind(model: str) -> str | None:
    """Return the name of the model behind the one that was asked for; None for the first."""
    ours, _, name = model.partition(":")
    return (name or None) if ours in MODELS else model


def _refuse_what_there_is_not(body: CompletionBody) -> None:
    if body.n is not None and body.n != 1:
        raise unsupported(Fact("openai.one_answer"), "n")
    if body.functions:
        raise unsupported(Fact("openai.old_functions"), "functions")
    if body.logprobs:
        raise unsupported(Fact("openai.logprobs"), "logprobs")
    if body.wants_json and body.response_format and body.response_format.type not in _JSON:
        raise unsupported(Fact("openai.answer_form"), "response_format")
    if body.modalities and body.modalities != ["text"]:
        raise unsupported(Fact("openai.only_text"), "modalities")


def read_conversation(raw: bytes, user: str | None, names: Collection[str] = ()) -> tuple[CompletionBody, Ask, Memory]:
    """Read a request: its settings, its question, and what was said before.

    Raises:
        ApiError: it is not valid, or asks for what there is not.
    """
    body = read_completion(raw, names)
    return body, *conversation(body, user)


def conversation(body: CompletionBody, user: str | None) -> tuple[Ask, Memory]:
    """Return the question (the last message) and what was said before it.

    Raises:
        ApiError: the last message is neither the user's nor a tool's, or one has something else than text.
    """
    system, said, registry = _said(body.messages)
    last = max((index for index, each in enumerate(said) if each.role == "user"), default=None)
    since = as_messages(said[last + 1 :]) if last is not None else []
    if last is None or (said[-1].role != "user" and not (since and isinstance(since[-1], ToolMessage))):
        raise ApiError(HTTPStatus.BAD_REQUEST, Fact("openai.last_message"), param="messages")
    tools = read_tools(body.tools, body.tool_choice)
    searches = body.search is not False or tools.search
    agent = body.model.partition(":")[0] == AGENT_MODEL and searches
    settings = ChatSettings(
        mode=Mode.AGENT if agent else Mode.CHAT,
        search=searches and not agent,
        depth=_depth(body.web_search_options),
        model=behind(body.model),
    )
    form = body.response_format.model_dump(exclude_unset=True) if body.wants_json and body.response_format else None
    client = ClientTools(tools.functions, tools.choice, body.parallel_tool_calls, tuple(since), form=form)
    if form is not None:
        system = f"{system}\n\n{prompts.ONLY_JSON}".strip()
    ask = Ask(said[last].text, settings, user=user, system=system, client=client)
    return ask, _memory(said[:last], registry)


def _depth(wanted: SearchOptions | None) -> Depth | None:
    """Return what the answer is to rest on, in OpenAI's words; None where nothing was said."""
    size = wanted.search_context_size if wanted is not None else None
    return {"low": Depth.SNIPPETS, "medium": Depth.AUTO, "high": Depth.READ}[size] if size else None


def _memory(said: list[Said], registry: CitationRegistry) -> Memory:
    """Return what was said, turn by turn: a long conversation is cut between turns."""
    turns: list[list[Said]] = []
    for each in said:
        if (each.role == "user" and each.text.strip()) or not turns:  # else a greeting
            turns.append([])
        if each.role != "user" or each.text.strip():
            turns[-1].append(each)
    memory = Memory(registry=registry)
    for number, turn in enumerate(filter(None, turns), 1):
        remember(memory, f"earlier-{number}", as_messages(turn))
        question = "".join(each.text for each in turn if each.role == "user")
        answers = [each.text for each in turn if each.role == "assistant" and each.text]
        memory.note(f"earlier-{number}", question_in(question), "\n\n".join(answers))
    return memory


def _said(messages: list[ChatMessage]) -> tuple[str, list[Said], CitationRegistry]:
    """Return the rules of the client, all that was said after them, and the sources of its answers."""
    system: list[str] = []
    said: list[Said] = []
    earlier = EarlierAnswers()
    for index, message in enumerate(messages):
        text = _text(message, index)
        if message.role in _SYSTEM_ROLES:
            system.append(text)
        elif message.role == "assistant":
            calls = tuple(call for each in message.tool_calls or () if (call := read_call(each)) is not None)
            said.append(Said("assistant", earlier.heard(text), calls))
        else:
            said.append(Said(message.role, text, answers=message.tool_call_id or ""))
    return "\n\n".join(text for text in system if text.strip()), said, earlier.registry


def _text(message: ChatMessage, index: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    texts = []
    for part in message.content:
        if part.type in _TEXT_PARTS:
            texts.append(part.text or "")
        elif part.type == "refusal":
            texts.append(part.refusal or "")
        elif message.role in {"user", *_SYSTEM_ROLES}:
            fact = Fact("openai.part_type", number=index + 1, type=repr(part.type[:40]))
            raise ApiError(HTTPStatus.BAD_REQUEST, fact, code="unsupported_content", param="messages")
    return "\n".join(texts)
