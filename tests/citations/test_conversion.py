"""What becomes a link and what is left alone (C1, C5)."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from qiusuo.citations import CitationProcessor
from qiusuo.models import SearchResultItem

PROCESSOR = CitationProcessor([SearchResultItem(f"T{n}", f"https://s{n}.cn/", "") for n in range(1, 6)])
ONE, TWO, THREE = (f"[[{n}]](https://s{n}.cn/)" for n in (1, 2, 3))

CONVERTED = {
    "chinese": ("结果[1]。", f"结果{ONE}。"),
    "english word": ("Paris[1].", f"Paris{ONE}."),
    "after a blank": ("Paris [1].", f"Paris {ONE}."),
    "behind the full stop": ("巴黎。[1]", f"巴黎。{ONE}"),
    "neighbours": ("a [1][2]", f"a {ONE}{TWO}"),
    "list": ("a [1, 2]", f"a {ONE}{TWO}"),
    "chinese comma": ("甲[1，2]", f"甲{ONE}{TWO}"),
    "enumeration comma": ("甲[1、2]", f"甲{ONE}{TWO}"),
    "range": ("甲[1-3]", f"甲{ONE}{TWO}{THREE}"),
    "en dash": ("甲[1–3]", f"甲{ONE}{TWO}{THREE}"),
    "lenticular": ("甲【1】", f"甲{ONE}"),
    "browsing tool": ("甲【1†source】", f"甲{ONE}"),
    "full width": ("甲［１］", f"甲{ONE}"),
    "full-width digit": ("甲[１]", f"甲{ONE}"),
    "footnote": ("甲[^1]", f"甲{ONE}"),
    "doubled": ("甲[[1]]", f"甲{ONE}"),
    "twice the same": ("甲[1, 1]", f"甲{ONE}"),
    "in bold": ("**甲[1]**", f"**甲{ONE}**"),
    "in a list": ("- 甲[1]\n    - 乙[2]", f"- 甲{ONE}\n    - 乙{TWO}"),
    "in a table": ("| 甲[1] | [2] |", f"| 甲{ONE} | {TWO} |"),
    "in a heading": ("## 甲[1]", f"## 甲{ONE}"),
    "in a quotation": ("> 甲[1]", f"> 甲{ONE}"),
    "in plain brackets": ("[注：见[1]]。", f"[注：见{ONE}]。"),
    "open bracket": ("[甲 [1] 乙", f"[甲 {ONE} 乙"),
    "open backtick": ("甲`乙 [1]", f"甲`乙 {ONE}"),
    "backtick of another paragraph": ("甲`乙\n\n[1] `", f"甲`乙\n\n{ONE} `"),
    "after a code span": ("`a[1]` [1]", f"`a[1]` {ONE}"),
    "after a fence": ("```\n[1]\n```\n[1]", f"```\n[1]\n```\n{ONE}"),
    "after a link": ("[a](u)[1]", f"[a](u){ONE}"),
    "year in parentheses": ("Smith[1](2020)", f"Smith{ONE}(2020)"),
    "remark in parentheses": ("甲[1](见附录)", f"甲{ONE}(见附录)"),
    "no link after all": ("[甲[1]](not a link", f"[甲{ONE}](not a link"),
    "exclamation mark": ("Great![1]", f"Great! {ONE}"),
    "backslash": ("\\【1】", f"\\ {ONE}"),
    "less than": ("若x<y 则[1]，z>w", f"若x<y 则{ONE}，z>w"),
    "indented in a list": ("- 甲\n\n    乙[1]", f"- 甲\n\n    乙{ONE}"),
    "address before": ("见 https://a.cn/x [1]", f"见 https://a.cn/x {ONE}"),
    "address in parentheses": ("(https://a.cn/x)[1]", f"(https://a.cn/x){ONE}"),
    "address before chinese": ("见https://a.cn/x，结果[1]", f"见https://a.cn/x，结果{ONE}"),
    "mixed": ("甲[1, 9]", f"甲{ONE}[9]"),
    "mixed range": ("甲[4-7]", "甲[[4]](https://s4.cn/)[[5]](https://s5.cn/)[6-7]"),
    "mixed lenticular": ("甲【9、1】", f"甲【9】{ONE}"),
}

LEFT_ALONE = {
    "word": "[abc]",
    "time": "[12:30]",
    "zero": "arr[0] [0]",
    "nested index": "arr[0][1]",
    "index in code": "`x[1]` 和 `foo_bar[2]` 和 `data[1] = 3`",
    "out of range": "甲[9]",
    "huge": "[1-999999999] [123456789012]",
    "code span": "`[1]`",
    "longer code span": "``a`[1]``",
    "code span over lines": "`a\n[1]`",
    "fence": "```python\nx = a [1]\n```",
    "tilde fence": "~~~\n[1]\n```\n[1]\n~~~",
    "long fence": "````\n```\n[1]\n```\n````",
    "open fence": "```\n[1]\n\n[2]",
    "fence in a list": "1. 甲\n   ```\n   [1]\n   ```",
    "fence in a quotation": "> ```\n> [1]\n> ```",
    "indented code": "甲\n\n    a [1]\n\n    b [2]",
    "link": "[1](https://a.cn)",
    "link with title": '[1](https://a.cn "t [2]")',
    "link with parentheses": "[1](https://a.cn/a(b))",
    "own output": ONE,
    "marker in link text": "[see [1] here](https://a.cn)",
    "image": "![1](https://a.cn/a.png)",
    "image with marker": "![see [1]](a.png)",
    "reference link": "[OpenAI][1]",
    "reference image": "![logo][1]",
    "link definition": "[1]: https://a.cn/a[2]",
    "word definition": "[a]: https://a.cn/[2]",
    "footnote definition": "[^1]: a note",
    "autolink": "<https://a.cn/[1]>",
    "bare address": "https://a.cn/?a[1]=2",
    "attribute of a tag": '<a title="[1]">x</a>',
    "escaped": r"\[1\]",
    "root": r"\sqrt[3]{8}",
    "interval": "x ∈ [1, 3]",
    "interval in words": "在区间[1, 3]内",
}

# Products, versions, functions and vitamins: no spelling tells them from variables.
CITED_WORDS = [
    "Paris", "in 2023", "结果", "OpenAI", "DeepSeek", "iPhone", "macOS", "H1N1", "GPT4", "COVID-19", "Vitamin C",
    "维生素C", "U.S.", "3.5%", "_Paris_", "**Paris**", "example.com", "（世界银行）", 'he said "hi"', "",
    "推荐 qwen3", "前端用 vue3", "再用 sqlite3", "支持 ipv6", "python3", "gpt4", "http2", "useEffect", "维生素c",
    "x", "A", "sys.argv", "self.items", "foo_bar", "$names", "arr", "区间", "the range",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CONVERTED.values(), ids=CONVERTED)
def test_converted(text: str, expected: str) -> None:
    assert PROCESSOR.convert(text) == expected
    assert PROCESSOR.convert(expected) == expected


@pytest.mark.parametrize("after", ["", "。", ". Then", ", and", " = 3", ".name", "->next"])
@pytest.mark.parametrize("before", CITED_WORDS)
def test_any_word_is_cited(before: str, after: str) -> None:
    assert PROCESSOR.convert(f"{before}[1]{after}") == f"{before}{ONE}{after}"
    assert PROCESSOR.references(f"{before}[1]{after}")


def test_a_sentence_of_products_has_all_its_citations() -> None:
    converted = PROCESSOR.convert("推荐 qwen3[1]，前端用 vue3[2]，再用 sqlite3[3]。")
    assert converted == f"推荐 qwen3{ONE}，前端用 vue3{TWO}，再用 sqlite3{THREE}。"


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str) -> None:
    assert PROCESSOR.convert(text) == text


def links(markdown: str) -> list[str]:
    tokens = [child for token in MarkdownIt("commonmark").parse(markdown) for child in token.children or []]
    return [
        str(token.attrs.get("href") or token.attrs.get("src"))
        for token in tokens
        if token.type in {"link_open", "image"}
    ]


@pytest.mark.parametrize(("text", "expected"), CONVERTED.values(), ids=CONVERTED)
def test_renders_as_one_link_per_citation(text: str, expected: str) -> None:
    assert len(links(expected)) - len(links(text)) == expected.count("]](https://s") - text.count("]](https://s") - (
        # CommonMark takes these for links, we do not.
        {"Smith[1](2020)": 1, "甲[1](见附录)": 1}.get(text, 0)
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://a.cn/x(1) y", "https://a.cn/\"'<>`|", "https://a.cn/a\nb", "https://a.cn/[1]", "https://a.cn/\\)",
        "https://a.cn/?q=中文&b=1&copy;", "https://[::1]/x",
    ],
)  # fmt: skip
def test_no_address_can_break_the_link(url: str) -> None:
    converted = CitationProcessor([SearchResultItem("t", url, "")]).convert("甲[1]乙")
    assert converted.startswith("甲[[1]](http")
    assert converted.endswith(")乙")
    assert len(links(converted)) == 1


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "not a url", "ftp://a.cn"]
)
def test_only_web_addresses_are_linked(url: str) -> None:
    processor = CitationProcessor([SearchResultItem("t", url, ""), SearchResultItem("u", "https://a.cn", "")])
    assert processor.convert("甲[1]乙【1】丙[1, 2]") == "甲[1]乙【1】丙[1][[2]](https://a.cn)"
    assert processor.analyse("甲[1]").used == (1,)
