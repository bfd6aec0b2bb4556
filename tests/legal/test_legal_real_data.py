"""The installed statutes and the shared collections; skipped where they are not on this machine."""

from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

import pytest

from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.events.turn import Sources
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.turns.context import Ask
from qiusuo.config import Settings
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.lookup_check import WRITINGS, check_lookups
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.dates import KNOWN_EFFECTIVE, read_day
from qiusuo.legal.reading.names import KNOWN_REPEALS, SHORT_NAMES, name_key
from qiusuo.legal.reading.numbers import article_label
from qiusuo.legal.recognising.crimes import CRIMES, crimes
from qiusuo.legal.recognising.recognise import STATUTE_NAMES, looks_legal
from tests.support.chat_world import SEARCH, Heard
from tests.support.legal_data import SHARED
from tests.support.legal_samples import said

pytest_plugins = ["tests.support.statutes"]
pytestmark = pytest.mark.xdist_group("legal-real-data")


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        ("民法典第577条", ["中华人民共和国民法典 第五百七十七条"]),
        ("劳动合同试用期最长多久", ["中华人民共和国劳动合同法 第十九条"]),
        ("被狗咬了谁赔", ["中华人民共和国民法典 第一千二百四十五条"]),
        ("彩礼可以要回来吗", ["中华人民共和国民法典 第一千零四十九条"]),
        ("民法典第1条到第3条", [f"中华人民共和国民法典 第{number}条" for number in "一二三"]),
    ],
)
async def test_without_any_model_questions_are_answered_with_cited_text(
    statutes_folder: IndexFolder, question: str, cited: list[str]
) -> None:
    settings = Settings.load(legal_dir=str(statutes_folder.root), provider_priority="laws")
    async with SearchService.from_settings(settings) as service:
        chat = Chat(service, open_model(settings))
        heard = Heard([event async for event in chat.turn(Ask(question, SEARCH)).events()])
        await chat.aclose()
    places = [re.search(rf"{name}：.+ \[\[\d\]\]\(https://flk", heard.text) for name in cited]
    assert all(places), heard.text
    assert all(source.card for event in heard.of(Sources) for source in event.sources)


def test_every_article_is_found_by_its_reference(statutes: LegalIndex) -> None:
    """Each article in one of twelve writings, by turns; ``python -m eval.legal`` tries all twelve for all."""
    checked, wrong = check_lookups(statutes, writings_per_article=1)
    assert checked > 26_000
    assert wrong == []
    assert len(WRITINGS) == 12


@pytest.mark.parametrize(
    ("query", "law", "label", "words"),
    [
        ("民法典第577条", "中华人民共和国民法典", "第五百七十七条", "应当承担继续履行"),
        ("刑法第133条之一第一款第（二）项", "中华人民共和国刑法", "第一百三十三条之一", "醉酒驾驶机动车"),
        ("消法第55条", "中华人民共和国消费者权益保护法", "第五十五条", "三倍"),
    ],
)
def test_known_articles(statutes: LegalIndex, query: str, law: str, label: str, words: str) -> None:
    (result,) = RegulationSearch(statutes).search(query).results
    assert (result.law_name, result.article_number) == (law, label)
    assert words in result.content


def test_words_find_the_probation_period(statutes: LegalIndex) -> None:
    answer = RegulationSearch(statutes).search("劳动合同试用期最长多久")
    assert any("试用期不得超过" in result.content for result in answer.results[:3])


