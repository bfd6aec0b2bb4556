"""The log of a server: what fails is in it by default, with its time and request, and no word of what people ask."""

from __future__ import annotations

import json
import logging
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from qiusuo.config import Settings
from qiusuo.logs import LogLine
from qiusuo.service import SearchService
from qiusuo.testing import Answer, Provider, ProviderServer, Seen
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.server_process import ServerProcess, server_process
from tests.support.web_server import WebServer

SECRET_WORDS = "pneumonoultra tea"
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} WARNING (\S+) \[(\S+)\] (.*)")


def use(server: ServerProcess) -> str:
    """Search in vain, and get an answer that cites a source which is not there; return what the server has logged."""
    refused = server.client.post("/api/search", json={"query": SECRET_WORDS}, headers={"X-Request-Id": "search-1"})
    assert (refused.status_code, refused.headers["x-request-id"]) == (502, "search-1")
    session = server.new(search=True)
    server.client.headers["X-Request-Id"] = "turn-1"
    server.ask(session, SECRET_WORDS)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.stderr is not None
    return server.process.stderr.read()


@pytest.fixture
def model() -> Any:
    with ScriptedModel(otherwise=Reply.text("Tea is hot [77].")) as running:
        yield running


@pytest.mark.programs
def test_failures_are_logged_by_default(model: ScriptedModel, tmp_path: Path) -> None:
    with server_process(model, f"sqlite:///{tmp_path}/chat.db", SEARCH_PROVIDER_PRIORITY="searxng") as server:
        log = use(server)
    lines = [found.groups() for found in map(LINE.match, log.splitlines()) if found]
    told = [(request, text) for _, request, text in lines]
    engine = "the engine searxng failed: searxng unavailable searxng.refused address=http://127.0.0.1:9"
    assert ("search-1", engine) in told
    assert any(request == "search-1" and "(searxng unavailable), the search fails" in text for request, text in told)
    assert ("turn-1", engine) in told
    assert any(request == "turn-1" and "citation [77] names no source" in text for request, text in told)
    assert SECRET_WORDS not in log


@pytest.mark.programs
def test_json_for_machines(model: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_LOG", "json")
    monkeypatch.setenv("QIUSUO_LOG_QUERIES", "true")
    with server_process(model, f"sqlite:///{tmp_path}/chat.db", SEARCH_PROVIDER_PRIORITY="searxng") as server:
        log = use(server)
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    [failed] = [one for one in lines if one["message"].startswith("the engine") and one["requestId"] == "search-1"]
    expected = {
        "level": "warning", "logger": "qiusuo.pipeline.attempt", "code": "searxng.refused", "engine": "searxng",
        "outcome": "unavailable", "values": {"address": "http://127.0.0.1:9"},
    }  # fmt: skip
    assert expected.items() <= failed.items()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", failed["time"])
    assert "sessionId" not in failed
    turns = [one for one in lines if one["requestId"] == "turn-1"]
    assert {one["logger"] for one in turns} >= {"qiusuo.pipeline.attempt"}
    [session] = {one["sessionId"] for one in turns}
    assert re.fullmatch(r"[0-9a-zA-Z_-]{8,64}", session)
    assert any(one.get("query") == SECRET_WORDS for one in lines)  # they were asked for


@pytest.mark.parametrize(
    "given",
    [None, "", "x" * 65, "a b", "née", 'x"y', "a;b"],
    ids=["none", "empty", "long", "blank", "é", "quote", "semi"],
)
def test_an_id_that_cannot_be_one_is_replaced(given: str | None) -> None:
    with WebServer.over("searxng") as server:
        headers = {} if given is None else {b"X-Request-Id": given.encode()}
        answers = [server.client.get(path, headers=headers) for path in ("/readyz", "/nowhere")]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)


class Parrot(Provider):
    """Repeats what it was asked for while it fails."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - anybody
        return True

    def answer(self, seen: Seen) -> Answer:
        return Answer({"error": f"no engine for {seen.params.get('q')}"}, 500)


def test_the_rest_tells_answers_and_hits_of_the_cache(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "qiusuo")
    with WebServer.over("searxng") as server:
        for _ in range(2):
            assert server.search(SECRET_WORDS).status_code == 200
    told = [LogLine().format(record) for record in caplog.records if record.name == "qiusuo.pipeline.observe"]
    assert ["from the engine (searxng)" in told[0], "from the cache (searxng)" in told[1]] == [True, True]
    assert SECRET_WORDS not in "".join(told)


def test_a_search_that_cannot_be_made_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with WebServer(SearchService([], Settings.load(rate_limit=0))) as server:
        assert server.search(SECRET_WORDS).status_code == 503
    [record] = [one for one in caplog.records if one.name == "qiusuo.pipeline.observe"]
    assert "no search can be made: search." in LogLine().format(record)


def test_what_a_provider_says_is_not_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    with ProviderServer(Parrot()) as provider:
        monkeypatch.setenv("SEARXNG_URL", provider.url)
        with WebServer(SearchService.from_settings()) as server:
            assert server.search(SECRET_WORDS).status_code == 502
    records = [record for record in caplog.records if record.name.startswith("qiusuo.pipeline")]
    assert records
    assert SECRET_WORDS not in "".join(map(LogLine().format, records))
    assert SECRET_WORDS in "".join(map(LogLine(queries=True).format, records))
