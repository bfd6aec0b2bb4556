"""What comes back over real sockets: sizes, times, kinds of files, errors."""

from __future__ import annotations

import asyncio
import gzip
import time
import tracemalloc
import zlib
from typing import Any

import pytest

from qiusuo.errors import PageError, PageTimeout, PageTooLarge, PageUnavailable, UnsupportedPage
from qiusuo.http.guard import FetchPolicy
from qiusuo.http.pages import PageClient
from tests.support.page_site import Site, redirect, response


class TestLimits:
    async def test_a_declared_size_over_the_limit_is_not_even_read(self) -> None:
        async with Site({"/": response(b"x" * 2000)}) as site:
            with pytest.raises(PageTooLarge, match="larger than 1 KiB"):
                await PageClient(site.policy(max_bytes=1024)).fetch(site.url("/"))

    async def test_a_body_without_end_is_cut_off(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

        async with Site({"/": endless}) as site:
            with pytest.raises(PageTooLarge):
                await PageClient(site.policy(max_bytes=1_000_000)).fetch(site.url("/"))

    @pytest.mark.parametrize("size", [64, 200])
    async def test_a_compressed_bomb_is_stopped_while_it_unfolds(self, size: int) -> None:
        bomb = gzip.compress(b"\0" * (size * 1024 * 1024))
        async with Site({"/": response(bomb, Content_Encoding="gzip")}) as site:
            tracemalloc.start()
            with pytest.raises(PageTooLarge):
                await PageClient(site.policy(max_bytes=1_000_000)).fetch(site.url("/"))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 16 * 1024 * 1024

    async def test_a_page_at_the_limit_passes(self) -> None:
        async with Site({"/": response(gzip.compress(b"x" * 5000), Content_Encoding="gzip")}) as site:
            page = await PageClient(site.policy(max_bytes=5000)).fetch(site.url("/"))
        assert page.body == b"x" * 5000

    async def test_silence_ends_in_time(self) -> None:
        async def hang(_writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

        async with Site({"/": hang}) as site:
            started = time.monotonic()
            with pytest.raises(PageTimeout, match=r"within 0\.3 s"):
                await PageClient(site.policy(timeout=0.3)).fetch(site.url("/"))
        assert time.monotonic() - started < 2

    async def test_drops_of_a_body_end_in_time(self) -> None:
        async def drip(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(1000):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)

        async with Site({"/": drip}) as site:
            with pytest.raises(PageTimeout):
                await PageClient(site.policy(timeout=0.3)).fetch(site.url("/"))

    async def test_the_time_counts_over_all_redirects(self) -> None:
        def slowly(answer: bytes) -> Any:
            async def speak(writer: asyncio.StreamWriter) -> None:
                await asyncio.sleep(0.15)
                writer.write(answer)
                await writer.drain()

            return speak

        async with Site({f"/{n}": slowly(redirect(f"/{n + 1}")) for n in range(5)}) as site:
            with pytest.raises(PageTimeout):
                await PageClient(site.policy(timeout=0.4)).fetch(site.url("/0"))

    async def test_a_slow_name_service_counts_too(self) -> None:
        async def slow(_host: str, _port: int) -> list[str]:
            await asyncio.sleep(60)
            return ["93.184.216.34"]

        with pytest.raises(PageTimeout):
            await PageClient(FetchPolicy(timeout=0.2), resolve=slow).fetch("http://example.com/")

    async def test_a_fetch_can_be_cancelled(self) -> None:
        async def hang(_writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

        async with Site({"/": hang}) as site:
            task = asyncio.create_task(PageClient(site.policy()).fetch(site.url("/")))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    async def test_a_large_header_passes_and_a_huge_one_does_not(self) -> None:
        pages = {"/large": response("x", X_Policy="p" * 20_000), "/huge": response("x", X_Policy="p" * 200_000)}
        async with Site({**pages}) as site:
            client = PageClient(site.policy())
            assert (await client.fetch(site.url("/large"))).status == 200
            with pytest.raises(PageUnavailable, match="not proper HTTP"):
                await client.fetch(site.url("/huge"))


class TestAnswers:
    @pytest.mark.parametrize(
        "content_type",
        [
            "text/html",
            "TEXT/HTML; charset=gbk",
            "application/xhtml+xml",
            "text/plain",
            "text/markdown",
            "application/json",
            "application/xml",
            "text/xml",
            "application/rss+xml",
        ],
    )
    async def test_readable_types_pass(self, content_type: str) -> None:
        async with Site({"/": response("x", content_type)}) as site:
            page = await PageClient(site.policy()).fetch(site.url("/"))
        assert page.content_type == content_type.partition(";")[0].lower()

    @pytest.mark.parametrize(
        ("content_type", "body", "said"),
        [
            ("application/pdf", b"%PDF-1.7", "PDF"),
            ("text/html", b"%PDF-1.7 ...", "PDF"),
            ("image/png", b"\x89PNG", "image/png"),
            ("application/octet-stream", b"x", "octet-stream"),
            ("application/zip", b"PK", "application/zip"),
            ("video/mp4", b"x", "video/mp4"),
            ("text/html", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "octet-stream"),
            ("", b"\x7fELF\x02\x01\x01\x00\x00", "octet-stream"),
        ],
    )
    async def test_other_types_are_told_apart(self, content_type: str, body: bytes, said: str) -> None:
        async with Site({"/": response(body, content_type)}) as site:
            with pytest.raises(UnsupportedPage, match=said):
                await PageClient(site.policy()).fetch(site.url("/"))

    @pytest.mark.parametrize(("body", "kind"), [("<!doctype html><p>x", "text/html"), ("just words", "text/plain")])
    async def test_a_missing_type_is_guessed(self, body: str, kind: str) -> None:
        async with Site({"/": response(body, "")}) as site:
            assert (await PageClient(site.policy()).fetch(site.url("/"))).content_type == kind

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (401, "login"),
            (403, "login"),
            (404, "no such page"),
            (410, "no such page"),
            (418, "did not deliver"),
            (451, "does not let us"),
            (500, "problem of its own"),
            (503, "problem of its own"),
        ],
    )
    async def test_error_statuses_are_put_in_words(self, status: int, said: str) -> None:
        async with Site({"/": response("sorry", status=status)}) as site:
            with pytest.raises(PageUnavailable, match=said) as caught:
                await PageClient(site.policy()).fetch(site.url("/"))
        assert caught.value.status == status

    async def test_too_many_requests_tell_how_long_to_wait(self) -> None:
        async with Site({"/": response("slow down", status=429, Retry_After="7")}) as site:
            with pytest.raises(PageUnavailable) as caught:
                await PageClient(site.policy()).fetch(site.url("/"))
        assert caught.value.retry_after == 7

    async def test_a_page_that_breaks_off_is_an_error(self) -> None:
        async with Site({"/": response("x" * 1000)[:-500]}) as site:
            with pytest.raises(PageUnavailable, match="broke off"):
                await PageClient(site.policy()).fetch(site.url("/"))

    @pytest.mark.parametrize("garbage", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 abc\r\n\r\n"])
    async def test_what_is_no_http_is_an_error(self, garbage: bytes) -> None:
        async with Site({"/": garbage}) as site:
            with pytest.raises(PageUnavailable):
                await PageClient(site.policy()).fetch(site.url("/"))

    @pytest.mark.parametrize(
        ("body", "encoding"),
        [
            (gzip.compress(b"words " * 50_000, mtime=0), "gzip"),
            (gzip.compress(b"words " * 25_000, mtime=0) * 2, "x-gzip"),
            (gzip.compress(b"words " * 50_000, mtime=0) + b"\0" * 100, "GZIP"),
            (zlib.compress(b"words " * 50_000), "deflate"),
            (zlib.compress(b"words " * 50_000)[2:-4], "deflate"),
            (b"words " * 50_000, "identity"),
        ],
    )
    async def test_packed_pages_are_unpacked(self, body: bytes, encoding: str) -> None:
        async with Site({"/": response(body, Content_Encoding=encoding)}) as site:
            page = await PageClient(site.policy()).fetch(site.url("/"))
        assert page.body == b"words " * 50_000

    @pytest.mark.parametrize(
        ("body", "encoding", "said"),
        [
            (b"not gzip at all", "gzip", "cannot be opened"),
            (b"\x1f\x8b\x08 broken", "gzip", "cannot be opened"),
            (b"x", "br", "cannot be opened"),
            (gzip.compress(b"x", mtime=0), "gzip, gzip", "cannot be opened"),
            (gzip.compress(b"words " * 50_000, mtime=0)[:-20], "gzip", "broke off"),
        ],
    )
    async def test_packings_that_cannot_be_opened_are_told(self, body: bytes, encoding: str, said: str) -> None:
        async with Site({"/": response(body, Content_Encoding=encoding)}) as site:
            with pytest.raises(PageUnavailable, match=said):
                await PageClient(site.policy()).fetch(site.url("/"))

    async def test_every_error_is_a_page_error_with_a_fix(self) -> None:
        async with Site({}) as site:
            with pytest.raises(PageError) as caught:
                await PageClient(site.policy()).fetch(site.url("/missing"))
        assert caught.value.to_dict()["fix"]
