"""A model in a file on this machine: llama.cpp in this process, behind its own OpenAI-shaped server on loopback."""

from __future__ import annotations

import asyncio
import atexit
import logging
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel

from qiusuo.chat.models.clients.late import Built, close_all
from qiusuo.chat.models.port import ModelInfo
from qiusuo.chat.models.vendors import ModelChoice
from qiusuo.config import Settings
from qiusuo.errors import ModelNotConfigured
from qiusuo.loops import PerLoop
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

_STOP_SECONDS: Final = 10.0
# A model that does not find an end must be stopped by somebody.
_ANSWER_TOKENS: Final = 1024


@dataclass(slots=True)
class _Running:
    """A loaded model and how many use it."""

    server: Any
    url: str
    key: str
    users: int = 0


class _Servers:
    """The models that this process has loaded, each once: weights are large, and a second copy helps nobody."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[tuple[Path, int], _Running] = {}

    def take(self, path: Path, context: int) -> _Running:
        with self._lock:
            running = self._running.get((path, context))
            if running is None:
                running = self._running[path, context] = _start(path, context)
            running.users += 1
            return running

    def give_back(self, path: Path, context: int) -> None:
        with self._lock:
            running = self._running.get((path, context))
            if running is None:
                return
            running.users -= 1
            if running.users > 0:
                return
            del self._running[path, context]
        _stop([running])

    def close(self) -> None:
        with self._lock:
            stopped = list(self._running.values())
            self._running.clear()
        _stop(stopped)


def _stop(stopped: Sequence[_Running]) -> None:
    """Stop servers: they end with their last reference, once their threads have ended.

    Rarely one of those never does; nobody waits for it longer than that.
    """
    servers = [running.server for running in stopped]
    for running in stopped:
        running.server = None
    ending = threading.Thread(target=servers.clear, name="qiusuo-model-end", daemon=True)
    ending.start()
    ending.join(_STOP_SECONDS)
    if ending.is_alive():
        logger.warning("a model in this process does not stop; it is left to itself")


# Of the process, like the memory that the weights take.
_SERVERS: Final = _Servers()
atexit.register(_SERVERS.close)


class LocalModel:
    """A GGUF file. Loading takes from half a second to some seconds, on first use."""

    def __init__(self, choice: ModelChoice, settings: Settings, info: ModelInfo) -> None:
        assert choice.path is not None  # noqa: S101 - that is what makes it local
        self.info = info
        self._choice = choice
        self._settings = settings
        self._path = choice.path.resolve()
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._clients: PerLoop[Built] = PerLoop(lambda: Built(self._build), Built.aclose)

    async def chat_model(self) -> BaseChatModel:
        return await self._clients.get().chat()

    async def aclose(self) -> None:
        await close_all(self._clients)
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            del running
            await asyncio.to_thread(_SERVERS.give_back, self._path, self._choice.context)

    def _build(self) -> BaseChatModel:
        from qiusuo.chat.models.clients.openai_chat import compatible_chat  # noqa: PLC0415 - half a second
        from qiusuo.chat.models.local.client import LocalChat  # noqa: PLC0415 - half a second

        with self._lock:
            if self._running is None:
                self._running = _SERVERS.take(self._path, self._choice.context)
            running = self._running
        choice = replace(self._choice, base_url=f"{running.url}/v1", key=running.key)
        tokens = self._settings.max_answer_tokens or _ANSWER_TOKENS
        settings = self._settings.model_copy(update={"max_answer_tokens": tokens})
        return compatible_chat(choice, settings, LocalChat)


def _start(path: Path, context: int) -> _Running:
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    key = secrets.token_urlsafe(24)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]  # other users of this machine can reach the port too
    params.n_ctx = context
    params.n_parallel = 1  # more of them would share the context; requests wait for one another
    params.use_jinja = True
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = -1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # noqa: BLE001 - llama.cpp's own, of any type
        fault = type(error).__name__
        raise ModelNotConfigured(Fact("llm.cannot_load", path=str(path), fault=fault)) from None
    return _Running(server, server.listening_address, key)
