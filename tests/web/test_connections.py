"""What strangers can do to a server before it knows who they are: large and slow requests, and many connections."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from qiusuo.testing import Fault
from qiusuo.web.entrance import connections, lingering
from qiusuo.web.entrance.auth import network_of
from tests.support.logs import errors_in
from tests.support.openai_world import serving
from tests.support.web_server import WebServer

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(os.name == "nt", reason="memory and limits are read as on Linux"),
]

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def process(files: int | None = None, **environment: str) -> Iterator[tuple[int, int]]:
    """Start ``qiusuo serve``, perhaps with a limit of open files; give its process id and its port."""
    command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0"]
    if files:
        command = ["bash", "-c", f'ulimit -n {files}; exec "$@"', "-", *command]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, env={**os.environ, "QIUSUO_LANG": "en", **environment}, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+:(\d+)", server.stderr.readline())
        assert found
        wait_until(lambda: b"200" in ask(int(found[1])))
        try:
            yield server.pid, int(found[1])
        finally:
            server.kill()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0))


def all_of(raw: socket.socket) -> bytes:
    """Read until the server closes."""
    data = b""
    with suppress(ConnectionError):
        while piece := raw.recv(65536):
            data += piece
    return data


def ask(port: int, source: str = "127.0.0.1") -> bytes:
    with suppress(OSError), connect(port, source) as raw:
        raw.sendall(GET + b"Connection: close\r\n\r\n")
        return all_of(raw)
    return b""


def memory(pid: int) -> float:
    """Return the memory of a process in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) / 1024


def refused(server: WebServer, reason: str) -> bool:
    return f'qiusuo_connections_refused_total{{reason="{reason}"}}' in server.metrics()


def port_of(server: WebServer) -> int:
    return httpx.URL(server.url).port or 0


