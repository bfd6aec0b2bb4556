"""Conversations are kept as facts: each reader is told of them in a language of their own."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo import SearchService
from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.testing import Fault
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_page import Page, events_of, page
from tests.support.chat_world import scripted
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.web_server import WebServer

TITLES = {"zh": "搜索服务不可用", "en": "The search service is unavailable"}


def failed(it: Page, **more: Any) -> tuple[str, dict[str, Any]]:
    """Ask with a search that fails; return the conversation and the notice in the stream."""
    it.server.world["searxng"].fault = Fault.SERVER_ERROR
    session = it.new(search=True)
    events = it.ask(session, "问题", **more)
    (notice,) = [event for event in events if event["type"] == "notice"]
    return session, notice


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_stream_is_in_the_language_of_its_reader(language: str) -> None:
    with page(Reply.text("凭记忆。"), timeout=0.5) as it:
        it.client.headers["Accept-Language"] = language
        session, notice = failed(it, language=language)
        assert (notice["code"], notice["title"]) == ("search_unavailable", TITLES[language])
        assert it.show(session)["turns"][0]["notices"][0]["title"] == TITLES[language]


def test_a_reader_of_another_language_is_told_the_same() -> None:
    with page(Reply.text("凭记忆。"), timeout=0.5) as it:
        it.client.headers["Accept-Language"] = "zh-CN"
        session, _ = failed(it, language="zh")
        told = {
            language: it.client.get(f"/api/chat/sessions/{session}?lang={language}").json()["turns"][0]
            for language in TITLES
        }
        for language, title in TITLES.items():
            assert told[language]["notices"][0]["title"] == title
        for name in ("code", "values", "reason", "remedy", "commands", "doc"):
            assert told["zh"]["notices"][0][name] == told["en"]["notices"][0][name]
        assert told["zh"]["notices"][0]["message"] != told["en"]["notices"][0]["message"]
        chinese, english = (told[language]["rounds"][0]["attempts"][0] for language in TITLES)
        assert (chinese["code"], chinese["values"]) == (english["code"], english["values"])
        assert told["zh"]["rounds"][0]["reason"] != told["en"]["rounds"][0]["reason"]


def test_who_asks_for_no_language_hears_that_of_the_turn() -> None:
    with page(Reply.text("凭记忆。"), timeout=0.5) as it:
        session, notice = failed(it)
        assert notice["title"] == TITLES["zh"]
        assert it.show(session)["turns"][0]["notices"][0]["title"] == TITLES["zh"]


def test_who_joins_in_another_language_hears_all_of_it_in_that_one() -> None:
    gate = Gate()
    with page(Reply.text("开头", gate, "结尾"), timeout=0.5) as it:
        it.server.world["searxng"].fault = Fault.SERVER_ERROR
        session = it.new(search=True)
        with it.asking(session, "问题") as events:
            turn = next(events)["id"]
            notice = next(event for event in events if event["type"] == "notice")
            path = f"/api/chat/sessions/{session}/turns/{turn}/events"
            with it.client.stream("GET", path, headers={"Accept-Language": "en"}) as joined:
                assert joined.headers["content-language"] == "en"
                again = next(event for event in events_of(joined) if event["type"] == "notice")
            gate.open()
            assert list(events)[-1]["answer"] == "开头结尾"
        assert (notice["title"], again["title"]) == (TITLES["zh"], TITLES["en"])


def test_a_question_in_traditional_chinese_is_noticed_in_it() -> None:
    with page(Reply.text("憑記憶。"), timeout=0.5) as it:
        it.server.world["searxng"].fault = Fault.SERVER_ERROR
        session = it.new(search=True)
        (notice,) = [event for event in it.ask(session, "什麼是區塊鏈？") if event["type"] == "notice"]
        assert notice["title"] == "搜尋服務不可用"
        assert it.show(session)["turns"][0]["language"] == "zh-Hant"
        told = it.client.get(f"/api/chat/sessions/{session}?lang=zh").json()["turns"][0]
        assert told["notices"][0]["title"] == TITLES["zh"]


def test_a_language_that_is_none_of_ours_is_refused() -> None:
    with page() as it:
        path = f"/api/chat/sessions/{it.new()}/turns"
        answer = it.client.post(path, json={"question": "x", "language": "fr"})
        assert (answer.status_code, answer.json()["values"]["problems"][0]["code"]) == (400, "body.field")
        assert "zh-Hant" in answer.json()["message"]


def test_what_keeps_the_page_from_searching() -> None:
    with ScriptedModel() as model:
        extension = chat_extension(scripted(model), open_store("sqlite://"))
        with WebServer(SearchService([], Settings.load(rate_limit=0)), extensions=[extension]) as server:
            chinese, english = (
                server.client.get("/api/chat/config", headers={"Accept-Language": tag}).json() for tag in ("zh", "en")
            )
    problem = chinese["search"]["problem"]
    assert (problem["code"], problem["values"]) == (
        english["search"]["problem"]["code"],
        english["search"]["problem"]["values"],
    )
    assert chinese["examples"] == english["examples"]
    assert chinese["examples"]["zh"][0] == "Python 3.14 有什么新变化？"


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("?limit=x", "web.not_a_number", ("limit 应为不超过九位的整数。", "limit is not a whole number")),
        ("?before=a&after=b", "web.before_and_after", ("只能写一个", "Name one of the two")),
        ("/turns/x/events", "session.turn_not_running", ("现在没有在运行", "not running now")),
    ],
)
def test_what_is_refused(path: str, code: str, words: tuple[str, str]) -> None:
    with page() as it:
        session = it.new()
        for tag, expected in zip(("zh", "en"), words, strict=True):
            answer = it.client.get(f"/api/chat/sessions/{session}{path}", headers={"Accept-Language": tag})
            assert answer.json()["code"] == code
            assert expected in answer.json()["message"] + answer.json()["fix"]
