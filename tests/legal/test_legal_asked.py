"""Questions that were written for articles: the table of them, and that they lead to their articles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qiusuo.legal.building.imports import Importer
from qiusuo.legal.index import asked, semantic
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import ArticleNumber, LawKind
from qiusuo.legal.reading.names import kind_of, name_key
from qiusuo.legal.recognising.recognise import looks_legal
from tests.support.legal_samples import build, opened, write_sources

pytest_plugins = ["tests.support.statutes"]
QUESTIONS = Path(__file__).parents[2] / "eval" / "legal" / "questions"
_LETTERS = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    return _LETTERS.sub("", text)


def measured_questions() -> Iterator[str]:
    for file in QUESTIONS.glob("*.jsonl"):
        yield from (json.loads(line)["question"] for line in file.read_text("utf-8").splitlines())
    for file in QUESTIONS.glob("*.txt"):
        yield from file.read_text("utf-8").splitlines()


def test_every_line_has_a_law_a_number_and_a_question_of_its_own() -> None:
    lines = [line for line in asked.ASKED.read_text("utf-8").splitlines() if not line.startswith("#")]
    wrong = [line for line in lines if not re.fullmatch(r"[^\t\s]+\t\d+(-\d+)?\t[^\t]{4,120}", line)]
    assert wrong == []
    questions = [letters(line.split("\t")[2]) for line in lines]
    assert len(questions) == len(set(questions))
    assert not {letters(question) for question in measured_questions()} & set(questions)


def test_lines_are_sorted_by_law_and_number() -> None:
    articles = [article for article, _ in asked.asked_articles()]
    assert articles == sorted(articles)


@pytest.mark.xdist_group("legal-real-data")  # one process builds the index
def test_every_question_on_a_statute_is_led_to_its_article(statutes: LegalIndex) -> None:
    every = list(asked.asked_articles())
    by_statutes = [(article, question) for article, question in every if statutes.names.find(article.law)]
    # What the default statutes lack comes with packs: interpretations and regulations.
    elsewhere = {article.law for article, _ in every if not statutes.names.find(article.law)}
    assert not [law for law in elsewhere if kind_of(law) in {LawKind.STATUTE, LawKind.CONSTITUTION}]
    marked = {article for article, _ in asked.asked_articles(asked.MARKS)}
    assert {article for article, _ in by_statutes} == marked  # else run python -m eval.legal --mark-asked
    some = by_statutes[:: len(by_statutes) // 60]
    assert sum(article in first_three(statutes, question) for article, question in some) > 0.95 * len(some)


def first_three(index: LegalIndex, question: str) -> list[asked.AskedArticle]:
    found = index.store.articles_by_id([hit.id for hit in index.rank_articles(question, 3, semantic=False)])
    return [asked.AskedArticle(name_key(one.version.law.name), one.number) for one in found if one.number]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Questions for laws of the tests, instead of those that are shipped."""
    monkeypatch.setattr(asked, "ASKED", tmp_path / "asked.txt")
    monkeypatch.setattr(asked, "MARKS", tmp_path / "marks.tsv")
    asked.ASKED.write_text("水壶法\t2\t刚到手就往外渗，店家死活不认账咋办\n", "utf-8")
    asked.MARKS.write_text("水壶法\t2\t漏水 更换 买受\n", "utf-8")
    _forget()
    yield tmp_path
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    asked.asked_questions.cache_clear()
    asked.known_marks.cache_clear()


READER = "到手就往外渗，店家不认账"


def found_for_the_reader(folder: Path) -> list[tuple[str, ArticleNumber | None]]:
    build(folder / "index", write_sources(folder / "sources"))
    index = opened(folder / "index").get()
    articles = index.store.articles_by_id([hit.id for hit in index.rank_articles(READER, 5, semantic=False)])
    return [(article.version.law.name, article.number) for article in articles]


def test_a_like_question_finds_an_article_that_shares_no_word_with_it(written: Path) -> None:
    assert ("水壶法", ArticleNumber(2)) in found_for_the_reader(written)


def test_an_article_that_says_something_else_gets_no_questions(written: Path) -> None:
    asked.MARKS.write_text("水壶法\t2\t茶杯 陶瓷 买受\n", "utf-8")
    assert ("水壶法", ArticleNumber(2)) not in found_for_the_reader(written)


@pytest.mark.skipif(not semantic.is_installed(), reason="the sentence encoder is not installed")
def test_likeness_in_meaning_counts_too(written: Path) -> None:
    Importer(IndexFolder(written / "index"), with_vectors=True).run([write_sources(written / "sources")])
    index = opened(written / "index").get()
    (best, *_) = index.store.articles_by_id(
        [index.rank_articles("my new mug leaks hot water and the shop refuses", 5)[0].id]
    )
    assert best.version.law.name == "水壶法"


@pytest.mark.parametrize(
    "question", ["产假多少天", "几岁可以结婚", "法定节假日加班几倍工资", "未成年人打人要负责吗", "难产产假多少天"]
)
def test_short_questions_of_lay_people_are_recognised(question: str) -> None:
    assert looks_legal(question)


@pytest.mark.parametrize("question", ["生产假发多少天发货", "猫几岁可以绝育", "她为什么休产假"])
def test_others_with_the_same_words_are_not(question: str) -> None:
    assert not looks_legal(question)
