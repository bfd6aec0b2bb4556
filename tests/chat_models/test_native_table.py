"""Which models search by themselves; and markers, however they are cut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel, FakeListChatModel

from qiusuo.chat.models.native import CAPABILITIES, native_search_for
from qiusuo.chat.models.native.markers import AnnotatedText, NumberedText
from qiusuo.chat.models.native.sources import Numbering, source_of, untagged
from qiusuo.chat.models.native.table import host_of
from qiusuo.chat.models.port import ModelInfo
from tests.support.native_servers import info

DOCS = Path(__file__).resolve().parents[2] / "docs"


def openai_at(address: str, name: str) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=name, base_url=address or None, api_key="k")


def anthropic_at(address: str, name: str) -> BaseChatModel:
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model=name, base_url=address or None, api_key="k")


def gemini_at(address: str, name: str) -> BaseChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(model=name, base_url=address or None, api_key="k")


def xai_at(address: str, name: str) -> BaseChatModel:
    from langchain_xai import ChatXAI

    return ChatXAI(model=name, api_key="k", **({"xai_api_base": address} if address else {}))


def perplexity_at(address: str, name: str) -> BaseChatModel:
    from langchain_perplexity import ChatPerplexity

    assert not address
    return ChatPerplexity(model=name, api_key="k", timeout=9)


class TestTable:
    @pytest.mark.parametrize(
        ("make", "address", "name", "provider"),
        [
            (openai_at, "", "gpt-5-mini", "openai"),
            (openai_at, "", "gpt-4.1", "openai"),
            (openai_at, "https://me.openai.azure.com/openai/v1", "gpt-5", "openai"),
            (openai_at, "https://api.x.ai/v1", "grok-4-fast", "xai"),
            (xai_at, "", "grok-4", "xai"),
            (anthropic_at, "", "claude-sonnet-5", "anthropic"),
            (anthropic_at, "", "claude-opus-4-8", "anthropic"),
            (anthropic_at, "https://api.deepseek.com/anthropic", "deepseek-v4-flash", "deepseek"),
            (anthropic_at, "https://api.minimaxi.com/anthropic", "MiniMax-M2", "minimax"),
            (gemini_at, "", "gemini-2.5-flash", "gemini"),
            (gemini_at, "", "models/gemini-3-pro", "gemini"),
            (perplexity_at, "", "sonar-pro", "perplexity"),
            (openai_at, "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen3-max", "qwen"),
            (openai_at, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3.5-plus", "qwen"),
            (openai_at, "https://ark.cn-beijing.volces.com/api/v3", "doubao-seed-1-6", "doubao"),
            (openai_at, "https://api.deepseek.com/v1", "deepseek-chat", "deepseek"),
            (openai_at, "https://open.bigmodel.cn/api/paas/v4", "glm-4.6", "zhipu"),
            (openai_at, "https://api.moonshot.cn/v1", "kimi-k2-turbo-preview", "kimi"),
        ],
    )
    def test_knows(self, make: Any, address: str, name: str, provider: str) -> None:
        found = native_search_for(info(f"x:{name}"), make(address, name))
        assert found is not None
        assert found.provider == provider

    @pytest.mark.parametrize(
        ("make", "address", "name"),
        [
            (openai_at, "http://127.0.0.1:8000/v1", "gpt-5"),
            (openai_at, "https://openrouter.ai/api/v1", "openai/gpt-5"),
            (openai_at, "https://api.openai.com.evil.example/v1", "gpt-5"),
            (openai_at, "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"),
            (openai_at, "", "gpt-3.5-turbo"),
            (openai_at, "", "gpt-4"),
            (openai_at, "", "gpt-4.1-nano"),
            (openai_at, "", "o3-mini"),
            (openai_at, "", "gpt-4o-search-preview"),
            (openai_at, "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-max"),
            (openai_at, "https://api.moonshot.cn/v1", "kimi-k2-thinking"),
            (openai_at, "https://api.moonshot.cn/v1", "kimi-k3"),
            (openai_at, "https://open.bigmodel.cn/api/paas/v4", "glm-4.5v"),
            (anthropic_at, "http://localhost:4000", "claude-sonnet-5"),
            (anthropic_at, "", "claude-3-haiku-20240307"),
            (anthropic_at, "", "claude-2.1"),
            (gemini_at, "https://gateway.example.com", "gemini-2.5-flash"),
            (gemini_at, "", "gemini-2.0-flash-lite"),
            (xai_at, "", "grok-3"),
        ],
    )
    def test_does_not_assume(self, make: Any, address: str, name: str) -> None:
        assert native_search_for(info(f"x:{name}"), make(address, name)) is None

    def test_a_gateway_can_be_named(self) -> None:
        model = openai_at("http://127.0.0.1:8000/v1", "gpt-5")
        found = native_search_for(info("openai:gpt-5"), model, vendor="openai")
        assert found is not None
        assert found.provider == "openai"
        assert native_search_for(info("openai:gpt-5"), model, vendor="anthropic") is None

    def test_the_environment_may_hold_the_address(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")
        monkeypatch.setenv("PERPLEXITY_BASE_URL", "http://gateway.example")
        for model in (openai_at("", "gpt-5"), perplexity_at("", "sonar")):
            assert host_of(model) == "gateway.example"
            assert native_search_for(info("x:y"), model) is None

    def test_other_models_have_none(self) -> None:
        fake = FakeListChatModel(responses=["hi"])
        assert native_search_for(info("x:y"), fake) is None
        local = ModelInfo("local:x.gguf", "x", "local")
        assert native_search_for(local, openai_at("", "gpt-5")) is None

    def test_no_package_of_a_provider_is_loaded_for_it(self) -> None:
        names = (
            "langchain_openai",
            "langchain_anthropic",
            "langchain_google_genai",
            "openai",
            "anthropic",
            "google.genai",
        )
        code = f"import sys, qiusuo.chat.models.native; print([name for name in {names!r} if name in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
        assert done.stdout.strip() == "[]"

    @pytest.mark.parametrize("page", ["native-search.md", "native-search.zh-CN.md"])
    def test_the_documents_name_every_line(self, page: str) -> None:
        text = (DOCS / page).read_text("utf-8")
        for line in CAPABILITIES:
            assert line.label in text
            assert line.package.replace("_", "-") in text
            assert all(f"`{host}`" in text for host in line.hosts)


LINK = "[a.example](https://a.example/x_(y)?q=1&utm_source=openai)"
PIECES = [
    "晴。",
    f"({LINK})",
    LINK,
    "(",
    "[",
    "]",
    "](",
    "(括号)",
    "[1]",
    "[x]",
    "\ue200cite\ue201",
    "https://b.example",
    " ",
    "\n",
]


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class TestMarkers:
    @given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.integers(1, 9))
    def test_cuts_make_no_difference(self, text: str, size: int) -> None:
        def read(parts: list[str]) -> str:
            block, given_out = AnnotatedText(Numbering()), ""
            for part in parts:
                block.feed(part)
                given_out += block.release()
            return given_out + block.release(final=True)

        whole = read([text])
        assert read(cut(text, size)) == whole
        assert "utm_source=openai" not in whole
        assert "\ue200" not in whole

    @given(
        st.lists(st.sampled_from(["[ref_1]", "[2]", "【3】", "[web:4]", "[", "ref_", "]", "晴", "[x]", "[^1]"])),
        st.integers(1, 5),
    )
    def test_cuts_of_references_make_no_difference(self, pieces: list[str], size: int) -> None:
        text = "".join(pieces)

        def read(parts: list[str]) -> str:
            numbered = NumberedText(lambda entry: entry if entry < 4 else None)
            return "".join(numbered.feed(part) for part in parts) + numbered.finish()

        assert read(cut(text, size)) == read([text])

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_plain_text_passes(self, first: str, second: str) -> None:
        block = AnnotatedText(Numbering())
        block.feed(first)
        given_out = block.release()
        block.feed(second)
        whole = given_out + block.release() + block.release(final=True)
        if not {"\ue200", "["} & set(first + second):
            assert whole == first + second


class TestSources:
    @pytest.mark.parametrize(
        ("url", "plain"),
        [
            ("https://a.example/?utm_source=openai", "https://a.example/"),
            ("https://a.example/?a=1&utm_source=openai&b=%E4", "https://a.example/?a=1&b=%E4"),
            ("https://a.example/?utm_source=openai#x", "https://a.example/#x"),
            ("https://a.example/?utm_source=other", "https://a.example/?utm_source=other"),
        ],
    )
    def test_the_tag_goes_and_nothing_else(self, url: str, plain: str) -> None:
        assert untagged(url) == plain

    def test_what_is_no_page_is_no_source(self) -> None:
        for url in ("javascript:alert(1)", "", None, 7, "ftp://a.example", "https://"):
            assert source_of(url) is None

    def test_titles_that_say_nothing_become_the_domain(self) -> None:
        for title in ("", "1", "[2]", None, "https://www.a.example/x"):
            found = source_of("https://www.a.example/x", title)
            assert found is not None
            assert found.title == "a.example"
