"""Whole turns with a real language model (SmolLM2 135M in llama.cpp): chat, agent, and our own OpenAI endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from openai import OpenAI

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Delta, RoundState, TurnState
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.service import SearchService
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.openai.routes import openai_extension
from tests.support import real_model
from tests.support.chat_world import AGENT, Heard
from tests.support.real_model import one_thread
from tests.support.web_server import WebServer

__all__ = ["one_thread"]  # a fixture
pytestmark = real_model.marks

FACT = "The Eiffel Tower is 330 metres tall and stands in Paris, France."


class Encyclopedia(Searxng):
    """Finds one page that says something a small model can repeat."""

    def answer(self, seen: Seen) -> Answer:
        if seen.path != "/search":
            return super().answer(seen)
        page = {"title": "Eiffel Tower", "url": "https://tower.example.com/", "content": FACT, "engine": "example"}
        return Answer({"query": seen.params["q"], "results": [page], "unresponsive_engines": []})


@contextmanager
def world(**settings: Any) -> Iterator[tuple[SearchService, ProviderServer, Settings]]:
    chosen = {
        "model": real_model.SETTING,
        "model_context": 2048,
        "model_temperature": 0,
        "max_answer_tokens": 60,
        "model_timeout": 300,
        "rate_limit": 0,
        **settings,
    }
    with ProviderServer(Encyclopedia()) as upstream:
        loaded = Settings.load(searxng_url=upstream.url, provider_priority="searxng", **chosen)
        yield SearchService.from_settings(loaded), upstream, loaded


@asynccontextmanager
async def chatting(**settings: Any) -> AsyncIterator[tuple[Chat, ProviderServer]]:
    with world(**settings) as (service, upstream, loaded):
        chat = Chat(service, open_model(loaded))
        try:
            yield chat, upstream
        finally:
            await chat.aclose()
            await service.aclose()


async def hear(chat: Chat, question: str, settings: ChatSettings) -> Heard:
    heard = Heard()
    async for event in chat.turn(Ask(question, settings)).events():
        heard.events.append(event)
    return heard


def searches(upstream: ProviderServer) -> list[str]:
    """What was searched for, the first pages only."""
    pages = [seen.params for seen in upstream.seen if seen.path == "/search"]
    return [page["q"] for page in pages if page.get("pageno", "1") == "1"]


async def test_chat_mode_streams_a_cited_answer() -> None:
    async with chatting() as (chat, upstream):
        heard = await hear(chat, "How tall is the Eiffel Tower?", ChatSettings(search=True))
        assert heard.done.state is TurnState.DONE
        assert len(heard.of(Delta)) > 5
        assert searches(upstream) == ["How tall is the Eiffel Tower?"]
        assert heard.done.cited == (1,), heard.done.answer
        assert "](https://tower.example.com/" in heard.done.answer
        assert heard.done.references.startswith("## References")


async def test_agent_mode_makes_a_real_tool_call() -> None:
    async with chatting(agent_tool_choice="required", agent_rounds=1) as (chat, upstream):
        heard = await hear(chat, "Search the web: how tall is the Eiffel Tower?", AGENT)
        assert heard.done.state is TurnState.DONE
        first = heard.rounds[0]
        assert first.kind in {"web_search", "fetch_page"}
        assert first.query
        if first.kind == "web_search":
            assert first.state is RoundState.DONE
            assert searches(upstream) == [first.query]
        assert heard.done.answer


def test_the_openai_sdk_streams_from_our_endpoint() -> None:
    with world() as (service, upstream, loaded):
        extensions = [chat_extension(open_model(loaded), open_store("sqlite://")), openai_extension]
        with WebServer(service, loaded, extensions=extensions) as server:
            client = OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=300)
            stream = client.chat.completions.create(
                model="qiusuo-chat",
                messages=[{"role": "user", "content": "How tall is the Eiffel Tower?"}],
                stream=True,
            )
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
            assert len([piece for piece in pieces if piece]) > 5
            assert "tower.example.com" in "".join(pieces)
            assert searches(upstream) == ["How tall is the Eiffel Tower?"]
