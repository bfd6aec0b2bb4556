"""From an address to a page that an agent can read, over real sockets."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import datetime

import pytest

from qiusuo.errors import InvalidQuery, PageRefused, PageTimeout, SearchError
from qiusuo.http.guard import FetchPolicy
from qiusuo.http.pages import RawPage
from qiusuo.pages import Page, PageLink, PageReader
from qiusuo.pages import reader as reader_module
from qiusuo.words import Fact, said
from tests.support.page_site import Names, Site, redirect, response

PARAGRAPH = "国务院办公厅日前印发通知，就进一步做好有关工作作出部署，要求各地区各部门结合实际认真贯彻落实。"
TITLE = "关于做好有关工作的通知"
ARTICLE = f"<title>{TITLE}</title><article><h1>{TITLE}</h1><p>{PARAGRAPH}</p><p>{PARAGRAPH}朱镕基、喆。</p></article>"


def encoded(encoding: str, header: str, meta: str) -> bytes:
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    content_type = f"text/html; charset={header}" if header else "text/html"
    return response(f"<html><head>{head}</head>{ARTICLE}".encode(encoding), content_type)


class TestCharsets:
    @pytest.mark.parametrize(
        ("encoding", "header", "meta"),
        [
            ("utf-8", "utf-8", "utf-8"),
            ("utf-8", "", ""),
            ("gbk", "", "gb2312"),
            ("gbk", "gb2312", ""),
            ("gbk", "", ""),
            ("gbk", "utf-8", "gbk"),
            ("gbk", "ISO-8859-1", "gb2312"),
            ("utf-8", "gbk", "gbk"),
            ("gb18030", '"GB18030"', ""),
            ("utf-16", "", ""),
        ],
    )
    async def test_the_article_is_readable(self, encoding: str, header: str, meta: str) -> None:
        async with Site({"/": encoded(encoding, header, meta)}) as site, PageReader(site.policy()) as reader:
            page = await reader.read(site.url())
        assert page.title == TITLE
        assert PARAGRAPH in page.text
        assert "朱镕基、喆" in page.text

    async def test_characters_of_four_bytes(self) -> None:
        body = f"<p>{PARAGRAPH}</p><p>𠀀𠮷㐂</p>".encode("gb18030")
        async with (
            Site({"/": response(body, "text/html; charset=gb2312")}) as site,
            PageReader(site.policy()) as reader,
        ):
            assert "𠀀𠮷㐂" in (await reader.read(site.url())).text

    async def test_traditional_chinese(self) -> None:
        text = "行政院今日宣布，將於明年一月起實施新的交通管理辦法，請民眾配合。"
        answer = response(f"<p>{text}".encode("big5"), "text/html")
        async with Site({"/": answer}) as site, PageReader(site.policy()) as reader:
            assert text in (await reader.read(site.url())).text


class TestReader:
    async def test_a_page_with_everything(self) -> None:
        pages = {"/start": redirect("/article"), "/article": encoded("utf-8", "utf-8", "")}
        async with Site({**pages}) as site, PageReader(site.policy()) as reader:
            page = await reader.read(site.url("/start"))
        data = page.to_dict()
        assert data["url"] == site.url("/start")
        assert data["finalUrl"] == site.url("/article")
        assert data["contentType"] == "text/html"
        assert data["language"] == "zh"
        assert data["truncated"] is False
        assert datetime.fromisoformat(data["fetchedAt"]).tzinfo is not None
        assert "publishedAt" not in data
        assert json.loads(json.dumps(data)) == data

    def test_the_json_shape(self) -> None:
        page = Page(
            url="https://example.com/a",
            final_url="https://example.com/b",
            title="t",
            text="x",
            fetched_at="2026-11-15T08:00:00+00:00",
            content_type="text/html",
            published_at="2026-11-14",
            language="en",
            author="A B",
            site_name="S",
            links=(PageLink("https://example.com/c", "c"),),
            truncated=True,
            notes=(said("n"),),
        )
        assert page.to_dict() == {
            "url": "https://example.com/a",
            "finalUrl": "https://example.com/b",
            "title": "t",
            "text": "x",
            "truncated": True,
            "contentType": "text/html",
            "fetchedAt": "2026-11-15T08:00:00+00:00",
            "links": [{"url": "https://example.com/c", "text": "c"}],
            "publishedAt": "2026-11-14",
            "language": "en",
            "author": "A B",
            "siteName": "S",
            "notes": ["n"],
            "noted": [{"code": "said", "values": {"text": "n"}}],
        }

    async def test_long_text_is_cut_and_says_so(self) -> None:
        async with Site({"/": response("word " * 1000, "text/plain")}) as site, PageReader(site.policy()) as reader:
            page = await reader.read(site.url(), max_chars=100)
            whole = await reader.read(site.url(), max_chars=4999)
        assert page.truncated
        assert len(page.text) <= 100
        assert not whole.truncated

    async def test_a_page_without_text_has_a_note(self) -> None:
        answer = response("<div id=root></div><script>go()</script>")
        async with Site({"/": answer}) as site, PageReader(site.policy()) as reader:
            page = await reader.read(site.url())
        assert page.text == ""
        assert page.notes == (Fact("page_read.no_text"),)

    def test_a_step_down_to_http_has_a_note(self) -> None:
        raw = RawPage("https://a.example/", "http://a.example/", 200, "text/html", "", b"x", downgraded=True)
        assert reader_module._notes(raw, "x") == [Fact("page_read.downgraded")]

    @pytest.mark.parametrize(
        ("content_type", "body", "text"),
        [
            ("text/plain", "plain <b>words</b>", "plain <b>words</b>"),
            ("text/markdown", "# Title\n\n- item", "# Title\n\n- item"),
            ("application/json", '{"a":"\\u4e2d"}', '{\n  "a": "中"\n}'),
            ("", "no type at all", "no type at all"),
        ],
    )
    async def test_other_types_are_read_too(self, content_type: str, body: str, text: str) -> None:
        async with Site({"/": response(body, content_type)}) as site, PageReader(site.policy()) as reader:
            assert (await reader.read(site.url())).text == text

    async def test_hostile_addresses_are_refused(self) -> None:
        async with PageReader(resolve=Names({"inside.example.com": [["10.0.0.1"]]})) as reader:
            for url in ("http://127.0.0.1/", "http://inside.example.com/", "file:///etc/passwd"):
                with pytest.raises(PageRefused):
                    await reader.read(url)

    async def test_errors_belong_to_the_tree(self) -> None:
        async with PageReader() as reader:
            with pytest.raises(SearchError) as caught:
                await reader.read("http://localhost/")
        assert caught.value.to_dict()["error"] == "PageRefused"

    async def test_a_limit_below_one_is_a_parameter_error(self) -> None:
        async with PageReader() as reader:
            with pytest.raises(InvalidQuery):
                await reader.read("https://example.com/", max_chars=0)

    async def test_many_pages_at_once(self) -> None:
        async with Site({"/": encoded("gbk", "", "gb2312")}) as site, PageReader(site.policy()) as reader:
            pages = await asyncio.gather(*(reader.read(site.url()) for _ in range(30)))
        assert {page.text for page in pages} == {pages[0].text}
        assert PARAGRAPH in pages[0].text

    async def test_the_loop_goes_on_while_a_page_is_taken_apart(self) -> None:
        body = "<p>some words in a paragraph of its own</p>" * 15_000
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        async with Site({"/": response(body)}) as site, PageReader(site.policy()) as reader:
            await reader.read(site.url())
            ticking = asyncio.create_task(tick())
            page = await reader.read(site.url())
            ticking.cancel()
        assert page.text
        assert ticks > 5

    async def test_a_page_that_takes_too_long_to_take_apart_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        release = threading.Event()

        def stuck(*_: object) -> Page:
            release.wait(10)
            raise AssertionError("nobody waits for this")

        monkeypatch.setattr(reader_module, "_page", stuck)
        monkeypatch.setattr(reader_module, "EXTRACTION_TIMEOUT", 0.1)
        async with Site({"/": response("x")}) as site, PageReader(site.policy()) as reader:
            with pytest.raises(PageTimeout, match="taken apart"):
                await reader.read(site.url())
            release.set()

    async def test_reading_can_be_cancelled(self) -> None:
        async def hang(_writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(60)

        async with Site({"/": hang}) as site, PageReader(site.policy()) as reader:
            task = asyncio.create_task(reader.read(site.url()))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    def test_one_reader_serves_several_loops(self) -> None:
        policy = FetchPolicy(allowed_ports=frozenset(range(1024, 65536)), allow_private=("127.0.0.1",))
        reader = PageReader(policy)

        async def run() -> str:
            async with Site({"/": response("hello", "text/plain")}) as site:
                return (await reader.read(site.url())).text

        assert [asyncio.run(run()) for _ in range(2)] == ["hello", "hello"]
        asyncio.run(reader.aclose())
