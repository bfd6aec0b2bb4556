"""What providers' packages raise becomes our errors: by real requests to loopback servers, and by their words."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage

from qiusuo.chat.models.model_errors import stream_model, translated, worth_a_retry
from qiusuo.chat.models.opening import open_model
from qiusuo.config import Settings
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
from qiusuo.text import detect_language
from qiusuo.words import Language
from tests.support.scripted_model import Ending, Gate, Reply, ScriptedModel

KEY = "sk-very-secret-0123456789"
HELLO = [HumanMessage("hello")]


@asynccontextmanager
async def chat_of(server: ScriptedModel, **settings: Any) -> AsyncIterator[BaseChatModel]:
    wanted = {"model": "openai:scripted", "model_base_url": server.base_url, "model_api_key": server.key, **settings}
    async with aclosing(open_model(Settings.load(**wanted))) as model:
        yield await model.chat_model()


def stream(chat: Any, idle_timeout: float = 20, retries: int = 0) -> AsyncGenerator[AIMessageChunk, None]:
    return stream_model(chat, HELLO, model="openai:scripted", idle_timeout=idle_timeout, retries=retries)


async def failure(*script: Reply, retries: int = 0, idle_timeout: float = 20, key: str = "sk-scripted") -> ModelError:
    with ScriptedModel(*script) as server:
        async with chat_of(server, model_api_key=key) as chat:
            with pytest.raises(ModelError) as caught:
                async for _ in stream(chat, idle_timeout, retries):
                    pass
    return caught.value


class TestOverTheWire:
    @pytest.mark.parametrize(
        ("reply", "kind", "status"),
        [
            (Reply.error(401, "Incorrect API key provided: sk-very-secret."), ModelAuthFailed, 401),
            (Reply.error(403, "Country not supported."), ModelAuthFailed, 403),
            (Reply.error(402, "Insufficient Balance"), ModelRateLimited, 402),
            (Reply.error(429, "You exceeded your quota.", code="insufficient_quota"), ModelRateLimited, 429),
            (Reply.rate_limited(), ModelRateLimited, 429),
            (Reply.error(500), ModelUnavailable, 500),
            (Reply.error(503), ModelUnavailable, 503),
            (Reply.error(504), ModelTimeout, 504),
            (Reply.error(404, "The model `x` does not exist.", code="model_not_found"), ModelNotConfigured, 404),
            (Reply.html(404), ModelBroken, 404),
            (Reply.error(422, "temperature: too high"), ModelRejected, 422),
            (Reply.overflow(), ContextOverflow, 400),
            (Reply.error(413, "Request too large", code="request_too_large"), ContextOverflow, 413),
            (Reply.error(400, "Content Exists Risk"), ModelRejected, 400),
            (Reply.body(b"", 302, Location="http://127.0.0.1:1/elsewhere"), ModelBroken, 302),
        ],
        ids=lambda value: getattr(value, "__name__", ""),
    )
    async def test_a_status(self, reply: Reply, kind: type[ModelError], status: int) -> None:
        error = await failure(reply)
        assert type(error) is kind
        assert error.status == status
        assert error.engine == "openai:scripted"
        assert "secret" not in str(error)
        assert error.fact.code.startswith("llm.")
        assert detect_language(error.wording(Language.CHINESE).what) == "zh-CN"

    async def test_how_long_to_wait(self) -> None:
        assert (await failure(Reply.rate_limited("7"))).retry_after == 7
        assert (await failure(Reply.error(503, headers={"Retry-After": "30"}))).retry_after == 30

    async def test_a_refusal_and_a_filter(self) -> None:
        refused = await failure(Reply.refused("I cannot help with that."))
        assert type(refused) is ModelRejected
        assert "I cannot help with that." in refused.message
        assert type(await failure(Reply.filtered("Well, "))) is ModelRejected

    @pytest.mark.parametrize(
        "reply",
        [
            Reply.broken("one ", "two "),
            Reply.text("one ", ending=Ending.SHORT),
            Reply.html(),
            Reply.events("this is no JSON"),
            Reply.events(),
            Reply.body({"unexpected": True}),
        ],
        ids=["broken", "closed early", "a web page", "no JSON", "nothing", "another shape"],
    )
    async def test_what_makes_no_sense(self, reply: Reply) -> None:
        assert type(await failure(reply)) is ModelBroken

    @pytest.mark.parametrize(
        ("event", "kind"),
        [
            ({"error": {"message": "Rate limit", "type": "rate_limit_error", "code": 429}}, ModelRateLimited),
            ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, ModelUnavailable),
            ({"error": {"message": "Provider returned error", "code": 502}}, ModelUnavailable),
            ({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, ContextOverflow),
        ],
    )
    async def test_an_error_inside_the_stream(self, event: Any, kind: type[ModelError]) -> None:
        assert type(await failure(Reply.events(event))) is kind

    async def test_a_server_that_is_not_there(self) -> None:
        server = ScriptedModel()
        with server:
            pass
        async with chat_of(server) as chat:
            with pytest.raises(ModelUnavailable, match="cannot be reached"):
                async for _ in stream(chat):
                    pass

    async def test_silence_before_and_between_words(self) -> None:
        for reply in (Reply.hang(), Reply.hang("one ")):
            error = await failure(reply, idle_timeout=0.3)
            assert type(error) is ModelTimeout
            assert "0.3 s" in error.message
            assert "QIUSUO_MODEL_TIMEOUT" in error.fix

    async def test_a_refused_key_stays_unspoken(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        words = f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"
        for status in (401, 400, 500):
            error = await failure(Reply.error(status, words), key=KEY)
            assert KEY not in f"{error!r} {error} {error.to_dict()} {error.__cause__}"
        assert KEY not in caplog.text


class TestRetry:
    async def test_a_server_that_stumbles_is_asked_once_more(self) -> None:
        with ScriptedModel(Reply.error(503), Reply.text("fine")) as server:
            async with chat_of(server) as chat:
                chunks = [chunk.text async for chunk in stream(chat, retries=1)]
            assert "".join(chunks) == "fine"
            assert len(server.requests) == 2

    async def test_only_once(self) -> None:
        with ScriptedModel(Reply.error(500), Reply.error(500), Reply.text("fine")) as server:
            async with chat_of(server) as chat:
                with pytest.raises(ModelUnavailable):
                    async for _ in stream(chat, retries=1):
                        pass
            assert len(server.requests) == 2

    @pytest.mark.parametrize(
        "reply", [Reply.rate_limited("7"), Reply.error(401), Reply.overflow(), Reply.broken("one ")]
    )
    async def test_not_where_it_does_not_help(self, reply: Reply) -> None:
        with ScriptedModel(reply, Reply.text("fine")) as server:
            async with chat_of(server) as chat:
                with pytest.raises(ModelError):
                    async for _ in stream(chat, retries=1):
                        pass
            assert len(server.requests) == 1

    def test_the_policy(self) -> None:
        assert worth_a_retry(ModelRateLimited("x", retry_after=2)) == 2
        assert worth_a_retry(ModelRateLimited("x", retry_after=20)) is None
        assert worth_a_retry(ModelRateLimited("x")) is None
        assert worth_a_retry(ModelUnavailable("x")) is not None
        assert worth_a_retry(ModelUnavailable("x", retry_after=60)) is None
        assert worth_a_retry(ModelBroken("x")) is None


class TestStopping:
    async def test_closing_hangs_up_at_once(self) -> None:
        gate = Gate()
        with ScriptedModel(Reply.text("one ", gate, "two")) as server:
            async with chat_of(server) as chat:
                async with aclosing(stream(chat)) as chunks:
                    async for chunk in chunks:
                        if chunk.text:
                            break
                    await gate.reached()
                await server.hung_up()
            assert server.hang_ups == 1

    async def test_cancelling_hangs_up_at_once(self) -> None:
        with ScriptedModel(Reply.hang("one ")) as server:
            async with chat_of(server) as chat:
                await self._cancel(chat)
                await server.hung_up()

    async def _cancel(self, chat: BaseChatModel) -> None:
        begun = asyncio.Event()

        async def read() -> None:
            async for chunk in stream(chat):
                if chunk.text:
                    begun.set()

        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    def test_a_cancellation_is_no_failure_of_the_model(self) -> None:
        with pytest.raises(asyncio.CancelledError):
            translated(asyncio.CancelledError(), "x")


def openai_error(status: int, message: str, code: str | None = None) -> Exception:
    import openai

    body = {"message": message, "code": code}
    response = httpx.Response(status, request=httpx.Request("POST", "http://x/v1"), json={"error": body})
    return openai.APIStatusError(f"Error code: {status} - {{'error': {body}}}", response=response, body=body)


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Exception:
    import anthropic

    body = {"type": "error", "error": {"type": kind, "message": message}}
    response: Any = httpx.Response(status, request=httpx.Request("POST", "http://x"), json=body, headers=headers)
    made: Exception = anthropic.APIStatusError(message, response=response, body=body)
    return made


def google_error(status: int, state: str, message: str) -> Exception:
    from google.genai import errors

    made: Exception = errors.ClientError(status, {"error": {"code": status, "message": message, "status": state}})
    return made


def wrapped_google_error(status: int, state: str, message: str) -> Exception:
    """As LangChain's package for Gemini wraps them."""
    inner = google_error(status, state, message)
    outer = RuntimeError(f"Error calling model 'gemini': {inner}")
    outer.__cause__ = inner
    return outer


