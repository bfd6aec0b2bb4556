"""The providers of models that are known by name: addresses, keys, packages, sizes. Imports no package of theirs.

Most of them speak OpenAI's protocol and need nothing but an address and a key; the others come with a LangChain package
of their own. :func:`choose` reads the settings and says what is to be used, or what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.errors import ModelError, ModelNotConfigured
from qiusuo.words import Fact

EXTRACTIVE: Final = "extractive"
LOCAL: Final = "local"
DEFAULT_CONTEXT: Final = 8192
_GGUF: Final = b"GGUF"
# What to look at in a model's table, where the remedy of a failure names the variables of the first model.
_KEYS_TO_CHECK: Final[Mapping[str, str]] = {
    "llm.key_refused": "api_key", "llm.no_key": "api_key", "llm.needs_key": "api_key", "llm.too_long": "context",
    "llm.unknown": "model, base_url", "llm.redirect": "base_url", "llm.nonsense": "base_url",
    "llm.needs_address": "base_url", "llm.cannot_set_up": "model, api_key", "llm.file_unreadable": "model",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider of models.

    ``base_url`` empty: it must be set. ``package`` empty: OpenAI's protocol. ``keys`` are the usual variables, of which
    the first one set is taken; without ``needs_key`` they are optional. ``addresses`` are variables with another
    base URL.
    """

    name: str
    label: str
    base_url: str = ""
    keys: tuple[str, ...] = ()
    needs_key: bool = True
    package: str = ""
    addresses: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    context: int = DEFAULT_CONTEXT
    stream_options: bool = True
    example: str = "http://localhost:8000/v1"
    fixed: bool = False
    """Whether its package knows no other address; one is then spoken to in OpenAI's protocol."""


