"""What fails in a Chinese turn is told in Chinese, down to the details and the receipt."""

from __future__ import annotations

import re

import pytest

from chat_world import AGENT, SEARCH, ChatWorld
from qiusuo.chat.events import Notice
from qiusuo.chat.session import ChatSettings
from qiusuo.testing import Fault
from scripted_model import Reply

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
