"""The root: a question in its address, the way for programs, and how a browser learns to ask here."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

import httpx
import pytest

from qiusuo.web.static.page import page_files
from tests.support.web_server import WebServer

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language": "en"}
TYPED = {**BROWSER, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
LINKED = {**TYPED, "Sec-Fetch-Site": "cross-site"}
MARK = 'data-asks="own"'
NAMESPACE = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("searxng", allowed_hosts="ask.example") as server:
        yield server


def root(server: WebServer, headers: dict[str, str], **params: str) -> httpx.Response:
    return server.client.get("/", params={"q": "what is tea?", **params}, headers=headers)


class TestAQuestionInTheAddress:
    def test_a_reader_s_own_is_asked_by_the_page(self, server: WebServer) -> None:
        answer = root(server, TYPED, mode="agent")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert MARK in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert "Sec-Fetch-Site" in answer.headers["vary"]
        assert MARK in root(server, {**TYPED, "Sec-Fetch-Site": "same-origin"}).text

    @pytest.mark.parametrize(
        "headers",
        [
            LINKED,
            {**LINKED, "Sec-Fetch-User": "?1"},
            {**TYPED, "Sec-Fetch-Site": "same-site"},
            {**BROWSER, "User-Agent": "Mozilla/5.0 (X11)"},  # says nothing of where it comes from
            {**BROWSER, "Referer": "https://evil.example/"},
        ],
    )
    def test_one_from_elsewhere_is_shown_but_not_asked(self, server: WebServer, headers: dict[str, str]) -> None:
        answer = root(server, headers)
        assert answer.status_code == 200
        assert MARK not in answer.text
        assert "main.js" in answer.text

    def test_it_cannot_be_framed(self, server: WebServer) -> None:
        assert root(server, {**LINKED, "Sec-Fetch-Dest": "iframe"}).status_code == 403

    def test_programs_are_passed_on_as_ever(self, server: WebServer) -> None:
        assert root(server, {}).status_code == 308
        assert root(server, {"Accept": "application/json"}).status_code == 308
        passed = root(server, TYPED, format="json")
        assert (passed.status_code, passed.headers["location"]) == (308, "/search?q=what+is+tea%3F&format=json")
        assert root(server, LINKED, format="json").status_code == 403
        assert server.client.post("/", data={"q": "tea", "format": "json"}, headers=BROWSER).status_code == 308

    def test_the_page_itself_has_no_mark(self, server: WebServer) -> None:
        assert MARK not in server.client.get("/", headers=TYPED).text
        assert MARK not in server.client.get("/", params={"q": ""}, headers=TYPED).text

    def test_the_question_does_not_get_into_the_document(self, server: WebServer) -> None:
        hostile = '"><script>alert(1)</script>\u0000\u202e javascript:alert(1)'
        assert root(server, TYPED, q=hostile).content == root(server, TYPED).content

    def test_one_of_60_kb_is_refused(self, server: WebServer) -> None:
        assert root(server, TYPED, q="x" * 60_000).status_code == 431

    def test_with_tokens_the_page_is_open_and_a_program_s_query_is_not(self) -> None:
        with WebServer.over("searxng", tokens=["tok-0123456789abcdef"]) as server:
            assert MARK in root(server, TYPED).text
            assert root(server, {}).status_code == 401


class TestOpenSearch:
    def described(self, server: WebServer, **headers: str) -> ET.Element:
        answer = server.client.get("/opensearch.xml", headers={**LINKED, **headers})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
        return ET.fromstring(answer.text)  # noqa: S314 - our own

    def test_it_is_what_the_standard_asks_for(self, server: WebServer) -> None:
        about = self.described(server)
        assert about.tag == f"{NAMESPACE}OpenSearchDescription"
        texts = {child.tag.removeprefix(NAMESPACE): child.text or "" for child in about}
        assert 0 < len(texts["ShortName"]) <= 16
        assert "求索" in texts["ShortName"]
        assert "Qiusuo" in texts["ShortName"]
        assert 0 < len(texts["Description"]) <= 1024
        assert texts["InputEncoding"] == "UTF-8"
        assert [each.text for each in about.iter(f"{NAMESPACE}Language")] == ["zh-CN", "zh-Hant", "en"]
        [image] = about.iter(f"{NAMESPACE}Image")
        assert server.client.get(image.text or "").headers["content-type"] == image.get("type")
        # One Url for each purpose; none has parameters that are not known.
        urls = {each.get("rel", "results"): each for each in about.iter(f"{NAMESPACE}Url")}
        assert set(urls) == {"results", "self"}
        assert urls["results"].get("template") == f"{server.url}/?q={{searchTerms}}"
        assert urls["self"].get("template") == f"{server.url}/opensearch.xml"

    def test_it_names_the_server_as_it_is_called(self, server: WebServer) -> None:
        about = self.described(server, Host="ask.example")
        template = next(about.iter(f"{NAMESPACE}Url")).get("template")
        assert template == "http://ask.example/?q={searchTerms}"
        made_up = self.described(server, **{"Host": "ask.example", "X-Forwarded-Proto": "https"})
        assert next(made_up.iter(f"{NAMESPACE}Url")).get("template") == template, "only a trusted proxy is believed"
        assert server.client.get("/opensearch.xml", headers={"Host": "evil.example"}).status_code == 421

    def test_the_page_names_it(self) -> None:
        markup = page_files().index.body.decode()
        assert 'rel="search" type="application/opensearchdescription+xml"' in markup
        assert 'href="/opensearch.xml"' in markup

    def test_it_is_open_where_tokens_are_wanted(self) -> None:
        with WebServer.over("searxng", tokens=["tok-0123456789abcdef"]) as server:
            self.described(server)