_KNOWN: Final = (
    Vendor("openai", "OpenAI", "https://api.openai.com/v1", ("OPENAI_API_KEY",), context=128_000,
           addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    Vendor("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), context=128_000,
           addresses=("DEEPSEEK_API_BASE",)),
    Vendor("qwen", "Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", ("DASHSCOPE_API_KEY", "QWEN_API_KEY"),
           addresses=("DASHSCOPE_API_BASE", "DASHSCOPE_BASE_URL"), aliases=("dashscope", "tongyi", "bailian"),
           context=128_000),
    Vendor("zhipu", "Zhipu", "https://open.bigmodel.cn/api/paas/v4", aliases=("zhipuai", "glm", "bigmodel"),
           keys=("ZHIPUAI_API_KEY", "ZHIPU_API_KEY", "ZAI_API_KEY"), context=128_000),
    Vendor("zai", "Z.ai", "https://api.z.ai/api/paas/v4", ("ZAI_API_KEY",), context=128_000),
    Vendor("moonshot", "Kimi", "https://api.moonshot.cn/v1", ("MOONSHOT_API_KEY", "KIMI_API_KEY"), aliases=("kimi",),
           addresses=("MOONSHOT_BASE_URL",), context=128_000),
    Vendor("siliconflow", "SiliconFlow", "https://api.siliconflow.cn/v1", ("SILICONFLOW_API_KEY",), context=32_000),
    Vendor("volcengine", "Doubao", "https://ark.cn-beijing.volces.com/api/v3", ("ARK_API_KEY", "VOLCENGINE_API_KEY"),
           aliases=("doubao", "ark"), context=128_000),
    Vendor("hunyuan", "Hunyuan", "https://api.hunyuan.cloud.tencent.com/v1", ("HUNYUAN_API_KEY",), context=32_000),
    Vendor("minimax", "MiniMax", "https://api.minimaxi.com/v1", ("MINIMAX_API_KEY",), context=128_000),
    Vendor("stepfun", "StepFun", "https://api.stepfun.com/v1", ("STEPFUN_API_KEY", "STEP_API_KEY"), context=32_000),
    Vendor("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), context=32_000),
    Vendor("groq", "Groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), context=32_000),
    Vendor("together", "Together", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",), context=32_000),
    Vendor("mistral", "Mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), aliases=("mistralai",),
           context=32_000, stream_options=False),
    # Ollama cuts what is longer than its own setting (OLLAMA_CONTEXT_LENGTH, 4096) without a word.
    Vendor("ollama", "Ollama", "http://localhost:11434/v1", ("OLLAMA_API_KEY",), needs_key=False, context=4096,
           addresses=("OLLAMA_HOST",)),
    Vendor("lmstudio", "LM Studio", keys=("LMSTUDIO_API_KEY",), needs_key=False, aliases=("lm_studio",),
           example="http://localhost:1234/v1"),
    Vendor("vllm", "vLLM", keys=("VLLM_API_KEY",), needs_key=False),
    Vendor("llamacpp", "llama.cpp", keys=("LLAMACPP_API_KEY",), needs_key=False, aliases=("llama.cpp", "llama_cpp"),
           example="http://localhost:8080/v1"),
    Vendor("compatible", "OpenAI-compatible", keys=("OPENAI_API_KEY",), needs_key=False,
           aliases=("openai_compatible", "custom")),
    Vendor("anthropic", "Anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), aliases=("claude",),
           package="langchain-anthropic", addresses=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"), context=200_000),
    Vendor("google_genai", "Gemini", "https://generativelanguage.googleapis.com", ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
           aliases=("google", "gemini"), package="langchain-google-genai", context=1_000_000),
    Vendor("xai", "xAI", "https://api.x.ai/v1", ("XAI_API_KEY",), aliases=("grok",), package="langchain-xai",
           context=128_000),
    Vendor("perplexity", "Perplexity", "https://api.perplexity.ai", ("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
           package="langchain-perplexity", context=128_000, fixed=True),
)  # fmt: skip
VENDORS: Final[Mapping[str, Vendor]] = {name: vendor for vendor in _KNOWN for name in (vendor.name, *vendor.aliases)}
# Known to LangChain alone, which reads their keys and addresses itself.
PACKAGES: Final[Mapping[str, str]] = {
    "azure_openai": "langchain-openai", "azure_ai": "langchain-azure-ai", "bedrock": "langchain-aws",
    "bedrock_converse": "langchain-aws", "cohere": "langchain-cohere", "fireworks": "langchain-fireworks",
    "google_vertexai": "langchain-google-vertexai", "huggingface": "langchain-huggingface", "ibm": "langchain-ibm",
    "nvidia": "langchain-nvidia-ai-endpoints", "upstage": "langchain-upstage",
}  # fmt: skip
# A name without a provider: whose it is by its beginning.
_BEGINNINGS: Final = (
    ("gpt-", "openai"), ("chatgpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("o4", "openai"),
    ("claude", "anthropic"), ("gemini", "google_genai"), ("deepseek", "deepseek"), ("qwen", "qwen"), ("glm-", "zhipu"),
    ("kimi", "moonshot"), ("moonshot", "moonshot"), ("grok", "xai"), ("sonar", "perplexity"), ("doubao", "volcengine"),
)  # fmt: skip
# Where a model differs from what its provider's models mostly take.
_CONTEXTS: Final = (
    ("gpt-5", 272_000), ("gpt-4.1", 1_000_000), ("gpt-3.5", 16_000), ("moonshot-v1-8k", 8192),
    ("moonshot-v1-32k", 32_000), ("kimi-k2", 256_000), ("qwen-max", 32_000), ("grok-4", 256_000),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the settings choose. ``name`` is the model's own, ``full`` as it is written in ``QIUSUO_MODEL``."""

    kind: str
    full: str
    name: str = ""
    provider: str = ""
    vendor: Vendor | None = None
    base_url: str = ""
    key: str = field(default="", repr=False)
    path: Path | None = None
    context: int = DEFAULT_CONTEXT

    @property
    def label(self) -> str:
        """How the model is called on the page."""
        if self.path is not None:
            return self.path.stem
        return f"{self.vendor.label} · {self.name}" if self.vendor else self.full

    @property
    def package(self) -> str:
        """The distribution that speaks to the provider."""
        return (self.vendor.package if self.vendor else PACKAGES.get(self.provider, "")) or "langchain-openai"

    @property
    def module(self) -> str:
        """The module of that distribution."""
        return self.package.replace("-", "_")


def settings_of(settings: Settings, name: str) -> Settings:
    """Return the settings as they hold for one of ``models``; it gets nothing of the first, its key least of all."""
    other = settings.models[name]
    own = {
        "model": other.model,
        "model_base_url": other.base_url,
        "model_api_key": other.api_key,
        "model_context": other.context,
        "model_temperature": other.temperature,
        "max_answer_tokens": other.max_answer_tokens,
        # A vendor that is named there is the one behind the first model's gateway.
        "model_search": settings.model_search if settings.model_search == "off" else "auto",
    }
    return settings.model_copy(update=own)


def point_to_table(error: ModelError, name: str) -> None:
    """Let the remedy of an error of one of ``models`` name its table, not the variables of the first."""
    keys = _KEYS_TO_CHECK.get(error.fact.code)
    if name and keys and error.remedy is None:
        variable = error.fact.values.get("variable")
        wanted = Fact("llm.check_table", name=name, keys=keys)
        error.remedy = Fact("llm.variable_or_table", variable=variable, name=name) if variable else wanted


def choose(settings: Settings) -> ModelChoice:
    """Return which model the settings choose; nothing is loaded or asked.

    Raises:
        ModelNotConfigured: the name cannot be read, or a key or address is missing; the fix names it.
    """
    full = settings.model
    if full is None or full.lower() == EXTRACTIVE:
        return ModelChoice(EXTRACTIVE, EXTRACTIVE, context=settings.model_context or 1_000_000)
    provider, name = _split(full, compatible=settings.model_base_url is not None)
    if provider == LOCAL:
        path = Path(name).expanduser()
        return ModelChoice(LOCAL, full, path.stem, LOCAL, path=path, context=settings.model_context or DEFAULT_CONTEXT)
    vendor = VENDORS.get(provider)
    secret = settings.model_api_key.get_secret_value() if settings.model_api_key else ""
    if vendor is None:
        context = settings.model_context or DEFAULT_CONTEXT
        return ModelChoice("remote", full, name, provider, None, settings.model_base_url or "", secret, context=context)
    if vendor.fixed and settings.model_base_url:
        vendor = replace(vendor, package="")
    known = next((size for beginning, size in _CONTEXTS if name.startswith(beginning)), vendor.context)
    return ModelChoice(
        "remote",
        f"{vendor.name}:{name}",
        name,
        vendor.name,
        vendor,
        _address(vendor, settings),
        secret or _key(vendor, settings),
        context=settings.model_context or known,
    )


def ready(choice: ModelChoice) -> ModelChoice:
    """Return the choice if what it needs is on this machine: its package, its file. Cheap, nothing is imported.

    Raises:
        ModelNotConfigured: something is missing; the fix is the command that brings it.
    """
    if find_spec("langchain") is None:
        raise _missing("langchain", "qiusuo[chat]", choice.full)
    if choice.path is not None:
        if find_spec("xllamacpp") is None:
            raise _missing("xllamacpp", "qiusuo[local]", choice.full)
        _check_file(choice.path, choice.full)
    elif choice.kind != EXTRACTIVE and find_spec(choice.module) is None:
        package = "qiusuo[chat]" if choice.package == "langchain-openai" else choice.package
        raise _missing(choice.package, package, choice.full)
    return choice


def _missing(package: str, wanted: str, model: str) -> ModelNotConfigured:
    missing = Fact("llm.package_missing", package=package, wanted=wanted)
    return ModelNotConfigured(missing, engine=model, commands=[install_command(wanted)])


def _check_file(path: Path, model: str) -> None:
    try:
        with path.open("rb") as file:
            begin = file.read(len(_GGUF))
    except OSError as error:
        unreadable = Fact("llm.file_unreadable", path=str(path), words=error.strerror or "")
        raise ModelNotConfigured(unreadable, engine=model) from None
    if begin != _GGUF:
        raise ModelNotConfigured(Fact("llm.no_gguf", path=str(path)), engine=model)


def provider_of(full: str, *, compatible: bool) -> str:
    """Return whose a model is, as the settings write it; blank where nobody knows. ``compatible``: with an address."""
    try:
        provider, _ = _split(full, compatible=compatible)
    except ModelNotConfigured:
        return ""
    return VENDORS[provider].name if provider in VENDORS else provider


def _split(full: str, *, compatible: bool) -> tuple[str, str]:
    provider, colon, name = full.partition(":")
    provider = provider.strip().lower()
    if full.lower().endswith(".gguf") and provider not in VENDORS:
        return LOCAL, name.strip() if provider == LOCAL else full
    if colon and name.strip() and (provider in VENDORS or provider in PACKAGES or provider == LOCAL):
        return provider, name.strip()
    if not colon or "/" in provider or compatible:  # a bare name, perhaps with a tag (qwen3:8b)
        if compatible:
            return "compatible", full
        found = next((owner for beginning, owner in _BEGINNINGS if full.lower().startswith(beginning)), "")
        if found and not colon:
            return found, full
    known = [*dict.fromkeys(vendor.name for vendor in VENDORS.values()), *PACKAGES, LOCAL, EXTRACTIVE]
    raise ModelNotConfigured(Fact("llm.unknown_provider", name=full, known=known), engine=full)


def _address(vendor: Vendor, settings: Settings) -> str:
    if settings.model_base_url:
        return settings.model_base_url.rstrip("/")
    given = next((value for name in vendor.addresses if (value := settings.env(name))), "")
    if given and vendor.name == "ollama":
        return _ollama(given)
    address = given or vendor.base_url
    if not address:
        missing = Fact("llm.needs_address", label=vendor.label, example=vendor.example)
        raise ModelNotConfigured(missing, engine=vendor.name)
    return address.rstrip("/")


def _ollama(host: str) -> str:
    """Read ``OLLAMA_HOST`` as Ollama does: a host, a port, or both; the wildcard is this machine."""
    parts = urlsplit(host if "://" in host else f"http://{host}")
    try:
        port = parts.port or 11434
    except ValueError:
        port = 11434
    name = parts.hostname or "localhost"
    name = "localhost" if name in {"0.0.0.0", "::"} else name  # noqa: S104 - compared, nothing is bound
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}/v1"


def _key(vendor: Vendor, settings: Settings) -> str:
    found = next((value for name in vendor.keys if (value := settings.env(name))), "")
    if found or not vendor.needs_key:
        return found
    missing = Fact("llm.needs_key", label=vendor.label, variable=vendor.keys[0])
    raise ModelNotConfigured(missing, engine=vendor.name)
