"""Which models have a search of their own, read off who serves them and what they are called.

The address decides: a server that merely speaks as OpenAI does is not assumed to search as OpenAI does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from qiusuo.chat.models.native.anthropic import AnthropicSearch
from qiusuo.chat.models.native.gemini import GeminiSearch
from qiusuo.chat.models.native.kimi import KimiSearch
from qiusuo.chat.models.native.perplexity import PerplexitySearch
from qiusuo.chat.models.native.responses import ResponsesSearch
from qiusuo.chat.models.native.zhipu import ZhipuSearch
from qiusuo.chat.models.port import ModelInfo, NativeSearch

_OPENAI: Final = "langchain_openai"
_ANTHROPIC: Final = "langchain_anthropic"


@dataclass(frozen=True, slots=True)
class Capability:
    """One line of the table: whose models (``hosts``, ``models``), through which LangChain package, search how."""

    vendor: str
    label: str
    package: str
    hosts: tuple[str, ...]
    models: str
    search: NativeSearch
    without: str = ""

    def has(self, name: str) -> bool:
        """Tell whether the model of this name can search, as far as its name tells."""
        name = name.lower().removeprefix("models/")
        return bool(re.match(self.models, name)) and not (self.without and re.search(self.without, name))

    def serves(self, host: str) -> bool:
        """Tell whether the vendor answers at this host."""
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


_DASHSCOPE: Final = ("dashscope.aliyuncs.com", "dashscope-*.aliyuncs.com", "*.maas.aliyuncs.com")
_DEEPSEEK: Final = ("api.deepseek.com",)

CAPABILITIES: Final = (
    Capability(
        "openai",
        "OpenAI",
        _OPENAI,
        ("api.openai.com", "*.api.openai.com", "*.openai.azure.com"),
        r"gpt-4o|gpt-4\.1|o3|o4-mini|gpt-([5-9]|\d\d)",
        ResponsesSearch("openai", "OpenAI", located=True, include=True),
        # Search models of chat completions are without citations in LangChain.
        without=r"gpt-4\.1-nano|o3-mini|audio|realtime|transcribe|tts|image|search",
    ),
    Capability("xai", "xAI", _OPENAI, ("api.x.ai", "*.api.x.ai"), r"grok-([4-9]|\d\d)", ResponsesSearch("xai", "xAI")),
    Capability(
        "anthropic",
        "Anthropic",
        _ANTHROPIC,
        ("api.anthropic.com",),
        r"claude-(3-[57]|opus|sonnet|haiku|[a-z]+-\d|[4-9])",
        AnthropicSearch("anthropic", "Anthropic"),
        without=r"claude-instant",
    ),
    Capability(
        "gemini",
        "Google Gemini",
        "langchain_google_genai",
        ("generativelanguage.googleapis.com", "aiplatform.googleapis.com", "*-aiplatform.googleapis.com"),
        r"gemini-([2-9]|\d\d|flash|pro)",
        GeminiSearch("gemini", "Google Gemini"),
        without=r"2\.0-flash-lite|embedding|image|tts|live|audio|computer-use",
    ),
    Capability(
        "perplexity",
        "Perplexity",
        "langchain_perplexity",
        ("api.perplexity.ai",),
        r".",
        PerplexitySearch("perplexity", "Perplexity"),
    ),
    Capability(
        "qwen", "Qwen", _OPENAI, _DASHSCOPE, r"qwen3", ResponsesSearch("qwen", "Qwen"), without=r"vl|omni|asr|tts"
    ),
    Capability(
        "doubao",
        "Doubao",
        _OPENAI,
        ("ark.*.volces.com", "ark.*.bytepluses.com"),
        r"doubao|seed|ep-",
        ResponsesSearch("doubao", "Doubao"),
        without=r"seedream|seedance|embedding|vision",
    ),
    Capability("deepseek", "DeepSeek", _OPENAI, _DEEPSEEK, r"deepseek", ResponsesSearch("deepseek", "DeepSeek")),
    Capability("deepseek", "DeepSeek", _ANTHROPIC, _DEEPSEEK, r"deepseek", AnthropicSearch("deepseek", "DeepSeek")),
    Capability(
        "minimax",
        "MiniMax",
        _ANTHROPIC,
        ("api.minimax.io", "api.minimaxi.com"),
        r"minimax-m",
        AnthropicSearch("minimax", "MiniMax"),
    ),
    Capability(
        "zhipu",
        "Zhipu GLM",
        _OPENAI,
        ("open.bigmodel.cn", "api.z.ai"),
        r"glm-",
        ZhipuSearch("zhipu", "Zhipu GLM"),
        without=r"glm-[\d.]+v|voice|realtime|image|ocr",
    ),
    Capability(
        "kimi",
        "Kimi",
        _OPENAI,
        ("api.moonshot.cn", "api.moonshot.ai"),
        # Later models search through another interface, and while they think they do not take this one.
        r"kimi-k2-(\d{4}-)?(turbo-)?preview|kimi-latest|moonshot-v1",
        KimiSearch("kimi", "Kimi"),
        without=r"thinking|vision",
    ),
)
"""Every model that is known to search by itself. The first line that fits is taken."""


def native_search_for(info: ModelInfo, model: BaseChatModel, *, vendor: str | None = None) -> NativeSearch | None:
    """Return the model's own search, None if it is not known to have one.

    Args:
        info: what is known of the model.
        model: the LangChain model, which tells its class, name and address.
        vendor: who answers at the model's address, for a gateway that passes requests on to one of the vendors.
            Unset, the address must be a vendor's own.
    """
    if info.kind != "remote":
        return None
    name, host = model_name(model) or info.name.partition(":")[2] or info.name, host_of(model)
    packages = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for line in CAPABILITIES:
        here = line.vendor == vendor if vendor else line.serves(host)
        if here and line.package in packages and line.has(name):
            return line.search
    return None


def model_name(model: BaseChatModel) -> str:
    """Return the name under which the provider knows the model."""
    return next((name for key in ("model_name", "model") if isinstance(name := getattr(model, key, None), str)), "")


def host_of(model: BaseChatModel) -> str:
    """Return the host to which the model's requests go; empty if it does not tell."""
    for address in _addresses(model):
        host = urlsplit(address if "//" in address else f"//{address}").hostname
        if host:
            return host.lower()
    return ""


def _addresses(model: BaseChatModel) -> Iterator[str]:
    # The connection knows best: settings may be unset, with the address in the environment.
    for key in ("root_async_client", "_async_client", "async_client"):
        yield from _address_of(getattr(model, key, None))
    for key in ("anthropic_api_url", "base_url"):
        if isinstance(address := getattr(model, key, None), str):
            yield address


def _address_of(client: Any) -> Iterator[str]:
    if client is None:
        return
    if address := getattr(client, "base_url", None):
        yield str(address)
    # Google's client keeps it inside.
    options = getattr(getattr(client, "_api_client", None), "_http_options", None)
    if address := getattr(options, "base_url", None):
        yield str(address)
