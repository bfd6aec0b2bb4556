"""How the page's files and the documentation are served."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import pytest

from qiusuo.web.static import guide
from qiusuo.web.static.page import CONTENT_POLICY, FOLDER, page_files
from tests.support.web_server import WebServer


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with WebServer.over("searxng") as server:
        yield server


class TestFiles:
    def test_the_page_at_the_root(self, server: WebServer) -> None:
        answer = server.client.get("/")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["content-encoding"] == "gzip"

    def test_it_has_no_inline_code_and_nothing_from_elsewhere(self, server: WebServer) -> None:
        markup = server.client.get("/").text
        assert not re.search(r"<script(?![^>]*src=)", markup)
        assert not re.search(r"<style|\sstyle=|\son\w+=", markup)
        for link in re.findall(r'(?:src|href)="([^"]+)"', markup):
            assert re.match(r"/(?!/)", link), link

    def test_everything_it_names_is_there_and_kept_for_good(self, server: WebServer) -> None:
        links = re.findall(r'(?:src|href)="(/page/[^"]+)"', server.client.get("/").text)
        assert len(links) > 20
        for link in links:
            answer = server.client.get(link)
            assert answer.status_code == 200, link
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-type"].startswith(
                ("text/javascript", "text/css", "image/svg+xml", "image/png")
            )

    def test_all_that_modules_import_is_served(self) -> None:
        pages = page_files()
        for name in pages.files:
            if not name.endswith(".js") or name == "vendor.js":
                continue
            source = pages.files[name].body.decode()
            for target in re.findall(r'from "(\.[^"]+)"', source):
                path = ((FOLDER / name).parent / target).resolve()
                assert path.relative_to(FOLDER).as_posix() in pages.files, f"{name}: {target}"

    def test_what_the_browser_has_is_not_sent_again(self, server: WebServer) -> None:
        for path in ("/", f"{page_files().root}vendor.js"):
            first = server.client.get(path)
            again = server.client.get(path, headers={"If-None-Match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            other = server.client.get(path, headers={"If-None-Match": '"something-else"'})
            assert other.status_code == 200

    def test_compressed_only_for_those_who_can(self, server: WebServer) -> None:
        path = f"{page_files().root}style.css"
        plain = server.client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.headers["vary"] == "Accept-Encoding"
        assert plain.content == gzip.decompress(page_files().files["style.css"].compressed)

    def test_head_has_no_body(self, server: WebServer) -> None:
        answer = server.client.head("/")
        assert (answer.status_code, answer.content) == (200, b"")

    @pytest.mark.parametrize(
        "path",
        [
            "/page/x/main.js",
            "{root}",
            "{root}nothing.js",
            "{root}index.html",
            "{root}vendor.d.ts",
            "{root}vendor.json",
            "{root}../page.py",
            "{root}..%2fpage.py",
            "{root}%2e%2e/page.py",
            "{root}parts/../../page.py",
            "{root}/etc/passwd",
            "{root}..\\page.py",
            "{root}main.js%00.css",
        ],
    )
    def test_nothing_else_can_be_had(self, server: WebServer, path: str) -> None:
        # Over a bare socket: clients tidy such addresses up.
        where = urlsplit(server.url)
        target = path.format(root=page_files().root)
        with socket.create_connection((where.hostname or "", where.port or 0), timeout=5) as raw:
            raw.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while piece := raw.recv(65536):
                answer += piece
        assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")), answer[:200]
        assert b"import" not in answer

    def test_queries_at_the_root_are_searches_still(self, server: WebServer) -> None:
        assert server.client.get("/", params={"q": "x"}).status_code == 308
        assert server.client.get("/", params={"q": ""}).status_code == 200


class TestTokens:
    def test_the_page_and_the_docs_are_open_and_nothing_else_is(self) -> None:
        with WebServer.over("searxng", tokens=["tok-0123456789abcdef"]) as server:
            for path in ("/", f"{page_files().root}main.js", "/docs", "/docs/usage"):
                assert server.client.get(path).status_code == 200, path
                assert server.client.post(path).status_code in {401, 405}, path
            for path in ("/api/chat/config", "/api/chat/sessions", "/page", "/docs/a/b", "/pagex", "/openapi.json"):
                assert server.client.get(path).status_code == 401, path
            # A query is passed on, and asked for its token there.
            assert server.client.get("/", params={"q": "x"}, follow_redirects=True).status_code == 401


class TestDocs:
    def test_every_page_in_both_languages(self, server: WebServer) -> None:
        folder = guide.docs_folder()
        assert folder is not None
        names = guide.doc_names(folder)
        assert {"usage", "deployment", "troubleshooting", "configuration", "tools", "api"} <= set(names)
        for name in names:
            for language in ("zh", "en"):
                answer = server.client.get(f"/docs/{name}", params={"lang": language})
                assert answer.status_code == 200, name
                assert answer.headers["content-security-policy"] == CONTENT_POLICY
                assert "<h1" in answer.text
                assert not re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=|<img", answer.text)

    def test_the_menu_has_a_place_for_every_guide_and_no_other(self) -> None:
        folder = guide.docs_folder()
        assert folder is not None
        about_the_inside = {"architecture", "benchmarks", "scaling-measured"}
        assert set(guide.FIRST) == set(guide.doc_names(folder)) - about_the_inside

    def test_the_language_is_the_reader_s(self, server: WebServer) -> None:
        chinese = server.client.get("/docs/deployment", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
        assert '<html lang="zh-CN">' in chinese.text
        assert chinese.text != server.client.get("/docs/deployment", headers={"Accept-Language": "en"}).text
        assert '<html lang="en">' in server.client.get("/docs/deployment?lang=en").text

    def test_links_and_anchors_lead_somewhere(self, server: WebServer) -> None:
        folder = guide.docs_folder()
        assert folder is not None
        pages: dict[str, str] = {}

        def page(path: str) -> str:
            if path not in pages:
                answer = server.client.get(path)
                assert answer.status_code == 200, path
                pages[path] = answer.text
            return pages[path]

        for name in guide.doc_names(folder):
            for language in ("zh", "en"):
                here = f"/docs/{name}?lang={language}"
                for link in re.findall(r'href="([^"]+)"', page(here)):
                    if link.startswith(("https://", "http://")):
                        continue
                    path, _, anchor = link.partition("#")
                    target = here if not path or path.startswith("?") else path
                    if path.startswith("/docs/") and anchor:
                        assert f'id="{unquote(anchor)}"' in page(target), f"{here}: {link}"
                    elif target.startswith("/docs"):
                        page(target)

    def test_findings_of_the_doctor_have_their_place(self, server: WebServer) -> None:
        text = server.client.get("/docs/troubleshooting?lang=zh").text
        assert 'id="searxng-json-off"' in text
        assert "&lt;a id=" not in text

    def test_html_in_markdown_stays_text(self) -> None:
        assert guide._render("# a\n\n<script>alert(1)</script> [x](javascript:1) ![p](https://x.example/p.png)") == (
            '<h1 id="a">a</h1>\n<p>&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:1) p</p>\n'
        )

    @pytest.mark.parametrize("path", ["/docs/nothing", "/docs/README", "/docs/decisions", "/docs/usage.md"])
    def test_unknown_pages(self, server: WebServer, path: str) -> None:
        assert server.client.get(path).status_code == 404

    def test_an_installation_without_docs_says_so(self, server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guide, "FOLDERS", ())
        answer = server.client.get("/docs/usage?lang=en")
        assert answer.status_code == 404
        assert "not part of this installation" in answer.text

    def test_the_api_lists_the_endpoints(self, server: WebServer) -> None:
        text = server.client.get("/docs/api?lang=zh").text
        assert "/api/search" in text
        assert 'href="/openapi.json"' in text
