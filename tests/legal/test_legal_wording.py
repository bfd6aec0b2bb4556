"""The law's words for what people say: the list written by hand, the fitted table, and their part in ranking."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import MAX_QUERY_TOKENS, Fields, RankedDocument, TantivyBackend, build_tantivy
from qiusuo.legal.index.wording import (
    EVERYDAY,
    MOST_EVERYDAY,
    MOST_FITTED,
    MOST_PHRASES,
    PHRASES,
    TABLE,
    everyday,
    fitted,
    legal_pairs,
    legal_phrases,
    widened,
)
from qiusuo.legal.judgments.cases import CaseSearch
from tests.support.legal_samples import build, opened, said

pytest_plugins = ["tests.support.legal_fixtures"]

LEASES = """# 房屋租用法

2021年3月1日

<!-- INFO END -->

第一条 出租人应当在租赁终止后七日内返还保证金。

第二条 屋内物品自行保管，拖延不取的视为放弃。

第三条 采摘人应当按照指定的线路行走。
"""


@pytest.fixture
def leases(tmp_path: Path) -> LegalIndex:
    (tmp_path / "房屋租用法.md").write_text(LEASES, "utf-8")
    build(tmp_path / "index", tmp_path / "房屋租用法.md")
    return opened(tmp_path / "index").get()


def first(index: LegalIndex, question: str) -> str:
    hits = index.rank_articles(question, 3)
    return index.store.articles_by_id([hits[0].id])[0].label if hits else ""


def test_everyday_words_find_the_article_that_says_it_otherwise(leases: LegalIndex) -> None:
    # No pair of characters of the question is in the first article; 房东 is its 出租人.
    answer = RegulationSearch(leases).search("房东拖着怎么办")
    assert answer.results[0].article_number == "第一条"


def test_what_means_nothing_in_law_still_finds_nothing(leases: LegalIndex) -> None:
    answer = RegulationSearch(leases).search("量子纠缠")
    assert answer.results == ()
    assert said(answer)


def test_a_table_brings_articles_that_share_no_word_with_the_question(leases: LegalIndex) -> None:
    leases.wording = {}
    assert first(leases, "徒步") == ""
    leases.wording = {"徒步": {"采摘": 0.5, "行走": 0.9}}
    assert first(leases, "徒步") == "第三条"


def test_the_words_of_the_question_count_most() -> None:
    words = widened("租房押金", {"押金": {"保证": 0.9, "租房": 0.9}})
    assert words["租房"] == words["押金"] == 1.0
    assert 0 < words["保证"] < 1
    assert widened("押金", {"押金": {"保证": 9.0}})["保证"] < 1
    assert all(0 < words[pair] < 1 for pair in legal_pairs("租房押金") if pair not in "租房押金")


def test_the_longest_everyday_word_is_meant() -> None:
    assert "赡养" in legal_pairs("谁给我养老")
    pension = legal_pairs("养老金怎么领")
    assert "赡养" not in pension
    assert "保险" in pension


def test_a_long_question_is_widened_within_limits() -> None:
    everything = "，".join(everyday())
    table = {"老板": {chr(0x4E00 + number) + "甲": 0.5 for number in range(500)}}
    assert MOST_EVERYDAY <= len(legal_pairs(everything)) <= MOST_EVERYDAY + MOST_PHRASES
    assert len(widened(everything, table)) <= MAX_QUERY_TOKENS + MOST_EVERYDAY + MOST_PHRASES + MOST_FITTED


def test_the_list_is_well_formed() -> None:
    lines = [line for line in EVERYDAY.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert len(everyday()) == len(lines), "a word stands there twice"
    for line in lines:
        assert re.fullmatch(r"[\u4e00-\u9fff]+:(?: [\u4e00-\u9fff]{2,})+", line), line


def test_the_phrases_are_well_formed_and_bridge_what_stands_between() -> None:
    lines = [line for line in PHRASES.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    for line in lines:
        assert re.fullmatch(r"[^:：\s]+:(?: [\u4e00-\u9fff\d]+)+(?: @[\u4e00-\u9fff《》（）]+)?", line), line
    assert "抛掷" in legal_pairs("走到门口被楼上谁家扔的东西砸破了头")
    assert "抛掷" not in legal_pairs("我家在楼上。东西掉了")
    assert legal_phrases("导游逼着我们进店")[0].startswith("旅行社")


def test_the_fitted_table_is_small_and_knows_no_numbers_of_chapters() -> None:
    assert TABLE.stat().st_size < 120_000
    for word, others in fitted().items():
        assert len(word) >= 2
        assert 1 <= len(others) <= 5
        assert all(len(other) == 2 and 0 < strength <= 1 for other, strength in others.items())
        # 第五章 of one code says nothing about the law's words.
        assert not any(re.fullmatch("[一二三四五六七八九十][编章节]", other) for other in others)


def test_people_say_stole_and_judgments_say_theft(samples: Any) -> None:
    (result, *_) = CaseSearch(samples.get()).search("被偷").results
    assert "盗窃" in result.verdict


def test_the_end_of_long_facts_counts_however_often_the_beginning_repeats_itself(samples: Any) -> None:
    facts = "被告人赵铁柱于某日到某地。" * 200 + "在车站扒窃手机一部。"
    assert "扒窃手机" in CaseSearch(samples.get()).search(facts[-3900:]).results[0].summary


class TestCommonWords:
    @staticmethod
    def backend(folder: Path, count: int) -> TantivyBackend:
        documents = (
            RankedDocument(number, {"facts": "被告人到案" + ("扒窃手机" if number % 100 == 0 else "")}, {})
            for number in range(1, count + 1)
        )
        assert build_tantivy(folder, Fields(("facts",)), lambda _: documents) == count
        return TantivyBackend(folder, Fields(("facts",)))

    def test_what_most_documents_say_is_left_out(self, tmp_path: Path) -> None:
        backend = self.backend(tmp_path / "index", 600)
        words = dict.fromkeys(("被告", "到案", "扒窃", "从未"), 1.0)
        rare = backend.without_common(words, "facts", 0.5)
        assert list(rare) == ["扒窃", "从未"]
        assert {hit.id % 100 for hit in backend.search(rare, {"facts": 1.0}, 10)} == {0}

    def test_all_are_kept_when_nothing_else_is_left_or_few_documents_tell(self, tmp_path: Path) -> None:
        only_common = {"被告": 1.0, "到案": 1.0}
        assert self.backend(tmp_path / "many", 600).without_common(only_common, "facts", 0.5) == only_common
        mixed = {"被告": 1.0, "扒窃": 0.2}
        assert self.backend(tmp_path / "again", 600).without_common(mixed, "facts", 0.5) == mixed
        assert self.backend(tmp_path / "few", 20).without_common(only_common, "facts", 0.5) == only_common


# Articles on leases (1 to 5) among others on tea.
ARTICLES = {number: {"租赁", f"甲{number}"} for number in range(1, 6)} | {number: {"茶叶"} for number in range(6, 40)}
TEA = [(f"采茶{number}", {number}) for number in range(6, 40)]


class TestFitting:
    @pytest.fixture
    def fit(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        """Return what fits a table on (question, articles) and the pairs of each article."""
        monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        module, data = importlib.import_module("eval.legal.wording"), importlib.import_module("eval.legal.data")

        def fitted_on(asked: list[tuple[str, set[int]]], articles: dict[int, set[str]]) -> Any:
            questions = [data.Question(text, frozenset(gold), frozenset()) for text, gold in asked]
            return module.fit(questions, articles)

        return fitted_on

    def test_what_several_questions_and_articles_show_is_learnt(self, fit: Any) -> None:
        table = fit([(f"房东{number}", {number}) for number in range(1, 6)] + TEA, ARTICLES)
        assert list(table["房东"]) == ["租赁"]
        assert 0.5 < table["房东"]["租赁"] < 1

    def test_an_article_that_many_ask_about_teaches_nothing_alone(self, fit: Any) -> None:
        table = fit([("房东", {1})] * 9 + TEA, ARTICLES)
        assert "房东" not in table

    def test_a_question_with_many_articles_teaches_nothing_alone(self, fit: Any) -> None:
        table = fit([("房东", {1, 2, 3, 4, 5}), *TEA], ARTICLES)
        assert "房东" not in table

    def test_what_all_articles_say_belongs_to_no_word(self, fit: Any) -> None:
        everywhere = {number: pairs | {"应当"} for number, pairs in ARTICLES.items()}
        table = fit([(f"房东{number}", {number}) for number in range(1, 6)] + TEA, everywhere)
        assert "应当" not in table["房东"]
