"""The REST endpoints over a real server: what they answer, and with which status."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.schemas import EnginesAnswer, ErrorAnswer, HealthAnswer, SearchAnswer
from tests.support.web_server import WebServer

pytest_plugins = ["tests.support.legal_fixtures"]


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("tavily", "brave") as server:
        yield server


@pytest.fixture
def own() -> Iterator[WebServer]:
    """A server that a test may break."""
    with WebServer.over("tavily", "brave", hedge_delay=0, timeout=1) as server:
        yield server


def test_search_answers_with_results_and_receipt(server: WebServer) -> None:
    answer = server.search("open source", numResults=7)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    data = answer.json()
    # The documented shape, to the letter.
    SearchAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert data["query"] == "open source"
    assert (data["totalResults"], len(data["results"])) == (7, 7)
    assert data["results"][0]["url"] == "https://site1.example.com/page/1"
    assert data["results"][0]["source"] == "site1.example.com"
    assert (data["cached"], data["stale"], data["provider"], data["type"]) == (False, False, "tavily", "general")
    assert [attempt["outcome"] for attempt in data["attempts"]] == ["ok"]


def test_the_second_time_comes_from_the_cache(server: WebServer) -> None:
    assert server.search("twice").json()["cached"] is False
    asked = server.world.requests("tavily")
    assert server.search("Twice ").json()["cached"] is True
    assert server.world.requests("tavily") == asked
    assert server.search("twice", skipCache=True).json()["cached"] is False


def test_chinese_goes_there_and_back(server: WebServer) -> None:
    query = "量子计算 最新进展：《自然》🦆"
    answer = server.search(query)
    assert answer.json()["query"] == query
    assert query in answer.json()["results"][0]["title"]
    assert "中文" in answer.text
    assert server.world["tavily"].seen[-1].json["query"] == query


def test_every_option_reaches_the_engine(server: WebServer) -> None:
    answer = server.search(
        "elections",
        type="news",
        numResults=4,
        region="DE",
        freshness="week",
        includeDomains=["example.com"],
        excludeDomains=["site2.example.com"],
        timeout=3,
        engine="tavily",
    )
    assert answer.status_code == 200
    sent = server.world["tavily"].seen[-1].json
    assert (sent["topic"], sent["max_results"], sent["time_range"]) == ("news", 4, "week")
    assert (sent["include_domains"], sent["exclude_domains"]) == (["example.com"], ["site2.example.com"])
    hosts = [item["source"] for item in answer.json()["results"]]
    assert hosts == ["site1.example.com", "site3.example.com", "site4.example.com"]
    assert server.search("elections", engine="brave", language="de").json()["provider"] == "brave"


def test_names_in_snake_case_are_taken_too(server: WebServer) -> None:
    assert server.search("snakes", num_results=3).json()["totalResults"] == 3


@pytest.mark.parametrize("merge", [True, ["tavily", "brave"]])
def test_merged(server: WebServer, merge: Any) -> None:
    data = server.search("merged", merge=merge).json()
    assert data["provider"] == "merged"
    assert {attempt["engine"] for attempt in data["attempts"]} == {"tavily", "brave"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x" * 4001}, "query"),
        ({"query": 7}, "query"),
        ({"query": "x", "numResults": 0}, "numResults"),
        ({"query": "x", "numResults": 51}, "numResults"),
        ({"query": "x", "numResults": "5"}, "numResults"),
        ({"query": "x", "type": "images"}, "type"),
        ({"query": "x", "freshness": "decade"}, "freshness"),
        ({"query": "x", "region": "Germany"}, "region"),
        ({"query": "x", "language": "no such language!"}, "language"),
        ({"query": "x", "timeout": 0.4}, "timeout"),
        ({"query": "x", "timeout": 121}, "timeout"),
        ({"query": "x", "includeDomains": ["not a domain"]}, "domain"),
        ({"query": "x", "user": "somebody else"}, "user"),
        ({"query": "x", "base_url": "http://127.0.0.1:1"}, "base_url"),
        ([], "body"),
        ("query", "body"),
    ],
)
def test_what_cannot_be_used_is_named_and_asks_nobody(server: WebServer, body: Any, names: str) -> None:
    before = server.world.requests("tavily"), server.world.requests("brave")
    answer = server.client.post("/api/search", json=body)
    assert answer.status_code == 400
    error = ErrorAnswer.model_validate_json(answer.content, extra="forbid")
    assert error.error == "InvalidQuery"
    assert names in error.message
    assert (server.world.requests("tavily"), server.world.requests("brave")) == before


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"query": "\\ud800"}', b"query=x"])
def test_a_body_that_is_no_json(server: WebServer, body: bytes) -> None:
    answer = server.client.post("/api/search", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "InvalidQuery")
    assert answer.json()["fix"]


def test_an_error_does_not_repeat_what_was_sent(server: WebServer) -> None:
    assert "tvly-secret" not in server.search("x", api_key="tvly-secret").text


def test_an_engine_that_does_not_exist(server: WebServer) -> None:
    answer = server.search("x", engine="altavista")
    assert (answer.status_code, answer.json()["error"]) == (400, "UnknownEngine")
    assert "tavily, brave" in answer.json()["fix"]


def test_failover_stands_in_the_receipt(own: WebServer) -> None:
    own.world["tavily"].fault = Fault.SERVER_ERROR
    data = own.search("failover").json()
    assert data["provider"] == "brave"
    assert [attempt["outcome"] for attempt in data["attempts"]] == ["unavailable", "ok"]


def test_all_engines_failed(own: WebServer) -> None:
    own.world["tavily"].fault = Fault.SERVER_ERROR
    own.world["brave"].fault = Fault.AUTH
    answer = own.search("nothing works")
    assert answer.status_code == 502
    error = ErrorAnswer.model_validate_json(answer.content, extra="forbid")
    assert error.error == "AllEnginesFailed"
    assert [(attempt.engine, attempt.outcome) for attempt in error.attempts] == [
        ("tavily", "unavailable"),
        ("brave", "auth"),
    ]


def test_all_engines_timed_out(own: WebServer) -> None:
    own.world["tavily"].fault = own.world["brave"].fault = Fault.HANG
    answer = own.search("slow", timeout=0.5)
    assert (answer.status_code, answer.json()["error"]) == (504, "AllEnginesFailed")


def test_a_provider_that_wants_a_pause_is_passed_on(own: WebServer) -> None:
    own.world["tavily"].fault = own.world["brave"].fault = Fault.RATE_LIMITED
    answer = own.search("pause")
    assert answer.status_code == 502
    assert answer.headers["retry-after"] == "7"


def test_search_is_off() -> None:
    with WebServer(SearchService([], Settings.load(rate_limit=0))) as server:
        answer = server.search()
        assert (answer.status_code, answer.json()["error"]) == (503, "SearchDisabled")
        health = server.client.get("/api/health")
        assert (health.status_code, health.json()["status"]) == (503, "down")
        assert "off" in health.json()["message"]
        assert server.client.get("/healthz").status_code == 200


def test_only_the_statutes_can_be_searched(sample_folder: Path) -> None:
    settings = Settings.load(rate_limit=0, legal_dir=str(sample_folder), provider_priority="laws")
    with WebServer(SearchService.from_settings(settings), settings) as server:
        health = server.client.get("/api/health?lang=zh")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        assert health.json()["engines"] == {"laws": "ready"}
        assert health.json()["findings"] == [], "who has named nothing else wants it so"
        english = server.client.get("/api/health").json()
        advised = english["fix"].partition(": ")[2].rstrip(".").split(", ")
        assert {"searxng", "tavily"} <= set(advised)
        assert not {"laws", "flk"} & set(advised), "they do not search the web"


def test_the_limit_counts_by_address() -> None:
    with WebServer.over("tavily", rate_limit=2) as server:
        assert [server.search(f"query {number}").status_code for number in range(3)] == [200, 200, 429]
        answer = server.search("one more")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.json()["error"] == "UserRateLimited"
        assert answer.json()["retryAfter"] <= 60
        # What is known already costs nothing.
        assert server.search("query 1").status_code == 200


def test_searches_that_could_not_be_made_do_not_use_up_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_RATE_LIMIT", "3")
    with WebServer(SearchService([], Settings.load())) as off:
        assert {off.search(f"q{number}").status_code for number in range(8)} == {503}
    with WebServer.over("tavily", rate_limit=3) as server:
        for number in range(8):
            assert server.search(f"q{number}", engine="nobody").json()["error"] == "UnknownEngine"
        server.world["tavily"].fault = Fault.AUTH
        assert server.search("a").status_code == 502
        for number in range(8):  # it rests now
            assert server.search(f"r{number}").status_code == 502
        assert server.world.requests("tavily") == 1
    with WebServer.over("tavily", rate_limit=3, engines={"tavily": {"monthly_quota": 0}}) as spent:
        assert {spent.search(f"q{number}").json()["error"] for number in range(8)} == {"AllEnginesFailed"}


def test_engines(server: WebServer) -> None:
    answer = server.client.get("/api/engines")
    EnginesAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    data = answer.json()
    assert data["order"] == ["tavily", "brave"]
    assert [(engine["name"], engine["state"]) for engine in data["engines"]] == [
        ("tavily", "ready"),
        ("brave", "ready"),
    ]
    assert "tvly" not in answer.text


def test_health(own: WebServer) -> None:
    answer = own.client.get("/api/health")
    assert answer.status_code == 200
    HealthAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert answer.json()["engines"] == {"tavily": "ready", "brave": "ready"}
    own.world["tavily"].fault = Fault.AUTH
    own.search("first")
    degraded = own.client.get("/api/health")
    assert (degraded.status_code, degraded.json()["status"]) == (200, "degraded")
    assert "tavily" in degraded.json()["message"]
    own.world["brave"].fault = Fault.AUTH
    own.search("second")
    down = own.client.get("/api/health")
    assert (down.status_code, down.json()["status"]) == (503, "down")
    assert down.json()["fix"]


def test_healthz(server: WebServer) -> None:
    answer = server.client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "OK")


@pytest.mark.parametrize("path", ["/nothing", "/docs/a/b", "/redoc", "/api", "/api/nothing/"])
def test_what_is_not_there(server: WebServer, path: str) -> None:
    answer = server.client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (404, "NotFound")


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/search"), ("DELETE", "/search"), ("POST", "/healthz")])
def test_methods_that_are_not_there(server: WebServer, method: str, path: str) -> None:
    answer = server.client.request(method, path)
    assert (answer.status_code, answer.json()["error"]) == (405, "MethodNotAllowed")
    assert answer.headers["allow"]


def test_engines_that_are_known_but_not_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(Searxng()) as upstream:
        monkeypatch.setenv("SEARXNG_URL", upstream.url)
        with WebServer(SearchService.from_settings(Settings.load(rate_limit=0))) as server:
            answer = server.search("x", engine="tavily")
            assert (answer.status_code, answer.json()["error"]) == (400, "EngineNotConfigured")
            assert "TAVILY_API_KEY" in answer.json()["fix"]
            # A program made for SearXNG names engines of SearXNG, some of which have the names of ours.
            rows = server.client.get("/search?q=x&format=json&engines=tavily,qwant").json()
            assert len(rows["results"]) == 10
            told = "not enabled on this server"
            assert rows["unresponsive_engines"] == [["tavily", told], ["qwant", told]]
            states = {engine["name"]: engine["state"] for engine in server.client.get("/api/engines").json()["engines"]}
            assert (states["searxng"], states["tavily"]) == ("ready", "missing")
