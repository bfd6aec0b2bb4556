"""A server that is used as a model in OpenAI's shape, with a scripted model and a search engine behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import orjson
from langchain_core.messages import messages_from_dict
from openai.types.chat import ChatCompletionChunk

from qiusuo.chat.models.port import Model
from qiusuo.chat.stores.opening import open_store
from qiusuo.web.backend import Extend
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.openai.request import read_conversation
from qiusuo.web.openai.routes import openai_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

QUESTION = "云南的春茶什么时候采摘？"
ENGLISH = "When is spring tea harvested in Yunnan?"
SEARCHED = Reply.text("春茶在三月", "采摘 [1", "]，也有人说四月 [2]。🍵 见[1]。")


def user(text: Any = QUESTION) -> list[Any]:
    return [{"role": "user", "content": text}]


@dataclass(frozen=True)
class Served:
    """The server, and the scripted model behind it."""

    web: WebServer
    model: ScriptedModel

    @property
    def options(self) -> dict[str, Any]:
        return {"base_url": f"{self.web.url}/v1", "api_key": "tok-0123456789abcdef", "max_retries": 0}

    @property
    def searches(self) -> int:
        return self.web.world.requests("searxng")

    def post(self, messages: list[Any] | None = None, **body: Any) -> httpx.Response:
        asked = {"model": "qiusuo-chat", "messages": messages or user(), **body}
        return self.web.client.post("/v1/chat/completions", json=asked)

    def ask(self, messages: list[Any] | None = None, **body: Any) -> dict[str, Any]:
        answer = self.post(messages, **body)
        assert answer.status_code == 200, answer.text
        data: dict[str, Any] = answer.json()
        return data

    def prompt(self, request: int = -1) -> list[tuple[str, str]]:
        return [(message["role"], message["content"]) for message in self.model.requests[request].messages]


@contextmanager
def serving(
    *script: Step,
    otherwise: Step | None = None,
    ping_seconds: float = 20,
    port: Callable[[ScriptedModel], Model] = scripted,
    extensions: Sequence[Extend] = (),
    engine: str = "searxng",
    **settings: Any,
) -> Iterator[Served]:
    with ScriptedModel(*script, otherwise=otherwise) as model:
        parts: list[Extend] = [
            *extensions,
            chat_extension(model=port(model), store=open_store(":memory:")),
            partial(openai_extension, ping_seconds=ping_seconds),
        ]
        with WebServer.over(engine, extensions=parts, **{"hedge_delay": 0, **settings}) as web:
            yield Served(web, model)


def content_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def assert_marks(content: str, annotations: list[dict[str, Any]], numbers: list[int]) -> None:
    """Every annotation covers the link of its source in the text."""
    assert len(annotations) == len(numbers)
    for annotation, number in zip(annotations, numbers, strict=True):
        cited = annotation["url_citation"]
        assert annotation["type"] == "url_citation"
        assert content[cited["start_index"] : cited["end_index"]] == f"[[{number}]]({cited['url']})"
        assert cited["title"]


def heard_again(answer: str) -> str:
    """Return what the model is told of an earlier answer that a client sends back."""
    messages = [*user(), {"role": "assistant", "content": answer}, *user("And?")]
    _, _, memory = read_conversation(orjson.dumps({"model": "qiusuo-chat", "messages": messages}), None)
    return str(messages_from_dict(memory.messages)[-1].text)
