"""Whether the language model can be used: named rightly, its package and key there, its server awake, the model known.

No package of a model is imported for it, and no token is spent: the server is asked for its list of models.
"""

from __future__ import annotations

import shlex
from typing import Any, Final
from urllib.parse import urlsplit

from qiusuo.chat.models.room import asked_room, may_be_asked
from qiusuo.chat.models.vendors import EXTRACTIVE, LOCAL, ModelChoice, choose, point_to_table, ready, settings_of
from qiusuo.commands import at_hand
from qiusuo.config.server import is_loopback
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.doctor.wire import Heard, ask
from qiusuo.engines.searxng_faults import shown
from qiusuo.errors import ConfigurationError, ModelNotConfigured
from qiusuo.http import Endpoint, HttpClient

ASK_TIMEOUT: Final = 4.0
_QUICK_TIMEOUT: Final = 1.0
_OK: Final = 200
_OLLAMA: Final = "ollama"
_ANTHROPIC_VERSION: Final = "2026-10-21"  # as its package 2.8 sends it
# Where the list of models is, for those that do not speak OpenAI's protocol.
_PATHS: Final = {"anthropic": "/v1/models", "google_genai": "/v1beta/models"}


async def check_model(context: Examination) -> list[Finding]:
    """Tell which model answers, and what it and those beside it lack."""
    return [*await _check_first(context), *_check_others(context)]


def _check_others(context: Examination) -> list[Finding]:
    """Look at the settings of the other models; they are not asked."""
    found, good = list[Finding](), list[str]()
    for name, other in context.settings.models.items():
        try:
            choice = ready(choose(settings_of(context.settings, name)))
        except ModelNotConfigured as error:
            point_to_table(error, name)
            found.append(_not_set_up(f"{name} ({other.model})", error, Level.WARNING))
        else:
            good.append(f"{name} ({choice.label})")
    return [Finding("model.others", Level.OK, {"models": ", ".join(good)}), *found] if good else found


async def _check_first(context: Examination) -> list[Finding]:
    settings = context.settings
    if settings.model is None:
        return [Finding("model.none", Level.NOTE)]
    try:
        choice = ready(choose(settings))
    except ModelNotConfigured as error:
        return [_not_set_up(settings.model, error)]
    if choice.kind == EXTRACTIVE:
        return [Finding("model.none", Level.NOTE)]
    if choice.kind == LOCAL:
        return [Finding("model.ok", Level.OK, {"label": choice.label, "address": choice.path})]
    if choice.vendor is None or (
        context.quick and not _is_near(choice)
    ):  # only LangChain knows the address, or it is outside
        return [Finding("model.not_asked", Level.NOTE, {"label": choice.label})]
    found = await _examine(choice, _QUICK_TIMEOUT if context.quick else ASK_TIMEOUT)
    # In a hurry nobody asks for more than whether it works.
    guessed = found.level is Level.OK and settings.model_context is None and not context.quick
    if guessed and may_be_asked(choice) and await asked_room(choice) is None:
        return [found, Finding("model.room_assumed", Level.NOTE, {"label": choice.label, "tokens": choice.context})]
    return [found]


def _is_near(choice: ModelChoice) -> bool:
    return is_loopback(urlsplit(choice.base_url).hostname or "")


async def _examine(choice: ModelChoice, timeout: float) -> Finding:
    http = HttpClient()
    try:
        return _judged(choice, await ask_for_models(choice, http, timeout=timeout))
    except ConfigurationError as error:  # an address or a proxy that cannot be one
        return _not_set_up(choice.full, error)
    finally:
        await http.aclose()


def model_endpoint(choice: ModelChoice, http: HttpClient) -> Endpoint:
    """Return the door to a model's provider.

    Raises:
        ConfigurationError: the address cannot be one.
    """
    return Endpoint(http, choice.provider, choice.base_url, _headers(choice), (choice.key,))


async def ask_for_models(choice: ModelChoice, http: HttpClient, *, timeout: float) -> Heard:
    """Ask a provider for its list of models.

    Raises:
        ConfigurationError: the address or the proxy cannot be one.
    """
    return await ask(model_endpoint(choice, http), _PATHS.get(choice.provider, "/models"), timeout=timeout)


def _not_set_up(name: str, error: ConfigurationError, level: Level = Level.PROBLEM) -> Finding:
    return Finding("model.not_set_up", level, {"name": name, "reason": error.told}, error.commands)


def _headers(choice: ModelChoice) -> dict[str, str]:
    if not choice.key:
        return {}
    if choice.provider == "anthropic":
        return {"Authorization": f"Bearer {choice.key}", "anthropic-version": _ANTHROPIC_VERSION}
    if choice.provider == "google_genai":
        return {"x-goog-api-key": choice.key}
    return {"Authorization": f"Bearer {choice.key}"}


def _judged(choice: ModelChoice, heard: Heard) -> Finding:
    address = shown(choice.base_url)
    values: dict[str, object] = {"label": choice.label, "address": address}
    if heard.error is not None:
        values["reason"] = heard.error.fact
        return Finding("model.unreachable", Level.PROBLEM, values, start_commands(choice))
    if heard.status in {401, 403}:
        variable = choice.vendor.keys[0] if choice.vendor and choice.vendor.keys else "QIUSUO_MODEL_API_KEY"
        return Finding("model.auth", Level.PROBLEM, values | {"variable": variable})
    if heard.status in {404, 405}:  # not every provider has a list
        return Finding("model.not_asked", Level.NOTE, values)
    names = listed(heard.data)
    if heard.status != _OK or names is None:
        return Finding("model.failed", Level.WARNING, values | {"status": heard.status})
    if is_there(choice.name, names):
        return Finding("model.ok", Level.OK, values)
    if choice.provider == _OLLAMA:
        missing = values | {"name": choice.name, "known": some_of(names)}
        return Finding("model.missing", Level.PROBLEM, missing, pull_commands(choice))
    # A list may leave out what is there: a snapshot, a deployment of one's own.
    return Finding("model.missing", Level.WARNING, values | {"name": choice.name, "known": some_of(names)})


def start_commands(choice: ModelChoice) -> tuple[str, ...]:
    """Return the command that starts a model's server, where it is one of this machine."""
    return at_hand("ollama serve") if choice.provider == _OLLAMA and _is_near(choice) else ()


def pull_commands(choice: ModelChoice) -> tuple[str, ...]:
    """Return the command that loads a model, where its server is one of this machine."""
    if choice.provider != _OLLAMA or not _is_near(choice):
        return ()
    return at_hand(f"ollama pull {shlex.quote(choice.name)}")


def listed(data: Any) -> list[str] | None:
    """Return the names in a list of models, None where it is none."""
    entries = data.get("data", data.get("models")) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return [] if isinstance(data, dict) and "data" in data else None  # Ollama without a model says null
    names = [entry.get("id") or entry.get("name") for entry in entries if isinstance(entry, dict)]
    return [str(name).removeprefix("models/") for name in names if name]


def is_there(name: str, names: list[str]) -> bool:
    """Tell whether a model is in a list."""
    # "latest" is what Ollama and Anthropic take where a name has no tag of its own.
    return any(known in {name, f"{name}:latest", f"{name}-latest"} or f"{known}-latest" == name for known in names)


def some_of(names: list[str]) -> str:
    """Return the first names of a list, for a line."""
    shown_names = ", ".join(sorted(names)[:8]) or "-"
    return f"{shown_names} …" if len(names) > 8 else shown_names  # noqa: PLR2004 - a line has no room for more
