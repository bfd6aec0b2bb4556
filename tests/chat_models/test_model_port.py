"""From settings to a model: names, keys, addresses, what is missing; and what the built clients say."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool

from qiusuo.chat.models.model_errors import stream_model
from qiusuo.chat.models.opening import model_from, open_model
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.models.vendors import VENDORS, choose
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, ModelNotConfigured
from tests.support.scripted_model import Call, Reply, ScriptedModel

KEY = "sk-very-secret-0123456789"
HELLO = [HumanMessage("hello")]


@tool
def web_search(query: str) -> str:
    """Search the web."""
    return query


@asynccontextmanager
async def chat_of(server: ScriptedModel, **settings: Any) -> AsyncIterator[BaseChatModel]:
    wanted = {"model": "openai:scripted", "model_base_url": server.base_url, "model_api_key": server.key, **settings}
    async with aclosing(open_model(Settings.load(**wanted))) as model:
        yield await model.chat_model()


async def gathered(chat: Any) -> AIMessageChunk:
    whole: AIMessageChunk | None = None
    async for chunk in stream_model(chat, HELLO, model="m", idle_timeout=20):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    return whole


class TestChoosing:
    @pytest.mark.parametrize(
        ("model", "variable", "address"),
        [
            ("openai:gpt-5.5", "OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("gpt-5.5", "OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
            ("qwen:qwen-plus", "DASHSCOPE_API_KEY", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
            ("DashScope:qwen-plus", "DASHSCOPE_API_KEY", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
            ("zhipu:glm-4.6", "ZHIPUAI_API_KEY", "https://open.bigmodel.cn/api/paas/v4"),
            ("zhipu:glm-4.6", "ZAI_API_KEY", "https://open.bigmodel.cn/api/paas/v4"),
            ("kimi:kimi-k2-turbo-preview", "MOONSHOT_API_KEY", "https://api.moonshot.cn/v1"),
            ("siliconflow:Qwen/Qwen3-8B", "SILICONFLOW_API_KEY", "https://api.siliconflow.cn/v1"),
            ("openrouter:meta-llama/llama-3:free", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
            ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
            ("claude-sonnet-5", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
            ("gemini:gemini-2.5-flash", "GOOGLE_API_KEY", "https://generativelanguage.googleapis.com"),
            ("xai:grok-4", "XAI_API_KEY", "https://api.x.ai/v1"),
            ("perplexity:sonar", "PERPLEXITY_API_KEY", "https://api.perplexity.ai"),
        ],
    )
    def test_the_usual_variable_is_enough(
        self, model: str, variable: str, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(variable, KEY)
        choice = choose(Settings.load(model=model))
        assert (choice.key, choice.base_url) == (KEY, address)
        assert KEY not in repr(choice)
        assert KEY not in repr(open_model(Settings.load(model=model)))

    def test_the_own_key_and_address_win(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DEEPSEEK_API_KEY", "another")
        monkeypatch.setenv("QIUSUO_MODEL", "deepseek:deepseek-chat")
        monkeypatch.setenv("QIUSUO_MODEL_API_KEY", KEY)
        monkeypatch.setenv("QIUSUO_MODEL_BASE_URL", "https://gateway.example.com/v1/")
        choice = choose(Settings.load())
        assert (choice.key, choice.base_url) == (KEY, "https://gateway.example.com/v1")

    def test_ollama_needs_nothing(self) -> None:
        choice = choose(Settings.load(model="ollama:qwen3:8b"))
        assert (choice.name, choice.base_url, choice.key) == ("qwen3:8b", "http://localhost:11434/v1", "")
        assert choice.context == 4096

    @pytest.mark.parametrize(
        ("host", "address"),
        [
            ("0.0.0.0", "http://localhost:11434/v1"),  # noqa: S104 - as Ollama's own variable may say
            ("box:11500", "http://box:11500/v1"),
            ("https://ollama.example.com:443", "https://ollama.example.com:443/v1"),
            ("[::1]:9", "http://[::1]:9/v1"),
        ],
    )
    def test_ollama_elsewhere(self, host: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OLLAMA_HOST", host)
        assert choose(Settings.load(model="ollama:qwen3")).base_url == address

    def test_a_bare_name_at_an_address_of_ones_own(self) -> None:
        choice = choose(Settings.load(model="my-model:7b", model_base_url="http://localhost:9/v1"))
        assert (choice.provider, choice.name) == ("compatible", "my-model:7b")

    @pytest.mark.parametrize("model", [None, "extractive", "Extractive", "  "])
    async def test_without_a_model_it_quotes(self, model: str | None) -> None:
        opened = open_model(Settings.load(model=model))
        assert (opened.info.kind, opened.info.name) == ("extractive", "extractive")
        assert (await (await opened.chat_model()).ainvoke("你好")).text

    def test_sizes(self) -> None:
        def context(model: str, **settings: Any) -> int:
            return choose(Settings.load(model=model, model_api_key=KEY, **settings)).context

        assert context("openai:gpt-4o") == 128_000
        assert context("openai:gpt-4.1-mini") == 1_000_000
        assert context("moonshot:moonshot-v1-8k") == 8192
        assert context("vllm:x", model_base_url="http://localhost:9/v1") == 8192
        assert context("openai:gpt-4o", model_context=5000) == 5000

    def test_which_search_by_themselves(self) -> None:
        def native(model: str, **settings: Any) -> bool:
            return open_model(Settings.load(model=model, model_api_key=KEY, **settings)).info.native_search

        assert native("openai:gpt-5.5")
        assert native("anthropic:claude-sonnet-5")
        assert native("xai:grok-4")
        assert not native("openai:gpt-5.5", model_base_url="http://localhost:9/v1")
        assert not native("ollama:qwen3")


class TestNotConfigured:
    @pytest.mark.parametrize(
        ("settings", "fix"),
        [
            ({"model": "deepseek:deepseek-chat"}, "Set DEEPSEEK_API_KEY or QIUSUO_MODEL_API_KEY"),
            ({"model": "anthropic:claude-sonnet-5"}, "Set ANTHROPIC_API_KEY"),
            ({"model": "vllm:qwen3"}, "Set QIUSUO_MODEL_BASE_URL"),
            ({"model": "lmstudio:qwen3"}, "http://localhost:1234/v1"),
            ({"model": "nobody:knows"}, "Write provider:name"),
            ({"model": "knows"}, "Write provider:name"),
            ({"model": "bedrock_converse:x"}, "Install langchain-aws"),
        ],
    )
    def test_the_fix_names_what_is_missing(self, settings: dict[str, Any], fix: str) -> None:
        with pytest.raises(ModelNotConfigured) as caught:
            open_model(Settings.load(**settings))
        assert fix in caught.value.fix

    def test_a_package_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "langchain_xai", None)
        with pytest.raises(ModelNotConfigured) as caught:
            open_model(Settings.load(model="xai:grok-4", model_api_key=KEY))
        assert caught.value.commands == (install_command("langchain-xai"),)

    def test_values_that_cannot_be(self) -> None:
        for wrong in (
            {"model_base_url": "localhost:11434"},
            {"model_temperature": 3},
            {"model_timeout": 0},
            {"agent_rounds": 0},
            {"database_url": f"mysql://user:{KEY}@host/name"},
        ):
            with pytest.raises(ConfigurationError) as caught:
                Settings.load(**wrong)
            assert KEY not in str(caught.value)

    def test_every_provider_can_be_reached_by_name(self) -> None:
        for name, vendor in VENDORS.items():
            settings = Settings.load(model=f"{name}:x", model_api_key=KEY, model_base_url="http://localhost:9/v1")
            assert choose(settings).provider == vendor.name


class TestOpenAiShape:
    async def test_a_stream_with_usage(self) -> None:
        with ScriptedModel(Reply.text("Hel", "lo.", usage=(21, 2))) as server:
            async with chat_of(server, model_temperature=0.5, max_answer_tokens=99) as chat:
                message = await gathered(chat)
            (asked,) = server.requests
        assert message.text == "Hello."
        assert message.usage_metadata is not None
        assert (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]) == (21, 2)
        assert asked.path == "/v1/chat/completions"
        assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.5, 99)
        assert "max_completion_tokens" not in asked.body  # only OpenAI's own server is sure to know it
        assert asked.body["stream_options"] == {"include_usage": True}

    async def test_nothing_is_sent_that_was_not_set(self) -> None:
        with ScriptedModel(Reply.text("ok")) as server:
            async with chat_of(server) as chat:
                await gathered(chat)
            assert set(server.requests[0].body) == {"messages", "model", "stream", "stream_options"}

    async def test_tool_calls_in_parallel_and_in_pieces(self) -> None:
        calls = Call("web_search", {"query": "茶"}, pieces=4), Call("web_search", {"query": "tea"}, pieces=2)
        with ScriptedModel(Reply.tools(*calls)) as server:
            async with chat_of(server) as chat:
                message = await gathered(chat.bind_tools([web_search]))
            assert server.requests[0].tools == ["web_search"]
        assert [call["args"] for call in message.tool_calls] == [{"query": "茶"}, {"query": "tea"}]
        assert len({call["id"] for call in message.tool_calls}) == 2

    async def test_what_other_vendors_say_beside_the_text_is_kept(self) -> None:
        note = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
        reply = Reply.text({"reasoning_content": "Hm. "}, "Yes.", message={"annotations": [note]})
        with ScriptedModel(reply, reply) as server:
            async with chat_of(server) as chat:
                streamed, whole = await gathered(chat), await chat.ainvoke(HELLO)
        for message in (streamed, whole):
            assert message.additional_kwargs["reasoning_content"] == "Hm. "
            assert message.additional_kwargs["annotations"] == [note]

    async def test_the_key_goes_into_the_header_and_nowhere_else(self) -> None:
        with ScriptedModel(Reply.text("ok"), key=KEY) as server:
            async with chat_of(server) as chat:
                await gathered(chat)
                assert KEY not in f"{chat!r} {chat!s} {dumps(chat)}"  # what tracing tools would see
            assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
            assert KEY not in str(server.requests[0].body)

    async def test_a_server_without_a_key(self) -> None:
        with ScriptedModel(Reply.text("ok"), key="none") as server:
            async with chat_of(server, model="ollama:qwen3", model_api_key=None) as chat:
                assert (await gathered(chat)).text == "ok"

    async def test_a_proxy_is_never_used_for_this_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        with ScriptedModel(Reply.text("ok")) as server:
            async with chat_of(server) as chat:
                assert (await gathered(chat)).text == "ok"

    def test_each_event_loop_has_its_own_connections(self) -> None:
        with ScriptedModel(otherwise=Reply.text("ok")) as server:
            settings = Settings.load(model="openai:x", model_base_url=server.base_url, model_api_key=server.key)
            model = open_model(settings)

            async def ask() -> str:
                chat = await model.chat_model()
                assert chat is await model.chat_model()
                return (await gathered(chat)).text

            assert [asyncio.run(ask()) for _ in range(3)] == ["ok"] * 3


def message_events() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return what Anthropic streams for "Hello."."""
    usage = {"input_tokens": 5, "output_tokens": 1}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage}
    return (
        ("message_start", {"type": "message_start", "message": head}),
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ),
        (
            "content_block_delta",
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
        ),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        (
            "message_delta",
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
        ),
        ("message_stop", {"type": "message_stop"}),
    )


