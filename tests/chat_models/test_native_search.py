"""Search in OpenAI's Responses shape: OpenAI, xAI, Qwen, Doubao, DeepSeek, by the real LangChain classes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from qiusuo.chat.models.native.markers import PATIENCE
from qiusuo.chat.models.port import NativeSource
from qiusuo.errors import (
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from tests.support.native_servers import (
    QUESTION,
    Annotation,
    Refused,
    Searched,
    failed_response,
    failure,
    hear,
    models_are_closed,
    openai_model,
    responses,
    said,
    search_of,
    xai_model,
)
from tests.support.scripted_model import Gate, Reply, ScriptedModel

__all__ = ["models_are_closed"]  # a fixture

PAGE = "https://weather.example.cn/shanghai?utm_source=openai"
MARKER = f"([weather.example.cn]({PAGE}))"
OTHER = "https://news.example.com/a"


class TestOpenAI:
    async def test_the_request_has_the_tool_and_asks_for_sources(self) -> None:
        with ScriptedModel(responses(said("晴。"))) as server:
            await hear(search_of("openai"), openai_model(server))
        (request,) = server.requests
        assert request.path == "/v1/responses"
        assert request.body["tools"] == [{"type": "web_search", "user_location": {"type": "approximate"}}]
        assert request.body["include"] == ["web_search_call.action.sources"]
        assert request.body["stream"] is True

    async def test_markers_become_numbers_and_annotations_become_sources(self) -> None:
        reply = responses(
            Searched("上海 天气", (PAGE, OTHER)),
            said("上海今天", "晴，18 度。", " " + MARKER, Annotation(PAGE, "上海天气", MARKER), " 请带外套。"),
        )
        with ScriptedModel(reply) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.text == "上海今天晴，18 度。 [1] 请带外套。"
        assert heard.sources == [NativeSource("上海天气", "https://weather.example.cn/shanghai")]
        assert heard.queries == ["上海 天气"]
        assert heard.chunks[-1].usage_metadata is not None or any(chunk.usage_metadata for chunk in heard.chunks)

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
    async def test_a_marker_in_pieces_is_never_shown(self, size: int) -> None:
        text = f"晴。 {MARKER} 风 [大]（(3 级)）。"
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        reply = responses(Searched("天气", (PAGE,)), said(*parts, Annotation(PAGE, "上海天气", MARKER)))
        with ScriptedModel(reply) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.text == "晴。 [1] 风 [大]（(3 级)）。"
        assert heard.titles == ["上海天气"]

    async def test_text_streams_while_the_annotation_is_awaited(self) -> None:
        gate = Gate()
        reply = responses(said("晴。 ", MARKER, gate, Annotation(PAGE, "上海天气", MARKER), "完。"))
        with ScriptedModel(reply) as server:
            pieces: Any = search_of("openai").answer(openai_model(server), QUESTION)
            first = ""
            while "晴" not in first:
                first += (await anext(aiter(pieces))).text
            assert first == "晴。 "
            gate.open()
            rest = "".join([piece.text async for piece in pieces])
        assert rest == "[1]完。"

    async def test_one_page_has_one_number_and_two_links_share_a_bracket(self) -> None:
        both = f"([a]({PAGE}), [b]({OTHER}))"
        parts = (
            "甲。",
            MARKER,
            Annotation(PAGE, "A", MARKER),
            "乙。",
            both,
            Annotation(OTHER, "B", both),
            "丙。",
            MARKER,
        )
        with ScriptedModel(responses(said(*parts))) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.text == "甲。[1]乙。[1][2]丙。[1]"
        assert heard.urls == ["https://weather.example.cn/shanghai", OTHER]

    async def test_words_of_a_cited_link_stay_in_the_sentence(self) -> None:
        link, bare = f"[新华社]({OTHER})", f"[news.example.com]({OTHER})"
        parts = ("据", link, Annotation(OTHER, "新闻", link), "报道，晴。", bare, Annotation(OTHER, "新闻", bare))
        with ScriptedModel(responses(said(*parts))) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.text == "据新华社[1]报道，晴。[1]"

    async def test_without_an_annotation_the_form_of_the_link_decides(self) -> None:
        link = "[说明](https://docs.example.com/x)"
        text = f"见 {link}。晴。{MARKER}{'很' * (PATIENCE + 1)}"
        with ScriptedModel(responses(said(text), said("完。"))) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.text == f"见 {link}。晴。[1]{'很' * (PATIENCE + 1)}\n\n完。"
        assert heard.sources == [NativeSource("weather.example.cn", "https://weather.example.cn/shanghai")]

    async def test_looked_at_pages_are_named_if_none_is_cited(self) -> None:
        with ScriptedModel(responses(Searched("q", (OTHER, PAGE, "javascript:alert(1)")), said("晴。"))) as server:
            heard = await hear(search_of("openai"), openai_model(server))
        assert heard.titles == ["news.example.com", "weather.example.cn"]
        assert heard.text == "晴。"

    async def test_what_is_said_while_at_work_is_left_out(self) -> None:
        reply = responses(said("我去查一下。", phase="commentary"), Searched("q"), said("晴。", phase="final_answer"))
        with ScriptedModel(reply) as server:
            assert (await hear(search_of("openai"), openai_model(server))).text == "晴。"

    async def test_private_signs_of_the_model_are_replaced_or_dropped(self) -> None:
        sign, lost = "\ue200cite\ue202turn0search0\ue201", "\ue200cite\ue202turn0search9\ue201"
        reply = responses(said("晴。", sign[:4], sign[4:], Annotation(PAGE, "A", sign), "冷。", lost, "完。"))
        with ScriptedModel(reply) as server:
            assert (await hear(search_of("openai"), openai_model(server))).text == "晴。[1]冷。完。"

    async def test_the_whole_answer_at_once_reads_the_same(self) -> None:
        reply = responses(
            Searched("上海 天气", (PAGE,)), said("晴。", MARKER, Annotation(PAGE, "上海天气", MARKER)), stream=False
        )
        with ScriptedModel(reply) as server:
            heard = await hear(search_of("openai"), openai_model(server, disable_streaming=True))
        assert (heard.text, heard.titles, heard.queries) == ("晴。[1]", ["上海天气"], ["上海 天气"])
        assert not server.requests[0].streams

    async def test_the_model_itself_stays_as_it_was(self) -> None:
        with ScriptedModel(responses(said("晴。")), responses(said("晴。"))) as server:
            model = openai_model(server, use_responses_api=False)
            before = model.model_dump()
            await hear(search_of("openai"), model)
            await hear(search_of("openai"), model)
        assert model.model_dump() == before
        assert server.requests[0].body["tools"] == server.requests[1].body["tools"]

    async def test_other_output_versions_read_the_same(self) -> None:
        with ScriptedModel(responses(said("晴。", MARKER, Annotation(PAGE, "A", MARKER)))) as server:
            heard = await hear(search_of("openai"), openai_model(server, output_version="v1"))
        assert (heard.text, heard.titles) == ("晴。[1]", ["A"])


class TestFailures:
    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (Reply.rate_limited(), ModelRateLimited),
            (Reply.error(500), ModelUnavailable),
            (Reply.error(400, "Tool web_search is not supported."), ModelRejected),
            (failed_response("rate_limit_exceeded", "Slow down."), ModelRateLimited),
            (failed_response("server_error", "Oops."), ModelUnavailable),
            (failed_response("invalid_prompt", "No."), ModelBroken),
            (responses(said(), ends=True), ModelBroken),
            (
                responses(status="incomplete", incomplete_details={"reason": "content_filter"}),
                ModelRejected,
            ),
            (Reply.html(), ModelBroken),
        ],
    )
    async def test_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(search_of("openai"), openai_model(server))
        assert (type(raised), text) == (error, "")
        assert raised is not None
        assert raised.engine == "OpenAI"
        assert len(server.requests) == 1

    async def test_a_wrong_key_is_told_as_such(self) -> None:
        with ScriptedModel() as server:
            model = openai_model(server)
            server.key = "another"
            with pytest.raises(ModelAuthFailed):
                await hear(search_of("openai"), model)

    @pytest.mark.parametrize("ending", ["broken", "short"])
    async def test_a_stream_that_breaks_off_is_an_error_after_its_text(self, ending: str) -> None:
        reply = responses(said("上海今天"), ends=False).with_(ending=ending)
        with ScriptedModel(reply) as server:
            raised, text = await failure(search_of("openai"), openai_model(server))
        assert (type(raised), text) == (ModelBroken, "上海今天")

    async def test_a_refusal_of_the_model_is_its_answer(self) -> None:
        with ScriptedModel(responses(Refused("我不能回答这个问题。"))) as server:
            assert (await hear(search_of("openai"), openai_model(server))).text == "我不能回答这个问题。"

    async def test_silence_ends_after_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        search = search_of("openai")
        monkeypatch.setattr(search, "idle_seconds", 0.05)
        with ScriptedModel(Reply.hang()) as server, pytest.raises(ModelTimeout):
            await hear(search, openai_model(server))

    async def test_leaving_early_hangs_up(self) -> None:
        gate = Gate()
        with ScriptedModel(responses(said("上海", gate, "晴"))) as server:
            pieces: Any = search_of("openai").answer(openai_model(server), QUESTION)
            async for piece in pieces:
                if piece.text:
                    break
            await pieces.aclose()
            await server.hung_up()
            gate.open()

    async def test_a_cancelled_turn_stays_cancelled(self) -> None:
        gate = Gate()
        with ScriptedModel(responses(said("上海", gate, "晴"))) as server:
            task = asyncio.create_task(hear(search_of("openai"), openai_model(server)))
            await gate.reached()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.open()


class TestOtherVendors:
    async def test_xai_numbers_its_titles(self) -> None:
        marker = f"[[1]]({OTHER})"
        reply = responses(Searched("q"), said("晴。", marker, Annotation(OTHER, "1", marker)))
        with ScriptedModel(reply) as server:
            heard = await hear(search_of("xai"), xai_model(server))
        assert (heard.text, heard.titles) == ("晴。[1]", ["news.example.com"])
        (request,) = server.requests
        assert request.path == "/v1/responses"
        assert request.body["tools"] == [{"type": "web_search"}]
        assert "include" not in request.body

    @pytest.mark.parametrize("vendor", ["qwen", "doubao", "deepseek"])
    async def test_chinese_vendors_get_the_bare_tool(self, vendor: str) -> None:
        reply = responses(Searched("q"), said("晴。", "冷。", Annotation(OTHER, "新闻", start=0, end=4)))
        with ScriptedModel(reply) as server:
            # Models of such servers are set to chat completions; the search needs the other endpoint.
            heard = await hear(search_of(vendor), openai_model(server, "some-model", use_responses_api=False))
        assert (heard.text, heard.titles) == ("晴。冷。[1]", ["新闻"])
        (request,) = server.requests
        assert request.path == "/v1/responses"
        assert request.body["tools"] == [{"type": "web_search"}]
        assert "include" not in request.body

    async def test_doubao_may_leave_the_annotations_out(self) -> None:
        body = responses(said("晴。"), stream=False)
        del body.whole["output"][0]["content"][0]["annotations"]
        with ScriptedModel(body) as server:
            heard = await hear(search_of("doubao"), openai_model(server, "doubao-seed-1-6", disable_streaming=True))
        assert heard.text == "晴。"

    async def test_a_child_that_cannot_speak_responses_is_replaced_by_its_parent(self) -> None:
        with ScriptedModel(responses(said("晴。"))) as server:
            model = openai_model(server, "deepseek-chat", child_of_chat_openai())
            heard = await hear(search_of("deepseek", "openai"), model)
        assert heard.text == "晴。"
        assert server.requests[0].path == "/v1/responses"
        assert server.requests[0].body["model"] == "deepseek-chat"


def child_of_chat_openai() -> Any:
    """A class as ChatDeepSeek is: its request needs ``messages``, which Responses do not have."""
    from langchain_openai import ChatOpenAI

    class ChatChild(ChatOpenAI):
        def _get_request_payload(self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
            payload = super()._get_request_payload(input_, stop=stop, **kwargs)
            assert payload["messages"]
            return payload

    kind: type[BaseChatModel] = ChatChild
    return kind
