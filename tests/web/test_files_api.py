"""Files of conversations over HTTP, on a real server: added, listed, shown, asked about, removed; what is refused."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.web.chat.routes import chat_extension
from tests.support import made_files
from tests.support.chat_page import Page
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

pytestmark = pytest.mark.programs  # files are read in processes of their own

MEGABYTE = 1024**2


class Files(Page):
    """What the page does with files."""

    def add(self, session: str, name: str, data: bytes, **headers: str) -> httpx.Response:
        return self.client.post(
            f"/api/chat/sessions/{session}/files", content=data, headers={"X-File-Name": quote(name), **headers}
        )

    def files(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(f"/api/chat/sessions/{session}/files").json()["files"]
        return found


@contextmanager
def serving(folder: Path, *script: Step, **settings: Any) -> Iterator[Files]:
    store = open_store(f"sqlite:///{folder / 'chat.db'}")
    with ScriptedModel(*script) as model:
        extensions = [chat_extension(scripted(model), store)]
        with WebServer.over("searxng", extensions=extensions, **settings) as server:
            yield Files(server, model)


class TestFiles:
    def test_a_file_is_added_asked_about_and_removed(self, tmp_path: Path) -> None:
        answer = "每逾期一日应向需方支付合同总价千分之三的违约金 [1]。"
        with serving(tmp_path, Reply.text(answer), Reply.text("不知道。")) as page:
            assert page.client.get("/api/chat/config").json()["files"] == {"atOnce": 5, "maxBytes": 10 * MEGABYTE}
            session = page.new(search=True)
            added = page.add(session, "采购合同.pdf", made_files.contract())
            assert added.status_code == 201, added.text
            file = added.json()
            assert (file["name"], file["kind"], file["pages"], file["state"]) == ("采购合同.pdf", "pdf", 9, "ready")
            assert page.files(session) == [file]
            events = page.ask(session, "合同里逾期交货的违约金是多少？")
            [cited] = [
                source
                for event in events
                if event["type"] == "sources"
                for source in event["sources"]
                if source["number"] == 1
            ]
            assert (cited["title"], cited["card"]["facts"][0]["value"]) == ("采购合同.pdf，第 7 页", "7")
            assert page.server.world.requests("searxng") == 0
            # Loaded again, the turn has its source.
            [turn] = page.show(session)["turns"]
            assert turn["sources"][0]["card"] == cited["card"]
            # What is taken elsewhere has no links that lead nowhere.
            report = page.client.get(f"/api/chat/sessions/{session}/turns/{turn['id']}/report.md").text
            assert "违约金 [1]。" in report
            assert "- [1] 采购合同.pdf，第 7 页" in report
            assert "#file-" not in report
            base = f"/api/chat/sessions/{session}/files/{file['id']}"
            text = page.client.get(f"{base}/text?page=7").json()
            assert (text["page"], text["pages"]) == (7, 9)
            assert "千分之三" in text["text"]
            assert page.client.get(f"{base}/text?page=99").json()["code"] == "file.no_such_page"
            assert page.client.get(f"{base}/text?page=x").status_code == 400
            assert page.client.delete(base).status_code == 204
            assert page.client.delete(base).status_code == 404
            assert page.files(session) == []
            page.ask(session, "那违约金的上限呢？")
            assert "千分之三" not in str(page.model.requests[-1].messages[-1]["content"])

    def test_what_is_refused_says_why_and_changes_nothing(self, tmp_path: Path) -> None:
        with serving(tmp_path) as page:
            session = page.new()
            page.add(session, "a.txt", b"The bridge is 1196 metres long.")
            for name, data, code in (
                ("a.pdf", made_files.pdf("x", encrypted=True), "file.encrypted"),
                ("a.pdf", made_files.pdf([]), "file.scanned"),
                ("../a.txt", b"x", "file.bad_name"),
                ("a\u202etxt.exe", b"x", "file.bad_name"),
                ("", b"x", "file.no_name"),
                ("a.txt", b"", "file.empty"),
            ):
                for language, words in (("zh-CN", "请"), ("en", " it")):
                    told = page.add(session, name, data, **{"Accept-Language": language})
                    assert (told.status_code, told.json()["code"]) == (400, code)
                    assert words in told.json()["fix"]
            assert [file["name"] for file in page.files(session)] == ["a.txt"]

    def test_a_message_has_five_files(self, tmp_path: Path) -> None:
        with serving(tmp_path) as page:
            session = page.new()
            for number in range(5):
                assert page.add(session, f"{number}.txt", f"Text {number}.".encode()).status_code == 201
            assert page.add(session, "6.txt", b"Text 6.").json()["code"] == "file.too_many_at_once"

    def test_what_is_too_large_is_not_heard_out(self, tmp_path: Path) -> None:
        with serving(tmp_path) as page:
            session = page.new()
            path = f"/api/chat/sessions/{session}/files"
            # Told by its length: nothing of the body is waited for.
            host, port = page.server.url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port)), timeout=10) as line:
                head = f"POST {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {100 * MEGABYTE}", "X-File-Name: a"
                line.sendall("".join(f"{each}\r\n" for each in (*head, "")).encode())
                told = b""
                while piece := line.recv(65536):  # head and body may come apart
                    told += piece
            assert b" 413 " in told.splitlines()[0]
            assert b"file.too_large" in told

            def endless() -> Iterator[bytes]:
                for _ in range(12):
                    yield b"a" * MEGABYTE

            told_later = page.client.post(path, content=endless(), headers={"X-File-Name": "a.txt"})
            assert (told_later.status_code, told_later.json()["code"]) == (413, "file.too_large")
            packed = gzip.compress(b"a" * (11 * MEGABYTE))
            unpacked = page.add(session, "a.txt", packed, **{"Content-Encoding": "gzip"})
            assert (unpacked.status_code, unpacked.json()["code"]) == (413, "file.too_large")
            assert page.files(session) == []

    def test_other_paths_keep_their_limit(self, tmp_path: Path) -> None:
        with serving(tmp_path) as page:
            session = page.new()
            for path in ("/api/search", f"/api/chat/sessions/{session}/turns", f"/api/chat/sessions/{session}/files/x"):
                told = page.client.post(path, content=b"a" * (65 * 1024))
                assert (told.status_code, told.json()["code"]) == (413, "web.body_too_large")

    def test_files_of_others_are_not_found(self, tmp_path: Path) -> None:
        with serving(tmp_path, tokens="ada:token-a-0123456789,bob:token-b-0123456789") as page:
            ada, bob = ({"Authorization": f"Bearer token-{name}-0123456789"} for name in "ab")
            session = page.client.post("/api/chat/sessions", headers=ada).json()["id"]
            file = page.add(session, "a.txt", b"The bridge is 1196 metres long.", **ada).json()["id"]
            path = f"/api/chat/sessions/{session}/files"
            assert page.add(session, "b.txt", b"x", **bob).status_code == 404
            assert page.client.get(path, headers=bob).status_code == 404
            assert page.client.get(f"{path}/{file}/text", headers=bob).status_code == 404
            assert page.client.delete(f"{path}/{file}", headers=bob).status_code == 404
            assert page.client.get(path).status_code == 401
            assert (
                page.client.get(f"{path}/{file}/text", headers=ada).json()["text"] == "The bridge is 1196 metres long."
            )

    def test_nothing_is_left_of_a_deleted_conversation(self, tmp_path: Path) -> None:
        with serving(tmp_path) as page:
            session = page.new()
            file = page.add(session, "a.txt", b"The bridge is 1196 metres long.").json()["id"]
            page.client.delete(f"/api/chat/sessions/{session}")
            assert page.client.get(f"/api/chat/sessions/{session}/files/{file}/text").status_code == 404
