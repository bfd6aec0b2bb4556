"""Search in Anthropic's Messages shape, by the real ChatAnthropic."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.chat.models.native.anthropic import HELD
from qiusuo.chat.models.port import NativeSource
from qiusuo.errors import (
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelRateLimited,
    ModelRejected,
    ModelUnavailable,
)
from tests.support.native_servers import (
    anthropic_model,
    asks,
    cited,
    claude,
    failure,
    found,
    hear,
    models_are_closed,
    not_found,
    search_of,
)
from tests.support.scripted_model import Reply, ScriptedModel

__all__ = ["models_are_closed"]  # a fixture

SEARCH = search_of("anthropic")
PAGE = ("https://weather.example.cn/shanghai", "上海天气")
OTHER = ("https://news.example.com/a", "News")


def by(page: tuple[str, str], words: str = "晴，18 度") -> dict[str, str]:
    return {"url": page[0], "title": page[1], "cited_text": words}


def error_body(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "It went wrong."}}


class TestAnswers:
    async def test_the_request_has_the_dated_tool(self) -> None:
        with ScriptedModel(claude(cited("晴。"))) as server:
            await hear(SEARCH, anthropic_model(server))
        (request,) = server.requests
        assert request.path == "/v1/messages"
        assert request.body["tools"] == [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]

    @pytest.mark.parametrize("stream", [True, False])
    async def test_a_block_is_followed_by_the_numbers_of_its_citations(self, stream: bool) -> None:
        reply = claude(
            cited("我来", "查一下。"),
            asks("上海 天气"),
            found(PAGE, OTHER),
            cited("根据预报，"),
            cited("上海今天", "晴，18 度。\n", by=[by(PAGE)]),
            cited("夜里有雨，"),
            cited("风大。", by=[by(OTHER, "rain"), by(PAGE, "风大"), by(PAGE)]),
            stream=stream,
        )
        with ScriptedModel(reply) as server:
            heard = await hear(SEARCH, anthropic_model(server, disable_streaming=not stream))
        assert heard.text == "我来查一下。\n\n根据预报，上海今天晴，18 度。[1]\n夜里有雨，风大。[2][1]"
        assert heard.sources == [NativeSource("上海天气", PAGE[0], "晴，18 度"), NativeSource("News", OTHER[0], "rain")]
        assert heard.queries == ["上海 天气"]

    async def test_results_are_named_if_none_is_cited(self) -> None:
        with ScriptedModel(claude(asks("q"), found(PAGE, OTHER), cited("晴。"))) as server:
            heard = await hear(SEARCH, anthropic_model(server))
        assert (heard.text, heard.titles) == ("晴。", ["上海天气", "News"])

    async def test_a_paused_turn_goes_on_with_what_was_said_as_it_was(self) -> None:
        first = claude(cited("先查。"), asks("上海 天气"), found(PAGE), cited("晴。", by=[by(PAGE)]), stop="pause_turn")
        second = claude(
            asks("北京 天气"), found(OTHER), cited("北京冷。", by=[by(OTHER)]), cited("上海晴。", by=[by(PAGE)])
        )
        with ScriptedModel(first, second) as server:
            heard = await hear(SEARCH, anthropic_model(server))
        assert heard.text == "先查。\n\n晴。[1]\n\n北京冷。[2]上海晴。[1]"
        assert heard.queries == ["上海 天气", "北京 天气"]
        assert heard.urls == [PAGE[0], OTHER[0]]
        question, echo = server.requests[1].messages
        assert question["role"] == "user"
        assert echo["role"] == "assistant"
        assert [block["type"] for block in echo["content"]] == [
            "text",
            "server_tool_use",
            "web_search_tool_result",
            "text",
        ]
        assert echo["content"][1]["input"] == {"query": "上海 天气"}
        assert echo["content"][2]["content"][0]["encrypted_content"] == "EqgfCio="
        assert echo["content"][3]["citations"][0]["encrypted_index"] == "Eo8BCio="

    async def test_pauses_have_an_end(self) -> None:
        reply = claude(asks("q"), found(PAGE), stop="pause_turn")
        with ScriptedModel(otherwise=reply) as server, pytest.raises(ModelBroken):
            await hear(SEARCH, anthropic_model(server))
        assert len(server.requests) == 4

    async def test_a_search_too_many_is_no_failure(self) -> None:
        reply = claude(
            asks("a"), found(PAGE), asks("b", 2), not_found("max_uses_exceeded", 2), cited("晴。", by=[by(PAGE)])
        )
        with ScriptedModel(reply) as server:
            heard = await hear(SEARCH, anthropic_model(server))
        assert heard.text == "晴。[1]"
        assert heard.queries == ["a", "b"]

    async def test_a_query_that_the_model_mends_is_no_failure(self) -> None:
        reply = claude(asks("aa"), not_found("query_too_long"), asks("bb", 2), found(PAGE, number=2), cited("晴。"))
        with ScriptedModel(reply) as server:
            assert (await hear(SEARCH, anthropic_model(server))).text == "晴。"

    async def test_a_long_answer_without_a_search_streams(self) -> None:
        parts = ["晴" * 100] * (HELD // 100 + 2)
        with ScriptedModel(claude(cited(*parts))) as server:
            heard = await hear(SEARCH, anthropic_model(server))
        assert heard.text == "".join(parts)
        assert len(heard.texts) > 1

    @pytest.mark.parametrize("vendor", ["deepseek", "minimax"])
    async def test_others_copy_the_endpoint(self, vendor: str) -> None:
        with ScriptedModel(claude(asks("q"), found(PAGE), cited("晴。", by=[by(PAGE)]))) as server:
            heard = await hear(search_of(vendor, "anthropic"), anthropic_model(server, "some-model"))
        assert heard.text == "晴。[1]"
        assert server.requests[0].path == "/v1/messages"


class TestFailures:
    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (Reply.body(error_body("rate_limit_error"), 429), ModelRateLimited),
            (Reply.body(error_body("api_error"), 500), ModelUnavailable),
            (Reply.body(error_body("overloaded_error"), 529), ModelUnavailable),
            (Reply.body(error_body("invalid_request_error"), 400), ModelRejected),
            (Reply.events(("error", error_body("overloaded_error"))), ModelUnavailable),
            (claude(cited("我查一下。"), asks("q"), not_found("unavailable"), cited("查不到。")), ModelUnavailable),
            (claude(asks("q"), not_found("too_many_requests"), cited("查不到。")), ModelRateLimited),
            (claude(stop="refusal"), ModelRejected),
            (claude(cited("上海"), ends=False), ModelBroken),
            (claude(cited("上海"), ends=False).with_(ending="broken"), ModelBroken),
        ],
    )
    async def test_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(SEARCH, anthropic_model(server))
        assert (type(raised), text) == (error, "")
        assert len(server.requests) == 1

    async def test_a_wrong_key_is_told_as_such(self) -> None:
        with ScriptedModel() as server:
            model = anthropic_model(server)
            server.key = "another"
            with pytest.raises(ModelAuthFailed):
                await hear(SEARCH, model)

    async def test_a_search_that_fails_in_the_middle_leaves_the_answer_be(self) -> None:
        reply = claude(asks("a"), found(PAGE), cited("晴。", by=[by(PAGE)]), asks("b", 2), not_found("unavailable", 2))
        with ScriptedModel(reply) as server:
            assert (await hear(SEARCH, anthropic_model(server))).text == "晴。[1]"
