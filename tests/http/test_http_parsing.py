"""What the wire layer reads: Retry-After, error bodies, addresses and the proxies of the environment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo import Query
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import ConfigurationError, Unavailable
from qiusuo.http import Endpoint, HttpClient, check_base_url, parse_retry_after
from qiusuo.http.api import proxy_for
from qiusuo.http.statuses import error_detail
from qiusuo.models import MAX_RETRY_AFTER
from qiusuo.testing import Answer, ProviderServer, Seen
from qiusuo.testing.providers.tavily import Tavily


class TestRetryAfter:
    NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            ("7", 7.0),
            (" 1.5 ", 1.5),
            ("Sun, 15 Nov 2026 12:00:30 GMT", 30.0),
            ("Sun, 15 Nov 2026 12:00:30", 30.0),
            ("Sun, 15 Nov 2026 20:00:30 +0800", 30.0),
            ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
            ("-3", 0.0),
            ("-inf", 0.0),
            ("999999999", MAX_RETRY_AFTER),
            ("inf", MAX_RETRY_AFTER),
            ("Wed, 21 Oct 2099 07:28:00 GMT", MAX_RETRY_AFTER),
            ("nan", None),
            ("soon", None),
            ("", None),
            (None, None),
            ("Wed, 21 Oct 999999999999999999999 07:28:00 GMT", None),
            ("Wed, 99 Oct 2026 07:28:00 GMT", None),
        ],
    )
    def test_both_forms_and_nonsense(self, value: str | None, seconds: float | None) -> None:
        assert parse_retry_after(value, self.NOW) == seconds

    @given(st.text())
    def test_never_raises_and_stays_in_its_bounds(self, value: str) -> None:
        seconds = parse_retry_after(value)
        assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER


class TestErrorDetail:
    @pytest.mark.parametrize(
        ("data", "detail"),
        [
            ({"detail": "a"}, "a"),
            ({"detail": {"error": "b"}}, "b"),
            ({"error": {"code": 7, "message": "c"}}, "c"),
            ({"errors": [{"msg": "d"}, {"msg": "no"}]}, "d"),
            ({"detail": [{"loc": ["body"], "msg": "e"}]}, "e"),
            ({"error": None, "message": "f"}, "f"),
            ({"error": {}, "msg": "g"}, "g"),
            ({"userMessage": "h"}, "h"),
            ({"error": 500, "message": "i"}, "i"),
            ("j", "j"),
            ({"code": 1}, ""),
            ([], ""),
            (None, ""),
            (7, ""),
        ],
    )
    def test_the_sentence_is_found_in_any_shape(self, data: Any, detail: str) -> None:
        assert error_detail(data) == detail

    def test_a_provider_may_have_a_key_of_its_own_for_it(self) -> None:
        assert error_detail({"problem": "no credits"}) == ""
        assert error_detail({"error": {"problem": "no credits"}, "message": "m"}, ("problem",)) == "no credits"


class TestAddresses:
    @pytest.mark.parametrize(
        "url",
        [
            "ftp://ada:s3cret@host",
            "http://",
            "http://ada:s3cret@",
            "host.example",
            "//host",
            "http://host?key=1",
            "http://host/#x",
            "http://host:99999",
            "http://[::1",
            "",
        ],
    )
    def test_unusable_addresses_are_refused_without_their_login(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="not a usable address") as caught:
            Endpoint(HttpClient(), "demo", url)
        assert "s3cret" not in str(caught.value)
        assert "http(s)://host" in caught.value.fix

    @pytest.mark.parametrize("url", ["http://host", "https://host:8443/api/v1/", "http://[::1]:8080", "http://中文.cn"])
    def test_usable_addresses_pass(self, url: str) -> None:
        check_base_url(url, "demo")


class TestProxyFor:
    @pytest.mark.parametrize("url", ["http://localhost:8080", "https://127.0.0.1", "http://127.9.9.9", "http://[::1]/"])
    def test_never_for_this_machine(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://proxy:3128")
        assert proxy_for(url) is None

    def test_by_scheme_then_for_all_then_exceptions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert proxy_for("https://api.example.com") is None
        monkeypatch.setenv("ALL_PROXY", "http://all:1")
        assert proxy_for("https://api.example.com") == "http://all:1"
        monkeypatch.setenv("HTTPS_PROXY", "http://secure:2")
        assert proxy_for("https://api.example.com") == "http://secure:2"
        assert proxy_for("http://api.example.com") == "http://all:1"
        monkeypatch.setenv("NO_PROXY", "example.com")
        assert proxy_for("https://api.example.com") is None

    def test_written_without_scheme_and_of_a_kind_that_cannot_be_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "127.0.0.1:7890")
        assert proxy_for("https://api.example.com") == "http://127.0.0.1:7890"
        monkeypatch.setenv("HTTPS_PROXY", "socks5://ada:s3cret@127.0.0.1:1080")
        with pytest.raises(ConfigurationError, match="socks5 proxy, which is not supported") as caught:
            proxy_for("https://api.example.com")
        assert "s3cret" not in str(caught.value)


async def test_the_password_of_a_proxy_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:hunter2@127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        one = TavilyEngine("key")
        with pytest.raises(Unavailable, match="407") as caught:
            await one.search(Query("x"), 10)
        await one.aclose()
    assert "hunter2" not in str(caught.value)


async def test_half_a_character_in_one_snippet_does_not_spoil_the_answer() -> None:
    class Cut(Tavily):
        def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for every query
            rows = b'[{"title": "t", "url": "https://a.example/", "content": "cut \\ud83d"}]'
            return Answer(b'{"query": "x", "results": ' + rows + b"}")

    with ProviderServer(Cut()) as server:
        one = TavilyEngine(server.key, base_url=server.base_url)
        (item,) = await one.search(Query("x"), 10)
        await one.aclose()
    assert item.snippet.startswith("cut")
    item.snippet.encode()
