"""What the legal index says about a question reaches the reader and the model, above all where it found nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_world import SEARCH, Heard, scripted
from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.context import Ask
from qiusuo.chat.events import Notice
from qiusuo.config import Settings
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from scripted_model import Reply, ScriptedModel

pytest_plugins = ["legal_fixtures"]


async def ask(folder: Path, question: str, engines: str = "laws") -> tuple[Heard, str]:
    """Return the events of a turn over an index alone, and what the model was asked."""
    settings = Settings.load(legal_dir=str(folder), provider_priority=engines)
    with ScriptedModel(Reply.text("好。")) as model:
        async with SearchService.from_settings(settings) as service:
            chat = Chat(service, scripted(model))
            heard = Heard([event async for event in chat.turn(Ask(question, SEARCH)).events()])
            await chat.aclose()
        return heard, model.requests[0].prompt


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("旧水壶法第一条怎么说", "水壶法》修改前的版本"),
        ("茶叶法第二百六四条", "“第二百六四条”"),
        ("咖啡豆法第三条", "索引中没有“咖啡豆法”"),
    ],
)
async def test_why_nothing_was_found(sample_folder: Path, question: str, said: str) -> None:
    heard, prompt = await ask(sample_folder, question)
    [told] = [notice for notice in heard.of(Notice) if notice.code == "law_note"]
    assert told.level == "warning"
    assert said in told.message
    assert said in prompt


async def test_the_note_stands_beside_a_failed_search(sample_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(Searxng(), fault=Fault.SERVER_ERROR) as searxng:
        monkeypatch.setenv("SEARXNG_URL", searxng.base_url)
        heard, prompt = await ask(sample_folder, "旧水壶法第一条怎么说", "laws,searxng")
    assert heard.codes[-2:] == ["search_unavailable", "law_note"]
    assert "修改前的版本" in prompt


async def test_how_a_question_was_understood(sample_folder: Path) -> None:
    heard, prompt = await ask(sample_folder, "家传茶叶法第三条")
    [told] = [notice for notice in heard.of(Notice) if notice.code == "law_note"]
    assert (told.level, heard.rounds[0].numbers) == ("info", (1,))
    assert "按《中华人民共和国茶叶法》理解“家传茶叶法”" in told.message
    assert "按《中华人民共和国茶叶法》理解“家传茶叶法”" in prompt


async def test_there_is_nothing_to_say_of_a_plain_question(sample_folder: Path) -> None:
    heard, prompt = await ask(sample_folder, "茶叶法第二条")
    assert "law_note" not in heard.codes
    assert "法律索引的说明" not in prompt
