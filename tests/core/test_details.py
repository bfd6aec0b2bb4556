"""What engines know of a result: it travels with it through JSON, merging and the shared cache."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qiusuo.details import PlainDetails
from qiusuo.legal.answers.results import CitedArticle, JudgmentDetails, LawDetails
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.pipeline.merge import fuse
from qiusuo.pipeline.stored import read_entry
from qiusuo.plugins import read_details
from qiusuo.words import Fact, Language

LAW = LawDetails(
    "茶叶法",
    "第三条",
    "茶农自行决定。\n（一）春茶；",
    "2010-07-01",
    "samples",
    status="已修改",
    version="2010-03-01",
    cited=(CitedArticle("茶叶法", "第二条", "茶是饮料。", "前条"),),
    notes=(Fact("law.amended_by", amendments=Fact("law.amendment", law="修正案", effective="2020-01-01")),),
    amends="茶叶法第一条",
)
CASE = JudgmentDetails("（2020）某01民初1号", "甲诉乙", "某法院", "2020-01-02", "民事", "偷茶。", "赔茶。", "", id="7")


def item(details: Any, url: str = "https://law.example/3") -> SearchResultItem:
    return SearchResultItem("茶", url, "茶。", engines=("laws",), details=details)


def through_json(one: SearchResultItem) -> SearchResultItem:
    return SearchResultItem.from_dict(json.loads(json.dumps(one.to_dict())), read_details)


@pytest.mark.parametrize("details", [LAW, CASE, None])
def test_they_survive_json(details: Any) -> None:
    assert through_json(item(details)) == item(details)


def test_of_a_kind_that_is_not_installed_they_stay_plain() -> None:
    data = {**item(None).to_dict(), "details": {"kind": "star", "magnitude": 2}}
    read = SearchResultItem.from_dict(data, read_details)
    assert isinstance(read.details, PlainDetails)
    assert read.to_dict() == data
    assert (read.details.card(), read.details.quotation()) == (None, None)


@pytest.mark.parametrize("wrong", [{"kind": "law"}, {"kind": "law", "lawName": "x", "cited": 7}, {"kind": 3}, {"x": 1}])
def test_what_does_not_fit_is_dropped(wrong: dict[str, Any]) -> None:
    assert SearchResultItem.from_dict({**item(None).to_dict(), "details": wrong}, read_details).details is None


def test_our_own_words_in_them_have_a_language() -> None:
    said = {language: item(LAW).to_dict(language)["details"]["notes"][0] for language in Language}
    assert said[Language.CHINESE].startswith("此版本已被《修正案》（2020-01-01 起施行）修改")
    assert said[Language.ENGLISH].startswith("This version was amended by 《修正案》 (in force from 2020-01-01)")


def test_merged_results_keep_them() -> None:
    [fused] = fuse({"web": [item(None)], "laws": [item(LAW)]})
    assert fused.details == LAW


class TestSharedCache:
    def entry(self, details: Any) -> SearchResultItem | None:
        response = SearchResponse("茶", (item(None),), "laws").to_dict()
        response["results"][0]["details"] = details
        found = read_entry(json.dumps({"until": 1, "keep": 2, "response": response}).encode())
        return found[0].results[0] if found else None

    def test_they_come_back(self) -> None:
        read = self.entry(item(LAW).to_dict()["details"])
        assert read is not None
        assert read.details == LAW

    @pytest.mark.parametrize(
        "details",
        [
            {"lawName": "no kind"},
            {"kind": "law", "lawName": "x\x1b[31m"},
            {"kind": "law", "lawName": "x" * 200_000},
            {"kind": "deep", "a": [[[[[[[[["x"]]]]]]]]]},
            ["law"],
        ],
    )
    def test_what_a_stranger_wrote_is_as_good_as_absent(self, details: Any) -> None:
        assert self.entry(details) is None