@pytest.mark.parametrize(
    ("question", "law", "number"),
    [
        ("被狗咬了谁赔", "民法典", 1245),
        ("高空抛物砸伤人", "民法典", 1254),
        ("邻居装修噪音扰民", "治安管理处罚法", 88),
        ("酒驾怎么处罚", "道路交通安全法", 91),
        ("网购七天无理由退货", "消费者权益保护法", 25),
        ("借条没写利息", "民法典", 680),
        ("信用卡逾期会坐牢吗", "刑法", 196),
        ("加班费怎么算", "劳动法", 44),
        ("公司不给交社保我可以辞职要求补偿吗", "劳动合同法", 38),
        ("公司没交社保怎么办", "劳动合同法", 38),
        # Whose dog, whose room, at what time is said beside the matter and must not outweigh it.
        ("邻居家的狗咬了我谁赔", "民法典", 1245),
        ("房东的狗咬了我谁赔", "民法典", 1245),
        ("房东不退押金怎么办", "民法典", 733),
        ("试用期可以不交社保吗", "社会保险法", 58),
        ("劳动合同试用期违反了怎么赔偿", "劳动合同法", 83),
    ],
)
def test_everyday_questions_find_the_article_that_answers_them(
    statutes: LegalIndex, question: str, law: str, number: int
) -> None:
    results = RegulationSearch(statutes).search(question).results[:3]
    wanted = (f"中华人民共和国{law}", article_label(ArticleNumber(number)))
    assert wanted in [(result.law_name, result.article_number) for result in results]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("劳动合同试用期违反了怎么赔偿？", "劳动合同法第八十三条"),
        ("违法约定试用期有什么后果", "劳动合同法第八十三条"),
        ("违反交通规则撞人怎么赔偿", "民法典第一千二百零八条"),  # the first says itself what follows
        ("劳动合同试用期最长多久", "劳动合同法第十九条"),
    ],
)
def test_what_follows_from_breaking_a_rule_comes_before_the_rule(
    statutes: LegalIndex, question: str, first: str
) -> None:
    found = RegulationSearch(statutes).search(question).results[0]
    assert f"{found.law_name}{found.article_number}" == f"中华人民共和国{first}"


