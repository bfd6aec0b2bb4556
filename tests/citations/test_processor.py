"""Seed 004, 内联引用链接 and 引用处理器, scenario by scenario; SPEC C1, C2, C4 and C6."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

import qiusuo.citations
from qiusuo.citations import CitationProcessor, Reference
from qiusuo.models import SearchResultItem

LINKS = ("[[1]](https://www.example.com/a)", "[[2]](https://paris.example.org/guide)")


class TestInlineCitationLinks:
    """内联引用链接"""

    def test_markers_are_recognised_and_mapped_to_results(self, processor: CitationProcessor) -> None:
        """引用标记识别"""
        conversion = processor.analyse("甲[1]，乙[2]。")
        assert [marker.numbers for marker in conversion.markers] == [(1,), (2,)]
        assert [processor.sources[n].url for n in conversion.used] == [
            "https://www.example.com/a",
            "https://paris.example.org/guide",
        ]

    def test_valid_markers_become_links_and_invalid_ones_stay(self, processor: CitationProcessor) -> None:
        """引用链接转换"""
        assert processor.convert("甲[1]，乙[2]，丙[7]。") == f"甲{LINKS[0]}，乙{LINKS[1]}，丙[7]。"

    def test_link_leads_to_the_page_of_the_result(self, processor: CitationProcessor) -> None:
        """引用链接点击"""
        assert processor.convert("[3]") == "[[3]](http://weather.example.cn/?city=%E5%8C%97%E4%BA%AC)"

    def test_used_citations_make_a_list_with_number_title_url_and_domain(self, processor: CitationProcessor) -> None:
        """引用列表显示"""
        assert processor.references("甲[2]，乙[1]，丙[2]。") == (
            f"## 参考文献\n\n- {LINKS[0]} 量子计算进展 — example.com\n- {LINKS[1]} Paris guide — paris.example.org"
        )

    def test_answer_without_markers_stays_and_has_no_list(self, processor: CitationProcessor) -> None:
        """无引用情况"""
        assert processor.convert("没有引用 [abc]。") == "没有引用 [abc]。"
        assert processor.references("没有引用 [abc]。") == ""
        assert processor.used_references("没有引用") == ()

    def test_number_out_of_range_stays_is_logged_and_disturbs_no_other(
        self, processor: CitationProcessor, caplog: pytest.LogCaptureFixture
    ) -> None:
        """引用编号超出范围"""
        with caplog.at_level(logging.WARNING):
            assert processor.convert("甲[9]，乙[1]，丙[9]。") == f"甲[9]，乙{LINKS[0]}，丙[9]。"
            processor.convert("又见[9]")
        assert [record.levelname for record in caplog.records] == ["WARNING"]  # once per number
        assert "[9]" in caplog.text
        assert processor.analyse("[9][9][8]").invalid == {9: 2, 8: 1}


class TestCitationProcessorTool:
    """引用处理器"""

    def test_mapping_holds_title_url_and_domain_by_number_from_one(self, processor: CitationProcessor) -> None:
        """引用映射构建"""
        assert list(processor.sources) == [1, 2, 3]
        first = processor.sources[1]
        assert (first.number, first.title, first.url, first.domain) == (
            1,
            "量子计算进展",
            "https://www.example.com/a",
            "example.com",
        )

    @pytest.mark.parametrize(("text", "used"), [("[1]", (1,)), ("[12]", ()), ("[abc]", ()), ("[1a]", ()), ("[]", ())])
    def test_pattern_takes_numbers_in_brackets_only(
        self, processor: CitationProcessor, text: str, used: tuple[int, ...]
    ) -> None:
        """正则表达式匹配"""
        assert processor.analyse(text).used == used

    def test_only_numbers_in_the_map_are_converted_and_failures_keep_the_text(self) -> None:
        """安全转换"""
        processor = CitationProcessor(
            [SearchResultItem("bad", "http://[broken", "x"), SearchResultItem("good", "https://a.cn", "x")]
        )
        assert processor.convert("甲[1]乙[2]丙[3]") == "甲[1]乙[[2]](https://a.cn)丙[3]"
        assert processor.references("甲[1]") == "## 参考文献\n\n- [1] bad"


def test_chat_numbers_run_from_one_in_result_order_and_are_the_same_everywhere(
    processor: CitationProcessor, results: list[SearchResultItem]
) -> None:
    """C2, 引用编号分配"""
    assert processor.numbers == [1, 2, 3]
    assert [processor.sources[n].title for n in processor.numbers] == [item.title for item in results]
    assert [reference.number for reference in processor.used_references("[3][1]")] == [1, 3]


def test_same_page_keeps_one_number_and_the_others_keep_theirs() -> None:
    """C6"""
    processor = CitationProcessor(
        [
            SearchResultItem("A", "https://www.a.cn/x/?utm_source=1", ""),
            SearchResultItem("B", "https://b.cn/", ""),
            SearchResultItem("A again", "http://a.cn/x#top", ""),
            SearchResultItem("C", "https://c.cn/", ""),
        ]
    )
    assert processor.numbers == [1, 2, 1, 4]
    assert processor.convert("[3][4]") == "[[1]](https://www.a.cn/x/?utm_source=1)[[4]](https://c.cn/)"
    assert processor.convert("[1, 3]") == "[[1]](https://www.a.cn/x/?utm_source=1)"
    assert [reference.number for reference in processor.used_references("[3]")] == [1]


def test_results_without_address_stay_apart() -> None:
    processor = CitationProcessor([SearchResultItem("A", "", ""), SearchResultItem("B", "", "")])
    assert processor.numbers == [1, 2]


def test_references_are_the_same_for_raw_and_converted_text(processor: CitationProcessor) -> None:
    text = "甲[1]，`[3]`，乙【2】[9]。"
    assert processor.references(processor.convert(text)) == processor.references(text)
    assert "[[1]]" in processor.references(text)


def test_foreign_links_with_a_number_are_not_counted(processor: CitationProcessor) -> None:
    assert processor.analyse("[[1]](https://elsewhere.cn) [2](https://elsewhere.cn)").used == ()


def test_list_with_gaps_keeps_its_numbers(processor: CitationProcessor) -> None:
    lines = processor.references("[3]").splitlines()
    assert lines[2].startswith("- [[3]](")


def test_list_can_have_another_heading(processor: CitationProcessor) -> None:
    assert processor.references("[1]", heading="References").startswith("## References\n")


def test_converted_answer_with_its_list_is_stable(processor: CitationProcessor) -> None:
    text = processor.convert("甲[1]乙[3]")
    page = f"{text}\n\n{processor.references(text)}\n"
    assert processor.convert(page) == page


def test_links_can_carry_a_note(processor: CitationProcessor) -> None:
    assert processor.convert("[1]", note='补充 "x"') == '[[1]](https://www.example.com/a "补充 \\"x\\"")'


def test_processor_can_be_stored(processor: CitationProcessor) -> None:
    again = CitationProcessor.from_dict(json.loads(json.dumps(processor.to_dict())))
    assert again.sources == processor.sources
    assert again.convert("[1][9]") == processor.convert("[1][9]")


def test_sources_cannot_be_changed_from_outside(processor: CitationProcessor) -> None:
    with pytest.raises(TypeError):
        processor.sources[1] = Reference(1, "", "", "")  # type: ignore[index]


def test_processor_without_results_changes_nothing() -> None:
    processor = CitationProcessor([])
    assert processor.convert("甲[1]。") == "甲[1]。"
    assert processor.references("甲[1]") == ""


def test_public_names_are_pinned() -> None:
    assert set(qiusuo.citations.__all__) == {
        "AddedCitation", "CheckPlan", "CitationCheck", "CitationProcessor", "CitationRegistry", "CitationStream",
        "CitedAnswer", "CitedClaim", "ClaimCheck", "ClaimPair", "Conversion", "Evidence", "LexicalJudge", "Marker",
        "Reason", "Reference", "SearchRound", "Support", "SupportJudge", "SupportReport", "Verdict", "add_citations",
        "check_support", "escape_markdown", "plan_check",
    }  # fmt: skip
    assert all(hasattr(qiusuo.citations, name) for name in qiusuo.citations.__all__)
    assert dir(qiusuo.citations) == sorted(qiusuo.citations.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        qiusuo.citations.nonsense  # noqa: B018


def test_numbering_and_linking_do_not_load_the_support_check() -> None:
    code = "import sys, qiusuo.citations.linking.registry; print('qiusuo.citations.meaning.quantities' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603
    assert loaded.stdout == "False\n"
