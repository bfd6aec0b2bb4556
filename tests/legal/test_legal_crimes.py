"""Crimes by their names, which the law itself does not say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.recognising.crimes import CRIMES, crime_articles, crimes, names_crime
from tests.support.legal_samples import TODAY, Statute, build, opened, said, write_statutes

FIRST, LAST = 102, 448
"""The articles of 《刑法》 that crimes stand in."""


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("盗窃罪", [(264, 0)]),
        ("帮信罪怎么量刑", [(287, 2)]),
        ("帮助信息网络犯罪活动罪", [(287, 2)]),
        ("袭警罪判几年", [(277, 0)]),
        ("危险驾驶罪和交通肇事罪的区别", [(133, 1), (133, 0)]),
        ("掩饰、隐瞒犯罪所得罪", [(312, 0)]),
        ("掩饰隐瞒犯罪所得罪", [(312, 0)]),
        ("组织他人偷越国（边）境罪", [(318, 0)]),
        ("什么是合同诈骗罪", [(224, 0)]),
        ("集资诈骗罪、诈骗罪", [(192, 0), (266, 0)]),
        ("非国家工作人员受贿罪的立案标准", [(163, 0)]),
        ("贪污罪", [(382, 0), (383, 0)]),
        ("盗窃判几年", [(264, 0)]),
        ("合同诈骗三十万怎么判", [(224, 0)]),
        ("贩毒会判死刑吗", [(347, 0)]),
        # Without 罪 and without a question for the sentence it may be a tort or an offence.
        ("寻衅滋事怎么处罚", []),
        ("手机被盗窃怎么办", []),
        ("诈骗怎么判断", []),
        ("青少年犯罪怎么预防", []),
        ("得罪了领导怎么办", []),
        ("抢劫罪犯的心理", []),
        ("七宗罪是哪七宗", []),
        ("无罪推定", []),
        ("", []),
        ("罪", []),
    ],
)
def test_crimes_in_questions(question: str, numbers: list[tuple[int, int]]) -> None:
    assert crime_articles(question) == numbers


def test_only_names_with_their_last_character_are_names() -> None:
    assert names_crime("帮信罪是什么")
    assert not names_crime("盗窃判几年")
    assert not names_crime("抢劫罪犯")


def test_the_list_is_in_order() -> None:
    lines = [line for line in CRIMES.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    names = Counter(name for line in lines for name in line.rsplit(maxsplit=1)[0].split("|"))
    assert [name for name, count in names.items() if count > 1 or not name.endswith("罪")] == []
    assert len(lines) > 480
    assert all(FIRST <= number.number <= LAST for numbers in crimes().values() for number in numbers)


@pytest.fixture
def ask(tmp_path: Path) -> RegulationSearch:
    articles = (
        ("第二百六十四条", "盗窃公私财物，数额较大的，处三年以下有期徒刑。"),
        ("第二百七十七条", "以暴力、威胁方法阻碍国家机关工作人员依法执行职务的，处三年以下有期徒刑。"),
        ("第二百八十七条之二", "明知他人利用信息网络实施犯罪，为其提供互联网接入的，处三年以下有期徒刑。"),
    )
    tea = (("第一条", "盗窃罪、盗窃行为：盗窃茶叶的，由茶厂处理。"), ("第二条", "盗窃茶树的，赔偿损失。"))
    source = write_statutes(
        tmp_path / "laws.db",
        [
            Statute("中华人民共和国刑法", "2010-01-01", "2010-05-01", articles),
            Statute("中华人民共和国茶叶法", "2010-01-01", "2010-05-01", tea),
        ],
    )
    build(tmp_path / "index", source)
    return RegulationSearch(opened(tmp_path / "index").get(), lambda: TODAY)


def test_their_articles_come_first_and_once(ask: RegulationSearch) -> None:
    found = [(result.law_name, result.article_number) for result in ask.search("盗窃罪").results]
    assert found[0] == ("中华人民共和国刑法", "第二百六十四条")
    assert len(found) == len(set(found)) > 1
    assert len(ask.search("盗窃罪", limit=1).results) == 1


@pytest.mark.parametrize(("name", "label"), [("帮信罪", "第二百八十七条之二"), ("袭警罪", "第二百七十七条")])
def test_they_are_found_though_no_article_has_their_words(ask: RegulationSearch, name: str, label: str) -> None:
    answer = ask.search(name)
    assert answer.results[0].article_number == label
    assert said(answer) == ()


def test_a_crime_before_the_law_was_in_force(ask: RegulationSearch) -> None:
    assert ask.search("帮信罪", "2009-01-01").results == ()


def test_a_crime_whose_article_the_index_lacks(ask: RegulationSearch) -> None:
    assert all(result.article_number != "第二百六十六条" for result in ask.search("诈骗罪").results)
