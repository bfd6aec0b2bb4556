"""``/api/chat/config`` on a real server, and what a conversation may be set to: models, engines, what it searches."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo import SearchService
from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.engines.base import Joins, SearchEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import Unavailable
from qiusuo.models import Query, SearchResultItem
from qiusuo.web.chat.routes import chat_extension
from qiusuo.words import Fact
from tests.support.chat_page import page, text_of
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.web_server import WebServer

NOTES = {"zh": "Agent 模式下由 AI 自动决策搜索", "en": "In agent mode the AI decides when to search"}


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
