"""``/api/chat`` on a real server: conversations, streamed turns, joining late, stopping, the switch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo import SearchService
from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.engines.base import Joins, SearchEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import Unavailable
from qiusuo.models import Query, SearchResultItem
from qiusuo.testing import Fault
from qiusuo.web.chat.routes import chat_extension
from qiusuo.words import Fact
from tests.support.chat_world import scripted
from tests.support.scripted_model import Call, Gate, Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

NOTES = {"zh": "Agent 模式下由 AI 自动决策搜索", "en": "In agent mode the AI decides when to search"}


class Page:
    """What the page does, over HTTP."""

    def __init__(self, server: WebServer, model: ScriptedModel) -> None:
        self.server = server
        self.model = model
        self.client = server.client

    def new(self, **settings: Any) -> str:
        answer = self.client.post("/api/chat/sessions", json={"settings": settings})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def show(self, session: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get(f"/api/chat/sessions/{session}").json()
        return shown

    def change(self, session: str, **settings: Any) -> httpx.Response:
        return self.client.patch(f"/api/chat/sessions/{session}", json={"settings": settings})

    def ask(self, session: str, text: str, **more: Any) -> list[dict[str, Any]]:
        with self.asking(session, text, **more) as events:
            return list(events)

    @contextmanager
    def asking(self, session: str, text: str, **more: Any) -> Iterator[Iterator[dict[str, Any]]]:
        body = {"text": text, **more}
        with self.client.stream("POST", f"/api/chat/sessions/{session}/turns", json=body) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield events_of(answer)


def events_of(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    number = -1
    for line in answer.iter_lines():
        if line.startswith("id: "):
            number = int(line[4:])
        elif line.startswith("data: "):
            yield {**json.loads(line[6:]), "id_": number}


@contextmanager
def page(*script: Step, store: str = "sqlite://", **settings: Any) -> Iterator[Page]:
    with ScriptedModel(*script) as model:
        extension = chat_extension(scripted(model), open_store(store))
        with WebServer.over("searxng", extensions=[extension], hedge_delay=0, **settings) as server:
            yield Page(server, model)


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


class TestTurn:
    def test_a_question_is_answered_as_a_stream_of_events_and_kept(self) -> None:
        with page(Reply.text("见 [", "1]。")) as it:
            session = it.new(search=True)
            events = it.ask(session, "今天的新闻")
            kinds = [event["type"] for event in events]
            assert kinds[0] == "turn"
            assert kinds[-1] == "done"
            assert [event["id_"] for event in events] == sorted(event["id_"] for event in events)
            assert text_of(events) == events[-1]["answer"] == "见 [[1]](https://site1.example.com/page/1)。"
            shown = it.show(session)
            [turn] = shown["turns"]
            assert turn["state"] == "done"
            assert turn["answer"] == events[-1]["answer"]
            assert turn["rounds"][0]["engine"] == "searxng"
            assert turn["rounds"][0]["attempts"][0]["outcome"] == "ok"
            assert [source["number"] for source in turn["sources"]] == [1, 2, 3, 4, 5]
            assert shown["title"] == "今天的新闻"
            assert shown["running"] is None

    def test_of_a_long_message_the_provider_gets_the_question_alone(self) -> None:
        secret = ["翠鸟项目：果园公司五月收购磨坊食品。", "阿德勒女士周二签字。", "磨坊欠银行七百二十万。"]
        question = "哪些合并必须申报？"
        with page(Reply.text("大的。")) as it:
            events = it.ask(it.new(search=True), "\n\n".join([*secret, question]))
            assert [seen.params["q"] for seen in it.server.world["searxng"].seen] == [question]
            assert {event["query"] for event in events if event["type"] == "round"} == {question}
            assert secret[0] in it.model.requests[0].prompt

    def test_text_comes_before_the_answer_is_complete(self) -> None:
        gate = Gate()
        with page(Reply.text("开头", gate, "结尾")) as it, it.asking(it.new(), "问题") as events:
            for event in events:
                if event["type"] == "delta" and event["text"] == "开头":
                    gate.open()
            assert event["answer"] == "开头结尾"

    def test_who_comes_late_misses_nothing(self) -> None:
        gate = Gate()
        with page(Reply.text("一", "二", gate, "三")) as it:
            session = it.new()
            with it.asking(session, "问题") as events:
                turn = next(events)["id"]
                seen = next(event for event in events if event["type"] == "delta")
            shown = it.show(session)  # a reload in the middle of the answer
            assert shown["running"] == turn
            assert shown["turns"][0]["state"] == "running"
            path = f"/api/chat/sessions/{session}/turns/{turn}/events"
            with it.client.stream("GET", path, params={"after": seen["id_"]}) as answer:
                gate.open()
                late = list(events_of(answer))
            assert (seen["text"] + text_of(late)) == "一二三" == late[-1]["answer"]
            assert it.client.get(path).status_code == 404
            assert it.show(session)["turns"][0]["answer"] == "一二三"

    def test_stop(self) -> None:
        gate = Gate()
        with page(Reply.text("开头", gate, "结尾"), Reply.text("好")) as it:
            session = it.new()
            with it.asking(session, "问题") as events:
                turn = next(events)["id"]
                next(event for event in events if event["type"] == "delta")
                assert it.client.post(f"/api/chat/sessions/{session}/turns/{turn}/stop").status_code == 204
                assert list(events)[-1]["state"] == "stopped"
            assert it.show(session)["turns"][0]["answer"] == "开头"
            assert it.model.hang_ups == 1
            gate.open()
            assert it.ask(session, "继续")[-1]["state"] == "done"

    def test_one_turn_at_a_time(self) -> None:
        gate = Gate()
        with page(Reply.text("开头", gate, "结尾")) as it:
            session = it.new()
            with it.asking(session, "问题") as events:
                next(events)
                second = it.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "又一个"})
                assert second.status_code == 409
                assert second.json()["error"] == "SessionBusy"
                gate.open()
                assert list(events)[-1]["state"] == "done"

    @pytest.mark.parametrize(
        ("limit", "status", "error"), [("MAX_LIVE", 503, "ServerBusy"), ("MAX_OF_ONE", 429, "TooManyAtOnce")]
    )
    def test_as_many_as_it_can(self, limit: str, status: int, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(f"qiusuo.chat.live.conversations.{limit}", 0)
        with page(tokens="ann:tok-0123456789abcdef") as it:
            it.client.headers["Authorization"] = "Bearer tok-0123456789abcdef"
            refused = it.client.post(f"/api/chat/sessions/{it.new()}/turns", json={"text": "问题"})
        assert (refused.status_code, refused.headers["retry-after"]) == (status, "5")
        assert refused.json()["error"] == error

    def test_edit_and_resend_replaces_what_came_after(self) -> None:
        with page(Reply.text("一"), Reply.text("二"), Reply.text("三")) as it:
            session = it.new()
            first = it.ask(session, "甲")[0]["id"]
            it.ask(session, "乙")
            it.ask(session, "甲改", replaces=first)
            assert [turn["question"] for turn in it.show(session)["turns"]] == ["甲改"]
            assert "乙" not in it.model.requests[-1].prompt
            assert "甲改" in it.model.requests[-1].prompt

    def test_sources_have_one_numbering_through_both_modes(self) -> None:
        def other_pages(number: int, query: str) -> dict[str, str]:
            url = f"https://other{number}.example.com/"
            return {"title": f"{query} {number}", "url": url, "snippet": "…", "date": "2026-10-01"}

        search = Reply.tools(Call("web_search", {"query": "乙"}))
        with page(Reply.text("甲 [1]。"), search, Reply.text("乙 [6]，甲 [1]。"), search, Reply.text("乙 [6]。")) as it:
            session = it.new(search=True)
            it.ask(session, "甲")
            assert it.change(session, mode="agent").status_code == 200
            it.server.world["searxng"].provider.page = other_pages  # type: ignore[method-assign]
            it.ask(session, "再查")
            it.ask(session, "又问")
            first, second, third = it.show(session)["turns"]
        assert [source["number"] for source in first["sources"]] == [1, 2, 3, 4, 5]
        assert [source["number"] for source in second["sources"]] == [6, 7, 8, 9, 10]
        assert first["answer"] == "甲 [[1]](https://site1.example.com/page/1)。"
        assert second["answer"].startswith(
            "乙 [[6]](https://other1.example.com/)，甲 [[1]](https://site1.example.com/page/1)"
        )
        assert "### 第 1 轮：乙" in second["references"]
        # The third is answered from the conversation's cache, and shows what it rests on all the same.
        assert third["rounds"][0]["cached"]
        assert third["rounds"][0]["ago"].endswith("秒前")
        assert [source["number"] for source in third["sources"]] == [6, 7, 8, 9, 10]
        assert third["references"].count("\n- ") == 5

    def test_search_down_the_answer_comes_with_a_notice(self) -> None:
        with page(Reply.text("凭记忆。"), timeout=0.5) as it:
            it.server.world["searxng"].fault = Fault.SERVER_ERROR
            events = it.ask(it.new(search=True), "问题")
            [notice] = [event for event in events if event["type"] == "notice"]
            assert notice["code"] == "search_unavailable"
            assert notice["doc"].startswith("/docs/")
            assert events[-1]["answer"] == "凭记忆。"


class TestSwitch:
    def test_off_by_default_and_no_request_is_made(self) -> None:
        with page(Reply.text("好")) as it:
            session = it.new()
            assert it.show(session)["settings"]["switch"] == "off"
            it.ask(session, "问题")
            assert it.server.world.requests("searxng") == 0

    def test_a_change_counts_for_the_next_message(self) -> None:
        with page(Reply.text("一"), Reply.text("二")) as it:
            session = it.new()
            it.ask(session, "甲")
            changed = it.change(session, search=True)
            assert changed.json()["settings"]["switch"] == "on"
            assert changed.elapsed.total_seconds() < 0.5
            it.ask(session, "乙")
            assert it.server.world.requests("searxng") == 1

    @pytest.mark.parametrize(("language", "note"), NOTES.items())
    def test_agent_mode_disables_it_and_chat_mode_brings_its_former_state_back(self, language: str, note: str) -> None:
        with page() as it:
            it.client.headers["Accept-Language"] = language
            session = it.new(search=True)
            agent = it.change(session, mode="agent").json()["settings"]
            assert (agent["switch"], agent["note"], agent["search"]) == ("disabled", note, True)
            refused = it.change(session, search=False)
            assert refused.status_code == 400
            assert note in refused.json()["message"]
            back = it.change(session, mode="chat").json()["settings"]
            assert (back["switch"], back["note"]) == ("on", "")

    @pytest.mark.parametrize(
        "settings", [{"mode": "fly"}, {"search": "yes"}, {"results": 9}, {"engine": "nosuch"}, {"colour": "red"}]
    )
    def test_what_makes_no_sense_is_refused(self, settings: dict[str, Any]) -> None:
        with page() as it:
            session = it.new()
            assert it.change(session, **settings).status_code == 400
            assert it.show(session)["settings"]["mode"] == "chat"


class TestSessions:
    def test_list_search_rename_delete(self) -> None:
        with page(Reply.text("绿茶"), Reply.text("咖啡")) as it:
            tea, coffee = it.new(), it.new()
            it.ask(tea, "喝什么")
            it.ask(coffee, "提神")
            assert it.client.patch(f"/api/chat/sessions/{tea}", json={"title": "茶"}).json()["title"] == "茶"
            listed = it.client.get("/api/chat/sessions").json()["sessions"]
            assert {entry["id"] for entry in listed} == {tea, coffee}
            found = it.client.get("/api/chat/sessions", params={"query": "绿茶"}).json()["sessions"]
            assert [entry["id"] for entry in found] == [tea]
            assert it.client.delete(f"/api/chat/sessions/{tea}").status_code == 204
            assert it.client.get(f"/api/chat/sessions/{tea}").status_code == 404

    @pytest.mark.parametrize("text", ["", "   ", "x" * 20_001])
    def test_a_question_that_cannot_be_asked(self, text: str) -> None:
        with page() as it:
            session = it.new()
            answer = it.client.post(f"/api/chat/sessions/{session}/turns", json={"text": text})
            assert answer.status_code == 400
            assert it.show(session)["turns"] == []

    def test_others_do_not_see_them(self) -> None:
        with page(Reply.text("秘密"), tokens="ann:token-a-0123456789,bob:token-b-0123456789") as it:
            it.client.headers["Authorization"] = "Bearer token-a-0123456789"
            session = it.new()
            it.ask(session, "问题")
            it.client.headers["Authorization"] = "Bearer token-b-0123456789"
            assert it.client.get(f"/api/chat/sessions/{session}").status_code == 404
            assert it.client.get("/api/chat/sessions").json()["sessions"] == []
            assert it.client.delete(f"/api/chat/sessions/{session}").status_code == 404


class TestPages:
    def test_turns_are_read_page_by_page(self) -> None:
        with page() as it:
            it.model.otherwise = Reply.text("好")
            session = it.new()
            for number in range(55):
                it.ask(session, str(number))
            path = f"/api/chat/sessions/{session}"

            def read(**query: Any) -> tuple[list[int], int, int]:
                found = it.client.get(path, params=query).json()
                assert (found["total"], found["most"]) == (55, 500)
                return [int(turn["question"]) for turn in found["turns"]], found["earlier"], found["later"]

            assert read() == (list(range(5, 55)), 5, 0)
            ids = [turn["id"] for turn in it.show(session)["turns"]]
            assert read(before=ids[0]) == (list(range(5)), 0, 50)
            assert read(before=ids[5], limit=3) == ([7, 8, 9], 7, 45)
            assert read(after=ids[5], limit=3) == ([11, 12, 13], 11, 41)
            for query in ({"before": "nothing"}, {"before": ids[0], "after": ids[1]}):
                refused = it.client.get(path, params=query)
                assert (refused.status_code, refused.json()["error"]) == (400, "InvalidQuery")
                assert refused.json()["fix"]

    def test_conversations_too(self) -> None:
        with page() as it:
            made = [it.new() for _ in range(5)]
            first = it.client.get("/api/chat/sessions", params={"limit": 3}).json()
            rest = it.client.get("/api/chat/sessions", params={"limit": 3, "offset": 3}).json()
            assert (first["more"], first["total"], rest["more"]) == (True, 5, False)
            assert {one["id"] for one in first["sessions"] + rest["sessions"]} == set(made)


class TestLimits:
    def test_nothing_is_deleted_unless_the_settings_say_so(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/chat.db"
        settings: dict[str, Any] = {"database_url": url, "max_conversations": 2, "max_turns": 1}
        with ScriptedModel(otherwise=Reply.text("好")) as model:
            with WebServer.over("searxng", extensions=[chat_extension(scripted(model))], **settings) as server:
                it = Page(server, model)
                made = [it.new(), it.new()]
                for session in made:
                    it.ask(session, "问")
                full = it.client.post("/api/chat/sessions", json={})
                assert (full.status_code, full.json()["error"]) == (400, "LimitReached")
                assert "QIUSUO_MAX_CONVERSATIONS" in full.json()["fix"]
                long = it.client.post(f"/api/chat/sessions/{made[0]}/turns", json={"text": "又问"})
                assert (long.status_code, long.json()["error"]) == (400, "LimitReached")
                listed = it.client.get("/api/chat/sessions").json()
                assert {one["id"] for one in listed["sessions"]} == set(made)
                assert (listed["total"], listed["most"], listed["whenFull"]) == (2, 2, "refuse")
                assert it.show(made[0])["most"] == 1
            settings["when_full"] = "delete_oldest"
            with WebServer.over("searxng", extensions=[chat_extension(scripted(model))], **settings) as server:
                new = server.client.post("/api/chat/sessions", json={}).json()
                assert new["removed"] == [{"id": made[0], "title": "问"}]
                listed = server.client.get("/api/chat/sessions").json()
                assert {one["id"] for one in listed["sessions"]} == {made[1], new["id"]}
                assert listed["whenFull"] == "delete_oldest"


class TestConfig:
    def test_who_runs_the_server_is_told_so(self) -> None:
        by_proxy = {"X-Forwarded-For": "203.0.113.9"}
        with page() as it:
            assert it.client.get("/api/chat/config").json()["operator"] is True, "on this machine"
            assert it.client.get("/api/chat/config", headers=by_proxy).json()["operator"] is False
        with page(tokens="ann:0123456789abcdef,bob:fedcba9876543210", operators="ann") as it:
            for token, operator in (("0123456789abcdef", True), ("fedcba9876543210", False)):
                headers = {**by_proxy, "Authorization": f"Bearer {token}"}
                assert it.client.get("/api/chat/config", headers=headers).json()["operator"] is operator

    def test_an_operator_is_told_of_the_conversations_from_before_tokens(self, tmp_path: Path) -> None:
        store, lists = f"sqlite:///{tmp_path / 'chat.db'}", "/api/chat/sessions"
        tokens = {"tokens": "ann:0123456789abcdef,bob:fedcba9876543210", "operators": "ann"}
        with page(store=store) as it:
            it.new()
            assert it.client.get(lists).json()["ofThisMachine"] == 0, "they are shown"
        with page(store=store, **tokens) as it:
            for token, told in (("0123456789abcdef", 1), ("fedcba9876543210", 0)):
                listed = it.client.get(lists, headers={"Authorization": f"Bearer {token}"}).json()
                assert (listed["total"], listed["ofThisMachine"]) == (0, told)

    def test_commands_are_typed_by_their_path_where_they_are_not_on_the_path(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with page() as it:
            assert it.client.get("/api/chat/config").json()["program"] == "qiusuo"
            monkeypatch.setenv("PATH", "/nowhere")
            program = it.client.get("/api/chat/config").json()["program"]
            assert program.endswith(("/qiusuo", " -m qiusuo"))
            by_proxy = {"X-Forwarded-For": "203.0.113.9"}
            assert it.client.get("/api/chat/config", headers=by_proxy).json()["program"] == ""

    def test_it_names_model_and_engine(self) -> None:
        with page() as it:
            config = it.client.get("/api/chat/config").json()
            assert config["model"]["label"] == "Scripted"
            assert config["search"] == {
                "available": True,
                "engine": {"name": "searxng", "label": "SearXNG", "web": True, "untried": False, "failed": None},
                "problem": None,
            }
            assert config["examples"]["zh"]
            assert config["limits"]["maxQuestion"] == 20_000


class TestModels:
    """Several models: what the page is told of them, and how it chooses one."""

    def test_they_are_listed_and_chosen_for_a_conversation_and_for_a_message(self) -> None:
        with ScriptedModel(otherwise=Reply.text("Other.")) as other:
            table = {"model": "compatible:x", "base_url": other.base_url, "api_key": other.key, "context": 8192}
            with page(Reply.text("First."), models={"cheap": table}) as it:
                config = it.client.get("/api/chat/config").json()
                assert config["models"] == [
                    {"name": "", "label": "Scripted", "kind": "remote"},
                    {"name": "cheap", "label": "OpenAI-compatible · x", "kind": "remote"},
                ]
                session = it.new(model="cheap")
                assert it.show(session)["settings"]["model"] == "cheap"
                assert text_of(it.ask(session, "hello there")) == "Other."
                assert text_of(it.ask(session, "hello there", model="")) == "First."
                assert it.change(session, model=None).json()["settings"]["model"] is None
                assert text_of(it.ask(session, "hello there", model="cheap")) == "Other."
                models = [turn["model"] for turn in it.show(session)["turns"]]
                assert models == ["compatible:x", "openai:scripted", "compatible:x"]

    def test_a_name_that_there_is_not_is_refused(self) -> None:
        with page() as it:
            session = it.new()
            for answer in (
                it.change(session, model="cheap"),
                it.client.post("/api/chat/sessions", json={"settings": {"model": "cheap"}}),
                it.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "hello", "model": "cheap"}),
            ):
                assert answer.status_code == 400
                assert answer.json()["code"] == "web.unknown_model"

    def test_new_conversations_search_as_the_settings_say(self) -> None:
        with page(search_default=True) as it:
            assert it.client.get("/api/chat/config").json()["settings"]["switch"] == "on"
            assert it.show(it.new())["settings"]["search"] is True
            assert it.show(it.new(search=False))["settings"]["search"] is False

    def test_where_the_second_answers_the_stream_and_the_record_say_so(self) -> None:
        with ScriptedModel(otherwise=Reply.text("Other.")) as other:
            table = {"model": "compatible:x", "base_url": other.base_url, "api_key": other.key, "context": 8192}
            with page(Reply.error(401), models={"cheap": table}, second_model="cheap") as it:
                session = it.new()
                events = it.ask(session, "hello there")
                assert [event["model"] for event in events if event["type"] == "model"] == ["compatible:x"]
                [turn] = it.show(session)["turns"]
        assert (turn["model"], turn["notices"][0]["code"]) == ("compatible:x", "second_model")


def test_a_conversation_is_kept_to_what_it_searches() -> None:
    with page(Reply.text("Tea [1].")) as shown:
        config = shown.client.get("/api/chat/config").json()
        assert [one["name"] for one in config["focuses"]][:2] == ["web", "news"]
        assert {one["name"]: one["label"]["en"] for one in config["focuses"]}["law"] == "Law"  # as its plug-in calls it
        assert [one["name"] for one in config["freshness"]] == ["", "day", "week", "month", "year"]
        session = shown.new(search=True, focus="news", sites=["https://www.Site1.example.com/"], freshness="week")
        kept = shown.show(session)["settings"]
        assert (kept["focus"], kept["sites"], kept["freshness"]) == ("news", ["site1.example.com"], "week")
        events = shown.ask(session, "What is tea?")
        scope = {"focus": "news", "sites": ["site1.example.com"], "freshness": "week"}
        assert events[0]["scope"] == scope
        assert shown.show(session)["turns"][0]["scope"] == scope
        report = shown.client.get(
            f"/api/chat/sessions/{session}/turns/{shown.show(session)['turns'][0]['id']}/report.md"
        )
        assert "Searched in: News; last week; on site1.example.com" in report.text
        for wrong, words in (
            ({"sites": ["a b"]}, "'a b' is not a domain"),
            ({"focus": "gossip"}, "focus is one of: web"),
            ({"freshness": "decade"}, "freshness is day, week"),
        ):
            answer = shown.client.patch(
                f"/api/chat/sessions/{session}", json={"settings": wrong}, headers={"accept-language": "en"}
            )
            assert answer.status_code == 400
            assert words in answer.text
        shown.change(session, focus=None, sites=[], freshness=None)
        kept = shown.show(session)["settings"]
        assert (kept["focus"], kept["sites"], kept["freshness"]) == ("web", [], None)


class Spare(SearchEngine):
    """One that nobody has set up."""

    label = "Spare"
    joins = Joins.LAST_RESORT

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - never asked
        return []


@pytest.mark.parametrize(("engine", "untried"), [(Spare, True), (SearxngEngine, False)])
def test_an_engine_that_nobody_set_up_is_not_said_to_work(engine: type[SearchEngine], untried: bool) -> None:
    with ScriptedModel() as model:
        extension = chat_extension(scripted(model), open_store("sqlite://"))
        with WebServer(SearchService([engine()], Settings.load(rate_limit=0)), extensions=[extension]) as server:
            told = server.client.get("/api/chat/config").json()["search"]["engine"]
    assert (told["name"], told["untried"], told["failed"]) == (engine.name, untried, None)


class Moody(Spare):
    """One that nobody has set up, and that fails the first time."""

    asked = 0

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - nothing to find
        self.asked += 1
        if self.asked == 1:
            raise Unavailable(Fact("http.refused", host="moody.example"), engine=self.name)
        return []


def test_of_an_engine_that_was_asked_it_is_told_how_that_ended() -> None:
    service = SearchService([Moody()], Settings.load(rate_limit=0, cache_ttl=0))
    with ScriptedModel() as model:
        extension = chat_extension(scripted(model), open_store("sqlite://"))
        with WebServer(service, extensions=[extension]) as server:
            found = []
            for query in ("tea", "coffee"):
                server.client.post("/api/search", json={"query": query})
                found.append(server.client.get("/api/chat/config").json()["search"]["engine"])
    assert [one["untried"] for one in found] == [False, False]
    assert found[0]["failed"]["code"] == "http.refused"
    assert found[1]["failed"] is None
