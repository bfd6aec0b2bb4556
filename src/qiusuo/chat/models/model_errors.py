"""Errors of model providers, translated: whatever a provider's package raises becomes one of the ModelError tree.

The packages (openai, anthropic, google-genai, httpx …) are not imported for it: what counts is the status, the codes
and the words, which they carry in much the same attributes. Texts of providers are quoted in one short line with
whatever looks like a key struck out; where a key was refused they are not quoted at all, since some repeat it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable

from qiusuo.chat.models.error_facts import OK, Facts, facts_of, quoted
from qiusuo.commands import at_hand
from qiusuo.errors import (
    ContextOverflow,
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelNotConfigured,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from qiusuo.tracing import span
from qiusuo.words import Fact

# A server that asks for no more than this is asked once more; with a longer wait the reader is told instead.
_SHORT_WAIT: Final = 3.0
_PAUSE: Final = 0.3

_OVERFLOW_CODES: Final = frozenset({
    "context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded", "request_too_large",
    "1261",
})  # fmt: skip
_OVERFLOW: Final = re.compile(
    r"maximum context length|exceeds? the (?:model'?s? )?context window|context[_ ]length[_ ]exceeded"  # OpenAI, vLLM
    r"|prompt is too long|exceeds? context limit"  # Anthropic
    r"|input token count.{0,40}exceeds"  # Gemini
    r"|maximum model length|longer than the model's context"  # vLLM
    r"|exceeds? the available context|exceed_context_size|input is too (?:large|long)"  # llama.cpp, Bedrock
    r"|range of input length|input length.{0,40}(?:exceed|should be)"  # Qwen, Ollama
    r"|exceeded model token limit|maximum prompt length|prompt exceeds max length"
    r"|prompt 超长|超出.{0,12}(?:长度|上下文)",
    re.IGNORECASE | re.DOTALL,
)
_FILTER_CODES: Final = frozenset({
    "content_filter", "content_policy_violation", "data_inspection_failed", "datainspectionfailed", "1301", "refusal",
    "sensitive_words_detected",
})  # fmt: skip
_FILTERED: Final = re.compile(
    r"content (?:management|usage) policy|content exists risk|data may contain inappropriate|inappropriate content"
    r"|safety system|不安全或敏感内容|high risk",
    re.IGNORECASE,
)
_FILTER_NAMES: Final = frozenset({
    "ContentFilterFinishReasonError", "OpenAIRefusalError", "BlockedPromptException", "StopCandidateException",
})  # fmt: skip
_BAD_KEY: Final = re.compile(r"api[ _-]?key (?:not valid|expired|is invalid)|invalid[ _]api[ _]?key", re.IGNORECASE)
_NO_CREDIT: Final = re.compile(
    r"insufficient[_ ](?:quota|balance|funds)|credit balance is too low|余额不足|arrearage", re.IGNORECASE
)
_NO_MODEL: Final = re.compile(r"model.{0,80}(?:not found|does not exist|not exist|no such)|model_not_found", re.DOTALL)
_UNREACHABLE: Final = frozenset({
    "APIConnectionError", "ConnectError", "ConnectionError", "PoolTimeout", "ClientConnectorError", "ProxyError",
    "ModelConnectionError", "gaierror",
})  # fmt: skip
_LOST: Final = frozenset({"ClientOSError", "ServerDisconnectedError"})
_REFUSALS: Final = frozenset({
    "content_filter", "refusal", "safety", "prohibited_content", "blocklist", "spii", "recitation",
})  # fmt: skip


def translated(error: BaseException, model: str) -> ModelError:
    """Return the ModelError for what a model's package has raised; one that is a ModelError already stays itself.

    Raises:
        BaseException: ``error`` itself where it is no failure (a cancellation, an exit).
    """
    if isinstance(error, ModelError):
        error.engine = error.engine or model
        return error
    if not isinstance(error, Exception):
        raise error
    facts = facts_of(error)
    return _by_meaning(facts, model) or _by_status(facts, model) or _by_kind(error, facts, model)


def worth_a_retry(error: ModelError) -> float | None:
    """Return after how many seconds the same request may be made once more; None where that would not help.

    The one policy for retries: the packages of the providers are told to make none.
    """
    if isinstance(error, ModelRateLimited):
        wait = error.retry_after
        return wait if wait is not None and wait <= _SHORT_WAIT else None
    if isinstance(error, ModelUnavailable):
        return _PAUSE if error.retry_after is None or error.retry_after <= _SHORT_WAIT else None
    return None


async def stream_model(
    chat: Runnable[Any, Any], messages: Sequence[BaseMessage], *, model: str, idle_timeout: float, retries: int = 1
) -> AsyncGenerator[AIMessageChunk, None]:
    """Stream the model's answer; closed or cancelled, it hangs up on the provider at once.

    Args:
        chat: A chat model, or a runnable made of one (with tools bound).
        messages: The conversation.
        model: The name for errors.
        idle_timeout: Seconds without a chunk after which the model is given up.
        retries: How often the request is repeated where that helps and nothing was given out yet.

    Raises:
        ModelError: nothing else.
    """
    while True:
        given = False
        try:
            async with aclosing(_traced(_once(chat, messages, model, idle_timeout), model)) as chunks:
                async for chunk in chunks:
                    given = given or bool(chunk.content or chunk.tool_call_chunks or chunk.additional_kwargs)
                    yield chunk
        except ModelError as error:
            wait = worth_a_retry(error)
            if given or not retries or wait is None:
                raise
            retries -= 1
            await asyncio.sleep(wait)
        else:
            return


async def _traced(chunks: AsyncGenerator[AIMessageChunk, None], model: str) -> AsyncGenerator[AIMessageChunk, None]:
    with span("model", around=False, model=model) as told:
        count = 0
        async with aclosing(chunks):
            async for chunk in chunks:
                count += 1
                used = chunk.usage_metadata
                if used is not None:
                    told.note(input_tokens=used["input_tokens"], output_tokens=used["output_tokens"])
                yield chunk
        told.note(chunks=count)


async def _once(
    chat: Runnable[Any, Any], messages: Sequence[BaseMessage], model: str, idle_timeout: float
) -> AsyncGenerator[AIMessageChunk, None]:
    last = _End()
    try:
        async with aclosing(cast("Any", chat.astream(list(messages)))) as stream:
            while True:
                try:
                    async with asyncio.timeout(idle_timeout):
                        chunk = await anext(stream)
                except StopAsyncIteration:
                    break
                last.see(chunk)
                yield chunk
    except TimeoutError:
        raise ModelTimeout(Fact("llm.silent", seconds=idle_timeout), engine=model) from None
    except Exception as error:  # noqa: BLE001 - every package has its own; all are translated
        raise translated(error, model) from None
    last.check(model)


class _End:
    """Watches how a stream ends."""

    def __init__(self) -> None:
        self._finish = ""
        self._refusal = ""
        self._openai = False
        self._any = False

    def see(self, chunk: AIMessageChunk) -> None:
        self._any = True
        self._refusal += str(chunk.additional_kwargs.get("refusal") or "")
        about = chunk.response_metadata
        if about:
            self._openai = self._openai or about.get("model_provider") == "openai"
            self._finish = str(about.get("finish_reason") or about.get("stop_reason") or self._finish)

    def check(self, model: str) -> None:
        if self._refusal or self._finish.lower() in _REFUSALS:
            words = Fact("llm.said", words=quoted(self._refusal)) if self._refusal else Fact("llm.content_filter")
            raise ModelRejected(Fact("llm.refused", said=words), engine=model)
        # A server that closes in the middle, in good order, is known by nothing else. Responses have a status instead.
        if not self._any or (self._openai and not self._finish):
            raise ModelBroken(Fact("llm.broke_off"), engine=model)


def _by_meaning(facts: Facts, model: str) -> ModelError | None:
    """Read what the codes and words say, where the status alone would mislead."""
    common: dict[str, Any] = {"engine": model, "status": facts.status}
    told = facts.status in {None, OK, 400, 413, 422, 500}
    if (
        "ContextOverflowError" in facts.names
        or facts.codes & _OVERFLOW_CODES
        or (told and _OVERFLOW.search(facts.words))
    ):
        return ContextOverflow(Fact("llm.too_long", words=quoted(facts.words)), **common)
    if facts.names & _FILTER_NAMES or facts.codes & _FILTER_CODES or (told and _FILTERED.search(facts.words)):
        return ModelRejected(Fact("llm.filtered", words=quoted(facts.words)), **common)
    if told and _BAD_KEY.search(facts.words):
        return _auth(common)
    if facts.status in {400, 402, 403, 429, None} and (
        _NO_CREDIT.search(facts.words) or _NO_CREDIT.search(" ".join(facts.codes))
    ):
        return ModelRateLimited(Fact("llm.no_credit"), **common)
    return None


def _by_status(facts: Facts, model: str) -> ModelError | None:
    status = facts.status
    if status is None or status == OK:
        return None
    said = quoted(facts.words)
    common: dict[str, Any] = {"engine": model, "status": status}
    if status in {401, 403}:
        return _auth(common)
    if status in {402, 429}:
        no_credit = Fact("llm.no_credit_http", status=status)
        fact = no_credit if status == 402 else Fact("llm.slow_down_http", status=status)  # noqa: PLR2004
        return ModelRateLimited(fact, retry_after=facts.wait, **common)
    if status == 404:  # noqa: PLR2004
        kind = ModelNotConfigured if facts.codes & {"model_not_found"} or _NO_MODEL.search(facts.words) else ModelBroken
        provider, _, name = model.partition(":")
        if provider == "ollama":
            common |= {"fix": Fact("llm.pull", name=name), "commands": at_hand(f"ollama pull {name}")}
        return kind(Fact("llm.unknown", words=said), **common)
    if status in {408, 504}:
        return ModelTimeout(Fact("llm.late_http", status=status), **common)
    if status >= 500:  # noqa: PLR2004
        return ModelUnavailable(Fact("llm.failed", status=status, words=said), retry_after=facts.wait, **common)
    if 300 <= status < 400:  # noqa: PLR2004
        return ModelBroken(Fact("llm.redirect", status=status), **common)
    return ModelRejected(Fact("llm.request_refused", status=status, words=said), **common)


def _by_kind(error: Exception, facts: Facts, model: str) -> ModelError:
    """Read what is left: how the connection failed, or that nothing sensible came."""
    if isinstance(error, ImportError):
        return ModelNotConfigured(Fact("llm.some_package_missing", words=quoted(str(error))), engine=model)
    every = facts.names | facts.causes
    # Between aiohttp and httpx every lost connection becomes a timeout.
    if not every & _LOST and any("Timeout" in name for name in every - {"PoolTimeout"}):
        return ModelTimeout(Fact("llm.late"), engine=model)
    if every & (_UNREACHABLE | _LOST):
        unreachable = Fact("llm.unreachable")
        if model.startswith("ollama:"):
            start = Fact("llm.start_ollama")
            return ModelUnavailable(unreachable, engine=model, fix=start, commands=at_hand("ollama serve"))
        return ModelUnavailable(unreachable, engine=model)
    if "api_key" in facts.words and "OpenAIError" in facts.names:
        return ModelNotConfigured(Fact("llm.no_key"), engine=model)
    if isinstance(error, ValueError) or "APIResponseValidationError" in facts.names:
        return ModelBroken(Fact("llm.nonsense"), engine=model)
    return ModelBroken(Fact("llm.broke_off_by", fault=type(error).__name__), engine=model)


def _auth(common: dict[str, Any]) -> ModelAuthFailed:
    return ModelAuthFailed(Fact("llm.key_refused"), **common)
