"""Models that search by themselves, of the real LangChain classes, and what one hears of their answers."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.messages.ai import AIMessageChunk

from qiusuo.chat.models.native import CAPABILITIES
from qiusuo.chat.models.port import ModelInfo, NativeSearch, NativeSource
from qiusuo.errors import ModelError
from tests.support.scripted_model import ScriptedModel

QUESTION: tuple[BaseMessage, ...] = (HumanMessage("上海今天天气如何？"),)


@dataclass
class Heard:
    """The pieces of an answer put together."""

    text: str
    queries: list[str]
    sources: list[NativeSource]
    texts: list[str]
    chunks: list[AIMessageChunk]

    @property
    def urls(self) -> list[str]:
        return [source.url for source in self.sources]

    @property
    def titles(self) -> list[str]:
        return [source.title for source in self.sources]


async def hear(search: NativeSearch, model: BaseChatModel, messages: Sequence[BaseMessage] = QUESTION) -> Heard:
    heard = Heard("", [], [], [], [])
    async for piece in search.answer(model, messages):
        heard.text += piece.text
        heard.texts += [piece.text] if piece.text else []
        heard.queries += piece.queries
        heard.sources += piece.sources
        heard.chunks += [piece.chunk] if piece.chunk is not None else []
        # A number in the text always has its source by then, or gets it later; never is a source given twice.
        assert len({source.url for source in heard.sources}) == len(heard.sources)
    return heard


async def failure(search: NativeSearch, model: BaseChatModel) -> tuple[ModelError | None, str]:
    """The error with which an answer ends, and the text that was given before."""
    text = ""
    try:
        async for piece in search.answer(model, QUESTION):
            text += piece.text
    except ModelError as error:
        return error, text
    return None, text


def search_of(vendor: str, package: str = "") -> NativeSearch:
    return next(line.search for line in CAPABILITIES if line.vendor == vendor and line.package.endswith(package))


def info(name: str) -> ModelInfo:
    return ModelInfo(name, name, "remote", name.partition(":")[0])


# Models: the real classes, with a loopback address and without retries. Their connections belong to the test's loop.

_to_close: list[Callable[[], Awaitable[None]]] = []


@pytest.fixture(autouse=True)
async def models_are_closed() -> AsyncIterator[None]:
    """Close the connections of every model that the test has made; import it into the module of the tests."""
    yield
    while _to_close:
        await _to_close.pop()()


def _http() -> dict[str, Any]:
    client = httpx.AsyncClient(timeout=20)
    _to_close.append(client.aclose)
    return {"http_async_client": client, "max_retries": 0}


def openai_model(server: ScriptedModel, name: str = "gpt-5", kind: Any = None, **settings: Any) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    made: BaseChatModel = (kind or ChatOpenAI)(
        model=name, base_url=server.base_url, api_key=server.key, **_http(), **settings
    )
    return made


def xai_model(server: ScriptedModel, name: str = "grok-4") -> BaseChatModel:
    from langchain_xai import ChatXAI

    return ChatXAI(model=name, xai_api_base=f"{server.base_url}/", api_key=server.key, **_http())


def anthropic_model(server: ScriptedModel, name: str = "claude-sonnet-5", **settings: Any) -> BaseChatModel:
    from langchain_anthropic import ChatAnthropic, _client_utils

    made = ChatAnthropic(model=name, base_url=server.root, api_key=server.key, max_retries=0, **settings)

    async def close() -> None:
        await made._async_client.close()
        # The package keeps its connections by address, and a port may come again.
        _client_utils._get_default_async_httpx_client.cache_clear()

    _to_close.append(close)
    return made


def gemini_model(server: ScriptedModel, name: str = "gemini-2.5-flash", **settings: Any) -> BaseChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    made = ChatGoogleGenerativeAI(model=name, base_url=server.root, api_key=server.key, max_retries=1, **settings)
    client: Any = made.client

    async def close() -> None:
        await client.aio.aclose()
        # What an error has left behind (see the filters of the Gemini tests) must not warn in another test.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()

    _to_close.append(close)
    return made


def perplexity_model(server: ScriptedModel, name: str = "openai/gpt-5") -> BaseChatModel:
    from langchain_perplexity import ChatPerplexity

    # The class takes no address; the SDK reads this variable.
    with mock.patch.dict(os.environ, {"PERPLEXITY_BASE_URL": server.root}):
        made = ChatPerplexity(model=name, api_key=server.key, max_retries=0, timeout=20)
    _to_close.append(made.async_client.close)
    return made
