"""The catalogue: every code in both languages with the same values, every fact in the code known to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import qiusuo
from qiusuo import errors
from qiusuo.errors import SearchError
from qiusuo.web.static.words import ROOMS
from qiusuo.words import Fact, Language, language_of, said
from qiusuo.words.catalogue import Part, about, codes, entry, placeholders, problems, template
from qiusuo.words.facts import USUAL

ROOT = Path(qiusuo.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
CODES = frozenset(codes())


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def facts_in(path: Path) -> tuple[tuple[int, str, frozenset[str] | None], ...]:
    """Every ``Fact("code", …)`` of a file with the names of its values; None where they are given as ``**values``."""
    return tuple(_facts_in(path))


def _facts_in(path: Path) -> Iterator[tuple[int, str, frozenset[str] | None]]:
    for node in nodes_of(path):
        match node:
            case ast.Call(func=ast.Name(id="Fact"), args=[ast.Constant(value=str() as code)], keywords=given):
                names = frozenset(word.arg for word in given if word.arg is not None)
                yield node.lineno, code, names if len(names) == len(given) else None


PARTS = sorted({path.relative_to(ROOT).with_suffix("").parts[0] for path in MODULES if path.parent != ROOT}) + sorted(
    path.name for path in ROOT.glob("*.py")
)
# The words of the page are compared with its sources where these are checked.
PREFIXES = sorted({code.partition(".")[0] for code in CODES} - {"page", *ROOMS.values()})
# What models are told, and what pretends to be somebody else.
FOR_MODELS = ("chat/turns/prompts.py", "chat/research/prompts.py", "tools/", "legal/tools.py", "testing/")
HAN, MARKS = re.compile("[\u4e00-\u9fff]"), re.compile("[。，；！？：]")
PATTERN = re.compile(r"[\[(|\\?][?:\[\]]|\|")


@cache
def error_names() -> frozenset[str]:
    """The names of all errors of our tree, also of those that stand outside of ``errors.py``."""
    names = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, SearchError)}
    classes = [node for path in MODULES for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
    before = 0
    while before != len(names):
        before = len(names)
        names |= {
            node.name for node in classes if {base.id for base in node.bases if isinstance(base, ast.Name)} & names
        }
    return frozenset(names)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def literal_errors(path: Path) -> list[int]:
    """The lines on which an error is made of a sentence that stands in the code."""
    found = []
    for node in nodes_of(path):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in error_names():
                told = [*node.args[:2], *(word.value for word in node.keywords if word.arg in {"fact", "fix"})]
                found += [node.lineno] if any(map(is_sentence, told)) else []
    return found


def is_sentence(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() as text):
            return bool(text)
        case ast.JoinedStr():
            return True
        case ast.BinOp(left=left, right=right):
            return is_sentence(left) or is_sentence(right)
        case ast.IfExp(body=one, orelse=other):
            return is_sentence(one) or is_sentence(other)
        case ast.BoolOp(values=values):
            return any(map(is_sentence, values))
        case ast.Call(func=ast.Name(id="said"), args=[one]):
            return is_sentence(one)
        case _:
            return False


def chinese_sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of the code with Chinese words and marks between them: no docstrings, no patterns over others' words."""
    aside: set[ast.AST] = set()
    for node in nodes_of(path):
        match node:
            case ast.Expr(value=ast.Constant()):
                aside.add(node.value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
                aside.update(ast.walk(node))
    for node in nodes_of(path):
        match node:
            case ast.Constant(value=str() as text) if node not in aside:
                if MARKS.search(text) and len(HAN.findall(text)) >= 4 and not PATTERN.search(text):
                    yield node.lineno, text


READS = frozenset(
    """startswith endswith split rsplit partition rpartition replace removeprefix removesuffix find index count
    splitlines search match fullmatch findall finditer sub""".split()  # noqa: SIM905 - a list of words
)


def is_told(node: ast.expr) -> bool:
    """Tell whether an expression is a text that we have composed of a fact."""
    match node:
        case ast.Attribute(attr="message" | "fix" | "public"):
            return True
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="wording"))):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="Fact")), attr="text")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="fact" | "remedy" | "reason" | "told"), attr="text")):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr="lower" | "casefold" | "strip")):
            return is_told(inner)
        case _:
            return False


