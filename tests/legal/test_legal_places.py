"""Searching inside a law that a question names, and what places have made beside national law."""

from __future__ import annotations

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.index.places import NATIONAL, place_of, places_in
from qiusuo.legal.models import Law, LawKind
from tests.support.legal_samples import Statute, build, opened, write_statutes

DOGS = "携犬出户应当束犬链，由成年人牵领；违反规定的，处二百元以下罚款。"
CITIES = {
    "上海市养犬管理条例": f"养犬人{DOGS}",
    "济南市文明养犬管理条例": f"遛狗不牵绳的，{DOGS}遛狗不牵绳屡教不改的，没收犬只。",
    "杭州市市容管理条例": "沿街建筑物应当保持整洁。",
}
NATION = {
    "中华人民共和国犬只防疫法": "单位和个人携带犬只出户的，应当按照规定佩戴犬牌并采取系犬绳等措施。",
    "中华人民共和国牛奶法": "牛奶应当新鲜，装在干净的瓶子里。",
    "城市绿化条例": "城市里的树木不得擅自砍伐。",
}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> RegulationSearch:
    folder = tmp_path_factory.mktemp("places")
    laws = [
        Statute(
            name, "2020-01-01", "2020-03-01", (("第一条", text),), kind="法律" if name.endswith("法") else "行政法规"
        )
        for name, text in (CITIES | NATION).items()
    ]
    build(folder / "index", write_statutes(folder / "laws.db", laws))
    return RegulationSearch(opened(folder / "index").get())


def found(search: RegulationSearch, question: str) -> list[str]:
    return [result.law_name for result in search.search(question).results]


def test_a_laws_name_with_words_searches_inside_that_law(search: RegulationSearch) -> None:
    assert found(search, "上海市养犬管理条例 遛狗不牵绳")[0] == "上海市养犬管理条例"


def test_a_place_prefers_what_it_has_made_and_leaves_out_other_places(search: RegulationSearch) -> None:
    names = found(search, "在上海携犬出户不束犬链罚多少")
    assert names[0] == "上海市养犬管理条例"
    assert "中华人民共和国犬只防疫法" in names
    assert "济南市文明养犬管理条例" not in names


def test_without_a_place_national_law_comes_first(search: RegulationSearch) -> None:
    names = found(search, "遛狗不牵绳，带犬只出户")
    assert names[0] == "中华人民共和国犬只防疫法"
    assert "济南市文明养犬管理条例" in names


def test_which_laws_are_of_a_place() -> None:
    def of(name: str, kind: LawKind = LawKind.REGULATION) -> str:
        return place_of(Law(1, name, kind, "", ""))

    assert of("上海市养犬管理条例") == "上海"
    assert of("广东省物业管理条例") == "广东"
    assert of("内蒙古自治区草原管理条例") == "内蒙古"
    assert of("广西壮族自治区水条例") == "广西"
    assert of("深圳经济特区道路交通安全管理条例") == "深圳"
    assert of("城市绿化条例") == of("人力资源市场暂行条例") == of("城市房地产开发经营管理条例") == NATIONAL
    assert of("北京市法", LawKind.STATUTE) == NATIONAL


def test_a_place_whose_name_is_a_word_needs_more() -> None:
    assert places_in("楼挡住了日照怎么办", ["日照", "上海"]) == frozenset()
    assert places_in("日照市停车规定", ["日照", "上海"]) == {"日照"}