class TestHeaders:
    def test_a_flood_of_them_takes_no_memory(self) -> None:
        """346 MB of small headers over 6 connections once took the process from 163 MB to 3.5 GB."""
        piece = b"a: b\r\n" * 10_000
        with process() as (pid, port):
            before = memory(pid)

            def flood() -> None:
                raw = connect(port)
                for number in range(960):
                    try:
                        raw.sendall(piece if number else GET + piece)
                    except OSError:
                        raw.close()
                        raw = connect(port)
                        raw.sendall(GET)
                raw.close()

            threads = [threading.Thread(target=flood) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            after = memory(pid)
            assert b"200 OK" in ask(port)
        assert after - before < 30, f"{before:.0f} MiB before, {after:.0f} MiB after"

    @pytest.mark.parametrize(
        "head",
        [
            GET + b"a: b\r\n" * 200 + b"\r\n",
            GET + b"a: " + b"b" * 40_000 + b"\r\n\r\n",
            GET + b"a: " + b"b" * 40_000,  # never ended
            b"GET /" + b"b" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"\r\n" * 20_000,
        ],
        ids=["many", "large", "endless", "address", "blank lines"],
    )
    def test_too_large(self, head: bytes) -> None:
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(head)
            answer = all_of(raw)
            assert answer.startswith(b"HTTP/1.1 431 ")
            assert b'"message":"The request\'s headers are larger than 32 KiB or more than 100."' in answer
            assert refused(server, "headers_too_large")

    @pytest.mark.parametrize("more", [b"x: " + b"y" * 300_000, b"x: y\r\n" * 200], ids=["large", "many"])
    def test_behind_a_body(self, more: bytes) -> None:
        head = b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            with suppress(ConnectionError):
                raw.sendall(head + more)
            assert b"HTTP/1.1 431 " in all_of(raw)

    def test_what_people_send_is_let_in(self) -> None:
        with WebServer.over("tavily") as server:
            many = {f"x-header-{number}": "y" * 300 for number in range(80)}
            assert server.client.get("/healthz", headers=many).status_code == 200
            assert server.search("tea").status_code == 200
            assert "connections_refused_total{" not in server.metrics()

    def test_what_is_no_http(self, caplog: pytest.LogCaptureFixture) -> None:
        with WebServer.over("tavily") as server:
            for _ in range(50):
                with connect(port_of(server)) as raw:
                    raw.sendall(b"\x16\x03\x01 no http\r\n\r\n")
                    assert all_of(raw).startswith(b"HTTP/1.1 400 ")
            assert 'refused_total{reason="invalid_request"} 50.0' in server.metrics()
        assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
        assert "connection of 127.0.0.1 ended: invalid_request" in caplog.text


class TestTime:
    def test_slow_headers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw, connect(port_of(server)) as silent:
            raw.sendall(GET)
            assert b"408 Request Timeout" in all_of(raw)
            assert all_of(silent) == b""  # a browser's connection to spare: nothing to be told, nothing to be logged
            assert 'refused_total{reason="headers_too_slow"} 1.0' in server.metrics()

    def test_of_a_second_request(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(GET + b"\r\n" + GET)
            answers = all_of(raw)
            assert answers.startswith(b"HTTP/1.1 200 OK")
            assert b"408 Request Timeout" in answers

    def test_a_slow_body(self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            assert b"408 Request Timeout" in all_of(raw)
            assert refused(server, "body_too_slow")
            assert server.search("tea").status_code == 200
        assert errors_in(caplog) == []

    def test_an_answer_that_nobody_reads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
        monkeypatch.setattr(connections, "MAX_PIPELINED", 2000)  # or a slow server would end it for that
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(OSError):
                for _ in range(2000):
                    raw.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    if refused(server, "answer_not_read"):
                        break
            wait_until(lambda: refused(server, "answer_not_read"))

    def test_a_long_answer_is_not_slow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
        monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
        with WebServer.over("tavily", hedge_delay=0) as server:
            server.world["tavily"].fault = Fault.SLOW
            server.world["tavily"].hold = 0.8
            assert server.search("tea").status_code == 200

    def test_answers_on_a_kept_connection_come_at_once(self) -> None:
        """The body of each once waited 40 ms for the client to confirm the headers."""
        with WebServer.over("tavily") as server:
            seconds = [server.client.get("/healthz").elapsed.total_seconds() for _ in range(20)]
        assert min(seconds[1:]) < 0.03


class TestNumber:
    def test_slow_ones_do_not_keep_newcomers_out(self) -> None:
        """With 1,024 files, as most systems have it, 1,200 connections once kept everybody else out."""
        with process(files=1024) as (_, port), ExitStack() as slow:
            for number in range(1200):
                raw = slow.enter_context(connect(port))
                raw.sendall(GET if number % 2 else b"")
            began = time.monotonic()
            assert all(b"200 OK" in ask(port) for _ in range(20))
            assert time.monotonic() - began < 8  # it was the 10 s in which headers may come

    def test_those_being_answered_keep_their_places(self) -> None:
        with WebServer.over("tavily", max_connections=3, hedge_delay=0) as server:
            server.world["tavily"].fault = Fault.SLOW
            server.world["tavily"].hold = 1.0
            body = b'{"query": "tea"}'
            head = f"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            with ExitStack() as stack:
                busy = [stack.enter_context(connect(port_of(server))) for _ in range(3)]
                for raw in busy:
                    raw.sendall(head + body)
                wait_until(lambda: server.world.requests("tavily") == 1)
                with connect(port_of(server)) as newcomer:
                    newcomer.sendall(GET + b"\r\n")
                    answer = all_of(newcomer)
                assert answer.startswith(b"HTTP/1.1 503 ")
                assert b"retry-after: 5" in answer
                assert all(raw.recv(100).startswith(b"HTTP/1.1 200 OK") for raw in busy)
                # They wait for the next request now, so there is room.
                assert b"200 OK" in ask(port_of(server))
            assert refused(server, "too_many_connections")

    def test_of_one_address(self) -> None:
        with WebServer.over("tavily", max_connections_per_address=2, allowed_hosts="localhost") as server:
            with ExitStack() as stack:
                many = [stack.enter_context(connect(port_of(server), "127.0.0.2")) for _ in range(4)]
                many[0].settimeout(5)
                assert many[0].recv(10) == many[1].recv(10) == b""
                for raw in many[2:]:
                    raw.sendall(GET + b"\r\n")
                    assert raw.recv(100).startswith(b"HTTP/1.1 200 OK")
            assert b"200 OK" in ask(port_of(server), "127.0.0.3")

    def test_pipelined(self) -> None:
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall((GET + b"\r\n") * 1000)
            all_of(raw)
            assert refused(server, "too_many_pipelined")

    @pytest.mark.parametrize(
        ("address", "network"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("", "unknown"),
        ],
    )
    def test_what_counts_as_one_address(self, address: str, network: str) -> None:
        assert network_of(address) == network


class TestOffers:
    """A server that speaks HTTP/1.1 only passes over the offer of another protocol, and reads the request."""

    @pytest.mark.parametrize("offer", ["h2c", "websocket"])
    @pytest.mark.parametrize("pieces", [1, 7])
    def test_an_upgrade_with_a_body(self, offer: str, pieces: int) -> None:
        body = b'{"query": "tea"}'
        head = (
            "POST /api/search HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            f"Upgrade: {offer}\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            data = head.encode() + body
            step = -(-len(data) // pieces)
            for start in range(0, len(data), step):
                raw.sendall(data[start : start + step])
                time.sleep(0.01)  # so that it arrives in pieces
            answer = raw.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200 OK")
            # The connection goes on.
            raw.sendall(GET + b"\r\n")
            while b"OK" not in answer.rpartition(b"\r\n\r\n")[2]:
                answer = raw.recv(65536)
            assert "connections_refused_total{" not in server.metrics()

    def test_an_upgrade_without_one(self) -> None:
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n")
            assert raw.recv(65536).startswith(b"HTTP/1.1 200 OK")

    def test_a_tunnel_is_refused(self, caplog: pytest.LogCaptureFixture) -> None:
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n")
            assert all_of(raw).startswith(b"HTTP/1.1 400 ")
        assert errors_in(caplog) == []


class TestLargeBodies:
    @pytest.mark.parametrize("path", ["/api/search", "/v1/chat/completions"])
    @pytest.mark.parametrize("chunked", [False, True])
    def test_who_sends_on_without_listening_hears_why_it_was_refused(self, path: str, *, chunked: bool) -> None:
        """The connection was once closed under what was still on its way, and the answer was lost with it."""
        piece, count = b"x" * 64 * 1024, 256
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(piece) * count}"
        with serving() as served, connect(port_of(served.web)) as raw:
            raw.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n\r\n".encode())
            for _ in range(count):
                raw.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            raw.sendall(b"0\r\n\r\n" if chunked else b"")
            answer = all_of(raw)
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b'"web.body_too_large"' in answer

    def test_nobody_is_listened_to_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lingering, "LINGER_SECONDS", 0.2)
        with WebServer.over("tavily") as server, connect(port_of(server)) as raw:
            raw.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n{")
            assert all_of(raw).startswith(b"HTTP/1.1 413 ")


class TestLeaving:
    @pytest.mark.parametrize("path", ["/api/search", "/v1/chat/completions", "/tavily/search", "/mcp"])
    def test_in_the_middle_of_a_body(self, path: str, caplog: pytest.LogCaptureFixture) -> None:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{"
        with serving() as served:
            for _ in range(5):
                with connect(port_of(served.web)) as raw:
                    raw.sendall(head.encode())
            assert served.web.search("tea").status_code == 200
        assert errors_in(caplog) == []

    def test_a_slow_body_is_told_in_the_shape_of_its_endpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
        with serving() as served, connect(port_of(served.web)) as raw:
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
            answer = all_of(raw)
        assert b"408 Request Timeout" in answer
        assert b'{"error":{"message":"The request\'s body did not arrive' in answer
