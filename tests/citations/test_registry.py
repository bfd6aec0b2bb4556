"""Seeds 001 and 004, 搜索结果引用, scenario by scenario; SPEC C3 and C6 for agents."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from qiusuo.citations import CitationProcessor, CitationRegistry
from qiusuo.models import SearchResultItem


def page(name: str, title: str = "") -> SearchResultItem:
    return SearchResultItem(title or name.upper(), f"https://{name}.cn/", f"about {name}")


def two_rounds() -> CitationRegistry:
    registry = CitationRegistry()
    registry.add("量子计算 进展", [page("a"), page("b")])
    registry.add("量子计算 公司", [page("b"), page("c")])
    return registry


class TestSeed001:
    """搜索结果引用 (Agent)"""

    def test_every_result_gets_its_own_number(self) -> None:
        """结果编号分配"""
        assert CitationRegistry().add("q", [page("a"), page("b"), page("c")]) == [1, 2, 3]

    def test_agent_citations_become_links_as_in_chat(self) -> None:
        """Agent 引用结果"""
        registry, results = CitationRegistry(), [page("a"), page("b")]
        registry.add("q", results)
        answer = "甲[1]，乙[2]。"
        assert registry.processor().convert(answer) == CitationProcessor(results).convert(answer)

    def test_list_is_headed_like_the_one_in_chat_and_has_the_same_entries(self) -> None:
        """引用列表生成"""
        registry, results = CitationRegistry(), [page("a")]
        registry.add("q", results)
        entry = "- [[1]](https://a.cn/) A — a.cn"
        assert registry.references("甲[1]").startswith("## 参考文献\n")
        assert entry in registry.references("甲[1]")
        assert entry in CitationProcessor(results).references("甲[1]")

    def test_answer_without_citations_has_no_list(self) -> None:
        """无引用处理"""
        assert two_rounds().references("没有引用。") == ""
        assert two_rounds().references_data("没有引用。") == ()


class TestSeed004:
    """搜索结果引用 (Agent 模式)"""

    def test_numbers_run_on_over_searches_and_never_restart(self) -> None:
        """Agent 模式结果编号分配"""
        registry = CitationRegistry()
        assert registry.add("one", [page("a"), page("b")]) == [1, 2]
        assert registry.add("two", [page("c"), page("a"), page("d")]) == [3, 1, 4]

    def test_global_numbers_become_links(self) -> None:
        """Agent 模式引用结果"""
        assert two_rounds().processor().convert("甲[3]，乙[4]。") == "甲[[3]](https://c.cn/)，乙[4]。"

    def test_list_has_all_sources_grouped_by_round(self) -> None:
        """Agent 模式引用列表生成"""
        assert two_rounds().references() == (
            "## 参考文献\n"
            "\n### 第 1 轮：量子计算 进展\n\n"
            "- [[1]](https://a.cn/) A — a.cn\n"
            "- [[2]](https://b.cn/) B — b.cn\n"
            "\n### 第 2 轮：量子计算 公司\n\n"
            "- [[3]](https://c.cn/) C — c.cn\n"
            "- 已列于前：[[2]](https://b.cn/)"
        )
        # All sources, though the answer cites one.
        assert two_rounds().references("只引[3]") == two_rounds().references()

    def test_chat_list_has_the_used_sources_only_and_needs_no_registry(self) -> None:
        """Chat 模式引用列表生成"""
        assert CitationProcessor([page("a"), page("b")]).references("[2]") == (
            "## 参考文献\n\n- [[2]](https://b.cn/) B — b.cn"
        )


def test_same_page_keeps_its_number_in_every_spelling() -> None:
    registry = CitationRegistry()
    first = registry.add("one", [SearchResultItem("A", "https://www.a.cn/x?utm_source=n", "")])
    again = registry.add("two", [SearchResultItem("A'", "http://a.cn/x/#top", "")])
    assert first == again == [1]
    assert [source.title for source in registry.sources] == ["A"]


def test_repeated_search_adds_no_round() -> None:
    registry = two_rounds()
    assert registry.add("量子计算 进展", [page("a"), page("b")]) == [1, 2]
    assert len(registry.rounds) == 2


def test_rounds_in_structured_form() -> None:
    first, second = two_rounds().rounds
    assert [reference.number for reference in first.references] == [1, 2]
    assert (second.query, [reference.number for reference in second.repeated]) == ("量子计算 公司", [2])
    assert second.to_dict()["repeated"] == [2]


def test_round_that_found_nothing_is_not_shown() -> None:
    registry = CitationRegistry()
    assert registry.add("nothing", []) == []
    assert registry.references() == ""
    registry.add("something", [page("a")])
    assert "第 1 轮" not in registry.references()
    assert "第 2 轮" in registry.references()


def test_hostile_query_cannot_break_the_list() -> None:
    registry = CitationRegistry()
    registry.add("x\n## fake [y](https://evil.cn)", [page("a")])
    heading = registry.references().splitlines()[2]
    assert heading == r"### 第 1 轮：x \#\# fake \[y\](https\://evil.cn)"


def test_registry_can_be_stored_and_goes_on_counting() -> None:
    registry = CitationRegistry.from_dict(json.loads(json.dumps(two_rounds().to_dict())))
    assert registry.references() == two_rounds().references()
    assert registry.add("three", [page("c"), page("e")]) == [3, 4]


names = st.lists(st.sampled_from("abcdefgh"), max_size=6)


@given(st.lists(names, max_size=6))
def test_numbering_is_one_to_one_without_gaps(searches: list[list[str]]) -> None:
    registry = CitationRegistry()
    number_of: dict[str, int] = {}
    for index, search in enumerate(searches):
        for name, number in zip(search, registry.add(str(index), [page(name) for name in search]), strict=True):
            assert number_of.setdefault(name, number) == number
    assert sorted(number_of.values()) == list(range(1, len(number_of) + 1))
    shown = [reference.number for search_round in registry.rounds for reference in search_round.references]
    assert sorted(shown) == sorted(number_of.values())
