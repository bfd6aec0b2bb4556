"""Answers that refer to a list of results (Perplexity, Zhipu) or to none (Kimi), by the real LangChain classes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qiusuo.chat.models.port import NativeSource
from qiusuo.errors import ModelBroken, ModelError, ModelRateLimited, ModelUnavailable
from tests.support.native_servers import (
    completion_chunks,
    failure,
    hear,
    models_are_closed,
    openai_model,
    perplexity_agent,
    perplexity_model,
    search_of,
)
from tests.support.scripted_model import Call, Reply, ScriptedModel

__all__ = ["models_are_closed"]  # a fixture

PERPLEXITY, ZHIPU, KIMI = search_of("perplexity"), search_of("zhipu"), search_of("kimi")
A, B = "https://weather.example.cn/shanghai", "https://news.example.com/a"


def row(number: int, url: str, title: str) -> dict[str, Any]:
    return {"id": number, "url": url, "title": title, "snippet": f"{title}的内容", "source": "web"}


def glm(number: int, url: str, title: str) -> dict[str, Any]:
    return {
        "title": title,
        "link": url,
        "content": f"{title}的内容",
        "media": "网站",
        "icon": "",
        "refer": f"ref_{number}",
        "publish_date": "2026-11-15",
    }


class TestPerplexity:
    async def test_the_agent_api_has_the_tool_and_a_list(self) -> None:
        reply = perplexity_agent(
            "上海晴[", "1]。北京冷[we", "b:2][1]，[注]。[9]", results=[row(1, A, "天气"), row(2, B, "")]
        )
        with ScriptedModel(reply) as server:
            heard = await hear(PERPLEXITY, perplexity_model(server))
        assert heard.text == "上海晴[1]。北京冷[2][1]，[注]。"
        assert heard.sources == [NativeSource("天气", A, "天气的内容"), NativeSource("news.example.com", B, "的内容")]
        (request,) = server.requests
        assert request.path == "/v1/responses"
        assert request.body["tools"] == [{"type": "web_search"}]

    async def test_sonar_searches_without_being_told(self) -> None:
        rows = [{"url": A, "title": "天气", "date": None}, {"url": B, "title": "新闻", "date": None}]
        first = {"citations": [A, B], "search_results": rows}
        with ScriptedModel(completion_chunks("晴[1]。", "冷[2]。", first=first, last=first)) as server:
            heard = await hear(PERPLEXITY, perplexity_model(server, "sonar-pro"))
        assert heard.text == "晴[1]。冷[2]。"
        assert heard.titles == ["天气", "新闻"]
        (request,) = server.requests
        assert request.path == "/chat/completions"
        assert "tools" not in request.body

    async def test_bare_addresses_are_a_list_too(self) -> None:
        with ScriptedModel(completion_chunks("晴[2]。", first={"citations": [A, B]})) as server:
            heard = await hear(PERPLEXITY, perplexity_model(server, "sonar"))
        assert (heard.text, heard.titles) == ("晴[2]。", ["weather.example.cn", "news.example.com"])

    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (Reply.rate_limited(), ModelRateLimited),
            (Reply.error(500), ModelUnavailable),
            (
                Reply.events(("", {"type": "response.failed", "error": {"code": "server_error", "message": "No."}})),
                ModelUnavailable,
            ),
            (perplexity_agent(ends=False), ModelBroken),
        ],
    )
    async def test_failures_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(PERPLEXITY, perplexity_model(server))
        assert (type(raised), text) == (error, "")


class TestZhipu:
    async def test_the_list_that_langchain_drops_is_kept(self) -> None:
        rows = [glm(1, A, "天气"), glm(2, "", "没有地址"), glm(3, B, "新闻")]
        reply = completion_chunks("上海晴[re", "f_1]。北京冷【ref_3】，风大[ref_2]。", first={"web_search": rows})
        with ScriptedModel(reply) as server:
            # The class would turn to /responses for such a tool, which is not there.
            heard = await hear(ZHIPU, openai_model(server, "glm-4.6"))
        assert heard.text == "上海晴[1]。北京冷[2]，风大。"
        assert heard.sources == [NativeSource("天气", A, "天气的内容"), NativeSource("新闻", B, "新闻的内容")]
        (request,) = server.requests
        assert request.path == "/v1/chat/completions"
        ((tool,),) = (request.body["tools"],)
        assert tool["type"] == "web_search"
        assert tool["web_search"]["enable"] is True
        assert tool["web_search"]["search_engine"] == "search_pro"
        assert tool["web_search"]["search_result"] is True

    async def test_a_list_at_the_end_fits_the_numbers_that_were_given(self) -> None:
        rows = [glm(1, A, "天气"), glm(2, B, "新闻")]
        with ScriptedModel(completion_chunks("冷[ref_2]，晴[ref_1]。", last={"web_search": rows})) as server:
            heard = await hear(ZHIPU, openai_model(server, "glm-4.6"))
        assert (heard.text, heard.titles) == ("冷[1]，晴[2]。", ["新闻", "天气"])

    async def test_a_late_list_never_gives_a_number_another_page(self) -> None:
        reply = completion_chunks("冷[ref_7]，晴[ref_1]。", last={"web_search": [glm(1, A, "天气")]})
        with ScriptedModel(reply) as server:
            heard = await hear(ZHIPU, openai_model(server, "glm-4.6"))
        assert (heard.text, heard.sources) == ("冷[1]，晴[2]。", [])

    async def test_the_whole_answer_at_once_reads_the_same(self) -> None:
        reply = Reply.text("晴[ref_1]。", extra={"web_search": [glm(1, A, "天气")]})
        with ScriptedModel(reply) as server:
            heard = await hear(ZHIPU, openai_model(server, "glm-4.6", disable_streaming=True))
        assert (heard.text, heard.titles) == ("晴[1]。", ["天气"])

    async def test_our_own_client_keeps_its_ways(self) -> None:
        from qiusuo.chat.models.clients.openai_chat import CompatibleChat

        reply = completion_chunks("晴[ref_1]。", first={"web_search": [glm(1, A, "天气")]})
        with ScriptedModel(reply) as server:
            model = openai_model(server, "glm-4.6", CompatibleChat, max_completion_tokens=99, temperature=0.5)
            heard = await hear(ZHIPU, model)
        assert heard.text == "晴[1]。"
        assert server.requests[0].body["max_tokens"] == 99
        assert server.requests[0].body["temperature"] == 0.5

    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (Reply.rate_limited(), ModelRateLimited),
            (Reply.error(500), ModelUnavailable),
            (completion_chunks(ends=False), ModelBroken),
            (completion_chunks(), ModelBroken),
        ],
    )
    async def test_failures_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(ZHIPU, openai_model(server, "glm-4.6"))
        assert (type(raised), text) == (error, "")


class TestKimi:
    async def test_the_call_is_echoed_unchanged(self) -> None:
        arguments = '{"search_result": {"search_id": "s1"},  "usage": {"total_tokens": 9}, "query": "上海 天气"}'
        search = Reply.tools(Call("$web_search", arguments, id="t1"), say=["我查一下。"])
        with ScriptedModel(search, Reply.text("上海", "晴。")) as server:
            heard = await hear(KIMI, openai_model(server, "kimi-k2-0905-preview"))
        assert heard.text == "我查一下。上海晴。"
        assert (heard.queries, heard.sources) == (["上海 天气"], [])
        first, second = server.requests
        assert first.path == second.path == "/v1/chat/completions"
        assert first.body["tools"] == [{"type": "builtin_function", "function": {"name": "$web_search"}}]
        call, result = second.messages[-2:]
        assert call["tool_calls"][0]["id"] == "t1"
        assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == json.loads(arguments)
        assert result["role"] == "tool"
        assert result["tool_call_id"] == "t1"
        assert result["content"] == arguments

    async def test_echoes_have_an_end(self) -> None:
        with ScriptedModel(otherwise=Reply.tools(Call("$web_search", {}))) as server, pytest.raises(ModelBroken):
            await hear(KIMI, openai_model(server, "kimi-k2-0905-preview"))
        assert len(server.requests) == 5

    async def test_another_function_is_none_of_ours(self) -> None:
        with ScriptedModel(Reply.tools(Call("delete_everything", {}))) as server, pytest.raises(ModelBroken):
            await hear(KIMI, openai_model(server, "kimi-k2-0905-preview"))

    @pytest.mark.parametrize(
        ("reply", "error"), [(Reply.rate_limited(), ModelRateLimited), (Reply.error(500), ModelUnavailable)]
    )
    async def test_failures_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(KIMI, openai_model(server, "kimi-latest"))
        assert (type(raised), text) == (error, "")
