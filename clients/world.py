"""What the clients talk to: ``qiusuo serve`` over a SearXNG and a language model that are played on loopback."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.model_replies import Asked, Call, Reply
from tests.support.scripted_model import ScriptedModel

TOKEN = "tok-clients-0123456789"
SEARCH_TOOL = "web_search"  # ours, or one of the client's own
FOUND = "tea is picked in March, page"
CITY_TOOL = re.compile(r"weather", re.IGNORECASE)
FINISH_TOOL = "final_answer"  # smolagents ends with it
TYPED_TOOL = "Picking"  # instructor asks for a type so
PICKING = '{"city": "Kunming", "month": "March"}'
SOURCE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


class Tea(Searxng):
    """Finds other pages for another query, so that numbers must run on in a conversation."""

    @staticmethod
    def page(number: int, query: str) -> dict[str, str]:
        place = hashlib.sha256(query.lower().encode()).hexdigest()[:6]
        return {
            "title": f"{query} {number}",
            "url": f"https://tea-{place}.example.com/page/{number}",
            "snippet": f"{query}: {FOUND} {number} says.",
            "date": f"2026-10-{number % 28 + 1:02d}",
        }


def answer(asked: Asked) -> Reply:
    """Play the model: search where it can, call the client's tool where it is asked for the weather, then cite."""
    since = _since_the_question(asked.messages)
    texts = [_text(message) for message in since]
    numbers = next((found for text in reversed(texts) if (found := SOURCE.findall(text))), [])
    weather = next((name for name in asked.tools if CITY_TOOL.search(name)), None)
    knows_weather = any("21 degrees" in text for text in texts)
    search = next((name for name in asked.tools if name.endswith(SEARCH_TOOL)), None)
    found = bool(numbers) or any(FOUND in text for text in texts)
    if search and not found and since[-1].get("role") != "tool":
        return Reply.tools(Call(search, {"query": "spring tea in Yunnan"}))
    if weather and not knows_weather and "weather" in texts[0].lower():
        return Reply.tools(Call(weather, {"city": "Kunming"}))
    if (asked.body.get("response_format") or {}).get("type") in {"json_schema", "json_object"}:
        return Reply.text(PICKING)
    if TYPED_TOOL in asked.tools:
        return Reply.tools(Call(TYPED_TOOL, PICKING))
    said = "It is 21 degrees in Kunming. " if knows_weather else ""
    if not found:
        return Reply.text(said + "Nothing was found.")
    said += ", and ".join(f"tea is picked in March [{number}]" for number in (numbers or ["1"])[:2]) + "."
    if FINISH_TOOL in asked.tools:
        return Reply.tools(Call(FINISH_TOOL, {"answer": said}))
    return Reply.text(*re.findall(r"\S+\s*", said))


def _since_the_question(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last message of the user with all that follows."""
    last = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=0)
    return messages[last:]


@dataclass(frozen=True)
class World:
    """Where the server is, and what stands behind it."""

    url: str
    searxng: ProviderServer
    model: ScriptedModel

    @property
    def environment(self) -> dict[str, str]:
        """What a client's program is told; proxies have no business with loopback."""
        return {
            "QIUSUO_URL": self.url,
            "QIUSUO_TOKEN": TOKEN,
            "QIUSUO_SEARXNG": self.searxng.base_url,
            "NO_PROXY": "127.0.0.1,localhost",
        }


@contextmanager
def running(log: Path) -> Iterator[World]:
    """Serve with a token, as a server that others may reach does; what it says goes to ``log``."""
    with (
        tempfile.TemporaryDirectory(prefix="qiusuo-clients-") as folder,
        ProviderServer(Tea()) as searxng,
        ScriptedModel(otherwise=answer) as model,
        log.open("w+", encoding="utf-8") as said,
    ):
        environment = {
            **os.environ,
            "QIUSUO_LANG": "en",
            "QIUSUO_DATABASE_URL": f"sqlite:///{Path(folder) / 'chat.db'}",
            "QIUSUO_MODEL": "openai:scripted",
            "QIUSUO_MODEL_BASE_URL": model.base_url,
            "QIUSUO_MODEL_API_KEY": model.key,
            "QIUSUO_MODEL_SEARCH": "off",
            "QIUSUO_TOKENS": f"client:{TOKEN}",
            "SEARXNG_URL": searxng.base_url,
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARCH_RATE_LIMIT": "0",
            "XDG_DATA_HOME": folder,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "qiusuo", "serve", "--port", "0"], env=environment, stderr=said
        )
        try:
            yield World(_address(process, log), searxng, model)
        finally:
            process.terminate()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text("utf-8")):
            return found[0]
        time.sleep(0.05)
    raise SystemExit(f"The server did not start: {log.read_text('utf-8')}")


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
