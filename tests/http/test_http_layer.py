"""The wire: what reaches a server, what is refused of its answer, and how faults are worded."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import warnings
import weakref
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from qiusuo.errors import (
    AuthFailed,
    BadResponse,
    ConfigurationError,
    EngineError,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http import Endpoint, HttpClient
from qiusuo.testing import Answer, Provider, ProviderServer, Seen
from qiusuo.testing.server import Handler, listening
from qiusuo.words import Fact, Language

SECRET = "sk-0123456789-secret"


class Canned(Provider):
    """Gives whatever answer a test puts in."""

    reply = Answer({"ok": True})

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - everybody
        return True

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - always the same
        return self.reply


@pytest.fixture
def canned() -> Iterator[ProviderServer]:
    with ProviderServer(Canned()) as server:
        yield server


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Run ``handler`` for every path in this loop; yields the address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with listening(app) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def door(url: str, *, connect_timeout: float = 3.0, **options: Any) -> AsyncIterator[Endpoint]:
    client = HttpClient(connect_timeout=connect_timeout)
    try:
        yield Endpoint(client, "demo", url, **{"timeout": 5.0, "secrets": (SECRET,), **options})
    finally:
        await client.aclose()


async def failure_of(canned: ProviderServer, answer: Answer, **options: Any) -> EngineError:
    canned.provider.reply = answer  # type: ignore[attr-defined]
    async with door(canned.url, **options) as endpoint:
        with pytest.raises(EngineError) as caught:
            await endpoint.get("/search")
    assert caught.value.engine == "demo"
    return caught.value


class TestRequests:
    async def test_one_connection_serves_many_requests_also_failed_ones(self) -> None:
        peers = set()

        async def answer(request: web.Request) -> web.Response:
            peers.add(request.transport.get_extra_info("peername"))  # type: ignore[union-attr]
            return web.json_response({"n": 1}, status=500 if request.path == "/bad" else 200)

        async with serving(answer) as url, door(url) as endpoint:
            for path in ("/a", "/bad", "/b", "/bad", "/c"):
                with suppress(Unavailable):
                    await endpoint.get(path)
        assert len(peers) == 1

    async def test_parameters_are_encoded_and_none_is_left_out(self, canned: ProviderServer) -> None:
        async with door(canned.url + "/base/", headers={"X-Key": "k"}) as endpoint:
            await endpoint.get("/search", {"q": '100% "C++ & C#" 问号？', "n": 3, "no": None}, headers={"X-More": "m"})
            await endpoint.post("/search", {"q": "中文", "no": None, "deep": {"kept": None}})
        get, post = canned.seen
        assert (get.path, dict(get.params)) == ("/base/search", {"q": '100% "C++ & C#" 问号？', "n": "3"})
        assert (get.headers["x-key"], get.headers["x-more"]) == ("k", "m")
        assert post.json == {"q": "中文", "deep": {"kept": None}}
        assert post.headers["content-type"] == "application/json"
        assert post.headers["user-agent"].startswith("qiusuo/")
        assert "cookie" not in post.headers

    async def test_cookies_are_not_kept(self, canned: ProviderServer) -> None:
        canned.provider.reply = Answer({}, headers={"Set-Cookie": "id=1; Path=/"})  # type: ignore[attr-defined]
        async with door(canned.url) as endpoint:
            await endpoint.get("/a")
            await endpoint.get("/b")
        assert "cookie" not in canned.seen[1].headers

    async def test_words_of_an_error_may_stand_under_a_key_of_the_providers_own(self, canned: ProviderServer) -> None:
        error = await failure_of(canned, Answer({"problem": "no such plan"}, 400), error_words=("problem",))
        assert "no such plan" in error.message

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_no_redirect_is_followed(self, canned: ProviderServer, status: int) -> None:
        with ProviderServer(Canned()) as target:
            error = await failure_of(canned, Answer(b"", status, {"Location": f"{target.url}/stolen"}))
            assert isinstance(error, BadResponse)
            assert f"redirect (HTTP {status})" in error.message
            assert "base URL" in error.fix
            assert target.seen == []

    @pytest.mark.parametrize("headers", [{"Authorization": "Bearer x"}, {"X-Key": "line\nbreak"}])
    async def test_settings_of_which_no_request_can_be_made(
        self, canned: ProviderServer, headers: dict[str, str]
    ) -> None:
        async with door(canned.url.replace("//", "//ada:s3cret@"), headers=headers) as endpoint:
            with pytest.raises(ConfigurationError, match="key and the base URL of demo") as caught:
                await endpoint.get("/")
        assert "s3cret" not in str(caught.value)
        assert canned.seen == []


class TestSize:
    BODY = b'{"x": "' + b"x" * 2000 + b'"}'

    @pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
    @pytest.mark.parametrize("chunked", [False, True])
    async def test_the_cap_counts_the_unpacked_body(self, encoding: str, chunked: bool) -> None:
        packed = {"gzip": gzip.compress(self.BODY), "deflate": zlib.compress(self.BODY)}.get(encoding, self.BODY)

        async def answer(request: web.Request) -> web.StreamResponse:
            headers = {"Content-Encoding": encoding} if encoding != "identity" else {}
            if not chunked:
                return web.Response(body=packed, headers=headers)
            response = web.StreamResponse(headers=headers)
            response.enable_chunked_encoding()
            await response.prepare(request)
            for start in range(0, len(packed), 10):
                await response.write(packed[start : start + 10])
            return response

        async with serving(answer) as url:
            async with door(url, max_bytes=len(self.BODY)) as endpoint:
                assert (await endpoint.get("/"))["x"] == "x" * 2000
            async with door(url, max_bytes=len(self.BODY) - 1) as endpoint:
                with pytest.raises(BadResponse, match="larger than 1 KiB"):
                    await endpoint.get("/")

    async def test_an_endless_body_is_cut_off(self) -> None:
        sent = 0

        async def pour(request: web.Request) -> web.StreamResponse:
            nonlocal sent
            response = web.StreamResponse()
            response.enable_chunked_encoding()
            await response.prepare(request)
            with suppress(ConnectionError):
                while True:
                    await response.write(b"x" * 10_000)
                    sent += 10_000
            return response

        async with serving(pour) as url, door(url, max_bytes=100_000) as endpoint:
            with pytest.raises(BadResponse, match="larger than 97 KiB"):
                await endpoint.get("/")
        assert sent < 10_000_000


class TestTime:
    async def test_silence_is_a_timeout_that_says_how_long(self) -> None:
        async def hang(_request: web.Request) -> web.Response:
            await asyncio.sleep(30)
            return web.Response()

        async with serving(hang) as url, door(url, timeout=0.15) as endpoint:
            with pytest.raises(SearchTimeout, match=r"No answer from 127\.0\.0\.1:\d+ within 0\.15 s\."):
                await endpoint.get("/")

    async def test_a_body_that_stalls_is_a_timeout_too(self) -> None:
        async def stall(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Length": "100"})
            await response.prepare(request)
            await response.write(b'{"half":')
            await asyncio.sleep(30)
            return response

        async with serving(stall) as url, door(url, timeout=0.15) as endpoint:
            with pytest.raises(SearchTimeout, match=r"No answer .* within 0\.15 s"):
                await endpoint.get("/")

    async def test_a_host_that_does_not_take_the_connection_is_told_apart(self) -> None:
        with socket.socket() as full, socket.socket() as first, socket.socket() as second:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            for waiting in (first, second):  # the queue of those who wait is full with them
                waiting.setblocking(False)
                with suppress(BlockingIOError):
                    waiting.connect(full.getsockname())
            url = f"http://127.0.0.1:{full.getsockname()[1]}"
            async with door(url, connect_timeout=0.15) as endpoint:
                with pytest.raises(SearchTimeout, match=r"No connection to 127\.0\.0\.1:\d+ within 0\.15 s\."):
                    await endpoint.get("/")
            async with door(url, timeout=0.1) as endpoint:
                with pytest.raises(SearchTimeout, match=r"within 0\.1 s\."):
                    await endpoint.get("/")

    async def test_nobody_there_and_no_such_name(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
            async with door(url) as endpoint:
                with pytest.raises(Unavailable, match="refuses the connection") as caught:
                    await endpoint.get("/")
        assert caught.value.fact.code == "http.refused"
        assert caught.value.fix
        async with door("http://nowhere.invalid") as endpoint:
            with pytest.raises(Unavailable, match=r"The name nowhere\.invalid cannot be resolved") as caught:
                await endpoint.get("/")
        assert caught.value.fact == Fact("http.dns", host="nowhere.invalid")


class TestRetryAfter:
    @pytest.mark.parametrize("status", [402, 429, 503])
    async def test_it_reaches_the_error(self, canned: ProviderServer, status: int) -> None:
        error = await failure_of(canned, Answer({"error": "wait"}, status, {"Retry-After": "42"}))
        assert error.retry_after == 42


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, RequestRejected),
            (401, AuthFailed),
            (402, QuotaExceeded),
            (403, AuthFailed),
            (404, BadResponse),
            (408, Unavailable),
            (410, BadResponse),
            (418, RequestRejected),
            (422, RequestRejected),
            (429, RateLimited),
            (500, Unavailable),
            (503, Unavailable),
            (599, Unavailable),
        ],
    )
    async def test_status_becomes_an_error_with_the_providers_words(
        self, canned: ProviderServer, status: int, kind: type[EngineError]
    ) -> None:
        error = await failure_of(canned, Answer({"error": {"message": "It is <b>so</b>."}}, status))
        assert type(error) is kind
        assert error.status == status
        assert f"HTTP {status}): It is so." in error.message
        assert f"HTTP {status}）：It is so." in error.wording(Language.CHINESE).what

    async def test_a_body_of_many_layers_does_no_harm(self, canned: ProviderServer) -> None:
        error = await failure_of(canned, Answer(b'{"error":' * 1000 + b'"x"' + b"}" * 1000, 500))
        assert isinstance(error, Unavailable)

    async def test_secrets_are_struck_out_of_what_the_provider_says(self, canned: ProviderServer) -> None:
        error = await failure_of(canned, Answer({"error": f"key {SECRET}\x1b[31m is\n wrong {'!' * 999}"}, 401))
        for text in (str(error), repr(error), repr(error.to_dict())):
            assert SECRET not in text
        assert "key ***[31m is wrong" in error.message
        assert len(error.message) < 400

    async def test_pages_and_broken_json_are_told_apart(self, canned: ProviderServer) -> None:
        assert "answered with a web page" in (await failure_of(canned, Answer("<html>Log in"))).message
        assert "not JSON" in (await failure_of(canned, Answer(b'{"a": '))).message
        assert "not JSON" in (await failure_of(canned, Answer(b""))).message


class TestProxies:
    async def test_requests_go_through_it(self, canned: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", canned.url)
        async with door("http://provider.example") as endpoint:
            assert await endpoint.get("/search") == {"ok": True}
        (seen,) = canned.seen
        assert seen.headers["host"] == "provider.example"


class TestLoops:
    def test_one_client_serves_two_loops_and_closes_without_warnings(self, canned: ProviderServer) -> None:
        client = HttpClient()
        endpoint = Endpoint(client, "demo", canned.url)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                assert asyncio.run(endpoint.get("/")) == {"ok": True}
            asyncio.run(client.aclose())
            gc.collect()
        assert [str(warning.message) for warning in caught] == []
        assert len(canned.seen) == 2

    def test_a_loop_that_has_ended_is_closed_and_let_go_even_without_closing_the_client(
        self, canned: ProviderServer
    ) -> None:
        endpoint = Endpoint(HttpClient(), "demo", canned.url)
        ended = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                with asyncio.Runner() as runner:
                    runner.run(endpoint.get("/"))
                    ended.append(weakref.ref(runner.get_loop()))
                del runner
            gc.collect()
        assert [str(warning.message) for warning in caught] == []
        assert [loop() for loop in ended] == [None, None, None]

    async def test_it_can_be_used_again_after_closing(self, canned: ProviderServer) -> None:
        async with door(canned.url) as endpoint:
            await endpoint.get("/")
        assert await endpoint.get("/") == {"ok": True}
        await endpoint.client.aclose()
