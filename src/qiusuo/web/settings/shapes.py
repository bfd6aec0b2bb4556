"""What ``GET /api/settings`` tells: every setting with where it comes from. Of a secret only whether it is set."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from qiusuo.chat.models.vendors import VENDORS, Vendor
from qiusuo.config import Settings
from qiusuo.config.model import without_login
from qiusuo.config.writing import ConfigFile
from qiusuo.engines.base import HttpEngine, SearchEngine
from qiusuo.errors import ConfigurationError
from qiusuo.models import SearchType
from qiusuo.roster import address_of
from qiusuo.service import EngineStatus, SearchService
from qiusuo.web.backend import Backend
from qiusuo.web.settings.names import NEEDS_RESTART, holds_secret, plain_fields
from qiusuo.web.settings.origins import Origins
from qiusuo.web.settings.versions import version_of
from qiusuo.words import Language

FIRST: Final = ""
"""The name of the first model, which has none."""
_NO_LIST: Final = frozenset({"perplexity"})


async def settings_shape(backend: Backend, language: Language) -> dict[str, Any]:
    """Return all settings."""
    settings = backend.settings
    values, told, unreadable = await asyncio.to_thread(_file_shape, backend.live.file)
    problem = unreadable or backend.live.problem
    origins = Origins(settings, values)
    return {
        **told,
        "writable": told["writable"] and problem is None,
        "problem": _problem(problem, language) if problem else None,
        "fields": {name: _field(name, field, settings, origins) for name, field in plain_fields().items()},
        "models": _models(settings, origins),
        "second_model": settings.second_model,
        "engines": await _engines(backend.service, settings, origins, language),
        "order": {"value": _plain(settings.provider_priority), "source": origins.source(("provider_priority",))},
        "providers": [_provider(vendor) for vendor in {each.name: each for each in VENDORS.values()}.values()],
    }


def _file_shape(file: ConfigFile) -> tuple[dict[str, Any], dict[str, Any], ConfigurationError | None]:
    """Return what the file holds, what is told of it, and why it cannot be read."""
    values: dict[str, Any] = {}
    problem: ConfigurationError | None = None
    try:
        values = file.read()
    except ConfigurationError as error:
        problem = error
    version = version_of(values, file.salt)
    told = {"file": str(file.path) if file.exists else None, "version": version, "writable": file.writable}
    return values, told, problem


def _problem(problem: ConfigurationError, language: Language) -> dict[str, Any]:
    words = problem.wording(language)
    return {**problem.fact.to_dict(), "message": words.what, "fix": words.fix}


def _field(name: str, field: FieldInfo, settings: Settings, origins: Origins) -> dict[str, Any]:
    secret = holds_secret(field.annotation)
    value = getattr(settings, name)
    source = origins.source((name,))
    return {
        "value": None if secret else _plain(value),
        "source": source,
        "variable": origins.variable((name,)),
        "secret": secret,
        "set": bool(value) if secret else source != "default",
        "restart": name in NEEDS_RESTART,
        "default": None if secret else _plain(field.get_default(call_default_factory=True)),
        "description": field.description or "",
    }


def _models(settings: Settings, origins: Origins) -> list[dict[str, Any]]:
    first = {
        "name": FIRST,
        "model": settings.model,
        "base_url": without_login(settings.model_base_url),
        "context": settings.model_context,
        "key": _model_key(settings, origins, settings.model, settings.model_api_key, ("model_api_key",)),
    }
    others = [
        {
            "name": name,
            "model": other.model,
            "base_url": without_login(other.base_url),
            "context": other.context,
            "key": _model_key(settings, origins, other.model, other.api_key, ("models", name, "api_key")),
        }
        for name, other in settings.models.items()
    ]
    return [first, *others]


def _model_key(
    settings: Settings, origins: Origins, model: str | None, key: SecretStr | None, keys: tuple[str, ...]
) -> dict[str, Any]:
    if key is not None and key.get_secret_value():
        return {"set": True, "source": origins.source(keys), "variable": origins.variable(keys)}
    vendor = VENDORS.get((model or "").partition(":")[0].strip().lower())
    for variable in vendor.keys if vendor else ():
        if settings.env(variable):
            return {"set": True, "source": "environment", "variable": variable}
    usual = vendor.keys[0] if vendor and vendor.keys else origins.variable(keys)
    return {"set": False, "source": None, "variable": usual}


async def _engines(
    service: SearchService, settings: Settings, origins: Origins, language: Language
) -> list[dict[str, Any]]:
    taking_part = {name for kind in SearchType for name in await service.available(kind)}
    shapes = []
    for status in await service.status():
        kind = service.kind_of(status.name)
        if kind is not None:
            shapes.append(
                _engine(status, kind, settings, origins, language) | {"takes_part": status.name in taking_part}
            )
    return shapes


def _engine(
    status: EngineStatus, kind: type[SearchEngine], settings: Settings, origins: Origins, language: Language
) -> dict[str, Any]:
    words, stored = status.wording(language), settings.engine(status.name)
    key = None
    if kind.key_env:
        there, source, variable = origins.engine_key(kind)
        key = {"set": there, "source": source, "variable": variable}
    return {
        "name": status.name,
        "label": status.called(language),
        "state": status.state,
        "reason": words.what,
        "fix": words.fix,
        "commands": list(status.commands),
        "key": key,
        "key_wanted": bool(kind.key_env),
        "address": _engine_address(kind, settings, origins),
        "monthly_quota": stored.monthly_quota,
        "quota_used": status.quota_used,
        "requests_per_second": stored.requests_per_second or kind.requests_per_second,
        "price": None,
        "price_default": None,
        "currency": None,
        "costs_money": status.costs_money,
        "docs_url": status.docs_url,
    }


def _engine_address(kind: type[SearchEngine], settings: Settings, origins: Origins) -> dict[str, Any] | None:
    if not issubclass(kind, HttpEngine):
        return None
    source, variable = origins.engine_address(kind)
    return {"value": without_login(address_of(settings, kind) or kind.base_url), "source": source, "variable": variable}


def _provider(vendor: Vendor) -> dict[str, Any]:
    return {
        "name": vendor.name,
        "label": vendor.label,
        "key_variable": vendor.keys[0] if vendor.keys else None,
        "base_url": vendor.base_url or None,
        "lists_models": vendor.name not in _NO_LIST,
        "local": not vendor.needs_key,
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, without a login in an address."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return without_login(value)
