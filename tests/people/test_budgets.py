"""Budgets: counted per month and person, told before they end, and kept at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.people.budgets import month_of, next_month
from tests.support.people_world import EVE, PeopleServer, people_server

NOVEMBER = datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()
CHAT = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "hello there, who are you"}]}


class Person:
    """Somebody with a token."""

    def __init__(self, it: PeopleServer, **limits: Any) -> None:
        self.it = it
        answer = it.post("/api/people", EVE, name="bob", **limits)
        assert answer.status_code == 201, answer.text
        self.token: str = answer.json()["secret"]

    def search(self, query: str, **more: Any) -> httpx.Response:
        return self.it.search(query, self.token, **more)

    def ask(self, text: str = "what is tea", **settings: Any) -> httpx.Response:
        made = self.it.post("/api/chat/sessions", self.token, settings=settings)
        assert made.status_code == 201, made.text
        return self.it.post(f"/api/chat/sessions/{made.json()['id']}/turns", self.token, text=text)

    def row(self) -> dict[str, Any]:
        [row] = self.it.get("/api/people", EVE).json()["people"]
        found: dict[str, Any] = row
        return found


@contextmanager
def person(tmp_path: Path, *, server: dict[str, Any] | None = None, **limits: Any) -> Iterator[Person]:
    with people_server(tmp_path / "chat.db", **(server or {})) as it:
        yield Person(it, **limits)


@pytest.mark.parametrize("proxy", [False, True])
def test_nobody_gets_a_new_budget_by_being_forgotten(tmp_path: Path, *, proxy: bool) -> None:
    settings = {"trusted_proxies": "127.0.0.1", "proxy_user_header": "X-Forwarded-User"} if proxy else {}
    with person(tmp_path, server=settings, searches=1) as bob:
        if proxy:  # of the same name as the token, which they do not use
            bob.it.server.client.headers["X-Forwarded-User"] = "bob"
        token = None if proxy else bob.token
        assert bob.it.search("q1", token).status_code == 200
        assert bob.it.search("q2", token).status_code == 429
        told = bob.it.post("/api/chat/forget", token, confirm=True)
        assert told.status_code == 200, told.text
        assert told.json()["stays"]["qiusuo_people_tokens"] == 1
        assert told.json()["noTrace"] is False
        bob.it.server.client.headers.pop("X-Forwarded-User", None)
        row = bob.row()
        assert (row["searches"], row["usedSearches"]) == (1, 1)
        if proxy:
            bob.it.server.client.headers["X-Forwarded-User"] = "bob"
        assert bob.it.search("q3", token).status_code == 429


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]


def test_searches_of_a_month(tmp_path: Path) -> None:
    now = [NOVEMBER]
    with person(tmp_path, server={"clock": lambda: now[0]}, searches=5) as bob:
        first = bob.search("q1")
        assert (first.headers["x-qiusuo-searches-used"], first.headers["x-qiusuo-searches-limit"]) == ("1", "5")
        assert first.headers["x-qiusuo-budget-anew"] == "2026-12-01"
        assert "notices" not in first.json()
        # What the cache has costs nothing and is not counted.
        assert bob.search("q1").json()["cached"] is True
        bob.search("q2")
        bob.search("q3")
        [told] = bob.search("q4").json()["notices"]
        assert (told["code"], told["values"]) == (
            "notice.searches_low",
            {"used": 4, "limit": 5, "anew": "2026-12-01"},
        )
        assert "4 of 5 searches are used" in json.dumps(told)
        assert bob.search("q5").status_code == 200
        asked = bob.it.world.requests("brave") + bob.it.world.requests("searxng")
        refused = bob.search("q6")
        assert refused.status_code == 429
        assert refused.json()["code"] == "people.searches_used"
        assert refused.json()["values"] == {"used": 5, "limit": 5, "anew": "2026-12-01"}
        assert int(refused.headers["retry-after"]) == next_month(NOVEMBER) - NOVEMBER
        # At every other door too, in its own words; what is kept is still given.
        assert bob.search("q1").status_code == 200
        openai = bob.it.post("/v1/chat/completions", bob.token, **CHAT)
        assert openai.status_code == 200
        tavily = bob.it.post("/tavily/search", bob.token, query="q7")
        assert (tavily.status_code, "used up" in tavily.json()["detail"]["error"]) == (429, True)
        assert bob.it.get("/search", bob.token, q="q8", format="json").status_code == 429
        # The model answers without searching, and the reader is told.
        told_in_chat = events(bob.ask("what is green tea", search=True))
        codes = [event["code"] for event in told_in_chat if event["type"] == "notice"]
        assert {"notice.searches_low", "notice.searches_used"} <= {
            f"notice.{code.removeprefix('notice.')}" for code in codes
        }
        assert told_in_chat[-1]["state"] == "done"
        assert bob.it.world.requests("brave") + bob.it.world.requests("searxng") == asked
        assert bob.row()["usedSearches"] == 5
        # Others go on, and the next month begins with nothing.
        assert bob.it.search("q9", bob.it.amy).status_code == 200
        now[0] = next_month(NOVEMBER) + 1
        assert bob.search("q10").headers["x-qiusuo-searches-used"] == "1"


def test_tokens_of_models(tmp_path: Path) -> None:
    # An answer of the scripted model takes 11 tokens in and 7 out.
    with person(tmp_path, modelTokens=30) as bob:
        assert bob.it.post("/v1/chat/completions", bob.token, **CHAT).status_code == 200
        assert bob.row()["usedModelTokens"] == 18
        assert events(bob.ask())[-1]["state"] == "done"
        for refused in (bob.ask(), bob.it.post("/v1/chat/completions", bob.token, **CHAT)):
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
        shape = refused.json()["error"]
        assert shape["qiusuo"]["code"] == "people.tokens_used"
        assert shape["qiusuo"]["values"]["used"] == 36
        # Beside Tavily's results stand sentences of theirs; a search takes no tokens of a model.
        beside = bob.it.post("/tavily/search", bob.token, query="what is tea", include_answer=True)
        assert beside.status_code == 200
        assert beside.json()["answer"] != "Tea is hot."
        assert bob.row()["usedModelTokens"] == 36
        config = bob.it.get("/api/chat/config", bob.token).json()["budget"]
        assert (config["usedModelTokens"], config["modelTokens"], config["searches"]) == (36, 30, None)
        assert bob.it.get("/api/chat/config", bob.it.amy).json()["budget"] is None


def test_a_limit_per_minute_of_ones_own(tmp_path: Path) -> None:
    with person(tmp_path, server={"rate_limit": 1}, perMinute=3) as bob:
        assert [bob.search(f"q{number}").status_code for number in range(4)] == [200, 200, 200, 429]
        assert [bob.it.search(f"a{number}", bob.it.amy).status_code for number in range(2)] == [200, 429]
        refused = bob.search("again")
        assert refused.json()["code"] == "search.user_limit"
        assert refused.json()["values"]["limit"] == 3
        assert bob.row()["usedSearches"] == 3


def test_engines_of_ones_own(tmp_path: Path) -> None:
    with person(tmp_path, engines=["searxng"]) as bob:
        # Somebody else's answers of another engine are not given out either.
        assert bob.it.search("tea", bob.it.amy).json()["provider"] == "brave"
        mine = bob.search("tea").json()
        assert (mine["provider"], mine["cached"]) == ("searxng", False)
        assert bob.search("tea").json()["cached"] is True
        refused = bob.search("tea", engine="brave")
        assert (refused.status_code, refused.json()["code"]) == (403, "people.engine_not_allowed")
        assert bob.search("tea", merge=["brave", "searxng"]).status_code == 403
        assert bob.search("tea", merge=True).json()["attempts"][0]["engine"] == "searxng"
        # In conversations: neither chosen, nor asked by itself, nor shown.
        made = bob.it.post("/api/chat/sessions", bob.token, settings={"engine": "brave"})
        assert (made.status_code, made.json()["code"]) == (403, "people.engine_not_allowed")
        config = bob.it.get("/api/chat/config", bob.token).json()
        assert [engine["name"] for engine in config["engines"]] == ["searxng"]
        assert config["search"]["engine"]["name"] == "searxng"
        assert [one["name"] for one in bob.it.get("/api/engines", bob.token).json()["engines"]] == ["searxng"]
        before = bob.it.world.requests("brave")
        told = events(bob.ask("what is green tea", search=True))
        assert told[-1]["state"] == "done"
        assert bob.it.world.requests("brave") == before
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        opened = bob.it.post("/mcp", bob.token, jsonrpc="2.0", id=1, method="initialize", params=about)
        headers = {
            "Authorization": f"Bearer {bob.token}",
            "Accept": "application/json, text/event-stream",
            "Mcp-Session-Id": opened.headers["mcp-session-id"],
        }
        call = {"name": "web_search", "arguments": {"query": "tea", "engine": "brave"}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        answer = bob.it.server.client.post("/mcp", json=body, headers=headers).text
        assert "brave" not in answer or '"isError":true' in answer
        assert bob.it.world.requests("brave") == before


def test_models_of_ones_own(tmp_path: Path) -> None:
    models = {"small": {"model": "extractive"}, "large": {"model": "extractive"}}
    with person(tmp_path, server={"models": models}, models=["small"]) as bob:
        listed = {one["id"] for one in bob.it.get("/v1/models", bob.token).json()["data"]}
        others = {one["id"] for one in bob.it.get("/v1/models", bob.it.amy).json()["data"]}
        assert any("small" in name for name in listed)
        assert not any("large" in name for name in listed)
        assert any("large" in name for name in others)
        config = bob.it.get("/api/chat/config", bob.token).json()
        assert [one["name"] for one in config["models"]] == ["small"]
        refused = bob.it.post("/api/chat/sessions", bob.token, settings={"model": "large"})
        assert (refused.status_code, refused.json()["code"]) == (403, "people.model_not_allowed")
        # Who has chosen none gets the first that is allowed, never another.
        told = events(bob.ask())
        assert next(event for event in told if event["type"] == "turn")["called"] == "small"


# Without a zone, as hypothesis wants its bounds.
@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - see above
def test_months_follow_one_another(moment: datetime) -> None:
    seconds = moment.timestamp()
    begins = next_month(seconds)
    assert begins > seconds
    assert month_of(begins - 1) == month_of(seconds)
    assert month_of(begins) in {month_of(seconds) + 1, month_of(seconds) + 89}


@pytest.mark.parametrize("limit", [1, 7])
def test_many_at_once_do_not_pass_together(tmp_path: Path, limit: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with person(tmp_path, searches=limit) as bob, ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(lambda number: bob.search(f"q{number}").status_code, range(12)))
        assert statuses.count(200) == limit
