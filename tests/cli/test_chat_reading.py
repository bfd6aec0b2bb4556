"""Conversations in a terminal over a small web, without a model: follow-ups find the right pages, which are read."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from qiusuo.testing import ProviderServer
from tests.support import conversations
from tests.support.chat_terminal import ChatTerminal
from tests.support.small_web import SmallWeb
from tests.support.world import place_of

pytestmark = pytest.mark.programs


@pytest.mark.parametrize("said", [conversations.CHINESE, conversations.ENGLISH], ids=["chinese", "english"])
def test_a_conversation_of_five_turns(said: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    with ExitStack() as stack:
        web = stack.enter_context(ProviderServer(SmallWeb()))
        own = {"SEARXNG_URL": web.base_url, "QIUSUO_READ_PRIVATE": place_of(web)}
        screen = ChatTerminal(stack, tmp_path).screen(**own, QIUSUO_MODEL="extractive", QIUSUO_DEPTH=None)
        assert "extractive" not in screen.wait_for(
            "摘录（无模型）", "联网搜索：开", "› "
        )  # without a model there is nothing else to answer from
        for question, expected in said:
            screen.enter(question)
            screen.wait_for(expected)
        screen.enter("云岭大桥的油漆是哪家工厂生产的")
        screen.wait_for("没有搜到能回答这个问题的内容")
        screen.enter("云岭大桥哪一天正式通车")
        screen.wait_for("来源说法似乎不一")
        screen.enter("/depth")
        screen.wait_for("需要时读网页")
        screen.enter("/depth snippets")
        screen.wait_for("只用摘要")
        screen.enter("/model")
        screen.wait_for("模型：摘录（无模型）")
        assert "extractive" not in screen.text
        assert "Traceback" not in screen.text
