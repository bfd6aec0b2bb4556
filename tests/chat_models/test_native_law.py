"""A model that searches by itself, and a legal index: questions of law go to the index, all others to the model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Notice, Sources
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.words import Language
from tests.support.chat_world import AGENT, SEARCH, Heard
from tests.support.native_servers import Annotation, Searched, models_are_closed, openai_model, responses, said
from tests.support.scripted_model import Call, Reply, ScriptedModel, Step

__all__ = ["models_are_closed"]  # a fixture
pytest_plugins = ["tests.support.legal_fixtures"]

PAGE = "https://example.cn/tea"
MARKER = f"([example.cn]({PAGE}))"
NATIVE = responses(Searched("茶", (PAGE,)), said("网上说。 ", MARKER, Annotation(PAGE, "茶", MARKER)))
ARTICLE = "茶叶法第三条怎么说"


@asynccontextmanager
async def native_chat(*script: Step, **settings: Any) -> AsyncIterator[tuple[Chat, ScriptedModel]]:
    """A chat whose model has OpenAI's own search and whose service has nothing but what is installed."""
    info = ModelInfo("openai:gpt-5", "GPT-5", "remote", "openai", native_search=True)
    with ScriptedModel(*script) as server:
        async with SearchService.from_settings(Settings.load(model_search="openai", **settings)) as service:
            chat = Chat(service, model_from(openai_model(server), info))
            try:
                yield chat, server
            finally:
                await chat.aclose()


async def ask(chat: Chat, question: str, settings: ChatSettings = SEARCH) -> Heard:
    turn = chat.turn(Ask(question, settings))
    return Heard([event async for event in turn.events()])


async def test_an_article_comes_from_the_index(sample_folder: Path) -> None:
    async with native_chat(Reply.text("茶农自行决定 [1]。"), legal_dir=str(sample_folder)) as (chat, model):
        heard = await ask(chat, ARTICLE)
    assert [round_.engine for round_ in heard.rounds] == ["laws"]
    assert "茶农有权自行决定采摘时间" in model.requests[0].prompt
    [source] = heard.of(Sources)[0].sources
    assert source.card is not None
    assert heard.done.cited == (1,)


async def test_the_agent_has_the_legal_tools(sample_folder: Path) -> None:
    call = Reply.tools(Call("regulationSearch", {"query": "茶叶法第三条"}))
    async with native_chat(call, Reply.text("见 [1]。"), legal_dir=str(sample_folder)) as (chat, model):
        heard = await ask(chat, ARTICLE, AGENT)
    assert {"regulationSearch", "caseSearch"} <= set(model.requests[0].tools)
    assert [round_.kind for round_ in heard.rounds] == ["regulationSearch"]
    assert heard.done.cited == (1,)


@pytest.mark.parametrize("settings", [SEARCH, AGENT])
@pytest.mark.parametrize(
    "question",
    [
        pytest.param("怎么泡茶", id="no question of law"),
        pytest.param("茶叶法最近有什么新闻", id="what people say of a law"),
        pytest.param("咖啡豆烘焙管理办法第三条", id="a law that is not installed"),
    ],
)
async def test_the_rest_is_the_models_own(sample_folder: Path, question: str, settings: ChatSettings) -> None:
    async with native_chat(NATIVE, legal_dir=str(sample_folder)) as (chat, _):
        heard = await ask(chat, question, settings)
    assert [round_.kind for round_ in heard.rounds] == ["native"]
    assert f"[[1]]({PAGE})" in heard.done.answer


async def test_without_an_index_the_model_searches(tmp_path: Path) -> None:
    async with native_chat(NATIVE, legal_dir=str(tmp_path / "none")) as (chat, _):
        assert [round_.kind for round_ in (await ask(chat, ARTICLE)).rounds] == ["native"]


async def test_who_names_the_models_search_gets_it(sample_folder: Path) -> None:
    async with native_chat(NATIVE, legal_dir=str(sample_folder)) as (chat, _):
        heard = await ask(chat, ARTICLE, ChatSettings(search=True, engine="native"))
    assert [round_.kind for round_ in heard.rounds] == ["native"]


async def test_a_broken_index_is_no_reason_not_to_search(sample_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_handle: IndexHandle) -> None:
        raise OSError("gone")

    async with native_chat(NATIVE, legal_dir=str(sample_folder)) as (chat, _):
        monkeypatch.setattr(IndexHandle, "get", broken)
        heard = await ask(chat, ARTICLE)
    assert [round_.kind for round_ in heard.rounds] == ["native"]


async def test_what_the_index_says_is_told_beside_the_models_own_search(sample_folder: Path) -> None:
    async with native_chat(NATIVE, legal_dir=str(sample_folder)) as (chat, _):
        heard = await ask(chat, "旧水壶法第一条怎么说")
    assert [round_.kind for round_ in heard.rounds] == ["native"]
    [told] = [notice.wording(Language.CHINESE).what for notice in heard.of(Notice) if notice.code == "law_note"]
    assert "修改前的版本" in told
