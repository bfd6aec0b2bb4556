"""What clients send to ``/v1/chat/completions``, and the question that it is to us."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qiusuo.chat.questions import question_in
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode
from qiusuo.chat.turns.context import Ask
from qiusuo.chat.turns.history import remember, without_links
from qiusuo.web.invalid import invalid_body
from qiusuo.web.openai.errors import ApiError, unknown_model, unsupported
from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import beginning

CHAT_MODEL: Final = "qiusuo-chat"
AGENT_MODEL: Final = "qiusuo-agent"
MODELS: Final = (CHAT_MODEL, AGENT_MODEL)
MAX_MESSAGES: Final = 2000
"""Of one request. Tens of thousands, each of a word, took a second in which nobody else was served."""
MAX_PARTS: Final = 500
NOTICE_MARK: Final = "> ⚠️ "
THOUGHT_END: Final = "\n</think> \n\n"
"""Ends what was streamed as the answer and turned out to be a thought.

No model writes the blank behind the mark: so it is known again, and an answer that is about the mark stays whole.
"""

_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
# What we ourselves have put below an answer. Sent back to the model, it would only learn to write such lists.
_HEADINGS: Final = tuple(f"## {beginning('citations.references', language)}" for language in Language)
_LISTED: Final = (
    "- [",
    *(f"### {beginning('citations.round', language)}" for language in Language),
    *(f"- {beginning('citations.listed_before', language)}" for language in Language),
)


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class ContentPart(_Lenient):
    """A piece of a message."""

    type: str
    text: str | None = None
    refusal: str | None = None


class ChatMessage(_Lenient):
    """A message. Calls of the client's own tools are not looked at."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[ContentPart], Field(max_length=MAX_PARTS)] | None = None


class StreamOptions(_Lenient):
    """What a stream has besides the text."""

    include_usage: bool | None = None


class ResponseFormat(_Lenient):
    """The form of the answer."""

    type: str = "text"


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
    functions: list[Any] | None = None
    logprobs: bool | None = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None
    search: bool | None = None
    references: bool | None = None

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


def read_completion(raw: bytes) -> CompletionBody:
    """Read a request's body.

    Raises:
        ApiError: it is not valid, or asks for what there is not.
    """
    try:
        body = CompletionBody.model_validate_json(raw)
    except ValidationError as error:
        where = error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"]
        param = str(where[0]) if where else None
        raise ApiError(HTTPStatus.BAD_REQUEST, invalid_body(error).fact, param=param) from None
    if body.model not in MODELS:
        raise unknown_model(body.model)
    _refuse_what_there_is_not(body)
    return body


def _refuse_what_there_is_not(body: CompletionBody) -> None:
    if body.n is not None and body.n != 1:
        raise unsupported(Fact("openai.one_answer"), "n")
    for name, tools in (("tools", body.tools), ("functions", body.functions)):
        if tools and body.tool_choice != "none":
            raise unsupported(Fact("openai.own_tools", model=AGENT_MODEL), name)
    if body.logprobs:
        raise unsupported(Fact("openai.logprobs"), "logprobs")
    if body.response_format is not None and body.response_format.type != "text":
        raise unsupported(Fact("openai.no_json"), "response_format")
    if body.modalities and body.modalities != ["text"]:
        raise unsupported(Fact("openai.only_text"), "modalities")


def read_conversation(raw: bytes, user: str | None) -> tuple[CompletionBody, Ask, Memory]:
    """Read a request: its settings, its question, and what was said before.

    Raises:
        ApiError: it is not valid, or asks for what there is not.
    """
    body = read_completion(raw)
    return body, *conversation(body, user)


def conversation(body: CompletionBody, user: str | None) -> tuple[Ask, Memory]:
    """Return the question (the last message) and what was said before it.

    Raises:
        ApiError: the last message is not the user's, or one has something else than text.
    """
    system: list[str] = []
    said: list[tuple[str, str]] = []
    for index, message in enumerate(body.messages):
        text = _text(message, index)
        if message.role in _SYSTEM_ROLES:
            system.append(text)
        else:
            said.append((message.role, text))
    if not said or said[-1][0] != "user":
        raise ApiError(HTTPStatus.BAD_REQUEST, Fact("openai.last_message"), param="messages")
    searches = body.search is not False
    agent = body.model == AGENT_MODEL and searches
    settings = ChatSettings(mode=Mode.AGENT if agent else Mode.CHAT, search=searches and not agent)
    ask = Ask(said[-1][1], settings, user=user, system="\n\n".join(text for text in system if text.strip()))
    return ask, _memory(said[:-1])


def _memory(said: list[tuple[str, str]]) -> Memory:
    """Return what was said, turn by turn: a long conversation is cut between turns."""
    turns: list[list[BaseMessage]] = []
    for role, text in said:
        if role == "user" and text.strip():
            turns.append([HumanMessage(text)])
        elif role == "assistant" and (answer := _as_the_model_said(text)):
            if not turns:  # a greeting
                turns.append([])
            turns[-1].append(AIMessage(answer))
        # What the client's own tools have answered is left out: the model has never seen their calls.
    memory = Memory()
    for number, messages in enumerate(turns, 1):
        remember(memory, f"earlier-{number}", messages)
        question = "".join(message.text for message in messages if isinstance(message, HumanMessage))
        answers = (message.text for message in messages if isinstance(message, AIMessage))
        memory.note(f"earlier-{number}", question_in(question), "\n\n".join(answers))
    return memory


def _as_the_model_said(text: str) -> str:
    """Return an earlier answer without what was added to it: links are plain markers again."""
    return without_links(_without_own_tail(_without_thought(text))).strip()


def _without_thought(text: str) -> str:
    return text.rpartition(THOUGHT_END)[2]


def _without_own_tail(text: str) -> str:
    # Line by line from the end, not by a pattern: on an answer full of such lines it would take minutes.
    lines = text.split("\n")
    end = _without_last(lines, len(lines), (NOTICE_MARK,))
    heading = _without_last(lines, end, _LISTED) - 1
    if heading > 0 and lines[heading] in _HEADINGS and not lines[heading - 1]:
        end = heading
    return "\n".join(lines[:end])


def _without_last(lines: list[str], end: int, beginnings: tuple[str, ...]) -> int:
    """Return where the last lines begin that are empty or begin so."""
    while end and (not lines[end - 1] or lines[end - 1].startswith(beginnings)):
        end -= 1
    return end


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
