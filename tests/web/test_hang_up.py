"""A client that hangs up: its search stops, unless another client waits for the same."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from qiusuo.testing import Fault
from tests.support.logs import errors_in
from tests.support.web_server import WebServer


def hang_up_after_asking(server: WebServer, path: str, body: bytes) -> None:
    """Send a request and close the connection once it has reached the provider."""
    before = server.world.requests("tavily")
    with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as raw:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        raw.sendall(head.encode() + b"Content-Type: application/x-www-form-urlencoded\r\n\r\n" + body)
        wait_until(lambda: server.world.requests("tavily") > before)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/search", b'{"query": "gone"}'),
        ("/search", b"q=gone&format=json"),
        ("/tavily/search", b'{"query": "gone"}'),
    ],
)
def test_the_search_is_cancelled(path: str, body: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with WebServer.over("tavily", hedge_delay=0, timeout=20) as server:
        server.world["tavily"].fault = Fault.HANG
        started = time.monotonic()
        hang_up_after_asking(server, path, body)
        wait_until(lambda: 'qiusuo_searches_total{outcome="cancelled"} 1.0' in server.metrics())
        assert time.monotonic() - started < 5
        assert "qiusuo_searches_in_flight 0.0" in server.metrics()
        assert 'status="499"' in server.metrics()
        # The engine is not to blame, and the server goes on.
        server.world["tavily"].fault = None
        assert server.search("next").status_code == 200
    assert errors_in(caplog) == []


def test_others_who_wait_for_the_same_get_their_answer() -> None:
    with WebServer.over("tavily", hedge_delay=0, timeout=20) as server:
        server.world["tavily"].fault = Fault.SLOW
        server.world["tavily"].hold = 1.0
        answers: list[httpx.Response] = []
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as raw:
            body = b'{"query": "shared"}'
            head = f"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            raw.sendall(head.encode() + body)
            wait_until(lambda: server.world.requests("tavily") == 1)
            other = threading.Thread(target=lambda: answers.append(server.search("shared")))
            other.start()
            time.sleep(0.2)
        other.join()
        assert answers[0].status_code == 200
        assert answers[0].json()["totalResults"] == 10


def test_a_slow_answer_reaches_a_client_that_waits() -> None:
    with WebServer.over("tavily", hedge_delay=0) as server:
        server.world["tavily"].fault = Fault.SLOW
        server.world["tavily"].hold = 0.4
        assert server.search("patient").status_code == 200
        # The connection can be used again after the watcher has listened on it.
        assert server.search("patient").json()["cached"] is True
