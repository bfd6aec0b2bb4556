"""How much a model takes: its own server is asked beside the turns, which neither wait for it nor fail with it."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import TurnState
from qiusuo.chat.models.opening import RemoteModel, open_model
from qiusuo.chat.models.room import AskedRoom
from qiusuo.chat.models.vendors import choose
from qiusuo.config import Settings
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from tests.support.chat_world import AGENT, ChatWorld
from tests.support.scripted_model import Call, Reply, ScriptedModel

ROOM = 131_072


@asynccontextmanager
async def talking(server: ScriptedModel, world: ChatWorld, **settings: Any) -> AsyncIterator[RemoteModel]:
    """Let the world's turns be answered by a model of the settings on that server."""
    given = {"model": "vllm:scripted", "model_base_url": server.base_url, "model_api_key": server.key, **settings}
    model = open_model(Settings.load(**given))
    assert isinstance(model, RemoteModel)
    world.chat = Chat(world.world.service, model)
    try:
        yield model
    finally:
        await model.aclose()


def three_turns() -> list[Reply]:
    """Return what a model says that searches for much and answers at length, three times."""
    script: list[Reply] = []
    for turn in range(3):
        script += [Reply.tools(*[Call("web_search", {"query": f"{turn} {n}"}) for n in range(3)])]
        script += [Reply.text("答" * 700)]
    return script


class TestTurns:
    async def test_an_agent_on_a_server_that_tells_forgets_nothing(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        with ScriptedModel(*three_turns(), facts={"max_model_len": ROOM}) as server:
            async with ChatWorld() as world, talking(server, world) as model:
                codes = []
                for number in range(3):
                    codes += (await world.ask(f"第 {number} 个问题", AGENT)).codes
                    assert model.room is not None
                    await model.room.answered()
                assert model.info.context_tokens == ROOM
            assert codes == []
            assert "第 0 个问题" in server.requests[-1].prompt
        assert f"takes {ROOM} tokens" in caplog.text

    async def test_a_server_that_does_not_tell_is_taken_as_before_and_that_is_said(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        with ScriptedModel(Reply.text("好。"), Reply.text("好。")) as server:
            async with ChatWorld() as world, talking(server, world) as model:
                for _ in range(2):
                    assert (await world.ask("问题", AGENT)).done.state is TurnState.DONE
                    assert model.room is not None
                    await model.room.answered()
                assert model.info.context_tokens == 8192
        assert caplog.text.count("8192 are assumed") == 1

    async def test_a_silent_server_costs_no_turn_its_time(self) -> None:
        with ScriptedModel(Reply.text("好。"), Reply.text("好。")) as server:
            server.fault = Fault.HANG  # of the list alone; the model answers
            async with ChatWorld() as world, talking(server, world):
                await world.ask("加载", AGENT)  # the client's package too takes its time, once
                began = time.monotonic()
                assert (await world.ask("问题", AGENT)).done.answer == "好。"
                assert time.monotonic() - began < 1.5

    async def test_what_is_set_is_not_asked_for(self) -> None:
        with ScriptedModel(Reply.text("好。"), facts={"max_model_len": ROOM}) as server:
            async with ChatWorld() as world, talking(server, world, model_context=4096) as model:
                await world.ask("问题", AGENT)
                assert model.room is None
                assert model.info.context_tokens == 4096
            assert server.seen == []


class Server(Provider):
    """A model's server that answers some paths."""

    base_path = "/v1"

    def __init__(self, **answers: Any) -> None:
        self.answers = {f"/{path.replace('__', '/')}": data for path, data in answers.items()}

    def authorized(self, seen: Seen) -> bool:
        return seen.headers.get("authorization") == f"Bearer {self.key}"

    def answer(self, seen: Seen) -> Answer:
        data = self.answers.get(seen.path)
        return Answer({"error": "unknown path"}, 404) if data is None else Answer(data)


LISTED = {"data": [{"id": "other", "max_model_len": 1024}, {"id": "m", "max_model_len": 40_960}]}
PROPS = {"default_generation_settings": {"n_ctx": 65_536}}
STUDIO = {"data": [{"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 16_384}]}
UNLOADED = {"data": [{"id": "m", "state": "not-loaded", "max_context_length": 131_072}]}
RUNNING = {"models": [{"name": "m:latest", "context_length": 32_768}]}
SHOWN = {
    "parameters": "temperature 0.7\nnum_ctx                        24576",
    "model_info": {"x.context_length": 99_999},
}
TRAINED = {"parameters": "temperature 0.7", "model_info": {"x.context_length": 99_999}}


@pytest.mark.parametrize(
    ("model", "answers", "room"),
    [
        ("vllm:m", {"v1__models": LISTED}, 40_960),
        ("vllm:m", {"v1__models": {"data": [{"id": "m", "max_model_len": "many"}]}}, None),
        ("vllm:m", {"v1__models": ["?"]}, None),
        ("openai:m", {"v1__models": LISTED}, 40_960),  # at another address than OpenAI's
        ("llamacpp:m", {"props": PROPS}, 65_536),
        ("lmstudio:m", {"api__v0__models": STUDIO}, 16_384),
        ("lmstudio:m", {"api__v0__models": UNLOADED}, None),
        ("ollama:m", {"api__ps": RUNNING, "api__show": SHOWN}, 32_768),
        ("ollama:m", {"api__ps": {"models": []}, "api__show": SHOWN}, 24_576),
        ("ollama:m", {"api__ps": {"models": []}, "api__show": TRAINED}, None),  # it would cut what is longer
        ("compatible:m", {"v1__models": {"data": [{"id": "m"}]}, "props": PROPS}, 65_536),
        ("compatible:m", {"api__ps": RUNNING}, 32_768),
        ("compatible:m", {}, None),
    ],
)
async def test_what_servers_tell(model: str, answers: dict[str, Any], room: int | None) -> None:
    told: list[int] = []
    with ProviderServer(Server(**answers)) as server:
        settings = Settings.load(model=model, model_base_url=server.base_url, model_api_key=server.key)
        asked = AskedRoom(choose(settings), told.append)
        asked.wonder()
        await asked.answered()
    assert told == ([room] if room else [])


async def test_it_is_asked_again_after_a_while() -> None:
    now, told = 0.0, list[int]()
    provider = Server(v1__models={"data": []})
    with ProviderServer(provider) as server:
        settings = Settings.load(model="vllm:m", model_base_url=server.base_url, model_api_key=server.key)
        asked = AskedRoom(choose(settings), told.append, clock=lambda: now)

        async def wonder() -> int:
            asked.wonder()
            await asked.answered()
            return len(server.seen)

        assert [await wonder(), await wonder()] == [1, 1]
        provider.answers["/v1/models"] = LISTED
        now = 61
        assert await wonder() == 2
        now = 600
        assert await wonder() == 2
        now = 662
        assert await wonder() == 3
    assert told == [40_960]
