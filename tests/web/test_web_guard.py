"""Who may call the server, by which name, from where, and how much may be sent."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from typing import Any, ClassVar

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from qiusuo.web.backend import Backend, Extension
from qiusuo.web.entrance.guard import MAX_BODY_BYTES
from tests.support.web_server import WebServer

EVERYWHERE = "0.0.0.0"  # noqa: S104 - said in settings and headers; the tests listen on loopback
TOKENS = "alice:tok-alice-0123456789,tok-bare-0123456789"
ALICE = {"Authorization": "Bearer tok-alice-0123456789"}
BARE = {"Authorization": "bearer tok-bare-0123456789"}
# Every endpoint but /healthz, with a request that it would answer well.
ENDPOINTS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/api/search", {"json": {"query": "x"}}),
    ("GET", "/api/engines", {}),
    ("GET", "/api/health", {}),
    ("GET", "/metrics", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/search?q=x&format=json", {}),
    ("POST", "/search", {"data": {"q": "x", "format": "json"}}),
    ("POST", "/tavily/search", {"json": {"query": "x"}}),
    ("POST", "/tavily/extract", {"json": {"urls": "http://127.0.0.1/"}}),
]


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("tavily") as server:
        yield server


@pytest.fixture
def guarded() -> Iterator[WebServer]:
    with WebServer.over("tavily", tokens=TOKENS) as server:
        yield server


class TestTokens:
    @pytest.mark.parametrize(("method", "path", "options"), ENDPOINTS)
    def test_every_endpoint_wants_one(
        self, guarded: WebServer, method: str, path: str, options: dict[str, Any]
    ) -> None:
        for headers in (
            {},
            {"Authorization": "Bearer tok-alice-012345678"},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer alice:tok-alice-0123456789"},
            {"Authorization": "Basic tok-alice-0123456789"},
            {"X-Token": "tok-alice-0123456789"},
        ):
            answer = guarded.client.request(method, path, headers=headers, **options)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()
        for headers in (ALICE, BARE):
            assert guarded.client.request(method, path, headers=headers, **options).status_code == 200

    @pytest.mark.parametrize("path", ["/nothing", "/docs/a/b", "/page", "/tavily", "/tavily/search/", "/mcp"])
    def test_paths_that_are_not_there_want_one_too(self, guarded: WebServer, path: str) -> None:
        assert guarded.client.get(path).status_code == 401
        assert guarded.client.post(path).status_code == 401

    def test_healthz_wants_none(self, guarded: WebServer) -> None:
        assert guarded.client.get("/healthz").status_code == 200

    @pytest.mark.parametrize("path", ["/tavily/search", "/tavily/extract"])
    def test_old_clients_of_tavily_send_it_in_the_body(self, guarded: WebServer, path: str) -> None:
        body = {"query": "x", "urls": "http://127.0.0.1/"}
        assert guarded.client.post(path, json={**body, "api_key": "tok-alice-0123456789"}).status_code == 200
        refused = guarded.client.post(path, json={**body, "api_key": "tvly-other"})
        assert refused.status_code == 401
        assert "token" in refused.json()["detail"]["error"]

    def test_a_stranger_does_not_learn_what_is_wrong_with_the_body(self, guarded: WebServer) -> None:
        assert guarded.client.post("/tavily/search", content=b"{").status_code == 401
        assert guarded.client.post("/tavily/search", content=b"{", headers=ALICE).status_code == 400

    def test_the_limit_counts_by_name(self) -> None:
        one, two, three, four = (f"tok-{number}-0123456789" for number in ("one", "two", "three", "four"))
        with WebServer.over("tavily", tokens=f"alice:{one},alice:{two},bob:{three},{four}", rate_limit=2) as server:

            def status(token: str, query: str) -> int:
                headers = {"Authorization": f"Bearer {token}"}
                return server.client.post("/api/search", json={"query": query}, headers=headers).status_code

            alice = [status(one, "a"), status(two, "b"), status(one, "c"), status(two, "d")]
            assert alice == [200, 200, 429, 429]
            assert [status(three, "e"), status(three, "f"), status(three, "g")] == [200, 200, 429]
            assert [status(four, "h"), status(four, "i"), status(four, "j")] == [200, 200, 429]
            # In the body it is the same user.
            body = {"query": "k", "api_key": one}
            assert server.client.post("/tavily/search", json=body).status_code == 429

    def test_without_tokens_any_is_taken(self, server: WebServer) -> None:
        assert server.client.get("/api/engines", headers=ALICE).status_code == 200

    def test_the_users_name_reaches_extensions(self) -> None:
        seen: list[str] = []

        def extend(_backend: Backend) -> Extension:
            async def whoami(request: Request) -> Response:
                return PlainTextResponse(request.state.user)

            @asynccontextmanager
            async def lifespan() -> Any:
                seen.append("started")
                yield
                seen.append("stopped")

            def make() -> AbstractAsyncContextManager[Any]:
                return lifespan()

            return Extension([Route("/whoami", whoami)], make)

        with WebServer.over("tavily", tokens=TOKENS, extensions=[extend]) as server:
            assert seen == ["started"]
            assert server.client.get("/whoami").status_code == 401
            assert server.client.get("/whoami", headers=ALICE).text == "alice"
            short = sha256(b"tok-bare-0123456789").hexdigest()[:8]
            assert server.client.get("/whoami", headers=BARE).text == f"token-{short}"
            counted = server.client.get("/metrics", headers=ALICE).text
            assert 'qiusuo_http_requests_total{method="GET",route="/whoami",status="200"} 2.0' in counted
        assert seen == ["started", "stopped"]


class TestHost:
    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:99", "127.0.0.1:1", "localhost."])
    def test_this_machine(self, server: WebServer, host: str) -> None:
        assert server.client.get("/healthz", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::2]",
            EVERYWHERE,
            "",
            "evil@localhost",
            "[::1]evil.example",
            "[::1].evil.example:80",
            "::1",
            "]localhost[",
            "localhost:evil.example",
        ],
    )
    def test_another_name_is_dns_rebinding(self, server: WebServer, host: str) -> None:
        for path in ("/", "/api/engines", "/search?q=x&format=json"):
            answer = server.client.get(path, headers={"Host": host})
            assert (answer.status_code, answer.json()["error"]) == (421, "MisdirectedRequest")
            assert "QIUSUO_ALLOWED_HOSTS" in answer.json()["fix"]

    @pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_whoever_watches_calls_it_by_any(self, server: WebServer, method: str, path: str) -> None:
        assert server.client.request(method, path, headers={"Host": "10.1.2.3:8000"}).status_code == 200

    def test_ipv6(self, server: WebServer) -> None:
        for host in ("[::1]", "[::1]:8000", "[::1]:"):
            assert server.client.get("/healthz", headers={"Host": host}).status_code == 200

    def test_configured_names(self) -> None:
        with WebServer.over("tavily", allowed_hosts="Search.Example.com") as server:
            for host, status in (("search.example.com", 200), ("search.example.com:443", 200), ("example.com", 421)):
                assert server.client.get("/api/engines", headers={"Host": host}).status_code == status

    def test_beyond_loopback_any_name_is_taken_unless_some_are_configured(self) -> None:
        # Only the settings say so: the test server still listens on loopback.
        with WebServer.over("tavily", host=EVERYWHERE) as server:
            assert server.client.get("/healthz", headers={"Host": "box.lan"}).status_code == 200
        with WebServer.over("tavily", host=EVERYWHERE, allowed_hosts=["box.lan"]) as server:
            assert server.client.get("/healthz", headers={"Host": "box.lan"}).status_code == 200
            assert server.client.get("/api/engines", headers={"Host": "other.lan"}).status_code == 421


class TestOtherSites:
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost:1"},
            {"Origin": "http://[bad"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"},
        ],
    )
    def test_a_page_cannot_make_the_browser_search(self, server: WebServer, headers: dict[str, str]) -> None:
        before = server.world.requests("tavily")
        answer = server.client.post("/api/search", content=b'{"query": "forged"}', headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden")
        assert server.world.requests("tavily") == before

    def test_an_image_cannot_either(self, server: WebServer) -> None:
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert server.client.get("/search?q=forged&format=json", headers=headers).status_code == 403

    # tests/page/test_other_sites.py lets a real browser try them; these are what other browsers send.
    @pytest.mark.parametrize("path", ["/search?q=forged&format=json", "/?q=forged&format=json"])
    @pytest.mark.parametrize(
        "headers",
        [
            *({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": dest}
              for dest in ("iframe", "frame", "object", "embed", "document", "fencedframe")),
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"},
            {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
            {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
            {"Sec-Fetch-Site": "something-new"},
            {"Sec-Fetch-Site": "none", "Sec-Purpose": "prefetch;prerender"},
            {"Purpose": "prefetch"},
            {"X-Moz": "prefetch"},
            {"Referer": "https://evil.example/page"},
            {"Referer": "http://localhost:3000/"},
            {"Referer": "about:blank"},
            {"User-Agent": "Mozilla/5.0 (Macintosh) Version/15.6 Safari/605.1.15", "Accept-Language": "en"},
        ],
    )  # fmt: skip
    def test_nor_can_any_other_way(self, server: WebServer, path: str, headers: dict[str, str]) -> None:
        before = server.world.requests("tavily")
        assert server.client.get(path, headers=headers).status_code == 403
        assert server.world.requests("tavily") == before

    @pytest.mark.parametrize(
        "headers",
        [
            {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
            {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
            {"User-Agent": "Mozilla/5.0 (compatible; some program)"},
            {},
        ],
    )
    def test_programs_and_typed_addresses_can(self, server: WebServer, headers: dict[str, str]) -> None:
        assert server.client.get("/search?q=wanted&format=json", headers=headers).status_code == 200

    def test_pages_can_be_linked_but_not_framed(self, server: WebServer) -> None:
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        for path in ("/", "/docs", "/docs/tools", "/healthz"):
            for more in ({}, {"Sec-Fetch-Dest": "document"}, {"Sec-Purpose": "prefetch", "Sec-Fetch-Dest": "document"}):
                answer = server.client.get(path, headers={**link, **more})
                assert answer.status_code == 200
                assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            for dest in ("iframe", "frame", "object", "embed"):
                assert server.client.get(path, headers={**link, "Sec-Fetch-Dest": dest}).status_code == 403

    def test_links_and_own_pages_can(self, server: WebServer) -> None:
        own = {"Sec-Fetch-Site": "same-origin", "Origin": server.url}
        assert server.client.post("/api/search", json={"query": "own page"}, headers=own).status_code == 200

    def test_a_proxy_that_changes_the_host(self) -> None:
        with WebServer.over("tavily", allowed_hosts="search.example.com") as server:
            headers = {"Origin": "https://search.example.com"}
            assert server.client.post("/api/search", json={"query": "x"}, headers=headers).status_code == 200
            another_program = {"Origin": "http://search.example.com:3000"}
            assert server.client.post("/api/search", json={"query": "x"}, headers=another_program).status_code == 403

    def test_with_a_token_it_is_no_forgery(self, guarded: WebServer) -> None:
        headers = {**ALICE, "Origin": "https://app.example"}
        assert guarded.client.post("/api/search", json={"query": "x"}, headers=headers).status_code == 200

    def test_no_site_may_read_the_answers(self, server: WebServer) -> None:
        answer = server.client.get("/healthz", headers={"Origin": server.url})
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        preflight = server.client.options("/api/search", headers={"Access-Control-Request-Method": "POST"})
        assert preflight.status_code == 405


class TestBody:
    def test_large_ones_are_refused(self, server: WebServer) -> None:
        for path in ("/api/search", "/search", "/tavily/search", "/nothing"):
            answer = server.client.post(path, content=b"x" * (MAX_BODY_BYTES + 1))
            assert (answer.status_code, answer.json()["error"]) == (413, "RequestEntityTooLarge")
        # The limit itself is let through: it is the JSON that is wrong.
        assert server.client.post("/api/search", content=b"x" * MAX_BODY_BYTES).status_code == 400

    @pytest.mark.parametrize("path", ["/api/search", "/search", "/tavily/search", "/tavily/extract", "/"])
    def test_so_are_those_that_come_in_pieces(self, server: WebServer, path: str) -> None:
        def pieces() -> Iterator[bytes]:
            for _ in range(80):
                yield b"x" * 1024

        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        # Only the status: the server closes with pieces unread, and the reset may overtake the body of its answer.
        with server.client.stream("POST", path, content=pieces(), headers=headers) as answer:
            assert answer.status_code == 413

    def test_pieces_are_put_together(self, server: WebServer) -> None:
        answer = server.client.post("/api/search", content=iter([b'{"que', b'ry": "pie', b'ces"}']))
        assert answer.json()["query"] == "pieces"

    def test_the_server_lives_on(self, server: WebServer) -> None:
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as raw:
            raw.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\nabc")
            assert raw.recv(100).startswith(b"HTTP/1.1 413")
        assert server.client.get("/healthz").status_code == 200


def test_metrics_do_not_grow_with_the_methods_of_strangers(server: WebServer) -> None:
    for method in ("PROPFIND", "MKCOL", "REPORT", "NOTIFY"):
        assert server.client.request(method, "/healthz").status_code == 405
    counted = server.metrics()
    assert 'method="other",route="/healthz",status="405"' in counted or 'method="other",route="other"' in counted
    assert "PROPFIND" not in counted


@pytest.mark.parametrize("path", ["/healthz", "/nothing", "/api/engines", "/search"])
def test_safe_headers_are_everywhere(server: WebServer, path: str) -> None:
    answer = server.client.get(path)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_fault_of_ours_tells_nothing() -> None:
    def extend(_backend: Backend) -> Extension:
        async def broken(_request: Request) -> Response:
            raise RuntimeError("secret detail")

        return Extension([Route("/broken", broken)])

    with WebServer.over("tavily", extensions=[extend]) as server:
        answer = server.client.get("/broken")
        assert (answer.status_code, answer.json()["error"]) == (500, "InternalServerError")
        assert "secret" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_websockets_are_closed(server: WebServer) -> None:
    answer = server.client.get(
        "/api/search",
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
        },
    )
    assert answer.status_code in {403, 405}


class TestPrometheus:
    """It calls each server by its address, with a token."""

    ADDRESS: ClassVar = {"Host": "10.0.0.11:8000"}
    WATCHER: ClassVar = {"Authorization": "Bearer tok-prom-0123456789"}

    def test_metrics_are_read_by_any_name_with_a_token(self) -> None:
        with WebServer.over("tavily", tokens=TOKENS, allowed_hosts="ask.example.com") as server:
            for method in ("GET", "HEAD"):
                assert server.client.request(method, "/metrics", headers=self.ADDRESS | ALICE).status_code == 200
            wrong = {"Authorization": "Bearer tok-wrong-0123456789"}
            assert server.client.get("/metrics", headers=self.ADDRESS | wrong).status_code == 401
            assert server.client.get("/metrics", headers=self.ADDRESS).status_code == 421
            assert server.client.get("/api/engines", headers=self.ADDRESS | ALICE).status_code == 421
            assert server.client.post("/metrics", headers=self.ADDRESS | ALICE).status_code == 421
            # A browser sends a password by itself, also for a page that points its own name here.
            password = {"Authorization": "Basic " + b64encode(b"x:tok-alice-0123456789").decode()}
            assert server.client.get("/metrics", headers=self.ADDRESS | password).status_code == 421

    def test_where_no_token_is_needed_none_can_be_made_up(self, server: WebServer) -> None:
        assert server.client.get("/metrics", headers=self.ADDRESS | ALICE).status_code == 421
        assert server.client.get("/metrics", headers=ALICE).status_code == 200

    def test_a_token_for_metrics_opens_nothing_else(self) -> None:
        with WebServer.over("tavily", tokens=f"{TOKENS},prometheus:tok-prom-0123456789:metrics") as server:
            assert server.client.get("/metrics", headers=self.WATCHER).status_code == 200
            for path in ("/api/engines", "/api/usage", "/v1/models", "/search?q=x&format=json", "/api/settings"):
                assert server.client.get(path, headers=self.WATCHER).status_code == 403, path
            body = {"query": "tea", "api_key": "tok-prom-0123456789"}
            assert server.client.post("/tavily/search", json=body).status_code == 403
            refused = server.client.post("/api/search", json={"query": "tea"}, headers=self.WATCHER)
            assert (refused.status_code, refused.json()["code"]) == (403, "web.only_metrics")
            assert server.world.requests("tavily") == 0
