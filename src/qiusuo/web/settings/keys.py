"""That no key goes where it did not go before: a changed address, or another provider, wants its key again.

Whoever can change an address could otherwise have every stored key sent to a place of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from qiusuo.chat.models.vendors import ModelChoice, choose
from qiusuo.config import Settings
from qiusuo.engines import discover_engines
from qiusuo.engines.base import HttpEngine, SearchEngine
from qiusuo.errors import ModelNotConfigured
from qiusuo.roster import address_of, secrets_of
from qiusuo.words import Fact


class Use(NamedTuple):
    """Which key is sent where. ``own``: to the address that its provider is known by, with the key of a variable."""

    key: str
    address: str
    own: bool = False


def model_settings(settings: Settings, name: str) -> Settings | None:
    """Return settings in which a model is the first one; None where there is no such model."""
    if not name:
        return settings
    other = settings.models.get(name)
    if other is None:
        return None
    return with_model(settings, other.model, other.base_url, other.api_key)


def with_model(settings: Settings, model: str | None, base_url: str | None, key: Any) -> Settings:
    """Return settings with another first model."""
    changed = {"model": model, "model_base_url": base_url, "model_api_key": key, "model_context": None}
    return settings.model_copy(update=changed)


def model_use(settings: Settings | None) -> Use | None:
    """Return which key the first model sends where; None where there is none to send."""
    if settings is None:
        return None
    try:
        choice = choose(settings)
    except ModelNotConfigured:
        return None
    return use_of(choice, settings)


def use_of(choice: ModelChoice, settings: Settings) -> Use | None:
    """Return which key a chosen model sends where."""
    if not choice.key:
        return None
    own = not settings.model_api_key and not settings.model_base_url
    # With the provider: a key of one is nothing for another, wherever that is.
    return Use(choice.key, f"{choice.provider} {choice.base_url.rstrip('/')}", own)


def engine_use(settings: Settings, kind: type[SearchEngine]) -> Use | None:
    """Return which key or login an engine sends where; None where it has none."""
    secrets = [key for _, key in secrets_of(settings, kind)]
    extra = settings.engine(kind.name).model_extra or {}
    secrets += [repr(extra[name]) for name in _logins(settings, kind)]
    if not secrets:
        return None
    address = address_of(settings, kind)
    usual = kind.base_url if issubclass(kind, HttpEngine) else kind.name
    in_file = settings.engine(kind.name).api_key
    return Use("\n".join(secrets), (address or usual).rstrip("/"), own=address is None and in_file is None)


def _logins(settings: Settings, kind: type[SearchEngine]) -> list[str]:
    """Return the engine's own settings that hold what only its address may see."""
    return sorted({"basic_auth", "headers"} & set(settings.engine(kind.name).model_extra or {}))


def keys_wanted(before: Settings, after: Settings, given: Collection[str]) -> Iterator[tuple[str, Fact]]:
    """Yield the keys that must be given again, each with why, for the change from one to the other."""
    for name in ("", *after.models):
        key = f"models.{name}.api_key" if name else "model_api_key"
        if key not in given and _leads_elsewhere(
            model_use(model_settings(before, name)), model_use(model_settings(after, name))
        ):
            yield key, Fact("settings.key_again", name=key)
    for kind in discover_engines().values():
        key = f"engines.{kind.name}.{next(iter(() if kind.key_env else _logins(after, kind)), 'api_key')}"
        if key not in given and _leads_elsewhere(engine_use(before, kind), engine_use(after, kind)):
            yield key, Fact("settings.key_again", name=key)


def _leads_elsewhere(before: Use | None, after: Use | None) -> bool:
    if after is None or after.own:
        return False
    return before is None or (before.key, before.address) != (after.key, after.address)