class TestOtherShapes:
    async def test_anthropic(self) -> None:
        with ScriptedModel(Reply.events(*message_events())) as server:
            async with chat_of(server, model="anthropic:claude-sonnet-5", model_base_url=server.root) as chat:
                message = await gathered(chat)
            assert server.requests[0].path == "/v1/messages"
            assert server.key in server.requests[0].headers["authorization"]
        assert message.text == "Hello."

    def test_anthropic_in_several_event_loops(self) -> None:
        with ScriptedModel(otherwise=Reply.events(*message_events())) as server:
            model = open_model(
                Settings.load(model="anthropic:claude-x", model_base_url=server.root, model_api_key=server.key)
            )

            async def ask(*, close: bool = True) -> str:
                said = (await gathered(await model.chat_model())).text
                if close:
                    await model.aclose()
                return said

            # The second time the connection of the first loop is still open: it must not be used.
            assert [asyncio.run(ask(close=last)) for last in (False, True, True)] == ["Hello."] * 3

    @pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
    async def test_gemini(self) -> None:
        part = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}
        with ScriptedModel(Reply.events(part)) as server:
            async with chat_of(server, model="gemini:gemini-2.5-flash", model_base_url=server.root) as chat:
                assert (await gathered(chat)).text == "Hello."
            assert server.requests[0].path.endswith("models/gemini-2.5-flash:streamGenerateContent")
            assert server.requests[0].headers["x-goog-api-key"] == server.key

    @pytest.mark.parametrize("model", ["xai:grok-4", "perplexity:sonar"])
    async def test_children_of_openai(self, model: str) -> None:
        with ScriptedModel(otherwise=Reply.text("Hello.")) as server:
            async with chat_of(server, model=model) as chat:
                assert (await gathered(chat)).text == "Hello."
            assert server.requests[0].headers["authorization"] == f"Bearer {server.key}"


class TestOnesOwn:
    async def test_any_langchain_model(self) -> None:
        info = ModelInfo("mine", "Mine", "remote")
        model = model_from(FakeListChatModel(responses=["hi"]), info)
        assert model.info is info
        answer = await (await model.chat_model()).ainvoke("hello")
        assert isinstance(answer, AIMessage)
        assert answer.text == "hi"
        await model.aclose()


class TestCost:
    def test_opening_imports_no_package_of_a_provider(self) -> None:
        code = (
            "import sys\n"
            "from qiusuo.config import Settings\nfrom qiusuo.chat.models.opening import open_model\n"
            "open_model(Settings.load(model='openai:gpt-5.5', model_api_key='k'))\n"
            "assert not {'langchain_openai', 'openai', 'langchain_anthropic', 'xllamacpp', 'langchain.chat_models'} "
            "& set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=100)  # noqa: S603

    def test_the_doctor_and_the_settings_load_no_langchain(self) -> None:
        code = (
            "import sys\nimport qiusuo.doctor.model, qiusuo.config\n"
            "assert not {'langchain', 'langchain_core', 'openai'} & set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=100)  # noqa: S603