def readings(path: Path) -> list[int]:
    """The lines on which a text of our own is searched, cut or compared with a part."""
    found = []
    for node in nodes_of(path):
        match node:
            case ast.Call(func=ast.Attribute(value=read, attr=how), args=given) if how in READS:
                found += [node.lineno] if is_told(read) or any(map(is_told, given)) else []
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[read]):
                found += [node.lineno] if is_told(read) else []
    return found


@cache
def said_in_code() -> tuple[frozenset[str], frozenset[str]]:
    """Every text of the code, and what f-strings begin with."""
    texts, beginnings = set(), set()
    for path in MODULES:
        for node in nodes_of(path):
            match node:
                case ast.JoinedStr(values=[ast.Constant(value=str() as text), *_]):
                    beginnings.add(text)
                case ast.Constant(value=str() as text):
                    texts.add(text)
    return frozenset(texts), frozenset(beginnings)


def wanted_values(code: str) -> frozenset[str]:
    return frozenset().union(*(placeholders(template(code, Language.ENGLISH, part)) for part in Part)) - set(USUAL)


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
        assert (problems("one.english"), problems("three.fix")) == (
            ["one.english: zh.what is missing"],
            ["three.fix: zh.fix is missing"],
        )

    def test_pages_to_which_an_entry_leads_are_there(self) -> None:
        pages = {code: about(code, "guide").partition("#")[0] for code in CODES if about(code, "guide")}
        docs = ROOT.parents[1] / "docs"
        there = {code: docs / f"{page.removeprefix('/docs/')}.md" for code, page in pages.items()}
        assert [f"{code}: there is no {page}" for code, page in there.items() if not page.is_file()] == []

    def test_facts_of_the_code_are_in_the_catalogue_with_their_values(self) -> None:
        found = [
            (f"{named(path)}:{line}: {code}", code, names) for path in MODULES for line, code, names in facts_in(path)
        ]
        assert [place for place, code, _ in found if code not in CODES and code != "said"] == []
        other = [
            f"{place} wants {sorted(wanted_values(code))}, not {sorted(names)}"
            for place, code, names in found
            if code in CODES and names is not None and not wanted_values(code) <= names
        ]
        assert other == []


class TestSpaces:
    """Chinese has a blank beside Latin letters and figures, as our other texts have it."""

    # What stands for Chinese words, whole clauses and figures of Chinese law (第三条).
    OF_CHINESE = frozenset(
        """said what kind failed allowed problem language laws amendments number numbers ours place time edition day
        first last year""".split()  # noqa: SIM905 - a list of words
    )

    def test_between_chinese_and_latin(self) -> None:
        beside = re.compile(f"{HAN.pattern}[A-Za-z0-9]|[A-Za-z0-9]{HAN.pattern}")
        found = [
            f"{code}.{part}: {text}"
            for code in sorted(CODES)
            for part in Part
            if beside.search(text := template(code, Language.CHINESE, part).replace("第577条", ""))
        ]
        assert found == []

    def test_and_beside_values(self) -> None:
        beside = re.compile(rf"{HAN.pattern}\{{(\w+)\}}|\{{(\w+)\}}{HAN.pattern}")
        found = [
            f"{code}.{part}: {text}"
            for code in sorted(CODES - {"page.searchAbout"})  # as it was ordered, letter for letter
            for part in Part
            for text in [template(code, Language.CHINESE, part)]
            for one in beside.finditer(text)
            if (one[1] or one[2]) not in self.OF_CHINESE
        ]
        assert found == []


class TestMarks:
    """Punctuation and address. Capital letters and full stops depend on where a text stands: nobody can tell here."""

    def test_chinese_has_chinese_marks_and_no_formal_you(self) -> None:
        wrong = re.compile(f"{HAN.pattern}[,;!?]|[,;!?]{HAN.pattern}|您")
        assert self._where(Language.CHINESE, wrong) == []

    def test_english_has_english_marks(self) -> None:
        assert self._where(Language.ENGLISH, MARKS) == []

    @staticmethod
    def _where(language: Language, wrong: re.Pattern[str]) -> list[str]:
        told = ((code, part, template(code, language, part)) for code in sorted(CODES) for part in Part)
        return [f"{code}.{part}: {text}" for code, part, text in told if wrong.search(text)]