def test_repealed_and_interpreted(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    assert search.search("合同法第107条").results[0].successor == "中华人民共和国民法典"
    assert search.search("环境保护法第一条").results[0].status == "已废止"
    assert search.search("民法典婚姻家庭编司法解释一第25条").results == ()


def test_words_take_milliseconds(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    search.search("试用期")
    started = time.process_time()
    for _ in range(20):
        search.search("借钱不还打官司要准备什么证据")
    assert (time.process_time() - started) / 20 < 0.03


@pytest.mark.skipif(
    not (SHARED / "stard_corpus.jsonl.gz").is_file(), reason=f"the shared collections are not in {SHARED}"
)
def test_the_shared_articles_show_the_known_gap(tmp_path: Path) -> None:
    with gzip.open(SHARED / "stard_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [line for line in file if '"law": "刑事诉讼法"' in line]
    (tmp_path / "part.jsonl").write_text("".join(lines), "utf-8")
    report = Importer(IndexFolder(tmp_path / "index")).run([tmp_path / "part.jsonl"])
    assert report.gaps == (("刑事诉讼法", "", (128,)),)


# The clause by which a law says when it takes effect; an amended law keeps that of its first version, and one that
# speaks of another kind of document (本办法) stands in an annex.
OWN_DAY = re.compile(
    r"本(法典?|条例|决定|决议|修正案|规定|解释|办法|规则)自\s*([^,，。;；]{6,20}?日)\s*起(?:施行|实施|生效)"
)


def test_the_days_of_effect_are_those_that_the_texts_state(statutes: LegalIndex) -> None:
    checked, wrong = 0, []
    for version in statutes.store.versions.values():
        _, last = statutes.store.numbers(version)
        closing = statutes.store.articles(version, ArticleNumber(max(1, last - 8)), ArticleNumber(last + 1))
        found = [clause for article in closing for clause in OWN_DAY.findall(article.text)]
        days = {read_day(day) for kind, day in found if kind in version.law.name}
        own = {day for day in days if day >= version.published}
        checked += bool(own)
        if own and version.effective not in own:
            wrong.append((version.law.name, version.published, version.effective, own))
    assert wrong == []
    assert checked > 150


def test_the_table_of_days_corrects_installed_versions_only_forward(statutes: LegalIndex) -> None:
    """Its entries cannot be read off the texts; at least each names a version that is there, and no earlier day."""
    installed = {
        (name_key(version.law.name), version.published): version for version in statutes.store.versions.values()
    }
    for key, day in KNOWN_EFFECTIVE.items():
        assert key[1] <= day
        assert installed[key].effective == day, key


def test_the_table_of_repeals_agrees_with_the_texts(statutes: LegalIndex) -> None:
    repeals = {name_key(repeal.name): repeal for repeal in statutes.store.repeals.values()}
    stated = [key for key in KNOWN_REPEALS if repeals[key].article]
    assert len(stated) > 14
    for key, (successor, day) in KNOWN_REPEALS.items():
        assert (repeals[key].successor, repeals[key].date) == (successor, day)
    # Texts that say 自公布之日起 leave the day open, unless it is known.
    assert repeals["民事诉讼法试行"].date == ""
    assert repeals["行政监察法"].date == "2018-03-20"


def test_the_names_of_statutes_are_installed_ones(statutes: LegalIndex) -> None:
    names = {name_key(version.law.name) for version in statutes.store.versions.values()}
    assert names >= STATUTE_NAMES


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("民法典第204条", "但是法律另有规定或者当事人另有约定的除外。"),
        ("民法典第462条", "该请求权消灭。"),
        ("民法典第1118条", "因养父母虐待、遗弃养子女而解除收养关系的除外。"),
        ("民法典第1258条", "应当承担侵权责任。"),
        ("刑法第101条", "但是其他法律有特别规定的除外。"),
    ],
)
def test_headings_of_the_next_part_are_no_text_of_an_article(statutes: LegalIndex, question: str, end: str) -> None:
    assert RegulationSearch(statutes).search(question).results[0].content.endswith(end)


def test_whole_questions_reach_the_right_way(statutes: LegalIndex) -> None:
    """The two questions of a first visit, both by their rules and by the index."""
    search = RegulationSearch(statutes)
    assert looks_legal("民法典第577条")
    assert looks_legal("劳动合同试用期最长多久")
    assert "当事人一方不履行合同义务" in search.search("民法典第577条").results[0].content
    assert all(result.related for result in search.search("工伤保险条例").results)


@pytest.mark.parametrize(
    ("law", "day"),
    [
        ("民事诉讼法", "2024-01-01"),
        ("监察法", "2025-06-01"),
        ("台湾同胞投资保护法", "2020-01-01"),
        ("村民委员会组织法", "2026-01-01"),  # by the decision in the same collection
        ("代表法", "2025-03-12"),
        ("会计法", "2024-07-01"),
        ("香港基本法", "1997-07-01"),
        ("澳门基本法", "1999-12-20"),
    ],
)
def test_days_that_the_source_states_wrongly(statutes: LegalIndex, law: str, day: str) -> None:
    assert RegulationSearch(statutes).search(law).results[0].effective_date == day


@pytest.mark.parametrize(
    ("query", "day", "status", "words"),
    [
        ("刑法第264条", "2026-11-15", "现行有效", "没有提到本条"),
        ("刑法第133条之一", "2026-11-15", "现行有效", "没有提到本条"),
        ("刑法第390条", "2026-11-15", "已修改", "修正案（十二）》条目五修改（2024-03-01 起施行）"),
        ("刑法第165条", "2026-11-15", "已修改", "修正案（十二）》条目一修改"),
        ("刑法第390条", "2022-01-01", "现行有效", ""),
        ("宪法第11条", "2010-01-01", "已修改", "修正案（2004年）》第二十一条修改"),
        ("宪法第11条", "1985-01-01", "现行有效", "2018-03-11"),
        ("宪法第11条", "2026-11-15", "现行有效", ""),
        ("农村土地承包法第21条", "2026-11-15", "现行有效", ""),
        ("全民所有制工业企业法第2条", "2026-11-15", "已废止", "来源标为已废止，未给出日期和依据"),
        ("全民所有制工业企业法第2条", "2022-01-01", "现行有效", "来源标为已废止，未给出日期和依据"),
        ("乡镇企业法第2条", "2026-11-15", "已废止", "来源标为已废止，未给出日期和依据"),
        ("环境保护法第1条", "2026-11-15", "已废止", "生态环境法典"),
        ("环境保护法第1条", "2020-01-01", "现行有效", ""),
        ("刑法第199条", "2026-11-15", "已废止", "本条已删去。"),
    ],
)
def test_how_articles_stand_on_a_day(statutes: LegalIndex, query: str, day: str, status: str, words: str) -> None:
    result, *changes = RegulationSearch(statutes).search(query, day).results
    assert result.status == status
    assert words in "".join(said(result))
    assert said(result) or not words
    assert bool(changes) == (status == "已修改")


def test_an_amended_article_is_followed_by_its_new_wording(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    for query, day, words in (
        ("刑法第390条", None, "将刑法第三百九十条修改为"),
        ("刑法第165条", None, "国有公司、企业的董事、监事、高级管理人员"),
        ("宪法第11条", "2010-01-01", "等非公有制经济的合法的权利和利益"),
    ):
        _, *changes = search.search(query, day).results
        assert any(words in change.content for change in changes)
        assert all("修正案" in change.law_name for change in changes)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("公司法第三条 2018修正", "公司法》2018年的版本，已有：2023-12-29。"),
        ("公司法第三条2018年怎么规定", "公司法》2018年的版本，已有：2023-12-29。"),
        ("公司法第三条 2018-10-26", "公司法》2018-10-26 有效的版本，已有：2023-12-29。"),
        ("刑法第199条在日本怎么规定", "索引中没有“日本刑法”，未用其他法律的第一百九十九条代替。"),
        ("特拉华州公司法第102条", "索引中没有“特拉华州公司法”，未用其他法律的第一百零二条代替。"),
        ("第五百七七条", "没有指明是哪部法律的第五百七七条；请写明法律名称，例如“民法典第五百七十七条”。"),
    ],
)
def test_what_is_not_there_is_not_answered_with_something_else(statutes: LegalIndex, query: str, note: str) -> None:
    answer = RegulationSearch(statutes).search(query)
    assert answer.results == ()
    assert said(answer)[0].endswith(note)


