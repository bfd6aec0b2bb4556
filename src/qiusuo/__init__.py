"""求索 Qiusuo: web search for LLM chat and agents.

::

    import qiusuo

    with qiusuo.SearchService.from_settings() as service:
        response = service.search("量子计算 最新进展")
        for item in response.results:
            print(item.title, item.url)

Names are loaded when first used, so that ``import qiusuo`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiusuo.engines.base import EngineResults, SearchEngine
    from qiusuo.errors import AllEnginesFailed, SearchError
    from qiusuo.models import Attempt, Freshness, Outcome, Query, SearchResponse, SearchResultItem, SearchType
    from qiusuo.service import SearchService

__version__: str

_HOME = {
    "AllEnginesFailed": "qiusuo.errors",
    "Attempt": "qiusuo.models",
    "EngineResults": "qiusuo.engines.base",
    "Freshness": "qiusuo.models",
    "Outcome": "qiusuo.models",
    "Query": "qiusuo.models",
    "SearchEngine": "qiusuo.engines.base",
    "SearchError": "qiusuo.errors",
    "SearchResponse": "qiusuo.models",
    "SearchResultItem": "qiusuo.models",
    "SearchService": "qiusuo.service",
    "SearchType": "qiusuo.models",
}

__all__ = [
    "AllEnginesFailed",
    "Attempt",
    "EngineResults",
    "Freshness",
    "Outcome",
    "Query",
    "SearchEngine",
    "SearchError",
    "SearchResponse",
    "SearchResultItem",
    "SearchService",
    "SearchType",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("importlib.metadata").version("qiusuo")
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'qiusuo' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
