"""Reference lists render as they should, whatever titles and addresses say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from qiusuo.citations import CitationProcessor, Reference, escape_markdown
from qiusuo.models import SearchResultItem
from qiusuo.text import clean
from tests.support.examples import examples

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def inline_tokens(markdown: str) -> list[Token]:
    return [child for token in MARKDOWN.parse(markdown) for child in token.children or []]


HOSTILE_TITLES = [
    "](https://evil.cn) [x", "![img](https://evil.cn/a.png)", "<script>alert(1)</script>", "a\n\n# Heading",
    "`code` **bold** _it_",
    "&lt;b&gt; &copy;", "| a | b |", "https://evil.cn www.evil.cn a@b.cn", "\\", "~~x~~",
    "- [ ] task", "1. one", "[1]", "",
]  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE_TITLES)
def test_hostile_title_smuggles_nothing_into_the_list(title: str) -> None:
    processor = CitationProcessor([SearchResultItem(title, "https://a.cn/", "")])
    listed = processor.references("[1]")
    tokens = inline_tokens(listed)
    assert [token.attrs["href"] for token in tokens if token.type == "link_open"] == ["https://a.cn/"]
    assert {token.type for token in tokens} <= {"text", "link_open", "link_close", "text_special"}
    blocks = [token.type for token in MARKDOWN.parse(listed) if token.type.endswith("_open")]
    assert blocks == ["heading_open", "bullet_list_open", "list_item_open", "paragraph_open"]
    assert processor.convert(listed) == listed


@examples(3)
@given(st.text(max_size=80), st.text(max_size=40).map("https://a.cn/{}".format))
@example("a[", "https://a.cn/)")
def test_any_title_and_address_make_one_entry_with_one_link(title: str, url: str) -> None:
    line = Reference(1, title, url, "a.cn").line()
    assert "\n" not in line
    tokens = inline_tokens(line)
    assert sum(token.type == "link_open" for token in tokens) == 1
    assert not any(token.type in {"image", "html_inline", "code_inline", "softbreak", "em_open"} for token in tokens)


@given(st.text(max_size=60))
def test_escaped_text_shows_what_it_was(text: str) -> None:
    shown = "".join(token.content for token in inline_tokens(f"x {escape_markdown(text)} x"))
    assert shown == f"x {clean(text)} x"


def test_long_titles_are_cut() -> None:
    assert len(Reference(1, "标" * 500, "https://a.cn", "a.cn").line()) < 300


def test_source_without_title_shows_its_domain_once() -> None:
    assert Reference(2, "", "https://a.cn/", "a.cn").line() == "- [[2]](https://a.cn/) a.cn"


def test_source_that_cannot_be_linked_is_listed_without_link() -> None:
    assert Reference(3, "Title", "javascript:alert(1)", "").line() == "- [3] Title"


def test_reference_can_be_stored() -> None:
    reference = Reference(1, "t", "https://a.cn", "a.cn", "s")
    assert Reference.from_dict(reference.to_dict()) == reference
