"""Several models at hand: chosen for a conversation or a message, opened late, replaced while turns run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import ModelTaken, Notice, TurnState
from qiusuo.chat.models.book import ModelBook
from qiusuo.chat.models.vendors import settings_of
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from tests.support.chat_world import ChatWorld, Heard
from tests.support.scripted_model import Gate, Reply, ScriptedModel

PLAIN = ChatSettings()


def table(server: ScriptedModel, name: str = "cheap", **more: Any) -> dict[str, Any]:
    """Return the table of a scripted model."""
    where = {"base_url": server.base_url, "api_key": server.key, "context": 8192}
    return {"model": f"compatible:{name}", **where, **more}


@pytest.fixture
def other() -> Iterator[ScriptedModel]:
    with ScriptedModel(otherwise=Reply.text("From the other.")) as server:
        yield server


class TestChoosing:
    async def test_a_conversation_and_a_single_message_choose(self, other: ScriptedModel) -> None:
        async with ChatWorld(Reply.text("One."), Reply.text("Two."), models={"cheap": table(other)}) as world:
            assert (await world.ask("What is tea?", PLAIN)).text == "One."
            heard = await world.ask("What is tea?", ChatSettings(model="cheap"))
            assert heard.text == "From the other."
            assert other.requests[-1].body["model"] == "cheap"
            assert heard.codes == []
            assert (await world.ask("And coffee?", ChatSettings(model="cheap"), model="")).text == "Two."
            assert (await world.ask("And milk?", PLAIN, model="cheap")).text == "From the other."

    async def test_the_record_names_the_model_that_answered(self, other: ScriptedModel) -> None:
        async with ChatWorld(models={"cheap": table(other)}) as world:
            turn = world.chat.turn(Ask("What is tea?", ChatSettings(model="cheap")))
            events = [event async for event in turn.events()]
        assert turn.record.model == "compatible:cheap"
        assert not any(isinstance(event, ModelTaken) for event in events)

    async def test_of_a_name_that_is_gone_the_first_answers_and_says_so(self) -> None:
        async with ChatWorld(Reply.text("The first.")) as world:
            heard = await world.ask("What is tea?", ChatSettings(model="gone"))
        assert heard.text == "The first."
        assert heard.codes == ["model_gone"]

    async def test_one_that_is_set_wrongly_tells_why_and_the_others_answer(self, other: ScriptedModel) -> None:
        wrong = {"model": "nobody:knows"}
        async with ChatWorld(Reply.text("Well."), models={"wrong": wrong, "cheap": table(other)}) as world:
            failed = await world.ask("What is tea?", ChatSettings(model="wrong"))
            assert failed.done.state is TurnState.FAILED
            assert failed.codes == ["model_not_configured"]
            assert (await world.ask("What is tea?", PLAIN)).text == "Well."
            assert (await world.ask("What is tea?", ChatSettings(model="cheap"))).text == "From the other."
            kinds = {one["name"]: one["kind"] for one in world.chat.book.to_list()}
        assert kinds == {"": "remote", "wrong": "unusable", "cheap": "remote"}

    async def test_what_to_mend_is_said_of_its_own_table(self) -> None:
        with ScriptedModel(Reply.error(401, "no", code="invalid_api_key")) as refusing:
            models = {"keyless": {"model": "deepseek:deepseek-chat"}, "cheap": table(refusing)}
            async with ChatWorld(models=models) as world:
                [keyless] = (await world.ask("What is tea?", ChatSettings(model="keyless"))).of(Notice)
                [refused] = (await world.ask("What is tea?", ChatSettings(model="cheap"))).of(Notice)
        assert keyless.fix == "Set DEEPSEEK_API_KEY, or api_key under [models.keyless]."
        assert refused.fix == "Check api_key under [models.cheap]."

    async def test_the_name_is_kept_with_the_conversation(self) -> None:
        settings = PLAIN.changed({"model": "cheap"})
        assert ChatSettings.from_dict(settings.to_dict()).model == "cheap"
        assert settings.changed({"model": None}).model is None
        assert settings.changed({"model": ""}).model is None


def test_nothing_of_the_first_model_is_handed_to_another() -> None:
    settings = Settings.load(
        model="openai:gpt-5.5", model_api_key="sk-first", model_base_url="http://127.0.0.1:1/v1", model_context=1000,
        model_temperature=1, max_answer_tokens=100, model_search="openai", models={"cheap": {"model": "ollama:qwen3"}},
    )  # fmt: skip
    own = settings_of(settings, "cheap")
    assert own.model == "ollama:qwen3"
    assert (own.model_api_key, own.model_base_url, own.model_context) == (None, None, None)
    assert (own.model_temperature, own.max_answer_tokens, own.model_search) == (None, None, "auto")


class TestRenewing:
    async def test_a_turn_that_runs_keeps_its_model_and_the_next_has_the_new_one(self, other: ScriptedModel) -> None:
        gate = Gate()
        other.add(Reply.text("Old", gate, " words."))
        with ScriptedModel(otherwise=Reply.text("New words.")) as newer:
            async with ChatWorld(models={"cheap": table(other)}) as world:
                chat = world.chat
                old = chat.book
                turn = chat.turn(Ask("What is tea?", ChatSettings(model="cheap")))
                heard = Heard()
                listening = asyncio.create_task(_hear(turn, heard))
                await gate.reached()
                await chat.renew(chat.settings.model_copy(update={"models": _models(cheap=table(newer))}))
                assert chat.book is not old
                gate.open()
                await listening
                assert heard.text == "Old words."
                assert heard.done.state is TurnState.DONE
                assert (await world.ask("What is tea?", ChatSettings(model="cheap"))).text == "New words."

    async def test_old_models_are_closed_after_the_last_turn_that_uses_them(self) -> None:
        gate = Gate()
        async with ChatWorld(Reply.text("Old", gate, " words.")) as world:
            chat = world.chat
            closed: list[str] = []
            first = Closing(chat.book.first, closed)
            chat.book = ModelBook(chat.settings, first)
            listening = asyncio.create_task(_hear(chat.turn(Ask("What is tea?", PLAIN)), Heard()))
            await gate.reached()
            await chat.renew(chat.settings.model_copy(update={"model_context": 9000}))
            assert closed == []
            gate.open()
            await listening
            assert closed == ["closed"]

    async def test_settings_that_change_no_model_keep_those_that_are_open(self) -> None:
        async with ChatWorld(Reply.text("Well.")) as world:
            chat: Chat = world.chat
            book = chat.book
            await chat.renew(chat.settings.model_copy(update={"search_default": True}))
            assert chat.book is book
            assert chat.usual_settings.search is True
            assert (await world.ask("What is tea?", PLAIN)).text == "Well."


class Closing:
    """A model that notes that it was closed."""

    def __init__(self, model: Any, closed: list[str]) -> None:
        self._model = model
        self._closed = closed
        self.info = model.info

    async def chat_model(self) -> Any:
        return await self._model.chat_model()

    async def aclose(self) -> None:
        self._closed.append("closed")


@pytest.mark.parametrize(("default", "search"), [(None, False), (True, True), (False, False)])
async def test_new_conversations_search_as_the_settings_say(default: bool | None, search: bool) -> None:
    async with ChatWorld(search_default=default) as world:
        assert world.chat.usual_settings.search is search


def _models(**tables: dict[str, Any]) -> Any:
    return Settings.load(models=tables).models


async def _hear(turn: Any, heard: Heard) -> None:
    async for event in turn.events():
        heard.events.append(event)
