"""Tries of keys and addresses before they are saved: the cheapest question, once. Nothing of it is kept or logged."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from qiusuo.chat.models.vendors import EXTRACTIVE, LOCAL, ModelChoice, choose, provider_of, ready
from qiusuo.config import Settings
from qiusuo.doctor.model import (
    ask_for_models,
    is_there,
    listed,
    model_endpoint,
    pull_commands,
    some_of,
    start_commands,
)
from qiusuo.doctor.wire import Heard
from qiusuo.engines import discover_engines
from qiusuo.engines.base import EngineOptions, SearchEngine
from qiusuo.engines.searxng_faults import shown
from qiusuo.errors import EngineError, SearchError
from qiusuo.http import HttpClient, Reply
from qiusuo.http.addresses import kind_of
from qiusuo.http.guarded import REFUSED_KINDS, GuardedClient
from qiusuo.models import Query
from qiusuo.roster import options_of
from qiusuo.web.settings.changing import NotTried
from qiusuo.web.settings.found import can_chat
from qiusuo.web.settings.keys import Use, engine_use, model_settings, model_use, with_model
from qiusuo.web.settings.names import Wrong, read_name
from qiusuo.web.settings.outcomes import Tried, is_missing, tried_from, tried_from_status
from qiusuo.words import Fact

LIST_SECONDS: Final = 6.0
ANSWER_SECONDS: Final = 15.0
LARGEST_ANSWER: Final = 1024 * 1024
QUERY: Final = "qiusuo"
SEARXNG: Final = "searxng"
MOST_MODELS: Final = 1000
_LONGEST_NAME: Final = 200
# They show their list to anybody, so it says nothing about a key.
_OPEN_LISTS: Final = frozenset({"openrouter"})
_OK: Final = 200


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    base_url: str | None = Field(None, max_length=2000, description="Its address. Absent: the stored one.")
    api_key: SecretStr | None = Field(
        None, max_length=2000, description="The key to try. Absent: the stored one, at the stored address only."
    )


class Trial(_Given):
    """What is to be tried."""

    kind: Literal["model", "engine", "searxng"]
    name: str | None = Field(None, max_length=_LONGEST_NAME, description="The engine's name, or one of `models`.")
    model: str | None = Field(None, max_length=2000, description="The model, as in the setting `model`.")


class Listing(_Given):
    """Whose models are wanted."""

    provider: str = Field(min_length=1, max_length=_LONGEST_NAME)


async def try_out(settings: Settings, trial: Trial) -> Tried:
    """Try a model or an engine.

    Raises:
        NotTried: what was given cannot be tried; nothing was sent.
    """
    if trial.kind == "model":
        return await _try_model(_model_to_try(settings, trial))
    return await _try_engine(settings, trial)


async def list_models(settings: Settings, listing: Listing) -> Tried:
    """Ask a provider for its models.

    Raises:
        NotTried: what was given cannot be asked.
    """
    model = f"{_checked('provider', 'model', listing.provider)}:*"
    base_url = _checked("base_url", "model_base_url", listing.base_url)
    if listing.api_key is not None:
        return await _list(with_model(settings, model, base_url, _key(listing)))
    for name in ("", *settings.models):
        stored = model_settings(settings, name)
        candidate = with_model(settings, model, base_url, stored.model_api_key if stored else None)
        if _may_use(model_use(candidate), model_use(stored)):
            return await _list(candidate)
    candidate = with_model(settings, model, base_url, None)
    if not _may_use(model_use(candidate), None):
        raise NotTried({"api_key": Fact("settings.key_again", name="api_key")})
    return await _list(candidate)


def _model_to_try(settings: Settings, trial: Trial) -> Settings:
    """Return settings in which the first model is the one to be tried."""
    stored = model_settings(settings, trial.name or "")
    model = _checked("model", "model", trial.model) or (stored.model if stored else None)
    if model is None:
        raise NotTried({"model": Fact("value.missing")})
    base_url = _checked("base_url", "model_base_url", trial.base_url)
    same_place = "base_url" not in trial.model_fields_set
    # The stored address is that of its provider: a key of another one is nothing for it.
    if same_place and stored is not None and stored.model_base_url:
        before, after = (provider_of(each, compatible=True) for each in (stored.model or "", model))
        base_url = stored.model_base_url if before == after else None
    if trial.api_key is not None:
        return with_model(settings, model, base_url, _key(trial))
    candidate = with_model(settings, model, base_url, stored.model_api_key if stored else None)
    if not _may_use(model_use(candidate), model_use(stored)):
        raise NotTried({"api_key": Fact("settings.key_again", name="api_key")})
    return candidate


def _may_use(use: Use | None, before: Use | None) -> bool:
    """Tell whether a stored key goes where it went before, or where it belongs."""
    return use is None or use.own or (before is not None and (use.key, use.address) == (before.key, before.address))


def _checked(field: str, setting: str, value: str | None) -> str | None:
    """Return a text as the setting of that name takes it."""
    if value is None or not value.strip():
        return None
    try:
        text: str = read_name(setting).checked(value)
    except Wrong as problem:
        raise NotTried({field: problem.fact}) from None
    return text


def _key(given: _Given) -> SecretStr | None:
    text = _checked("api_key", "model_api_key", given.api_key.get_secret_value() if given.api_key else None)
    return SecretStr(text) if text else None


async def _list(settings: Settings) -> Tried:
    try:
        choice = choose(settings)
    except SearchError as error:
        return tried_from(error)
    return await _asked(choice, _heard_list)


async def _try_model(settings: Settings) -> Tried:
    try:
        choice = ready(choose(settings))
    except SearchError as error:
        return tried_from(error)
    if choice.kind in {EXTRACTIVE, LOCAL}:
        return Tried("accepted", Fact("trial.here", label=choice.label))
    return await _asked(choice, _judged_model)


async def _asked(choice: ModelChoice, judge: Callable[[ModelChoice, HttpClient], Any]) -> Tried:
    if choice.vendor is None:
        return Tried("failed", Fact("trial.not_tried", label=choice.label))
    inside = await leads_inside(choice.base_url)
    if inside is not None:
        return Tried("failed", inside)
    http = GuardedClient()
    try:
        async with asyncio.timeout(ANSWER_SECONDS + LIST_SECONDS):
            tried: Tried = await judge(choice, http)
            return tried
    except TimeoutError:
        return Tried("unreachable", Fact("trial.late", label=choice.label, seconds=ANSWER_SECONDS + LIST_SECONDS))
    except SearchError as error:
        return tried_from(error)
    finally:
        await http.aclose()


async def _heard_list(choice: ModelChoice, http: HttpClient) -> Tried:
    values = {"label": choice.vendor.label if choice.vendor else choice.label, "address": shown(choice.base_url)}
    heard = await ask_for_models(choice, http, timeout=LIST_SECONDS)
    told = tried_from_status(heard, **values)
    if told is not None:
        return told
    names = listed(heard.data)
    if heard.status != _OK or names is None:
        return Tried("wrong_service", Fact("trial.wrong_service", **values, status=heard.status))
    known = tuple(sorted(dict.fromkeys(name[:_LONGEST_NAME] for name in names if can_chat(name)))[:MOST_MODELS])
    return Tried("accepted", Fact(_welcome(choice), **values), names=known)


def _welcome(choice: ModelChoice) -> str:
    """Return what is said of a service that answers: without a key none was accepted."""
    return "trial.accepted" if choice.key else "trial.open"


async def _judged_model(choice: ModelChoice, http: HttpClient) -> Tried:
    values = {"label": choice.label, "address": shown(choice.base_url)}
    heard = await ask_for_models(choice, http, timeout=LIST_SECONDS)
    told = tried_from_status(heard, **values)
    if told is not None:
        silent = told.outcome == "unreachable"
        return replace(told, commands=start_commands(choice)) if silent else told
    if is_missing(heard) or choice.provider in _OPEN_LISTS:
        return await _one_token(choice, http)
    names = listed(heard.data)
    if names is None:
        return Tried("wrong_service", Fact("trial.wrong_service", **values, status=heard.status))
    if is_there(choice.name, names):
        return Tried("accepted", Fact(_welcome(choice), **values), names=tuple(names))
    near = choice.vendor is not None and not choice.vendor.needs_key
    if near or choice.package != "langchain-openai":
        return _no_such_model(choice, names)
    # A list may leave out what is there: a snapshot, a deployment of one's own.
    asked = await _one_token(choice, http)
    return asked if asked.outcome in {"accepted", "no_credit", "limited"} else _no_such_model(choice, names)


def _no_such_model(choice: ModelChoice, names: list[str]) -> Tried:
    values = {"label": choice.label, "address": shown(choice.base_url), "name": choice.name}
    missing = Fact("trial.no_such_model", **values, known=some_of([each for each in names if can_chat(each)]))
    return Tried("no_such_model", missing, commands=pull_commands(choice), names=tuple(names))


async def _one_token(choice: ModelChoice, http: HttpClient) -> Tried:
    """Have the model write one token, for those that have no list or show it to anybody."""
    values = {"label": choice.label, "address": shown(choice.base_url)}
    body = {"model": choice.name, "max_tokens": 1, "messages": [{"role": "user", "content": "1"}]}
    heard = await _post(choice, http, "/chat/completions", body)
    told = tried_from_status(heard, **values)
    if told is not None:
        return told
    answered = isinstance(heard.data, dict)
    if heard.status == _OK and answered and "choices" in heard.data:
        return Tried("accepted", Fact(_welcome(choice), **values))
    if is_missing(heard) and answered and "model" in str(heard.data.get("error", "")).lower():
        return _no_such_model(choice, [])
    return Tried("wrong_service", Fact("trial.wrong_service", **values, status=heard.status))


async def _post(choice: ModelChoice, http: HttpClient, path: str, body: dict[str, Any]) -> Heard:
    kept: list[Reply] = []

    def keep(reply: Reply, _detail: str) -> EngineError | None:
        kept.append(reply)
        return None

    endpoint = replace(model_endpoint(choice, http), classify=keep, timeout=ANSWER_SECONDS, max_bytes=LARGEST_ANSWER)
    error: SearchError | None = None
    try:
        headers = {"Content-Type": "application/json"}
        kept.append(await endpoint.request("POST", path, data=orjson.dumps(body), headers=headers))
    except SearchError as caught:
        error = caught
    return Heard(kept[0], None, 0.0) if kept else Heard(None, error, 0.0)


async def _try_engine(settings: Settings, trial: Trial) -> Tried:
    name = SEARXNG if trial.kind == SEARXNG else (trial.name or "")
    kind = discover_engines().get(name)
    if kind is None:
        raise NotTried({"name": Fact("settings.unknown_name", name=name[:60])})
    options = _options_to_try(settings, kind, trial)
    inside = await leads_inside(options.base_url) if options.base_url else None
    if inside is not None:
        return Tried("failed", inside)
    label, http = kind.title or kind.label or kind.name, GuardedClient()
    try:
        engine = kind.from_options(options, http)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await engine.search(Query(QUERY), 1)
        finally:
            await engine.aclose()
    except TimeoutError:
        return Tried("unreachable", Fact("trial.late", label=label, seconds=ANSWER_SECONDS))
    except SearchError as error:
        return tried_from(error)
    finally:
        await http.aclose()
    return Tried("accepted", Fact("trial.works", label=label))


def _options_to_try(settings: Settings, kind: type[SearchEngine], trial: Trial) -> EngineOptions:
    options, before = options_of(settings, kind), engine_use(settings, kind)
    setting = "searxng_url" if kind.name == SEARXNG else f"engines.{kind.name}.base_url"
    base_url = _checked("base_url", setting, trial.base_url)
    elsewhere = base_url is not None and (before is None or base_url.rstrip("/") != before.address)
    key = _key(trial)
    if elsewhere and before is not None and key is None and kind.key_env:
        raise NotTried({"api_key": Fact("settings.key_again", name="api_key")})
    return replace(
        options,
        api_key=key.get_secret_value() if key else options.api_key,
        base_url=base_url or options.base_url,
        # A login for the old address is not for the new one.
        extra={} if elsewhere else options.extra,
        timeout=ANSWER_SECONDS,
    )


async def leads_inside(url: str) -> Fact | None:
    """Return why nothing is sent to an address: one behind its name hands out credentials; None where it may be."""
    host = urlsplit(url).hostname or ""
    try:
        async with asyncio.timeout(LIST_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:  # a timeout too: the request itself tells that there is no such name
        return None
    kinds = {kind_of(ip_address(str(entry[4][0]).partition("%")[0])) for entry in found}
    refused = next((kind for kind in kinds if kind in REFUSED_KINDS), None)
    return Fact("trial.leads_inside", host=host, kind=refused.fact) if refused is not None else None
