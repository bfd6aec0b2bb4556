"""From the settings to a model: remote, a local file, or the built-in one that quotes the results.

``open_model`` is cheap: it reads the settings and no more. Packages are imported, clients made and weights loaded when
``chat_model()`` is first awaited, outside the event loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from qiusuo.chat.models.clients.late import Built, close_all
from qiusuo.chat.models.model_errors import translated
from qiusuo.chat.models.native import CAPABILITIES
from qiusuo.chat.models.port import Model, ModelInfo
from qiusuo.chat.models.room import AskedRoom, may_be_asked
from qiusuo.chat.models.vendors import EXTRACTIVE, LOCAL, ModelChoice, choose, ready
from qiusuo.config import Settings
from qiusuo.errors import ModelNotConfigured
from qiusuo.loops import PerLoop
from qiusuo.words import Fact

# Google's package takes 0 for "as you like": one attempt is what it calls no retries.
_ONE_ATTEMPT: Final = {"google_genai": 1}


def open_model(settings: Settings) -> Model:
    """Return the model of the settings; nothing is imported, asked or loaded yet.

    Raises:
        ModelNotConfigured: ``QIUSUO_MODEL`` cannot be read, or a key, address, package or file is missing. The fix
            says what to set or install.
    """
    choice = ready(choose(settings))
    if choice.kind == EXTRACTIVE:
        return model_from(_extractive(), info_of(choice))
    if choice.kind == LOCAL:
        from qiusuo.chat.models.local.server import LocalModel  # noqa: PLC0415 - only where it is used

        return LocalModel(choice, settings, info_of(choice))
    return RemoteModel(choice, settings)


def model_from(chat: BaseChatModel, info: ModelInfo) -> Model:
    """Return a model of one's own: any LangChain chat model, with what is to be shown of it."""
    return GivenModel(chat, info)


def info_of(choice: ModelChoice) -> ModelInfo:
    """Return what is shown of a chosen model."""
    return ModelInfo(
        name=choice.full,
        label=choice.label,
        kind=choice.kind,
        provider=choice.provider,
        context_tokens=choice.context,
        native_search=_searches(choice),
    )


class GivenModel:
    """A model that is there already. Who made it closes it."""

    def __init__(self, chat: BaseChatModel, info: ModelInfo) -> None:
        self.info = info
        self._chat = chat

    async def chat_model(self) -> BaseChatModel:
        return self._chat

    async def aclose(self) -> None:
        """Do nothing."""


class RemoteModel:
    """A model behind an API. Connections belong to one event loop, so there is a client for each."""

    def __init__(self, choice: ModelChoice, settings: Settings) -> None:
        self.info = info_of(choice)
        self._choice = choice
        self._settings = settings
        self._clients: PerLoop[Built] = PerLoop(lambda: Built(self._build), Built.aclose)
        asks = settings.model_context is None and may_be_asked(choice)
        self.room = AskedRoom(choice, self._takes) if asks else None

    def __repr__(self) -> str:
        return f"RemoteModel({self.info.name!r})"

    async def chat_model(self) -> BaseChatModel:
        if self.room is not None:
            self.room.wonder()
        return await self._clients.get().chat()

    async def aclose(self) -> None:
        if self.room is not None:
            await self.room.aclose()
        await close_all(self._clients)

    def _takes(self, tokens: int) -> None:
        self.info = replace(self.info, context_tokens=tokens)

    def _build(self) -> BaseChatModel:
        try:
            if self._choice.package == "langchain-openai" and self._choice.vendor is not None:
                from qiusuo.chat.models.clients.openai_chat import compatible_chat  # noqa: PLC0415 - half a second

                return compatible_chat(self._choice, self._settings)
            return self._from_langchain()
        except Exception as error:  # noqa: BLE001 - every package checks its settings in its own way
            raise _unusable(error, self._choice) from None

    def _from_langchain(self) -> BaseChatModel:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - half a second

        choice, settings = self._choice, self._settings
        wanted: dict[str, Any] = {
            "api_key": choice.key or None,
            # Its own address is what a package knows best, and not each takes another one.
            "base_url": choice.base_url if choice.vendor is None or choice.base_url != choice.vendor.base_url else None,
            "temperature": settings.model_temperature,
            "max_tokens": settings.max_answer_tokens,
        }
        if choice.vendor is not None:
            wanted |= {"timeout": settings.model_timeout, "max_retries": _ONE_ATTEMPT.get(choice.provider, 0)}
        given = {name: value for name, value in wanted.items() if value not in {None, ""}}
        if choice.provider == "anthropic":
            from qiusuo.chat.models.clients.anthropic_chat import OwnConnections  # noqa: PLC0415 - another second

            return OwnConnections(model=choice.name, **given)
        made: BaseChatModel = init_chat_model(choice.name, model_provider=choice.provider, **given)
        return made


def _unusable(error: Exception, choice: ModelChoice) -> ModelNotConfigured:
    # The words are not quoted: a package may repeat the settings it was given, the key among them.
    known = translated(error, choice.full)
    if isinstance(known, ModelNotConfigured):
        return known
    return ModelNotConfigured(Fact("llm.cannot_set_up", fault=type(error).__name__), engine=choice.full)


def _searches(choice: ModelChoice) -> bool:
    """Tell whether the model is known to search by itself; the native search looks at the built model once more."""
    host = urlsplit(choice.base_url).hostname or ""
    # xAI's client is made of OpenAI's.
    packages = {choice.module, "langchain_openai"} if choice.provider == "xai" else {choice.module}
    return choice.kind == "remote" and any(
        line.package in packages and line.serves(host) and line.has(choice.name) for line in CAPABILITIES
    )


def _extractive() -> BaseChatModel:
    from qiusuo.chat.models.extractive import ExtractiveModel  # noqa: PLC0415 - only where it is used

    # The reader is told by a notice, which every way in shows in its own manner.
    return ExtractiveModel(note=False)
