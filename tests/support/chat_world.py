"""A conversation on loopback: search providers, a scripted model, and a chat over both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import httpx
from langchain_openai import ChatOpenAI

from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Delta, Done, Event, Notice, Round, Sources
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import Model, ModelInfo
from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode
from qiusuo.chat.turns.context import Ask
from qiusuo.pages import PageReader
from tests.support.scripted_model import ScriptedModel, Step
from tests.support.world import World

E_ = TypeVar("E_", bound=Event)

SEARCH = ChatSettings(search=True)
AGENT = ChatSettings(mode=Mode.AGENT)


@dataclass
class Heard:
    """The events of a turn."""

    events: list[Event] = field(default_factory=list)

    def of(self, kind: type[E_]) -> list[E_]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.of(Delta))

    @property
    def done(self) -> Done:
        [done] = self.of(Done)
        assert self.events[-1] is done
        return done

    @property
    def codes(self) -> list[str]:
        return [notice.code for notice in self.of(Notice)]

    @property
    def rounds(self) -> list[Round]:
        """How each round ended."""
        return list({event.number: event for event in self.of(Round)}.values())

    @property
    def numbers(self) -> list[int]:
        return list(dict.fromkeys(source.number for event in self.of(Sources) for source in event.sources))


def scripted_chat_model(server: ScriptedModel, **options: Any) -> ChatOpenAI:
    """Return LangChain's client for the scripted model."""
    settings = {"base_url": server.base_url, "api_key": server.key, "max_retries": 0, "stream_usage": True}
    return ChatOpenAI(**{"model": "scripted", "http_async_client": brief_connections(), **settings, **options})


def brief_connections() -> httpx.AsyncClient:
    """Return a client that keeps no connection: one that outlives its loop warns in some later test."""
    return httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_keepalive_connections=0))


def scripted(server: ScriptedModel, **info: Any) -> Model:
    """Return the scripted model as conversations use it."""
    facts = {"name": "openai:scripted", "label": "Scripted", "kind": "remote", "provider": "scripted", **info}
    return model_from(scripted_chat_model(server), ModelInfo(**facts))


class ChatWorld:
    """Providers by name, a script for the model, and the chat over them; ``async with`` it."""

    def __init__(
        self,
        *script: Step,
        engines: Iterable[str] = ("searxng",),
        reader: PageReader | None = None,
        clock: Callable[[], float] = time.time,
        **settings: Any,
    ) -> None:
        self._stack = ExitStack()
        self.model = self._stack.enter_context(ScriptedModel(*script))
        self.world = World(*engines, **{"rate_limit": 0, "hedge_delay": 0, **settings})
        self.chat = Chat(self.world.service, scripted(self.model), reader=reader, clock=clock)
        self.memory = Memory()

    def requests(self, engine: str = "searxng") -> int:
        """How often an engine was asked."""
        return self.world.requests(engine)

    async def ask(self, question: str, settings: ChatSettings = SEARCH, **more: Any) -> Heard:
        """Ask the next question of the conversation and hear the answer out."""
        heard = Heard()
        async for event in self.chat.turn(Ask(question, settings, **more), self.memory).events():
            heard.events.append(event)
        return heard

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.chat.aclose()
        await self.world.__aexit__()
        self._stack.close()
