"""``/metrics``: every number that is promised, after searches that end in every way."""

from __future__ import annotations

import re
import threading
import time

from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from qiusuo.testing import Fault
from tests.support.web_server import WebServer


def numbers(server: WebServer) -> dict[str, float]:
    """Return every sample under its name and labels."""
    return {
        f"{sample.name}{{{','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))}}}": sample.value
        for family in text_string_to_metric_families(server.metrics())
        for sample in family.samples
    }


def test_searches_attempts_and_requests_are_counted() -> None:
    with WebServer.over("tavily", "brave", rate_limit=4, hedge_delay=0) as server:
        server.search("one")
        server.search("one")
        server.world["tavily"].fault = Fault.SERVER_ERROR
        server.search("two")
        server.world["brave"].empty = True
        server.search("three", engine="brave")
        server.search("")
        server.search("four", engine="nobody")
        server.world["brave"].fault = Fault.SERVER_ERROR
        server.search("five")
        server.search("six")
        server.client.get("/no/such/path")
        found = numbers(server)
    assert {name: value for name, value in found.items() if name.startswith("qiusuo_searches_total")} == {
        "qiusuo_searches_total{outcome=ok}": 2,
        "qiusuo_searches_total{outcome=cached}": 1,
        "qiusuo_searches_total{outcome=empty}": 1,
        "qiusuo_searches_total{outcome=not_configured}": 1,
        "qiusuo_searches_total{outcome=failed}": 1,
        "qiusuo_searches_total{outcome=rate_limited}": 1,
    }
    assert found["qiusuo_cache_hits_total{freshness=fresh}"] == 1
    assert found["qiusuo_rate_limited_total{}"] == 1
    assert found["qiusuo_searches_in_flight{}"] == 0
    assert found["qiusuo_search_seconds_count{}"] == 7
    attempts = {
        name.removeprefix("qiusuo_engine_attempts_total"): value
        for name, value in found.items()
        if name.startswith("qiusuo_engine_attempts_total")
    }
    assert attempts["{engine=tavily,outcome=ok,skipped=false}"] == 1
    assert attempts["{engine=tavily,outcome=unavailable,skipped=false}"] >= 1
    assert attempts["{engine=brave,outcome=ok,skipped=false}"] == 1
    assert attempts["{engine=brave,outcome=empty,skipped=false}"] == 1
    assert attempts["{engine=brave,outcome=unavailable,skipped=false}"] == 1
    assert found["qiusuo_engine_seconds_count{engine=brave}"] == 3
    assert found["qiusuo_engine_seconds_bucket{engine=brave,le=+Inf}"] == 3
    assert found["qiusuo_http_requests_total{method=POST,route=/api/search,status=200}"] == 4
    assert found["qiusuo_http_requests_total{method=POST,route=/api/search,status=400}"] == 2
    assert found["qiusuo_http_requests_total{method=POST,route=/api/search,status=429}"] == 1
    assert found["qiusuo_http_requests_total{method=GET,route=other,status=404}"] == 1


def test_rests_and_quotas_are_told_of_the_engines_that_are_set_up() -> None:
    options = {"tavily": {"monthly_quota": 50}}
    with WebServer.over("tavily", "brave", hedge_delay=0, engines=options) as server:
        before = numbers(server)
        server.search("one", engine="tavily")
        server.world["brave"].fault = Fault.QUOTA
        server.search("two", engine="brave")
        after = numbers(server)
        asked = [server.world.requests(name) for name in ("tavily", "brave")]
    assert (
        before["qiusuo_engine_rest_seconds{engine=brave}"] == before["qiusuo_engine_rest_seconds{engine=tavily}"] == 0
    )
    assert (before["qiusuo_engine_quota{engine=tavily}"], before["qiusuo_engine_quota_used{engine=tavily}"]) == (50, 0)
    assert after["qiusuo_engine_quota_used{engine=tavily}"] == 1
    assert after["qiusuo_engine_rest_seconds{engine=brave}"] > 60
    assert not [name for name in after if name.startswith("qiusuo_engine_quota") and "brave" in name]
    assert not [name for name in after if "engine=exa" in name]  # not set up
    assert asked == [1, 1]  # whoever scrapes asks no engine


def test_searches_under_way_are_seen() -> None:
    with WebServer.over("tavily", hedge_delay=0) as server:
        server.world["tavily"].fault = Fault.SLOW
        server.world["tavily"].hold = 0.5
        thread = threading.Thread(target=server.search, args=("slow",))
        thread.start()
        deadline = time.monotonic() + 5
        while numbers(server)["qiusuo_searches_in_flight{}"] != 1:
            assert time.monotonic() < deadline
        thread.join()
        assert numbers(server)["qiusuo_searches_in_flight{}"] == 0


def test_one_request_for_many_callers_is_counted_once() -> None:
    with WebServer.over("tavily", hedge_delay=0) as server:
        server.world["tavily"].fault = Fault.SLOW
        threads = [threading.Thread(target=server.search, args=("together",)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = numbers(server)
        assert found["qiusuo_engine_attempts_total{engine=tavily,outcome=ok,skipped=false}"] == 1
        assert server.world.requests("tavily") == 1


def test_each_server_counts_for_itself() -> None:
    with WebServer.over("tavily") as one, WebServer.over("tavily") as other:
        one.search("x")
        assert "qiusuo_searches_total{" in one.metrics()
        assert "qiusuo_searches_total{" not in other.metrics()
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("qiusuo")]


def test_content_type_is_that_of_prometheus() -> None:
    with WebServer.over("tavily") as server:
        kind = server.client.get("/metrics").headers["content-type"]
    assert re.match(r"text/plain; version=\d", kind)
