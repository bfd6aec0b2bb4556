"""Traces, as a collector of OpenTelemetry gets them: what a request is made of, how each part ended, and no words."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from qiusuo.errors import ConfigurationError
from qiusuo.logs import LogLine
from qiusuo.testing import Fault
from tests.support.collector import Collector
from tests.support.openai_world import serving, user
from tests.support.scripted_model import Reply
from tests.support.web_server import WebServer, page_site

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
WORDS = "pneumonoultra tea"
FAILED = 2


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as running:
        yield running


def test_a_request_is_told_with_the_turn_the_search_the_engine_and_the_model(collector: Collector) -> None:
    with serving(Reply.text("Tea [1]."), otlp_url=collector.url, otlp_headers="x-tenant=one, x-key=k2") as it:
        it.ask(user(WORDS))
    request = collector.one("POST /v1/chat/completions")
    turn, search, engine, model = (collector.one(name) for name in ("turn", "search", "engine", "model"))
    assert (turn.parent, search.parent, engine.parent, model.parent) == (request.id, turn.id, search.id, turn.id)
    assert {span.trace for span in collector.spans} == {request.trace}
    assert request.values | {"http.response.status_code": 200} == request.values
    assert engine.values == {
        "qiusuo.engine": "searxng",
        "qiusuo.outcome": "ok",
        "qiusuo.skipped": False,
        "qiusuo.results": 5,
    }
    assert model.values["gen_ai.request.model"]
    assert turn.values["qiusuo.state"] == "done"
    assert collector.resource["service.name"] == "qiusuo"
    assert collector.headers[0] | {"x-tenant": "one", "x-key": "k2"} == collector.headers[0]
    assert WORDS.encode() not in collector.raw
    assert b"Tea [" not in collector.raw


def test_failures_are_marked_and_a_trace_that_the_caller_began_goes_on(collector: Collector) -> None:
    with WebServer.over("tavily", "brave", hedge_delay=0, otlp_url=f"{collector.url}/v1/traces") as server:
        server.world["tavily"].fault = Fault.SERVER_ERROR
        server.client.post("/api/search", json={"query": WORDS}, headers={"traceparent": PARENT})
        server.client.get("/livez")
    request = collector.one("POST /api/search")
    assert (request.trace, request.parent) == (PARENT.split("-")[1], PARENT.split("-")[2])
    failed, answered = sorted(collector.named("engine"), key=lambda span: span.values["qiusuo.engine"], reverse=True)
    assert (failed.status, failed.values["qiusuo.outcome"]) == (FAILED, "unavailable")
    assert (answered.status, answered.values["qiusuo.outcome"]) == (0, "ok")
    assert {span.name for span in collector.spans} == {"POST /api/search", "search", "engine"}


def test_pages_that_are_read_are_parts_too(collector: Collector) -> None:
    with page_site() as (site, reader), WebServer.over("tavily", reader=reader, otlp_url=collector.url) as server:
        pages = [f"{site.url}/article", f"{site.url}/gone"]
        assert server.client.post("/tavily/extract", json={"urls": pages}).status_code == 200
    request = collector.one("POST /tavily/extract")
    gone, read = sorted(collector.named("page"), key=lambda span: span.status, reverse=True)
    assert (gone.parent, read.parent) == (request.id, request.id)
    assert (gone.status, read.status) == (FAILED, 0)
    assert read.values["server.address"] == "127.0.0.1"


def test_only_a_share_is_traced_whatever_callers_wish(collector: Collector) -> None:
    with WebServer.over("tavily", otlp_url=collector.url, trace_share=0) as server:
        server.client.post("/api/search", json={"query": "tea"}, headers={"traceparent": PARENT})
    assert collector.spans == []


def test_a_collector_that_is_away_costs_nothing_but_its_traces(caplog: pytest.LogCaptureFixture) -> None:
    with WebServer.over("tavily", otlp_url="http://127.0.0.1:9") as server:
        answers = [server.search(f"tea {number}") for number in range(3)]
        started = time.monotonic()
    assert [answer.status_code for answer in answers] == [200] * 3
    assert time.monotonic() - started < 8
    told = [record for record in caplog.records if record.name.startswith("opentelemetry.exporter")]
    assert len(told) == 1


def test_lines_of_the_log_name_the_trace(collector: Collector) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(LogLine(as_json=True).format(record))

    handler = Kept(logging.WARNING)
    logging.getLogger("qiusuo").addHandler(handler)
    try:
        with WebServer.over("tavily", otlp_url=collector.url) as server:
            server.world["tavily"].fault = Fault.SERVER_ERROR
            server.search("tea")
    finally:
        logging.getLogger("qiusuo").removeHandler(handler)
    [failed] = [line for line in map(json.loads, lines) if "the engine tavily failed" in line["message"]]
    assert failed["traceId"] == collector.one("search").trace
    assert failed["spanId"] == collector.one("engine").id


def test_what_is_missing_is_told_with_the_command() -> None:
    code = """
import sys
sys.modules["opentelemetry.sdk"] = None
from qiusuo.web.app import create_app
from qiusuo.config import Settings
create_app(settings=Settings.load(otlp_url="http://127.0.0.1:4318"))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert ConfigurationError.__name__ in ended.stderr
    assert "OpenTelemetry is not installed" in ended.stderr


def test_nothing_of_it_leaves_for_engines(collector: Collector) -> None:
    with WebServer.over("tavily", otlp_url=collector.url) as server:
        answer: httpx.Response = server.search("tea")
        assert answer.status_code == 200
        assert "traceparent" not in {name.lower() for seen in server.world["tavily"].seen for name in seen.headers}
