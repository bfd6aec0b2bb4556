"""A match that is too weak is no answer: what is said instead, and that the web is asked besides."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.session import ChatSettings, Memory
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.legal.tools import LegalSearch
from qiusuo.models import SearchType
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.tavily import Tavily
from tests.support.chat_world import AGENT, SEARCH, Heard
from tests.support.legal_data import SHARED
from tests.support.world import World

pytest_plugins = ["tests.support.statutes"]
pytestmark = pytest.mark.xdist_group("legal-real-data")

EVERYDAY = """
今天天气怎么样 北京明天会下雨吗 红烧肉怎么做 怎么学好英语 手机电池不耐用怎么办
孩子发烧39度怎么办 上海到北京高铁多少钱 世界上最高的山是什么 电脑开机很慢怎么解决 李白写过哪些诗
怎么养好绿萝 失眠有什么办法 公司年会节目推荐 领导不喜欢我怎么办 工作压力大怎么缓解
孩子不爱学习怎么办 医生的意见该不该听 汽车保养多久一次 租房子要注意什么 水管冻住了有什么解决办法
银行存款利率哪家高 公积金怎么查余额 结婚送什么礼物好 狗为什么咬自己的尾巴 邻居家的猫叫什么名字
学校食堂的饭好吃吗 会议通知怎么写 公司的规定太多怎么适应 合同英语怎么说 法国首都是哪里
高铁可以带狗吗 酒店几点退房 哪里可以献血 垃圾分类怎么分 噪音太大睡不着怎么办 上诉两个字五笔怎么打
抵押这个词的近义词有哪些
""".split()  # noqa: SIM905 - a list of questions
WEATHER = "北京明天天气怎么样"


@pytest.fixture
def ask(statutes: LegalIndex) -> RegulationSearch:
    return RegulationSearch(statutes, lambda: date(2026, 11, 15))


def test_everyday_questions_are_not_answered_out_of_statutes(ask: RegulationSearch) -> None:
    confident = [question for question in EVERYDAY if ask.search(question).answers]
    assert len(confident) <= 0.02 * len(EVERYDAY), confident


def test_real_lay_questions_mostly_are(ask: RegulationSearch) -> None:
    file = SHARED / "stard_train.jsonl"
    if not file.is_file():
        pytest.skip("NO STARD, NOT TESTED: shared/legal is not beside the repository")
    questions = [json.loads(line)["query"] for line in file.read_text("utf-8").splitlines()][::4]
    below = [question for question in questions if not ask.search(question, limit=3).answers]
    assert len(below) / len(questions) <= 0.08, below


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("借钱给朋友三年了还能要回来吗", "民法典第一百八十八条"),
        ("被公司辞退赔多少钱", "劳动合同法第四十七条"),
        ("酒驾撞人了判几年", "刑法第一百三十三条"),
    ],
)
def test_so_are_short_ones_that_were_written_down(ask: RegulationSearch, question: str, article: str) -> None:
    """They have few words of law, or none."""
    found = ask.search(question)
    assert found.answers
    assert f"{found.results[0].law_name.removeprefix('中华人民共和国')}{found.results[0].article_number}" == article


def test_notes_do_not_quote_how_a_question_was_read(ask: RegulationSearch) -> None:
    turned = ask.search("第191条公司法")
    assert turned.results[0].article_number == "第一百九十一条"
    single = ask.search("一")
    assert not single.answers
    assert not [note for note in (*turned.notes, *single.notes) if "第191条公司法" in str(note) or "“一”" in str(note)]


def test_what_only_an_interpretation_answers_is_told(ask: RegulationSearch) -> None:
    found = ask.search("彩礼能要回来吗")
    assert not found.answers
    assert "婚姻家庭编的解释（一）" in str(found.notes[0])


async def heard(folder: IndexFolder, question: str, mode: ChatSettings, engines: str = "laws") -> Heard:
    settings = Settings.load(legal_dir=str(folder.root), provider_priority=engines)
    async with SearchService.from_settings(settings) as service:
        chat = Chat(service, open_model(settings))
        events = [event async for event in chat.turn(Ask(question, mode)).events()]
        await chat.aclose()
    return Heard(events)


@pytest.mark.parametrize("mode", [SEARCH, AGENT])
@pytest.mark.parametrize("question", [WEATHER, "狗为什么咬自己的尾巴"])
async def test_no_statute_answers_for_the_weather(
    statutes_folder: IndexFolder, question: str, mode: ChatSettings
) -> None:
    answer = (await heard(statutes_folder, question, mode)).text
    assert not re.search(r"中华人民共和国\S+ 第\S+条", answer), answer


async def test_below_the_floor_the_closest_is_named_as_such(statutes_folder: IndexFolder) -> None:
    settings = ChatSettings(search=True, engine="laws")
    answer = (await heard(statutes_folder, "邻居养的鸽子老在我家窗台上拉屎", settings)).text
    assert "没有搜到能回答这个问题的内容。最接近的是：" in answer
    assert "相关，并非所问" in answer
    assert "根据搜索结果" not in answer


async def test_what_follows_a_question_of_law_is_searched_there_too(statutes_folder: IndexFolder) -> None:
    settings = Settings.load(legal_dir=str(statutes_folder.root), provider_priority="laws")
    memory = Memory()
    async with SearchService.from_settings(settings) as service:
        chat = Chat(service, open_model(settings))
        for number, question in enumerate(("酒驾怎么处罚？", "第一次呢", "第二次呢")):
            turn = chat.turn(Ask(question, SEARCH, id=str(number)), memory)
            events = Heard([event async for event in turn.events()])
            assert "道路交通安全法" in events.text, question
        await chat.aclose()


async def test_a_research_without_a_model_quotes_articles_whole_and_by_name(statutes_folder: IndexFolder) -> None:
    settings = Settings.load(legal_dir=str(statutes_folder.root), provider_priority="laws")
    async with SearchService.from_settings(settings) as service:
        chat = Chat(service, open_model(settings))
        turn = chat.turn(Ask("试用期被辞退能拿到赔偿吗", ChatSettings(), research=True))
        answer = Heard([event async for event in turn.events()]).done.answer
        await chat.aclose()
    quotes = [line for line in answer.splitlines() if line.startswith("- ")]
    assert quotes
    assert all(re.match(r"- 中华人民共和国\S+ 第\S+条", line) for line in quotes), quotes
    assert "背景" not in answer
    assert "进展" not in answer


class Pigeons(Tavily):
    results = 3

    def page(self, number: int, query: str) -> dict[str, str]:  # type: ignore[override]
        text = "工伤保险条例第十四条第六项：上下班途中受到非本人主要责任的交通事故伤害的，应当认定为工伤。"
        return {
            **super().page(number, query),
            "title": "工伤保险条例关于上下班途中的规定",
            "snippet": f"{text}{number}",
        }


async def test_the_web_is_asked_besides_and_both_are_shown(
    statutes_folder: IndexFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "工伤保险条例关于上下班途中的规定"
    with ProviderServer(Pigeons()) as tavily:
        monkeypatch.setenv("TAVILY_API_KEY", tavily.key)
        monkeypatch.setenv("QIUSUO_ENGINES__TAVILY__BASE_URL", tavily.base_url)
        settings = Settings.load(legal_dir=str(statutes_folder.root), provider_priority="laws,tavily")
        async with SearchService.from_settings(settings) as service:
            found = await service.asearch(question, type=SearchType.REGULATION)
            tool = await LegalSearch(IndexHandle(statutes_folder), service).regulations(question)
        answer = (await heard(statutes_folder, question, SEARCH, "laws,tavily")).text
    assert [attempt.engine for attempt in found.attempts] == ["laws", "tavily"]
    assert [item.related for item in found.results] == [True, True, False, False, False]
    origins = [result.origin.value for result in tool.results]
    assert origins == sorted(origins, key=["index", "web"].index)
    assert set(origins) == {"index", "web"}
    local, web = answer.index("相关，并非所问"), answer.index("应当认定为工伤")
    assert local < web


async def test_a_good_match_is_answered_without_the_web(statutes_folder: IndexFolder) -> None:
    async with World("tavily", legal_dir=str(statutes_folder.root)) as world:
        answer = await LegalSearch(IndexHandle(statutes_folder), world.service).regulations("劳动合同试用期最长多久")
        assert (answer.origin.value, world.requests("tavily")) == ("index", 0)


async def test_without_a_web_it_says_what_is_missing_and_how_to_get_it(
    statutes_folder: IndexFolder, tmp_path: Path
) -> None:
    async with World(legal_dir=str(tmp_path)) as world:
        answer = await LegalSearch(IndexHandle(statutes_folder), world.service).regulations(WEATHER)
    assert answer.results == ()
    assert [note.code for note in answer.notes] == ["law.no_article_found", "law.no_web"]
