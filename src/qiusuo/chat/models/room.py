"""How many tokens a model of one's own server takes: the server is asked beside the work, and nobody waits for it.

What counts is what the server has set up, which is often less than the model could take: vLLM and its like tell it in
the list of models, llama.cpp in ``/props``, LM Studio in its own list, Ollama for a model that is loaded, or where the
model's file sets it. Ollama cuts what is longer without a word, so the length of its training is no answer.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from qiusuo.chat.models.vendors import ModelChoice
from qiusuo.errors import EngineError, SearchError, SearchTimeout, Unavailable
from qiusuo.http import Endpoint, HttpClient

logger = logging.getLogger(__name__)

_EACH_SECONDS: Final = 2.0
_ALL_SECONDS: Final = 5.0
_AGAIN: Final = 60.0
"""Seconds until a server that did not tell is asked again: it may have been starting, or not have loaded the model."""
_AGAIN_TOLD: Final = 600.0
_LEAST: Final = 512
_MOST: Final = 100_000_000
_LENGTHS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
_NUM_CTX: Final = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


class AskedRoom:
    """Asks a model's server for its room now and then. ``told`` is called with what it says."""

    def __init__(
        self, choice: ModelChoice, told: Callable[[int], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._choice = choice
        self._told = told
        self._clock = clock
        self._next = 0.0
        self._known: int | None = None
        self._quiet = False
        self._tasks: set[asyncio.Task[None]] = set()

    def wonder(self) -> None:
        """Ask if it is time to; returns at once."""
        now = self._clock()
        if not self._tasks and now >= self._next:
            self._next = now + _AGAIN
            task = asyncio.get_running_loop().create_task(self._ask())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def answered(self) -> None:
        """Wait until what is being asked is answered."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def aclose(self) -> None:
        """Ask no more."""
        here = asyncio.get_running_loop()
        for task in set(self._tasks):
            if (loop := task.get_loop()) is here:
                task.cancel()
                await asyncio.wait([task])
            elif loop.is_running():
                loop.call_soon_threadsafe(task.cancel)

    async def _ask(self) -> None:
        found = await asked_room(self._choice)
        if found is None:
            if self._known is None and not self._quiet:
                self._quiet = True
                logger.info(
                    "the server of %s does not tell how many tokens it takes; %d are assumed, QIUSUO_MODEL_CONTEXT "
                    "sets another number",
                    self._choice.full,
                    self._choice.context,
                )
            return
        self._next = self._clock() + _AGAIN_TOLD
        if found != self._known:
            self._known = found
            logger.info("%s takes %d tokens, its server says", self._choice.full, found)
            self._told(found)


async def asked_room(choice: ModelChoice) -> int | None:
    """Return how many tokens the server says that the model takes; None where it does not tell."""
    http = HttpClient()
    try:
        async with asyncio.timeout(_ALL_SECONDS):
            server = _Server(choice, http)
            for ask in _WAYS.get(choice.provider, (_Server.listed,)):
                found = _tokens(await ask(server))
                if found is not None:
                    return found
    except (SearchError, TimeoutError) as error:
        logger.debug("the room of %s is not known: %s", choice.full, error)
    except Exception:  # a strange server must not cost an answer, nor a turn that nobody waits in
        logger.exception("the room of %s cannot be found out", choice.full)
    finally:
        await http.aclose()
    return None


class _Server:
    """The doors of a model's server: that of OpenAI's protocol, and the one to its own."""

    def __init__(self, choice: ModelChoice, http: HttpClient) -> None:
        self._name = choice.name
        headers = {"Authorization": f"Bearer {choice.key}"} if choice.key else {}
        kept: dict[str, Any] = {"headers": headers, "secrets": (choice.key,), "timeout": _EACH_SECONDS}
        self._api = Endpoint(http, choice.provider, choice.base_url, **kept)
        self._root = Endpoint(http, choice.provider, choice.base_url.removesuffix("/v1"), **kept)

    async def listed(self) -> Any:
        """What the list of models says, as vLLM, SGLang and many gateways do."""
        entry = self._mine(await _json(self._api.get("/models")), "data", "id")
        return next((entry[name] for name in _LENGTHS if entry.get(name)), None)

    async def props(self) -> Any:
        """What llama.cpp has set up."""
        # Its router would load a model that is asked for.
        settings = (await _json(self._root.get("/props", {"autoload": "false"}))).get("default_generation_settings")
        return settings.get("n_ctx") if isinstance(settings, Mapping) else None

    async def loaded(self) -> Any:
        """What LM Studio has loaded the model with."""
        return self._mine(await _json(self._root.get("/api/v0/models")), "data", "id").get("loaded_context_length")

    async def ollama(self) -> Any:
        """What Ollama has loaded the model with, else what the model's file sets."""
        running = await _json(self._root.get("/api/ps"))
        if "models" not in running:
            return None  # it is not Ollama
        if length := self._mine(running, "models", "name").get("context_length"):
            return length
        shown = await _json(self._root.post("/api/show", {"model": self._name}))
        sets = _NUM_CTX.search(str(shown.get("parameters") or ""))
        return int(sets[1]) if sets else None

    def _mine(self, data: Mapping[str, Any], entries: str, key: str) -> Mapping[str, Any]:
        """Return the model's own entry of a list."""
        listed = data.get(entries)
        named = {self._name, f"{self._name}:latest"}
        return next(
            (
                entry
                for entry in (listed if isinstance(listed, list) else ())
                if isinstance(entry, Mapping) and entry.get(key) in named
            ),
            {},
        )


_WAYS: Final[dict[str, tuple[Callable[[_Server], Awaitable[Any]], ...]]] = {
    "ollama": (_Server.ollama,),
    "lmstudio": (_Server.loaded,),
    "llamacpp": (_Server.props, _Server.listed),
    # Any server may be behind these; those that do not know a path say so at once.
    "compatible": (_Server.listed, _Server.props, _Server.loaded, _Server.ollama),
}


def may_be_asked(choice: ModelChoice) -> bool:
    """Tell whether the model is on a server of its own kind, of which nobody can know beforehand what it takes."""
    vendor = choice.vendor
    if vendor is None or vendor.package or not choice.base_url:
        return False
    return choice.provider in _WAYS or choice.base_url != vendor.base_url


async def _json(reply: Awaitable[Any]) -> Mapping[str, Any]:
    """Return what a path answers; nothing where the server does not know it.

    Raises:
        SearchError: the server cannot be reached, so other paths need not be tried.
    """
    try:
        data = await reply
    except (SearchTimeout, Unavailable):
        raise
    except EngineError:
        return {}
    return data if isinstance(data, Mapping) else {}


def _tokens(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and _LEAST <= value <= _MOST else None
