"""Research over ``/api/chat``: asked for, stopped, gone on with, and had as a document."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.chat_page import Page, page
from tests.support.research_world import PARTS, QUESTION, part_of, writer
from tests.support.scripted_model import Gate, Reply, Step


@contextmanager
def researching(step: Step, **settings: Any) -> Iterator[tuple[Page, str]]:
    """Give a server whose research reads no pages, and a conversation."""
    with page(research_pages=0, rate_limit=0, **settings) as it:
        it.model.otherwise = step
        yield it, it.new()


def report(it: Page, session: str, turn: str, kind: str) -> Any:
    return it.client.get(f"/api/chat/sessions/{session}/turns/{turn}/report.{kind}")


def test_the_limits_are_told_before_it_starts() -> None:
    with researching(writer()) as (it, _):
        told = it.client.get("/api/chat/config").json()["research"]
    assert told == {"questions": 6, "searches": 12, "pages": 0, "tokens": 60_000, "seconds": 300}


def test_it_is_asked_for_with_a_field_of_the_question() -> None:
    with researching(writer()) as (it, session):
        events = it.ask(session, QUESTION, research=True)
        [turn] = it.show(session)["turns"]
    steps = [event["steps"] for event in events if event["type"] == "research"]
    assert [step["question"] for step in steps[-1]] == list(PARTS)
    assert {step["state"] for step in steps[-1]} == {"done"}
    assert turn["mode"] == "research"
    assert turn["research"]["stage"] == "done"
    assert turn["research"]["used"]["searches"] >= 3
    assert turn["cited"]


def test_stopped_and_gone_on() -> None:
    gate = Gate()
    with researching(writer(gate, PARTS[1])) as (it, session):
        with it.asking(session, QUESTION, research=True) as events:
            turn = next(event for event in events if event["type"] == "turn")["id"]
            for event in events:
                if event["type"] == "research" and event["steps"] and event["steps"][1]["state"] == "writing":
                    break
            assert it.client.post(f"/api/chat/sessions/{session}/turns/{turn}/stop").status_code == 204
            assert list(events)[-1]["state"] == "stopped"
        [stopped] = it.show(session)["turns"]
        assert stopped["canGoOn"]
        assert PARTS[0] in stopped["answer"]
        unfinished = report(it, session, turn, "md").text
        asked = len(it.model.requests)
        it.model.otherwise = writer()
        events_ = it.ask(session, "", goesOn=turn)
        [ended] = it.show(session)["turns"]
        assert [part_of(each) for each in it.model.requests[asked:]] == [PARTS[1], PARTS[2], ""]
    assert "没有写完" in unfinished
    assert events_[-1]["state"] == "done"
    assert ended["question"] == QUESTION
    assert not ended["canGoOn"]
    numbers = [source["number"] for source in ended["sources"]]
    assert numbers == sorted(set(numbers)), "each source once, under its number"


def test_what_is_no_research_cannot_go_on() -> None:
    with researching(Reply.text("好。")) as (it, session):
        turn = it.ask(session, "你好")[0]["id"]
        for goes_on in (turn, "nobody"):
            refused = it.client.post(f"/api/chat/sessions/{session}/turns", json={"goesOn": goes_on})
            assert refused.status_code == 400
            assert refused.json()["code"] == "session.nothing_to_go_on"
        assert [turn["question"] for turn in it.show(session)["turns"]] == ["你好"]


class TestDocument:
    def test_markdown(self) -> None:
        with researching(writer()) as (it, session):
            turn = it.ask(session, QUESTION, research=True)[0]["id"]
            got = report(it, session, turn, "md")
        assert got.headers["content-type"] == "text/markdown; charset=utf-8"
        assert "report.md" in got.headers["content-disposition"]
        lines = got.text.splitlines()
        assert lines[0] == f"# {QUESTION}"
        assert f"## {PARTS[0]}" in lines
        assert "## 参考文献" in lines
        assert any(line.startswith("- [1] ") and "<https://site1.example.com/page/1>" in line for line in lines)

    def test_html_that_prints_and_runs_nothing(self) -> None:
        hostile = "云岭大桥<script>alert(1)</script>怎么样"

        def answer(asked: Any) -> Reply:
            written = writer()(asked)  # type: ignore[operator]
            text = "# 标题\n\n<img src=x onerror=alert(1)> [点](javascript:alert(1)) 长1196米 [1]。"
            return Reply.text(text) if part_of(asked) == PARTS[0] else written

        with researching(answer) as (it, session):
            turn = it.ask(session, hostile, research=True)[0]["id"]
            got = report(it, session, turn, "html")
        assert got.headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src" not in got.headers["content-security-policy"]
        assert got.headers["content-security-policy"].startswith("default-src 'none'")
        assert "@media print" in got.text
        assert 'lang="zh-CN"' in got.text
        assert '<li id="ref-1" value="1">' in got.text
        assert '<a href="#ref-1">[1]</a>' in got.text
        assert "<script" not in got.text
        assert "<img" not in got.text
        assert 'href="javascript' not in got.text

    def test_of_what_there_is_not(self) -> None:
        with researching(Reply.text("好。")) as (it, session):
            turn = it.ask(session, "你好")[0]["id"]
            assert report(it, session, turn, "md").status_code == 200
            assert report(it, session, "nobody", "md").status_code == 404
            assert report(it, "nobody", turn, "html").status_code == 404
            assert report(it, session, turn, "docx").status_code == 400
