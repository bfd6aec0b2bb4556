"""What fails in a Chinese turn is told in Chinese, down to the details and the receipt."""

from __future__ import annotations

import re

import pytest

from qiusuo.chat.chinese import in_chinese
from qiusuo.chat.events import Notice
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.testing import Fault
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Reply

# Three English words in a row are a sentence. What a provider said itself, behind the status, stays as it is; and
# there are commands.
SENTENCE = re.compile(r"[a-z']+ [a-z']+ [a-z']+")
NO_SENTENCE = re.compile(r"(?<=）：)[\w ]+\.|qiusuo searxng")


@pytest.mark.parametrize("fault", list(Fault))
async def test_no_detail_is_english(fault: Fault) -> None:
    async with ChatWorld(Reply.text("好"), Reply.text("好"), timeout=0.5) as world:
        world.world["searxng"].fault = fault
        for question in ("今天的新闻", "昨天的新闻"):  # the second may find the engine at rest
            heard = await world.ask(question)
            told = [text for notice in heard.of(Notice) for text in (notice.message, notice.fix)]
            told += [round_.reason for round_ in heard.rounds]
            told += [str(line.get(name, "")) for line in heard.rounds[0].attempts for name in ("reason", "fix")]
            assert not [text for text in told if SENTENCE.search(NO_SENTENCE.sub("", text))]


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ("Check the network.", "请检查网络。"),
        ("Check the network and DDGS_PROXY.", "请检查网络和 DDGS_PROXY。"),
        ("Check the network and the proxy.", "请检查网络和代理。"),
        ("Check the address.", "请检查地址。"),
        ("cannot connect to html.duckduckgo.com through DDGS_PROXY.", "通过 DDGS_PROXY 连不上 html.duckduckgo.com。"),
        ("cannot connect to a.example: the name cannot be resolved.", "无法解析域名 a.example。"),
        ("Web search is off: searxng: SearXNG needs an API key.", "searxng：SearXNG 需要 API key。"),
        (
            "rests for 9 s more after: a.example denied access (HTTP 403).",
            "还要停用 9 秒，之前：a.example 拒绝访问（HTTP 403）。",
        ),
        ("The provider refused the request (HTTP 400): Bad input.", "模型的服务商拒绝了请求（HTTP 400）：Bad input."),
        ("What nobody knows.", "What nobody knows."),
    ],
)
def test_what_errors_say(ours: str, told: str) -> None:
    assert in_chinese(ours) == told


async def test_a_fault_of_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_more: object) -> None:
        raise RuntimeError("oops")

    call = Reply.tools(Call("web_search", {"query": "新闻"}))
    async with ChatWorld(call, Reply.text("好")) as world:
        monkeypatch.setattr(type(world.world.service), "asearch", broken)
        heard = await world.ask("今天的新闻", AGENT)
    assert [round_.reason for round_ in heard.rounds] == ["工具 web_search 出了故障。"]
    [notice] = heard.of(Notice)
    assert notice.fix == "日志里有详情。"


async def test_english_turns_have_the_errors_own_words() -> None:
    async with ChatWorld(Reply.text("well")) as world:
        world.world["searxng"].fault = Fault.SERVER_ERROR
        heard = await world.ask("news of today")
    [notice] = heard.of(Notice)
    assert "failed (HTTP 500): Internal error." in notice.message
    assert notice.fix == "The provider has a problem; try again later."


@pytest.mark.parametrize("settings", [SEARCH, AGENT])
async def test_without_any_engine(settings: ChatSettings) -> None:
    async with ChatWorld(Reply.text("好"), engines=()) as world:
        heard = await world.ask("今天的新闻", settings)
    [notice] = heard.of(Notice)
    assert notice.code == "search_disabled"
    assert notice.message == "没有可用的搜索引擎。 搜索服务没有引擎。"
    assert notice.fix == "请给 SearchService 至少一个引擎。"


async def test_the_model_is_told_how_to_enable_search_and_the_reader_is_not_told_to_tell_himself() -> None:
    async with ChatWorld(Reply.text("well"), engines=()) as world:
        heard = await world.ask("news of today", AGENT)
        assert "Give SearchService at least one engine." in world.model.requests[0].messages[0]["content"]
    [notice] = heard.of(Notice)
    assert "告知用户" not in notice.message
