"""``law_card``: from the address of a search result back to the article."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from qiusuo.legal.answers.addresses import ArticleAddress, address_of, read_address
from qiusuo.legal.answers.cards import law_card
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.models import DateBasis, Law, LawKind, LawVersion
from qiusuo.models import Query
from tests.support.legal_samples import opened

pytest_plugins = ["tests.support.legal_fixtures"]


async def test_every_result_of_the_engine_has_its_card(samples: IndexHandle) -> None:
    items = await LawsEngine(samples).search(Query("茶叶法第一条至第五条"), 10)
    cards = [law_card(samples, item.url) for item in items]
    assert [card and card["articleNumber"] for card in cards] == [
        "第一条", "第二条", "第三条", "第四条", "第四条之一", "第五条",
    ]  # fmt: skip
    third = cards[2]
    assert third is not None
    assert third["content"].count("\n") == 3, "the whole text, with its lines"
    facts = {
        name: third[name] for name in ("lawName", "status", "version", "effectiveDate", "chapter", "origin", "url")
    }
    assert facts == {
        "lawName": "中华人民共和国茶叶法",
        "status": "现行有效",
        "version": "2010-03-01",
        "effectiveDate": "2010-07-01",
        "chapter": "第二章 茶农的权利",
        "origin": "index",
        "url": items[2].url,
    }


async def test_the_card_is_of_the_version_that_was_found(samples: IndexHandle) -> None:
    (item,) = await LawsEngine(samples).search(Query("茶叶法（2025修订）第三条"), 10)
    card = law_card(samples, item.url)
    assert card is not None
    assert (card["version"], card["status"]) == ("2025-10-01", "尚未生效")
    assert "采摘时间和方式" in card["content"]


async def test_a_law_without_an_article(samples: IndexHandle) -> None:
    found = await LawsEngine(samples).search(Query("茶叶法"), 10)
    card = law_card(samples, found[0].url)
    assert card is not None
    assert (card["lawName"], card["articleNumber"]) == ("中华人民共和国茶叶法", "")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "http://[::1",
        "https://example.com/#第三条",
        "https://flk.npc.gov.cn/",
        "https://flk.npc.gov.cn/?title=咖啡法&article=第三条",
        "https://flk.npc.gov.cn/?title=茶叶法&article=第九十九条",
        "https://flk.npc.gov.cn/?title=茶叶法&article=甲",
        "https://flk.npc.gov.cn/?title=茶叶法&version=1900-01-01",
    ],
)
def test_other_addresses_have_no_card(samples: IndexHandle, url: str) -> None:
    assert law_card(samples, url) is None


def test_without_an_index_there_is_none(tmp_path: Path) -> None:
    assert law_card(opened(tmp_path), "https://flk.npc.gov.cn/?title=茶叶法&article=第三条") is None


def test_a_version_with_a_page_of_its_own() -> None:
    law = Law(1, "茶叶法", LawKind.STATUTE, "", "")
    version = LawVersion(1, law, "2010-03-01", "2010-07-01", DateBasis.STATED, "", "", "https://law.example/tea?v=1", 5)
    url = address_of("茶叶法", "第三条", version)
    assert url == f"https://law.example/tea?v=1#{quote('第三条')}"
    assert read_address(url) == ArticleAddress(label="第三条", page="https://law.example/tea?v=1")
