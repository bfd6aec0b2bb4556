"""What clients of all kinds rely on: keys in several places, kept connections, HEAD, slashes, packed bodies, ids."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterator

import httpx
import orjson
import pytest

from qiusuo.web.entrance.guard import MAX_BODY_BYTES
from tests.support.web_server import WebServer

TOKEN = "tok-alice-0123456789"
ALICE = {"Authorization": f"Bearer {TOKEN}"}


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("tavily") as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[WebServer]:
    with WebServer.over("tavily", tokens=f"alice:{TOKEN}") as server:
        yield server


class TestKeys:
    @pytest.mark.parametrize("headers", [basic("anybody", TOKEN), basic("", TOKEN), {"X-API-Key": TOKEN}])
    @pytest.mark.parametrize("path", ["/search?q=x&format=json", "/api/engines", "/config"])
    def test_other_places(self, guarded: WebServer, headers: dict[str, str], path: str) -> None:
        assert guarded.client.get(path, headers=headers).status_code == 200

    @pytest.mark.parametrize(
        "headers",
        [
            basic(TOKEN, "x"),
            basic("alice", "tok-other-0123456789"),
            {"Authorization": "Basic ???"},
            {"Authorization": "Basic " + base64.b64encode(b"\xff\xfe").decode()},
            {"X-API-Key": "tok-other-0123456789"},
            {"X-API-Key": ""},
        ],
    )
    def test_wrong_ones(self, guarded: WebServer, headers: dict[str, str]) -> None:
        assert guarded.client.get("/api/engines", headers=headers).status_code == 401

    def test_what_a_browser_sends_by_itself_is_no_proof(self, guarded: WebServer) -> None:
        """A browser adds a password that it knows to whatever another site makes it send."""
        forged = {**basic("anybody", TOKEN), "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert guarded.client.get("/search?q=forged&format=json", headers=forged).status_code == 403

    def test_in_tavilys_body(self, guarded: WebServer) -> None:
        for path in ("/tavily/search", "/tavily/search/"):
            assert guarded.client.post(path, json={"query": "x", "api_key": TOKEN}).status_code == 200


def test_connections_are_kept_longer_than_clients_keep_them(server: WebServer) -> None:
    answer = server.client.get("/healthz")
    assert answer.headers["keep-alive"] == "timeout=75"
    assert server.keep_alive_seconds > 75


class TestHead:
    @pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/api/engines", "/config", "/metrics", "/"])
    def test_as_get_without_a_body(self, server: WebServer, path: str) -> None:
        answer = server.client.head(path)
        assert answer.status_code == server.client.get(path).status_code == 200
        assert answer.content == b""

    def test_a_search_is_not_made(self, server: WebServer) -> None:
        before = server.world.requests("tavily")
        answer = server.client.head("/search", params={"q": "head", "format": "json"})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert server.world.requests("tavily") == before


@pytest.mark.parametrize("path", ["/search/", "/api/engines/", "/healthz/", "/config/"])
def test_a_slash_at_the_end_changes_nothing(server: WebServer, path: str) -> None:
    params = {"q": "slash", "format": "json"}
    assert server.client.get(path, params=params).status_code == 200


class TestPackedBodies:
    @staticmethod
    def send(server: WebServer, body: bytes, coding: str) -> httpx.Response:
        headers = {"Content-Encoding": coding, "Content-Type": "application/json"}
        return server.client.post("/api/search", content=body, headers=headers)

    @pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", "deflate", "identity"])
    def test_they_are_unpacked(self, server: WebServer, coding: str) -> None:
        plain = orjson.dumps({"query": f"packed {coding}"})
        packed = zlib.compress(plain) if coding == "deflate" else gzip.compress(plain)
        packed = plain if coding == "identity" else packed
        answer = self.send(server, packed, coding)
        assert answer.status_code == 200
        assert answer.json()["query"] == f"packed {coding}"

    def test_no_bomb(self, server: WebServer) -> None:
        bomb = gzip.compress(b'{"query": "' + b"x" * (MAX_BODY_BYTES * 100) + b'"}')
        assert len(bomb) < MAX_BODY_BYTES
        assert self.send(server, bomb, "gzip").status_code == 413

    def test_what_is_not_packed_so(self, server: WebServer) -> None:
        assert self.send(server, b'{"query": "x"}', "gzip").status_code == 400

    @pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip"])
    def test_other_codings(self, server: WebServer, coding: str) -> None:
        answer = self.send(server, b"x", coding)
        assert answer.status_code == 415
        assert answer.headers["accept-encoding"] == "gzip, deflate"


def test_ids_of_requests(server: WebServer) -> None:
    assert server.client.get("/healthz", headers={"X-Request-Id": "abc-123"}).headers["x-request-id"] == "abc-123"
    assert server.client.get("/healthz").headers["x-request-id"]


@pytest.mark.parametrize("path", ["/tavily/crawl", "/tavily/map", "/tavily/nothing"])
def test_errors_under_tavily_are_tavilys(server: WebServer, path: str) -> None:
    answer = server.client.post(path, json={"url": "https://a.example"})
    assert answer.status_code == 404
    assert "/tavily/search" in answer.json()["detail"]["error"]