class TestWords:
    @pytest.mark.parametrize(
        "words",
        [
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "prompt is too long: 214356 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
            "request (4032 tokens) exceeds the available context size (2048 tokens), try increasing it",
            "This model's maximum context length is 65536 tokens. Please reduce the length of the messages.",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
            "Invalid request: Your request exceeded model token limit: 8192",
            "Prompt exceeds max length",
            "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        ],
    )
    def test_too_long_in_the_words_of_each_provider(self, words: str) -> None:
        assert type(translated(openai_error(400, words), "m")) is ContextOverflow

    @pytest.mark.parametrize(
        ("make", "values", "kind"),
        [
            (openai_error, (400, "x", "context_length_exceeded"), ContextOverflow),
            (
                openai_error,
                (400, "Output data may contain inappropriate content.", "data_inspection_failed"),
                ModelRejected,
            ),
            (openai_error, (400, "系统检测到输入或生成内容可能包含不安全或敏感内容", "1301"), ModelRejected),
            (openai_error, (429, "余额不足或无可用资源包,请充值。", "1113"), ModelRateLimited),
            (openai_error, (400, "max_tokens must be positive"), ModelRejected),
            (anthropic_error, (401, "authentication_error", f"invalid x-api-key {KEY}"), ModelAuthFailed),
            (anthropic_error, (400, "invalid_request_error", "prompt is too long: 9 > 8"), ContextOverflow),
            (anthropic_error, (400, "invalid_request_error", "Your credit balance is too low"), ModelRateLimited),
            (anthropic_error, (529, "overloaded_error", "Overloaded"), ModelUnavailable),
            (anthropic_error, (200, "overloaded_error", "Overloaded"), ModelUnavailable),
            (
                google_error,
                (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
                ModelAuthFailed,
            ),
            (google_error, (403, "PERMISSION_DENIED", "denied"), ModelAuthFailed),
            (google_error, (400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"), ContextOverflow),
            (wrapped_google_error, (503, "UNAVAILABLE", "The model is overloaded."), ModelUnavailable),
            (httpx.ReadTimeout, ("slow",), ModelTimeout),
            (httpx.ConnectError, ("refused",), ModelUnavailable),
            (httpx.RemoteProtocolError, ("incomplete chunked read",), ModelBroken),
            (TimeoutError, (), ModelTimeout),
            (ConnectionRefusedError, (), ModelUnavailable),
            (ValueError, ("No generation chunks were returned",), ModelBroken),
            (KeyError, ("choices",), ModelBroken),
            (ImportError, ("No module named 'langchain_xai'",), ModelNotConfigured),
        ],
    )
    def test_each_is_known(
        self, make: Callable[..., Exception], values: tuple[Any, ...], kind: type[ModelError]
    ) -> None:
        found = translated(make(*values), "m")
        assert type(found) is kind
        assert KEY not in str(found)

    def test_gemini_tells_the_wait_in_words(self) -> None:
        words = "You exceeded your current quota, please check your plan and billing details. Please retry in 21.5s."
        found = translated(wrapped_google_error(429, "RESOURCE_EXHAUSTED", words), "m")
        assert isinstance(found, ModelRateLimited)
        assert found.retry_after == 21.5

    def test_anthropic_tells_it_in_a_header(self) -> None:
        error = anthropic_error(429, "rate_limit_error", "slow down", **{"retry-after": "12"})
        assert translated(error, "m").retry_after == 12

    def test_one_of_ours_stays_itself(self) -> None:
        error = ModelBroken("x")
        assert translated(error, "m") is error
        assert error.engine == "m"

    @pytest.mark.parametrize("make", [lambda: openai_error(500, "x"), lambda: ValueError("x")])
    def test_it_travels_between_processes(self, make: Callable[[], Exception]) -> None:
        assert type(pickle.loads(pickle.dumps(translated(make(), "m")))) in {ModelUnavailable, ModelBroken}  # noqa: S301

    def test_ollama_gets_its_own_advice(self) -> None:
        assert "ollama pull qwen3" in translated(openai_error(404, 'model "qwen3" not found'), "ollama:qwen3").fix
        assert "ollama serve" in translated(ConnectionRefusedError(), "ollama:qwen3").fix
