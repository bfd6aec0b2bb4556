"""Notices are facts: what fails in a turn is told in Chinese and English, and can be told anew when it was kept."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import qiusuo
from qiusuo.chat.chat import Chat
from qiusuo.chat.events.folding import fold
from qiusuo.chat.events.telling import told
from qiusuo.chat.events.turn import Event, Notice, Round, RoundState, TurnRecord
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.chat.turns.notices import model_notice, notice, search_code, search_notice
from qiusuo.config import Settings
from qiusuo.errors import AllEnginesFailed, ApiDisabled, ModelTimeout, SearchError, Unavailable
from qiusuo.models import Attempt, Outcome
from qiusuo.testing import Fault
from qiusuo.words import Fact, Language, said
from qiusuo.words.catalogue import Part, codes
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Reply

ZH, EN = Language.CHINESE, Language.ENGLISH
# Three English words in a row are a sentence. What a provider said itself, behind the status, stays as it is; and
# there are commands.
SENTENCE = re.compile(r"[a-z']+ [a-z']+ [a-z']+")
NO_SENTENCE = re.compile(r"(?<=）：)[\w ]+\.|qiusuo searxng")
JSON_OFF = Fact("searxng.json_off", address="http://localhost:8080")
LATE = Fact("search.late", seconds=2)


def failed(*attempts: Attempt) -> AllEnginesFailed:
    return AllEnginesFailed.from_attempts(attempts)


def texts(event: Event, language: Language) -> list[str]:
    """Everything that a reader may see of it."""
    data = event.to_dict(language)
    own = [data.get(name) or "" for name in ("title", "message", "fix")] if isinstance(event, Notice) else []
    lines = [str(line.get(name, "")) for line in data.get("attempts", ()) for name in ("reason", "fix")]
    return [*own, *lines, data["reason"]] if isinstance(event, Round) else own


class TestTurns:
    @pytest.mark.parametrize("fault", list(Fault))
    async def test_no_detail_is_english_in_chinese(self, fault: Fault) -> None:
        async with ChatWorld(Reply.text("好"), Reply.text("好"), timeout=0.5) as world:
            world.world["searxng"].fault = fault
            for question in ("今天的新闻", "昨天的新闻"):  # the second may find the engine at rest
                heard = await world.ask(question)
                events: list[Notice | Round] = [*heard.of(Notice), *heard.rounds]
                shown = [text for event in events for text in texts(event, ZH)]
                assert not [text for text in shown if SENTENCE.search(NO_SENTENCE.sub("", text))]

    @pytest.mark.parametrize(
        ("language", "question", "what", "who"),
        [
            (ZH, "今天的新闻", "搜索没有在时限内返回，这次已改为直接回答。", "searxng："),
            (EN, "news of today", "No result came in time", "searxng: "),
        ],
    )
    async def test_the_record_is_told_in_the_language_of_the_turn(
        self, language: Language, question: str, what: str, who: str
    ) -> None:
        async with ChatWorld(Reply.text("好"), timeout=0.5) as world:
            world.world["searxng"].fault = Fault.HANG
            turn = world.chat.turn(Ask(question, SEARCH), world.memory)
            async for _ in turn.events():
                pass
        assert turn.record.language == language
        [kept] = turn.record.notices
        assert kept["code"] == "search_timeout"
        assert kept["message"].startswith(what)
        [line] = turn.record.rounds[0]["attempts"]
        assert line["reason"] == Attempt.from_dict(line).wording(language).what
        assert turn.record.rounds[0]["reason"] == who + line["reason"]
        assert kept["message"].endswith(who + line["reason"])

    async def test_a_fault_of_a_tool(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_args: object, **_more: object) -> None:
            raise RuntimeError("oops")

        call = Reply.tools(Call("web_search", {"query": "新闻"}))
        async with ChatWorld(call, Reply.text("好")) as world:
            monkeypatch.setattr(type(world.world.service), "asearch", broken)
            heard = await world.ask("今天的新闻", AGENT)
        [round_] = heard.rounds
        assert (round_.why(ZH), round_.why(EN)) == (
            "工具 web_search 出了故障。",
            "The tool web_search has a fault.",
        )
        [notice] = heard.of(Notice)
        assert (notice.wording(ZH).fix, notice.fix) == ("日志里有详情。", "The log tells more.")

    @pytest.mark.parametrize("settings", [SEARCH, AGENT])
    async def test_without_any_engine(self, settings: ChatSettings) -> None:
        async with ChatWorld(Reply.text("好"), engines=()) as world:
            heard = await world.ask("今天的新闻", settings)
        [notice] = heard.of(Notice)
        assert notice.code == "search_disabled"
        assert notice.wording(ZH).title == "没有可用的搜索引擎"
        assert notice.commands == ("qiusuo doctor",)
        assert notice.doc == "/docs/deployment"

    async def test_the_model_is_told_how_to_enable_search_and_the_reader_is_not_told_to_tell_himself(self) -> None:
        async with ChatWorld(Reply.text("well"), engines=()) as world:
            heard = await world.ask("news of today", AGENT)
            assert "Give SearchService at least one engine." in world.model.requests[0].messages[0]["content"]
        [notice] = heard.of(Notice)
        assert "告知用户" not in notice.wording(ZH).what


class TestSearches:
    @pytest.mark.parametrize(
        "error", [failed(Attempt("searxng", Outcome.DISABLED, 5, JSON_OFF)), ApiDisabled(JSON_OFF)]
    )
    def test_a_service_that_is_set_up_wrongly_is_told_as_exactly_that(self, error: SearchError) -> None:
        notice = search_notice(error)
        assert notice.code == search_code(error) == "search_misconfigured"
        for language in Language:
            words = notice.wording(language)
            assert words.title == JSON_OFF.text(language)
            assert words.fix == JSON_OFF.text(language, Part.FIX)
            assert words.what == notice.fact.text(language)

    def test_other_engines_are_named_beside_it(self) -> None:
        resting = Attempt("bing", Outcome.TIMEOUT, 0, Fact("search.resting", seconds=9, reason=LATE), skipped=True)
        notice = search_notice(failed(Attempt("searxng", Outcome.DISABLED, 5, JSON_OFF), resting))
        assert notice.wording(ZH).title == JSON_OFF.text(ZH)
        assert notice.wording(ZH).what.endswith("bing：还要停用 9 秒，之前：2 秒内没有回答。")
        assert notice.wording(EN).fix == " ".join(fact.text(EN, Part.FIX) for fact in (JSON_OFF, LATE))

    def test_every_engine_has_its_reason_its_remedy_and_its_commands(self) -> None:
        notice = search_notice(
            failed(
                Attempt("searxng", Outcome.TIMEOUT, 5, LATE, commands=("docker ps", "qiusuo doctor")),
                Attempt("brave", Outcome.TIMEOUT, 5, LATE, said("Ask less."), commands=("qiusuo doctor",)),
                Attempt("exa", Outcome.EMPTY, 5),
            )
        )
        assert notice.commands == ("docker ps", "qiusuo doctor")
        assert "searxng：2 秒内没有回答。brave：2 秒内没有回答。exa：无结果。" in notice.wording(ZH).what
        assert notice.fix == f"{LATE.text(EN, Part.FIX)} Ask less."
        without = search_notice(failed(Attempt("exa", Outcome.QUOTA, 5, said("No more."))))
        assert without.commands == ("qiusuo doctor",)

    @pytest.mark.parametrize("code", ["http.dns", "http.no_route", "searxng.dns", "searxng.unreachable"])
    def test_a_network_problem_is_known_by_its_code(self, code: str) -> None:
        fact = Fact(code, host="searx.invalid", words="", address="http://searx.invalid", seconds=2)
        resting = Fact("search.resting", seconds=9, reason=fact)
        for met in (fact, resting):
            assert search_code(Unavailable(met)) == "search_network"
            assert search_code(failed(Attempt("searxng", Outcome.UNAVAILABLE, 5, met))) == "search_network"
        # What is ours is never read; what others say is not either.
        assert search_code(Unavailable("DNS: network unreachable")) == "search_unavailable"

    def test_the_remedy_of_a_failure_goes_before_the_general_one(self) -> None:
        own = search_notice(Unavailable("It is down.", fix="Wait."))
        assert (own.fix, own.message.endswith("It is down.")) == ("Wait.", True)
        general = model_notice(ModelTimeout("Too slow."))
        assert (general.message, general.fix) == ("Too slow.", Fact("notice.model_timeout").text(EN, Part.FIX))


class TestKept:
    def test_a_record_is_told_anew_in_another_language(self) -> None:
        lines = (Attempt("searxng", Outcome.TIMEOUT, 5, LATE, notes=(Fact("engine.ignored", features=["news"]),)),)
        record = TurnRecord("t", "茶")
        fold(record, search_notice(failed(*lines)))
        fold(record, Round(1, "web_search", "茶", RoundState.FAILED, attempts=lines, fact=LATE))
        data = record.to_dict()
        before = str(data)
        english = told(data, EN)
        assert str(data) == before
        assert english["notices"][0]["title"] == "The search timed out"
        assert english["notices"][0]["fix"] == "Check the network, or raise SEARCH_TIMEOUT."
        assert english["rounds"][0]["reason"] == "No answer within 2 s."
        assert english["rounds"][0]["attempts"][0]["reason"] == "No answer within 2 s."
        assert english["rounds"][0]["attempts"][0]["notes"] == ["Ignored: news"]
        assert told(english, ZH) == data

    def test_events_are_told_anew_too(self) -> None:
        event = search_notice(failed(Attempt("searxng", Outcome.DISABLED, 5, JSON_OFF, said("Do."))))
        assert told(event.to_dict(ZH), EN) == event.to_dict(EN)
        assert Notice.from_dict(event.to_dict(ZH)) == event
        other = {"type": "delta", "text": "茶"}
        assert told(other, EN) == other

    def test_json_has_all_that_it_had_and_the_facts(self) -> None:
        data = notice("search_stale", "warning").to_dict(ZH)
        assert list(data) == [
            *("type", "code", "level", "title", "message", "fix", "commands", "doc", "retryAfter"),
            *("values", "reason", "remedy"),
        ]  # fmt: skip
        assert data["code"] == "search_stale"

    def test_rows_of_before_keep_their_words(self) -> None:
        old = {
            "code": "search_timeout", "level": "warning", "title": "搜索超时", "message": "旧的话。", "fix": "重试。",
            "commands": ["qiusuo doctor"], "doc": "/docs/troubleshooting", "retryAfter": None,
        }  # fmt: skip
        assert told(old, EN) == old
        line = {"engine": "searxng", "outcome": "timeout", "ms": 5, "reason": "旧的原因。", "fix": "旧的办法。"}
        round_ = Round(1, "web_search", "茶", RoundState.FAILED).to_dict() | {"reason": "旧的话。", "attempts": [line]}
        again = told(round_, EN)
        assert again["reason"] == "旧的话。"
        assert (again["attempts"][0]["reason"], again["attempts"][0]["fix"]) == ("旧的原因。", "旧的办法。")

    def test_words_of_a_plug_in_that_is_gone_are_kept(self) -> None:
        data = notice("search_unavailable", "warning", reason=Fact("gone.engine")).to_dict(ZH)
        data["message"] = "插件的话。"
        assert told(data, EN)["message"] == "插件的话。"

    def test_the_language_of_a_record_is_that_of_its_question_where_nobody_says(self) -> None:
        assert [TurnRecord("t", question).language for question in ("茶", "tea")] == ["zh", "en"]
        before = TurnRecord("t", "茶").to_dict()
        del before["language"]
        assert TurnRecord.from_dict(before).language == "zh"


def test_every_code_is_in_the_catalogue() -> None:
    known = set(codes())
    for path in sorted((Path(qiusuo.__file__).parent / "chat").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="notice"), args=[ast.Constant(value=str() as code), *_]):
                    assert f"notice.{code}" in known, f"{path.name}:{node.lineno}: {code}"


async def test_without_a_model_nothing_was_answered_directly() -> None:
    async with ChatWorld(rate_limit=1) as world:
        world.chat = Chat(world.world.service, open_model(Settings(model="extractive")))
        await world.ask("茶叶的产地", user="u")
        heard = await world.ask("咖啡的产地", user="u")
        [told] = [one for one in heard.of(Notice) if one.code == "user_rate_limited"]
        said_so = told.wording(Language.CHINESE).what
        assert "无法回答" in said_so
        assert "直接回答" not in said_so


@pytest.mark.parametrize("settings", [SEARCH, AGENT])
async def test_of_what_an_answer_is_made_is_told_where_it_is_made_of_something(settings: ChatSettings) -> None:
    async with ChatWorld() as world:
        world.chat = Chat(world.world.service, open_model(Settings(model="extractive")))
        assert (await world.ask("茶叶的产地", settings)).codes == ["model_not_configured"]
        world.world["searxng"].fault = Fault.SERVER_ERROR
        assert (await world.ask("咖啡的产地", settings)).codes == ["search_unavailable"]