class TestOneCatalogue:
    """Sentences stand in the catalogue, and nothing stands there that nobody says."""

    @pytest.mark.parametrize("part", PARTS)
    def test_errors_are_raised_with_facts(self, part: str) -> None:
        found = [
            f"{named(path)}:{line}"
            for path in MODULES
            if path.relative_to(ROOT).parts[0] == part
            for line in literal_errors(path)
        ]
        assert found == [], "an error takes a Fact, whose words stand in the catalogue"

    def test_what_a_sentence_of_an_error_looks_like(self, tmp_path: Path) -> None:
        file = tmp_path / "module.py"
        file.write_text(
            'raise Blocked("words")\n'
            'raise Blocked(f"{x} words")\n'
            'raise Blocked(Fact("a.b"), fix="Do " + it)\n'
            'raise errors.Blocked(said("words"))\n'
            'raise Blocked("a" if x else fact)\n'
            'raise Blocked(Fact("a.b"), fix=remedy or "", commands=("qiusuo doctor",))\n'
            'raise ValueError("a fault of ours")\n'
            'raise Refusal(HTTPStatus.FORBIDDEN, "words")\n'
        )
        assert literal_errors(file) == [1, 2, 3, 4, 5, 8]

    def test_no_other_file_has_a_chinese_sentence(self) -> None:
        ours = [path for path in MODULES if not named(path).startswith(FOR_MODELS)]
        assert [f"{named(path)}:{line}: {text}" for path in ours for line, text in chinese_sentences(path)] == []

    def test_nobody_reads_our_own_sentences(self) -> None:
        ours = [path for path in MODULES if path.name != "conformance.py"]  # which tests that a key is named
        assert [f"{named(path)}:{line}" for path in ours for line in readings(path)] == []

    def test_what_reading_them_looks_like(self, tmp_path: Path) -> None:
        file = tmp_path / "module.py"
        file.write_text(
            'if "dns" in error.message.lower(): pass\n'
            "if PATTERN.search(error.fix): pass\n"
            'x = error.wording(language).what.partition("。")\n'
            'y = Fact("a.b").text(language).removesuffix(".")\n'
            'z = attempt.fact.text().startswith("no")\n'
            'fine = answer.text.split(), error.fact.code.startswith("http."), error.message\n'
        )
        assert readings(file) == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("prefix", PREFIXES)
    def test_every_code_is_told_somewhere(self, prefix: str) -> None:
        texts, beginnings = said_in_code()
        codes_here = sorted(code for code in CODES if code.partition(".")[0] == prefix)
        assert codes_here
        # Some have the prefix in one place: words("nothing") of the command line, about("chat") of its help.
        keys = {code: code.removeprefix(f"{prefix}.") for code in codes_here}
        made = tuple(each.removeprefix(f"{prefix}.") for each in beginnings if each.startswith(f"{prefix}."))
        made += tuple(each for each in beginnings if re.fullmatch(r"\w+_", each))  # words(f"state_{name}")
        known = {code for code, key in keys.items() if {code, key} & texts or key.startswith(made)}
        unused = [code for code in codes_here if code not in known and f"{prefix}." not in beginnings]
        assert unused == [], "no code has a fact with it: use it, or take it out of the catalogue"


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

    def test_sentences_and_remedies_of_several_reasons_are_told_one_after_the_other(self) -> None:
        keys = [
            Fact("engine.needs_key", label=name, variable=f"{name}_KEY", engine=name, docs_url="u") for name in "AB"
        ]
        several = Fact("search.none_usable", reason=[*keys, keys[0]])
        assert several.text(part=Part.WHY) == "A needs an API key. B needs an API key. A needs an API key."
        assert several.text(Language.CHINESE, Part.WHY).startswith("A 需要 API key。B 需要 API key。")
        assert several.text(part=Part.FIX).count("A_KEY") == 1
        assert several.text(Language.CHINESE, Part.FIX).count("请设置 B_KEY") == 1

    def test_an_error_within_another_keeps_its_remedy(self) -> None:
        inner = errors.Unavailable(Fact("search.no_time"), fix=Fact("page_read.install"))
        outer = errors.SearchDisabled(Fact("search.spoilt", engine="x", reason=inner.told))
        for language in Language:
            assert outer.wording(language).fix == Fact("page_read.install").text(language)
            assert inner.fact.text(language) in outer.wording(language).what

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
            ("zh_TW.UTF-8", "zh-Hant"),
            ("zh-HK,zh;q=0.9,en;q=0.8", "zh-Hant"),
            ("zh-Hant-CN", "zh-Hant"),
            ("zh-Hans-HK", "zh"),
            ("en;q=0.5, zh-Hant", "zh-Hant"),
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