def test_a_year_of_publication_in_which_a_law_did_not_hold(statutes: LegalIndex) -> None:
    answer = RegulationSearch(statutes).search("治安管理处罚法第43条 2025年")
    assert [result.version for result in answer.results] == ["2025-06-27"]
    assert "2025-06-27 公布的版本自 2026-01-01 起施行" in said(answer)[0]
    for query in ("香港基本法第23条", "香港国安法第20条", "台湾同胞投资保护法第3条", "澳门基本法第23条"):
        assert said(RegulationSearch(statutes).search(query)) == ()


def test_repealed_laws_without_text_on_earlier_days(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    for query, day in (("合同法第107条", "2019-06-01"), ("婚姻法", "2015-01-01")):
        result = search.search(query, day).results[0]
        assert result.status == "现行有效"
        assert "当时有效（自 2021-01-01 起废止" in result.content


def test_what_the_source_lost_is_told_as_its_loss(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    for query in ("生态环境法典第1120条", "生态环境法典第1201条", "生态环境法典第1119条至第1121条"):
        assert any(note.startswith("来源缺") for note in said(search.search(query)))
    assert search.search("宪法修正案（2018年）第123条").results == ()
    assert "第一百二十七条　监察委员会" in search.search("宪法修正案（2018年）第52条").results[0].content


def test_the_twelfth_amendment_of_the_criminal_law_changes_seven_articles(statutes: LegalIndex) -> None:
    (law_id,) = statutes.names.find("刑法")
    store, law = statutes.store, statutes.store.laws[law_id]
    twelfth = store.amendments[law_id][-1]
    changed = [number for number in range(1, 453) if store.amending_items(twelfth, law, ArticleNumber(number))]
    assert changed == [165, 166, 169, 387, 390, 391, 393]


def test_old_days_are_told_to_be_patchy(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    assert "结果可能不全" in said(search.search("试用期最长多久", "2009-01-01"))[0]
    assert said(search.search("试用期最长多久")) == ()


def test_short_names_lead_to_installed_laws(statutes: LegalIndex) -> None:
    # The statutes have neither regulations of the State Council nor interpretations of the courts.
    absent = {"工伤条例", "民间借贷司法解释"}
    for short, officials in SHORT_NAMES.items():
        found = [name_key(statutes.store.laws[law_id].name) for law_id in statutes.names.find(short)]
        assert found == ([] if short in absent else list(officials)), short
    (note,) = said(RegulationSearch(statutes).search("民促法第三条"))
    assert note == "“民促法”可指《中华人民共和国民办教育促进法》、《中华人民共和国民营经济促进法》，请写全名。"
    assert said(RegulationSearch(statutes).search("消费税法第三条")) == (
        "索引中没有“消费税法”，未用其他法律的第三条代替。",
    )


# Crimes that share no word with their articles; each was read.
NOT_IN_THE_WORDS = frozenset(
    "伪证罪 侵占罪 医疗事故罪 失火罪 妨害公务罪 抗税罪 洗钱罪 渎职罪 破坏军婚罪 背叛国家罪 袭警罪 逃税罪 遗弃罪".split()  # noqa: SIM905
)


def test_crimes_share_words_with_their_articles_and_come_first(statutes: LegalIndex) -> None:
    search = RegulationSearch(statutes)
    lines = [line for line in CRIMES.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    foreign = set()
    for name in (line.rsplit(maxsplit=1)[0].split("|")[0] for line in lines):
        bare = re.sub(r"[、()]", "", name)
        first = search.search(name, limit=1).results[0]
        assert (first.law_name, first.article_number) == ("中华人民共和国刑法", article_label(crimes()[bare][0])), name
        text = re.sub(r"[、（）]", "", first.content)
        if not any(bare[place : place + 2] in text for place in range(len(bare) - 2)):
            foreign.add(name)
    assert foreign == NOT_IN_THE_WORDS
