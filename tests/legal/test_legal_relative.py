"""前款, 前条, 本章: what an article's references to its surroundings lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.reading.relative import relative_references
from qiusuo.legal.tools import regulations_text
from tests.support.legal_samples import build, opened

LAW = """\
# 中华人民共和国果园法

2020年3月1日通过

<!-- INFO END -->

## 第一章 一般规定

第一条 果园应当登记。

第二条 登记由果农申请。

登记机关应当在十日内答复。

第二条之一 登记可以委托他人办理。

第三条 依照前条规定委托的，应当出具委托书。违反本章规定的，不予登记。

## 第二章 采收

第四条 果农有下列权利：

（一）自行采收；

（二）转让果实；

（三）前两项以外的其他权利。

果农行使前款第二项规定的权利，应当告知园主。

前两款规定适用于承包人。违反本条第二款规定，或者有第一款第一项情形的，依照本法第一条处理。

第五条 前二条规定的期间，自通知之日起计算。目前款项未付的，从其约定。

## 第一章 一般规定

第六条 本章所称果树，是指结果的树。前款规定不适用于茶树。

第七条 本法自2020年5月1日起施行。
"""


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> RegulationSearch:
    base: Path = tmp_path_factory.mktemp("orchard")
    (base / "果园法(2020-03-01).md").write_text(LAW, "utf-8")
    build(base / "index", base / "果园法(2020-03-01).md")
    return RegulationSearch(opened(base / "index").get())


def article(search: RegulationSearch, reference: str) -> LawDetails:
    (result,) = search.search(reference).results
    return result


def cited(result: LawDetails) -> dict[str, tuple[str, str]]:
    return {one.article_number: (one.words, one.brief) for one in result.cited}


def test_the_article_before_and_the_chapter(search: RegulationSearch) -> None:
    found = cited(article(search, "果园法第三条"))
    assert found["第二条之一"] == ("前条", "登记可以委托他人办理。")
    assert found["第一条至第三条"] == ("本章", "第一章 一般规定")


def test_a_chapter_ends_where_the_next_begins_though_its_title_comes_again(search: RegulationSearch) -> None:
    assert cited(article(search, "果园法第六条")) == {"第六条至第七条": ("本章", "第一章 一般规定")}


def test_several_articles_before(search: RegulationSearch) -> None:
    found = cited(article(search, "果园法第五条"))
    assert list(found) == ["第三条", "第四条"]
    assert found["第三条"][0] == "前二条"


def test_paragraphs_and_items_of_the_same_article(search: RegulationSearch) -> None:
    result = article(search, "果园法第四条")
    found = cited(result)
    assert found["第一条"] == ("", "果园应当登记。")
    assert found["第四条第一款第二项"] == ("前款第二项", "（二）转让果实；")
    assert found["第四条第一款第一项、第二项"] == ("前两项", "（一）自行采收； （二）转让果实；")
    assert found["第四条第一款"][0] == "前两款"
    assert found["第四条第二款"] == ("前两款", "果农行使前款第二项规定的权利，应当告知园主。")
    assert found["第四条第一款第一项"] == ("第一款第一项", "（一）自行采收；")
    assert result.to_dict()["cited"][0] == {
        "lawName": "中华人民共和国果园法",
        "articleNumber": "第一条",
        "brief": "果园应当登记。",
    }


def test_a_model_is_told_the_paragraph_only_where_it_does_not_see_it(search: RegulationSearch) -> None:
    whole = regulations_text(search.search("果园法第四条"))
    piece = regulations_text(search.search("果园法第四条第二款"))
    assert "前款第二项：" not in whole
    assert "引用（前款第二项）：中华人民共和国果园法第四条第一款第二项 （二）转让果实；" in piece


@pytest.mark.parametrize(
    "text", ["前款规定不适用。", "支付以前款项。", "具备前条件。", "依照本法第十条第二款和《水壶法》第三条第一款。", ""]
)
def test_what_leads_nowhere_or_names_its_article_is_none(text: str) -> None:
    assert relative_references(text) == []
