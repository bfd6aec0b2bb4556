"""The catalogue: every code in both languages with the same values, every fact in the code known to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import qiusuo
from qiusuo.words import Fact, Language, language_of, said
from qiusuo.words.catalogue import Part, codes, entry, placeholders, problems, template

ROOT = Path(qiusuo.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
CODES = frozenset(codes())


@cache
def facts_in(path: Path) -> tuple[tuple[int, str, frozenset[str] | None], ...]:
    """Every ``Fact("code", …)`` of a file with the names of its values; None where they are given as ``**values``."""
    return tuple(_facts_in(path))


def _facts_in(path: Path) -> Iterator[tuple[int, str, frozenset[str] | None]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="Fact"), args=[ast.Constant(value=str() as code)], keywords=given):
                names = frozenset(word.arg for word in given if word.arg is not None)
                yield node.lineno, code, names if len(names) == len(given) else None


def wanted_values(code: str) -> frozenset[str]:
    return frozenset().union(*(placeholders(template(code, Language.ENGLISH, part)) for part in Part))


class TestCatalogue:
    def test_every_entry_has_both_languages_and_the_same_values(self) -> None:
        assert [problem for code in sorted(CODES) for problem in problems(code)] == []

    def test_what_is_wrong_with_an_entry_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        wrong = {
            "one.english": {"en": "Only here."},
            "two.values": {"zh": "{count} 条", "en": "{number} results"},
            "three.fix": {"zh": {"what": "坏了"}, "en": {"what": "Broken.", "fix": "Mend it."}},
            "four.language": {"zh": "好", "en": "Good", "de": "Gut"},
            "five.nothing": {},
        }
        monkeypatch.setattr("qiusuo.words.catalogue.entry", wrong.get)
        assert [len(problems(code)) for code in wrong] == [1, 1, 1, 1, 1]

    @pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
    def test_facts_of_the_code_are_in_the_catalogue_with_their_values(self, path: Path) -> None:
        found = facts_in(path)
        assert [f"{path.name}:{line}: {code}" for line, code, _ in found if code not in CODES and code != "said"] == []
        other = [
            f"{path.name}:{line}: {code} wants {sorted(wanted_values(code))}, not {sorted(names)}"
            for line, code, names in found
            if code in CODES and names is not None and not wanted_values(code) <= names
        ]
        assert other == []


class TestFacts:
    def test_a_fact_is_told_in_both_languages(self) -> None:
        fact = Fact("search.late", seconds="2.0")
        assert (fact.text(), str(fact)) == ("No answer within 2.0 s.",) * 2
        assert fact.text(Language.CHINESE) == "2.0 秒内没有回答。"
        assert fact.text(Language.CHINESE, Part.FIX).startswith("请检查网络")

    def test_facts_within_facts_and_lists(self) -> None:
        inner = Fact("search.late", seconds=1.5)
        assert Fact("search.resting", seconds=9, reason=inner).text(Language.CHINESE).endswith("1.5 秒内没有回答。")
        assert Fact("search.resting", seconds=9, reason=inner).text(part=Part.FIX) == inner.text(part=Part.FIX)
        assert Fact("engine.ignored", features=["news", "region"]).text() == "Ignored: news, region"
        assert Fact("engine.ignored", features=["news", "region"]).text(Language.CHINESE) == "不支持：news、region"

    def test_somebody_s_own_words_stay_as_they_are(self) -> None:
        for language in Language:
            assert said("Zahlung {fällig}").text(language) == "Zahlung {fällig}"
            assert Fact("search.tried", engine="x", outcome="y", reason=said("{z}")).text(language).count("{z}") == 1
        assert not said("")

    def test_a_code_that_nobody_knows_any_more_is_shown(self) -> None:
        assert Fact("gone.with_its_plugin", x=1).text() == "gone.with_its_plugin"
        assert Fact("../etc/passwd").text() == "../etc/passwd"
        assert Fact("search.late").text() == "No answer within … s."

    def test_they_travel(self) -> None:
        import pickle

        fact = Fact("search.resting", seconds=3, reason=Fact("engine.ignored", features=["news"]))
        assert Fact.from_dict(fact.to_dict()) == fact
        assert pickle.loads(pickle.dumps(fact)) == fact  # noqa: S301 - our own
        assert entry("search.resting") is not None

    @pytest.mark.parametrize(
        ("wish", "language"),
        [
            ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
            ("en-GB,en;q=0.9,zh;q=0.8", "en"),
            ("de,zh;q=0.5,en;q=0.7", "en"),
            ("zh_TW.UTF-8", "zh"),
            ("fr", "en"),
            ("zh;q=0, en;q=0.1", "en"),
            ("zh;q=x", "en"),
            ("*", "en"),
            ("", "en"),
            (None, "en"),
        ],
    )
    def test_the_language_that_somebody_wants(self, wish: str | None, language: str) -> None:
        assert language_of(wish) == language
