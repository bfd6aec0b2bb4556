"""A conversation that is kept to the news, to some sites, to new pages: what reaches the engines, and what is told."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.chat.events.turn import Notice, TurnStarted
from qiusuo.chat.focus import Scope, focuses
from qiusuo.chat.sessions.session import ChatSettings, Mode
from qiusuo.errors import InvalidQuery
from qiusuo.models import Freshness
from qiusuo.pages import PageReader
from qiusuo.words import Fact, Language
from tests.support.chat_world import ChatWorld
from tests.support.research_world import QUESTION, writer
from tests.support.scripted_model import Call, Reply

NARROW: dict[str, Any] = {"focus": "news", "sites": ["site1.example.com"], "freshness": "week"}
CHAT = ChatSettings(search=True).changed(NARROW)
AGENT = ChatSettings(mode=Mode.AGENT).changed(NARROW)
SCOPE = {"focus": "news", "sites": ["site1.example.com"], "freshness": "week"}


def asked(world: ChatWorld) -> list[tuple[str | None, str | None, bool]]:
    """Return of each search its category, its time range and whether it names the site."""
    seen = [one.params for one in world.world["searxng"].seen if "q" in one.params]
    return [(one.get("categories"), one.get("time_range"), "site:site1.example.com" in one["q"]) for one in seen]


async def test_chat_mode_searches_within_it_and_says_so() -> None:
    async with ChatWorld(Reply.text("Tea [1]."), Reply.text("Coffee [1].")) as world:
        heard = await world.ask("What is tea?", CHAT)
        assert set(asked(world)) == {("news", "week", True)}
        assert heard.numbers == [1], "what the engine found elsewhere is left out"
        [begun] = heard.of(TurnStarted)
        assert begun.scope == SCOPE
        told = Scope.from_dict(begun.scope or {}).told
        assert told.text(Language.ENGLISH) == "Searched in: News; last week; on site1.example.com"
        # The whole web again: nothing is told, and what was found within does not answer.
        heard = await world.ask("What is coffee?", CHAT.changed({"focus": "web", "sites": [], "freshness": "any"}))
        assert asked(world)[-1] == (None, None, False)
        assert heard.of(TurnStarted)[0].scope is None


async def test_an_agent_may_narrow_it_and_not_widen_it() -> None:
    words = {"query": "tea"}
    async with ChatWorld(
        Reply.tools(Call("web_search", {**words, "type": "general"})),
        Reply.tools(Call("fetch_page", {"urls": ["https://elsewhere.example.org/tea"]})),
        Reply.text("Tea [1]."),
        Reply.tools(Call("web_search", {**words, "type": "news"})),
        Reply.text("Tea [1]."),
        Reply.tools(Call("web_search", words)),
        Reply.text("Tea [1]."),
    ) as world:
        heard = await world.ask("Tell me of tea", AGENT)
        assert set(asked(world)) == {("news", "week", True)}
        assert [one.kind for one in heard.rounds] == ["web_search"], "a page of another site is not read"
        offered = {tool["function"]["name"]: tool["function"] for tool in world.model.requests[0].body["tools"]}
        assert "regulationSearch" not in offered, "what a plug-in knows is on no site"
        assert "on site1.example.com" in offered["web_search"]["description"]
        before = len(asked(world))
        wide = ChatSettings(mode=Mode.AGENT)
        await world.ask("Once more", wide)
        assert asked(world)[before:][0] == ("news", None, False), "without a focus the model may choose one"
        await world.ask("And all", wide)
        assert asked(world)[-1] == (None, None, False), "what was found within the focus is not what is on the web"


async def test_a_research_is_kept_to_it() -> None:
    async with ChatWorld(*([writer()] * 8), reader=PageReader()) as world:
        heard = await world.ask(QUESTION, CHAT, research=True)
        assert len(asked(world)) >= 3
        assert set(asked(world)) == {("news", "week", True)}
        assert heard.of(TurnStarted)[0].scope == SCOPE


async def test_what_a_plug_in_offers_has_its_own_name_and_label() -> None:
    offered = {name: focus.label.text(Language.ENGLISH) for name, focus in focuses().items()}
    assert offered == {"web": "Web", "news": "News", "law": "Law", "cases": "Court cases"}
    async with ChatWorld(Reply.text("Yes.")) as world:
        await world.ask("茶叶", ChatSettings(search=True, focus="law"))
        [seen] = [one.params["q"] for one in world.world["searxng"].seen if one.params.get("pageno", "1") == "1"][:1]
        assert "法律法规" in seen


async def test_a_question_of_law_is_not_looked_up_elsewhere_than_said() -> None:
    async with ChatWorld(Reply.text("见 [1]。")) as world:
        heard = await world.ask("民法典第五百七十七条", ChatSettings(search=True, focus="news"))
        assert asked(world)[0][0] == "news"
        assert not [one for one in heard.of(Notice) if one.code.startswith("law")]


class TestSettings:
    @pytest.mark.parametrize(
        ("values", "fact"),
        [
            ({"sites": ["not a site"]}, Fact("query.domain", given="'not a site'")),
            ({"sites": ["example.org/path"]}, Fact("query.domain", given="'example.org/path'")),
        ],
    )
    def test_a_wrong_site_says_so(self, values: dict[str, Any], fact: Fact) -> None:
        with pytest.raises(InvalidQuery) as caught:
            ChatSettings().changed(values)
        assert caught.value.fact == fact

    @pytest.mark.parametrize(
        "values", [{"focus": "gossip"}, {"freshness": "hour"}, {"sites": "example.org"}, {"sites": ["a.org"] * 11}]
    )
    def test_what_there_is_not_is_refused(self, values: dict[str, Any]) -> None:
        with pytest.raises(InvalidQuery) as caught:
            ChatSettings().changed(values)
        assert caught.value.fact.code == "session.bad_setting"

    def test_they_are_kept(self) -> None:
        given = ChatSettings().changed({**NARROW, "sites": ["https://www.Example.org/", "例子.中国"]})
        assert given.sites == ("example.org", "xn--fsqu00a.xn--fiqs8s")
        assert given.freshness is Freshness.WEEK
        assert ChatSettings.from_dict(given.to_dict()) == given
        assert ChatSettings.from_dict({**given.to_dict(), "focus": "gone", "results": 3}).results == 3
