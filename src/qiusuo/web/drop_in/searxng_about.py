"""``/config`` and ``/autocompleter`` as SearXNG answers them: programs look there for what a server can do."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from qiusuo import __version__
from qiusuo.engines.base import Feature
from qiusuo.models import SearchType
from qiusuo.web.backend import Backend
from qiusuo.web.route import json_answer

_SUGGESTIONS: Final = "application/x-suggestions+json"


async def configuration(backend: Backend) -> dict[str, Any]:
    """Return the engines that take part, in SearXNG's shape."""
    names = dict.fromkeys(await backend.service.available())
    names |= dict.fromkeys(await backend.service.available(SearchType.NEWS))
    return {
        "autocomplete": "",
        "brand": {},
        "categories": ["general", "news"],
        "default_doi_resolver": "",
        "default_locale": "",
        "default_theme": "simple",
        "doi_resolvers": [],
        "engines": [_engine(backend, name) for name in names],
        "instance_name": "Qiusuo",
        "limiter": {"botdetection.ip_limit.link_token": False, "enabled": bool(backend.settings.rate_limit)},
        "locales": {"en": "English", "zh-Hans-CN": "中文, 中国 (Chinese, China)"},
        "plugins": [],
        "public_instance": False,
        "safe_search": 0,
        "version": __version__,
    }


def suggestions(request: Request, query: str) -> Response:
    """Return that nothing is suggested: what somebody has half typed is sent to nobody."""
    if request.headers.get("x-requested-with") == "XMLHttpRequest":
        return json_answer([])
    return json_answer([query, []], headers={"Content-Type": _SUGGESTIONS})


def _engine(backend: Backend, name: str) -> dict[str, Any]:
    kind = backend.service.kind_of(name)
    features = kind.features if kind is not None else frozenset()
    return {
        "name": name,
        "categories": ["general", "news"] if Feature.NEWS in features else ["general"],
        "enabled": True,
        "language_support": Feature.LANGUAGE in features,
        "languages": [],
        "paging": True,
        "regions": [],
        "safesearch": False,
        "shortcut": name,
        "time_range_support": Feature.FRESHNESS in features,
        "timeout": backend.settings.timeout,
    }
