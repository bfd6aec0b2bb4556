"""Others are served while somebody asks for much: many streams, the worst answers, the longest conversations."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench import streams
from bench.processes import running
from tests.support.openai_world import Served, serving, user
from tests.support.scripted_model import Reply

READERS = 150
"""Half of those that ``make bench`` has, which has the machine for itself."""


async def longest_wait(served: Served, body: dict[str, Any]) -> tuple[httpx.Response, float]:
    """Ask, and ask for signs of life meanwhile; return the answer and the longest wait for such a sign."""
    async with httpx.AsyncClient(base_url=served.web.url, trust_env=False, timeout=60) as client:
        asked = asyncio.create_task(client.post("/v1/chat/completions", json={"model": "qiusuo-chat", **body}))
        longest = 0.0
        while not asked.done():
            began = time.perf_counter()
            await client.get("/livez")
            longest = max(longest, time.perf_counter() - began)
        return asked.result(), longest


@pytest.mark.parametrize("text", ["![](", "[a](", "[[1]]("])
async def test_an_answer_full_of_brackets(text: str) -> None:
    """100,000 of them once took seconds in which nobody else was served, where they came in one piece."""
    with serving(otherwise=Reply.text(text * 25_000)) as served:
        answer, longest = await longest_wait(served, {"messages": user()})
    assert answer.status_code == 200
    assert longest < 0.6


async def test_an_answer_without_end_is_ended() -> None:
    with serving(otherwise=Reply.text(*["words " * 500] * 100)) as served:
        data = served.ask(search=False)
    assert data["choices"][0]["finish_reason"] == "length"
    assert len(data["choices"][0]["message"]["content"]) < 210_000


async def test_tens_of_thousands_of_messages() -> None:
    messages = [{"role": "user", "content": "a"}] * 60_000
    with serving(otherwise=Reply.text("ok")) as served:
        answer, longest = await longest_wait(served, {"messages": messages})
        assert answer.status_code == 400
        assert "at most 2000" in answer.json()["error"]["message"]
        assert longest < 0.6
        assert served.post(messages[:1999]).status_code == 200
        parts = [{"type": "text", "text": "a"}] * 60_000
        assert served.post(user(parts)).status_code == 400


def test_many_streams(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """300 of them: the first token came after 22 s with SQLite, 8 s with PostgreSQL."""
    monkeypatch.setattr(streams, "STREAMS", READERS)
    monkeypatch.setattr(streams, "PROBES", 10)
    with running(streams.serve_talker) as model, streams.serving(model, f"sqlite:///{tmp_path}/chat.db") as address:
        firsts, probes, refused, _ = asyncio.run(streams.load(address))
    assert not refused
    assert len(firsts) == READERS
    assert statistics.median(firsts) < 2
    assert statistics.median(probes) < 2
