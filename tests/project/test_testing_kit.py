"""qiusuo.testing as its users have it: providers on loopback for their own tests."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Any, ClassVar

import pytest

from qiusuo import SearchService
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import AllEnginesFailed
from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.__main__ import main as play
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily


class Shop(Provider):
    """A provider of one's own, in a dozen lines."""

    key: ClassVar[str] = "shop-key"
    base_path: ClassVar[str] = "/v1"

    def authorized(self, seen: Seen) -> bool:
        return seen.headers.get("x-shop") == self.key

    def answer(self, seen: Seen) -> Answer:
        found = [self.page(number, seen.params["q"]) for number in range(1, min(self.results, 2) + 1)]
        return Answer({"found": found}, headers={"X-Answered": "yes"})


@pytest.mark.programs
class TestByHand:
    """``python -m qiusuo.testing``: a provider for trying an engine in a terminal."""

    def test_the_lines_that_it_prints_make_an_engine_ask_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        command = [sys.executable, "-m", "qiusuo.testing", "qiusuo.testing.providers.tavily:Tavily"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as playing:  # noqa: S603 - ours
            assert playing.stdout is not None
            for line in (playing.stdout.readline(), playing.stdout.readline()):
                name, _, value = line.removeprefix("export ").strip().partition("=")
                monkeypatch.setenv(name, value)
            with SearchService.from_settings() as service:
                assert service.search("tea", engine="tavily").results
            asked = playing.stdout.readline()
            assert asked.startswith("# POST /search")
            assert '"query":"tea"' in asked
            playing.send_signal(signal.SIGINT)
            assert playing.wait(10) == 0

    @pytest.mark.parametrize("place", ["nowhere:Shop", "qiusuo.testing:Nobody", "qiusuo.testing:Seen"])
    def test_what_is_no_provider_is_refused(self, place: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            play(["--fault", "hang", place])
        assert place.partition(":")[0] in capsys.readouterr().err


def fetch(url: str, body: object = None, **headers: str) -> tuple[int, Any, Any]:
    """A plain synchronous client."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as reply:  # noqa: S310 - loopback
            return reply.status, json.loads(reply.read()), reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read()), error.headers


class TestAsSynchronousCode:
    def test_a_service_over_a_loopback_provider(self) -> None:
        with ProviderServer(Tavily()) as server:
            engine = TavilyEngine(server.key, base_url=server.base_url)
            with SearchService([engine]) as service:
                assert len(service.search("求索").results) == 10
                server.fault = Fault.RATE_LIMITED
                server.retry_after = "33"
                with pytest.raises(AllEnginesFailed) as caught:
                    service.search("now it fails")
                assert caught.value.attempts[0].retry_after == 33

    def test_requests_are_seen_as_they_arrived(self) -> None:
        with ProviderServer(Searxng()) as server:
            fetch(f"{server.url}/search?q=%E6%B1%82%E7%B4%A2&format=json", Accept="application/json")
            fetch(f"{server.url}/search?q=x&format=json", {"a": ["中"]})
        get, post = server.seen
        assert (get.method, get.path, dict(get.params)) == ("GET", "/search", {"q": "求索", "format": "json"})
        assert get.headers["accept"] == "application/json"
        assert (get.body, get.json) == (b"", None)
        assert (post.method, post.json) == ("POST", {"a": ["中"]})

    def test_faults_are_switched_while_it_runs(self) -> None:
        with ProviderServer(Searxng(), fault=Fault.SERVER_ERROR) as server:
            url = f"{server.url}/search?q=x&format=json"
            assert fetch(url)[0] == 500
            server.fault = None
            assert len(fetch(url)[1]["results"]) == 10
            server.empty = True
            assert fetch(url)[1]["results"] == []
            server.fault = Fault.OVERLOADED
            assert fetch(url)[0] == 503
            server.fault = Fault.WRONG_SHAPE
            assert "results" not in fetch(url)[1]
            assert len(server.seen) == 5

    def test_a_provider_of_ones_own(self) -> None:
        with ProviderServer(Shop()) as server:
            assert server.base_url == f"{server.url}/v1"
            url = f"{server.base_url}/find?q=tea"
            status, body, headers = fetch(url, **{"X-Shop": "shop-key"})
            assert (status, len(body["found"]), headers["X-Answered"]) == (200, 2, "yes")
            assert "tea" in body["found"][0]["title"]
            assert fetch(url)[0] == 401
            server.empty = True
            assert fetch(url, **{"X-Shop": "shop-key"})[1] == {"found": []}
            server.fault = Fault.RATE_LIMITED_DATE
            assert fetch(url)[2]["Retry-After"].endswith("GMT")

    def test_slow_takes_as_long_as_it_is_told(self) -> None:
        with ProviderServer(Searxng(), fault=Fault.SLOW) as server:
            server.hold = 0.3
            started = time.perf_counter()
            assert fetch(f"{server.url}/config")[0] == 200
            assert time.perf_counter() - started >= 0.3

    def test_two_servers_do_not_know_of_one_another(self) -> None:
        with ProviderServer(Searxng()) as one, ProviderServer(Searxng()) as other:
            assert one.port != other.port
            one.fault = Fault.SERVER_ERROR
            assert fetch(f"{one.url}/search?q=x&format=json")[0] == 500
            assert fetch(f"{other.url}/search?q=x&format=json")[0] == 200
            assert (len(one.seen), len(other.seen)) == (1, 1)


class TestAsAsyncCode:
    async def test_a_service_over_loopback_providers(self) -> None:
        with ProviderServer(Tavily()) as server:
            async with SearchService([TavilyEngine(server.key, base_url=server.base_url)]) as service:
                found = await asyncio.gather(*(service.asearch(f"query {number}") for number in range(20)))
                assert all(len(response.results) == 10 for response in found)
                assert {seen.json["query"] for seen in server.seen} == {f"query {number}" for number in range(20)}

    async def test_every_fault_ends_as_an_error_of_the_service(self) -> None:
        for fault in Fault:
            if fault is Fault.SLOW:
                continue
            with ProviderServer(Tavily(), fault=fault) as server:
                async with SearchService([TavilyEngine(server.key, base_url=server.base_url)]) as service:
                    with pytest.raises(AllEnginesFailed):
                        await service.asearch("x", timeout=0.5)


class TestClosing:
    def test_hanging_connections_are_dropped_at_once(self) -> None:
        server = ProviderServer(Searxng(), fault=Fault.HANG)
        with server, socket.create_connection(("127.0.0.1", server.port)) as client:
            client.settimeout(5)
            client.sendall(b"GET /search?q=x&format=json HTTP/1.1\r\nHost: x\r\n\r\n")
            while not server.seen:
                time.sleep(0.001)
            started = time.perf_counter()
            server.close()
            assert time.perf_counter() - started < 4
            # Dropped, or answered with an error in haste; not left open.
            answer = client.recv(65536)
            assert not answer or b"504" in answer.splitlines()[0]

    def test_answers_that_nobody_reads_are_not_kept_open(self) -> None:
        server = ProviderServer(Searxng(), fault=Fault.HUGE)
        with server, socket.create_connection(("127.0.0.1", server.port)) as client:
            client.settimeout(5)
            client.sendall(b"GET /search?q=x&format=json HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(16)
            server.close()
            with suppress(ConnectionResetError):
                while client.recv(1 << 20):
                    pass  # a connection that were kept would let this wait

    def test_idle_and_new_connections_do_not_hold_it_up(self) -> None:
        server = ProviderServer(Searxng())
        with server:
            idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
            started = time.perf_counter()
            server.close()
            assert time.perf_counter() - started < 4
        for client in idle:
            client.close()

    def test_it_leaves_no_thread_and_refuses_connections_afterwards(self) -> None:
        before = threading.active_count()
        with ProviderServer(Searxng()) as server:
            assert threading.active_count() == before + 1
        assert threading.active_count() == before
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))
        server.close()  # a second time does no harm
