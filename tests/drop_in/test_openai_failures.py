"""``/v1`` in OpenAI's shape when things go wrong: failures, limits, clients that hang up."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionChunk

from qiusuo import SearchService
from qiusuo.chat.stores.opening import open_store
from qiusuo.testing import Fault
from qiusuo.web.app import create_app
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.openai.routes import openai_extension
from tests.support.openai_world import ENGLISH, QUESTION, Served, content_of, serving, user
from tests.support.scripted_model import Ending, Gate, Reply

MIB = 1024 * 1024
ERRORS: dict[int, type[openai.APIStatusError]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    429: openai.RateLimitError,
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One server for tests that only add to the model's script what they use up."""
    with serving() as served:
        yield served


class TestFailures:
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(
        ("replies", "status", "code"),
        [
            ([Reply.error(401)], 401, "model_auth"),
            ([Reply.rate_limited("7")], 429, "model_rate_limited"),
            ([Reply.overflow()], 400, "model_rejected"),
            ([Reply.filtered()], 400, "model_rejected"),
            ([Reply.html()], 502, "model_broken"),
            ([Reply.text("")], 502, "model_broken"),
            ([Reply.error(500)] * 2, 503, "model_unavailable"),
        ],
    )
    def test_a_model_that_fails_before_any_text(
        self, shared: Served, replies: list[Reply], status: int, code: str, stream: bool
    ) -> None:
        shared.model.add(*replies)
        with (
            OpenAI(**shared.options) as client,
            pytest.raises(ERRORS.get(status, openai.InternalServerError)) as caught,
        ):
            client.chat.completions.create(model="qiusuo-chat", messages=user(), stream=stream)
        assert caught.value.status_code == status
        assert caught.value.code == code
        assert caught.value.response.headers.get("retry-after") == ("7" if status == 429 else None)
        assert "模型" in caught.value.message or "回答" in caught.value.message  # in the language of the question

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(
        ("question", "wish", "words"),
        [
            (QUESTION, "", "模型密钥无效："),
            (ENGLISH, "", "The model's key was refused: "),
            (QUESTION, "en-US,en;q=0.9", "The model's key was refused: "),
            (ENGLISH, "zh-CN", "模型密钥无效："),
        ],
    )
    def test_the_language_of_the_client_goes_before_that_of_the_question(
        self, shared: Served, question: str, wish: str, words: str, stream: bool
    ) -> None:
        shared.model.add(Reply.error(401, "Incorrect API key provided.", code="invalid_api_key"))
        body = {"model": "qiusuo-chat", "messages": user(question), "stream": stream}
        headers = {"Accept-Language": wish} if wish else {}
        answer = shared.web.client.post("/v1/chat/completions", json=body, headers=headers)
        error = answer.json()["error"]
        assert error["message"].startswith(words)
        assert (error["code"], error["qiusuo"]["code"]) == ("model_auth", "notice.model_auth")

    def test_one_that_says_nothing(self) -> None:
        with serving(Reply.hang(), Reply.hang(), model_timeout=0.3) as served:
            for stream in (False, True):
                answer = served.post(stream=stream)
                assert (answer.status_code, answer.json()["error"]["code"]) == (504, "model_timeout")

    def test_one_that_breaks_off_in_the_middle(self) -> None:
        gate = Gate()
        reply = Reply.text("Spring tea is. ", gate, ending=Ending.BROKEN)
        with serving(reply) as served, OpenAI(**served.options) as client:
            chunks: list[ChatCompletionChunk] = []
            stream = client.chat.completions.create(model="qiusuo-chat", messages=user(ENGLISH), stream=True)
            chunks.append(next(stream))
            chunks.append(next(stream))
            gate.open()
            with pytest.raises(openai.APIError) as caught:
                chunks.extend(stream)
        assert content_of(chunks).startswith("Spring tea")
        assert caught.value.code == "model_broken"

    def test_a_failed_search_is_told_of_in_the_text(self) -> None:
        with serving(Reply.text("From memory."), Reply.text("From memory.")) as served:
            served.web.world["searxng"].fault = Fault.SERVER_ERROR
            data = served.ask(user(ENGLISH))
            answer = served.post(user(ENGLISH), stream=True)
        content = data["choices"][0]["message"]["content"]
        assert content.startswith("From memory.\n\n> ⚠️ **")
        assert "without search" in content
        assert content.count("\n") == 2
        assert data["qiusuo"]["notices"][0]["code"].startswith("search_")
        assert data["qiusuo"]["rounds"][0]["state"] == "failed"
        assert data["search_results"] == []
        assert "without search" in answer.text
        assert answer.text.endswith("[DONE]\n\n")

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_fault_of_ours_is_no_riddle(
        self, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(*_args: object) -> None:
            raise RuntimeError("oops: secret")

        monkeypatch.setattr("qiusuo.chat.turns.chat_turn.prompts.chat_system", broken)
        with serving() as served:
            answer = served.post(stream=stream)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "server_error"
        assert "secret" not in answer.text
        assert "oops" in caplog.text

    @pytest.mark.parametrize(
        ("limit", "status", "code"), [("MAX_LIVE", 503, "busy"), ("MAX_OF_ONE", 429, "too_many_at_once")]
    )
    def test_as_many_as_it_can(self, limit: str, status: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(f"qiusuo.chat.live.conversations.{limit}", 1)
        gate = Gate()
        reply = Reply.text("first", gate, "end")
        with (
            serving(reply, Reply.text("next"), tokens="ann:tok-0123456789abcdef") as served,
            OpenAI(**served.options) as client,
        ):
            served.web.client.headers["Authorization"] = "Bearer tok-0123456789abcdef"
            stream = client.chat.completions.create(
                model="qiusuo-chat", messages=user(), stream=True, extra_body={"search": False}
            )
            next(stream)
            answer = served.post(search=False)
            gate.open()
            list(stream)
            assert served.post(search=False).status_code == 200
        assert (answer.status_code, answer.headers["retry-after"]) == (status, "5")
        assert answer.json()["error"]["code"] == code

    def test_without_tokens_one_program_may_have_all_places(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("qiusuo.chat.live.conversations.MAX_OF_ONE", 0)
        with serving(Reply.text("hi")) as served:
            assert served.post(search=False).status_code == 200


def large(size: int) -> bytes:
    """A request of about that many bytes."""
    history = [*user("start"), {"role": "assistant", "content": "x" * size}]
    return json.dumps({"model": "qiusuo-chat", "messages": [*history, *user("end")], "search": False}).encode()


def cut(raw: bytes, size: int = 64 * 1024) -> list[bytes]:
    return [raw[start : start + size] for start in range(0, len(raw), size)]


class TestGuard:
    def test_the_key_is_a_token(self) -> None:
        with serving(Reply.text("hi"), tokens="ann:tok-0123456789abcdef") as served:
            with OpenAI(**served.options) as client:
                assert client.models.list().data
                assert client.chat.completions.create(model="qiusuo-chat", messages=user()).choices
            stranger = OpenAI(**{**served.options, "api_key": "wrong"})
            with stranger, pytest.raises(openai.AuthenticationError) as caught:
                stranger.models.list()
        assert caught.value.code == "invalid_api_key"
        assert "token" in caught.value.message

    def test_its_user_may_search_so_often(self) -> None:
        replies = Reply.text("one"), Reply.text("two")
        with (
            serving(*replies, tokens="ann:tok-0123456789abcdef", rate_limit=1) as served,
            OpenAI(**served.options) as client,
        ):
            client.chat.completions.create(model="qiusuo-chat", messages=user("first"))
            second = client.chat.completions.create(model="qiusuo-chat", messages=user("second"))
        assert second.model_dump()["qiusuo"]["notices"][0]["code"] == "user_rate_limited"
        assert (second.choices[0].message.content or "").startswith("two\n\n> ⚠️ **You have searched too often**")

    @pytest.mark.parametrize("pieces", [False, True])
    def test_large_conversations_are_taken(self, shared: Served, pieces: bool) -> None:
        shared.model.add(Reply.text("fine"))
        raw = large(3 * MIB)
        content = iter(cut(raw)) if pieces else raw
        assert shared.web.client.post("/v1/chat/completions", content=content).status_code == 200

    @pytest.mark.parametrize("pieces", [False, True])
    async def test_larger_ones_are_not(self, pieces: bool) -> None:
        async def parts() -> AsyncIterator[bytes]:
            for part in cut(large(5 * MIB)):
                yield part

        # Without sockets: a server that does not read on may close before its client has read why.
        chat = chat_extension(store=open_store(":memory:"))
        app = create_app(SearchService([]), extensions=[chat, openai_extension])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            content = parts() if pieces else large(5 * MIB)
            answer = await client.post("/v1/chat/completions", content=content)
            elsewhere = await client.post("/api/search", content=b"x" * 70_000)
        assert answer.status_code == elsewhere.status_code == 413
        error = answer.json()["error"]
        assert (error["code"], error["type"]) == ("request_too_large", "invalid_request_error")
        assert "4096 KiB" in error["message"]

    def test_errors_of_the_frame_have_the_shape_too(self, shared: Served) -> None:
        for method, path, status in (("GET", "/v1/chat/completions", 405), ("GET", "/v1/audio", 404)):
            answer = shared.web.client.request(method, path)
            assert answer.status_code == status
            assert set(answer.json()["error"]) == {"message", "type", "param", "code", "qiusuo"}


class TestHangUp:
    async def test_in_the_middle_of_a_stream(self) -> None:
        with serving(Reply.hang("Once upon a time. ", "And")) as served:
            async with AsyncOpenAI(**served.options) as client:
                stream = await client.chat.completions.create(model="qiusuo-chat", messages=user(), stream=True)
                async for chunk in stream:
                    if chunk.choices[0].delta.content:
                        break
                assert served.model.hang_ups == 0
                await stream.close()
                await served.model.hung_up()

    @pytest.mark.parametrize("stream", [False, True])
    async def test_before_any_text(self, stream: bool) -> None:
        gate = Gate()
        with serving(Reply.text(gate, "never")) as served:
            async with AsyncOpenAI(**served.options) as client:
                asking = asyncio.create_task(
                    client.chat.completions.create(model="qiusuo-chat", messages=user(), stream=stream)
                )
                await gate.reached()
                asking.cancel()
                await served.model.hung_up()
                with pytest.raises(asyncio.CancelledError):
                    await asking

    @pytest.mark.parametrize("stream", [False, True])
    async def test_while_the_search_runs(self, stream: bool) -> None:
        with serving(timeout=20) as served:
            served.web.world["searxng"].fault = Fault.HANG
            async with AsyncOpenAI(**served.options) as client:
                asking = asyncio.create_task(
                    client.chat.completions.create(model="qiusuo-chat", messages=user(), stream=stream)
                )
                await until(lambda: served.searches == 1, served)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                cancelled = 'qiusuo_searches_total{outcome="cancelled"} 1.0'
                await until(lambda: cancelled in served.web.metrics(), served)
            assert served.model.requests == []


async def until(holds: Any, served: Served) -> None:
    """Ask the server for its metrics until something holds: no nap is needed in between."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.to_thread(served.web.metrics)
