"""The engines of plug-ins, each looked at once: what others rely on must be so, or the engine is left out."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from reprlib import repr as shortened
from typing import Any, Final

from qiusuo import plugins
from qiusuo.engines.base import Feature, Joins, SearchEngine, Storing
from qiusuo.engines.price import Price
from qiusuo.models import SearchType
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

Fits = Callable[[Any], bool]


def add_plugged_in(own: Mapping[str, type[SearchEngine]]) -> tuple[dict[str, type[SearchEngine]], tuple[Fact, ...]]:
    """Return our engines and those of plug-ins by name, and why others are left out, which is logged once.

    A name that is taken stays with ours, between plug-ins with the first.
    """
    found, faults = dict(own), list[Fact]()
    owners: dict[str, str] = {}
    for plugin, engine in plugins.engines():
        fault = _fault(plugin.name, engine)
        if fault is None and found.get(engine.name, engine) is not engine:
            fault = Fact(
                "plugin.engine_taken",
                name=plugin.name,
                package=plugins.package_of(plugin.name) or _where(engine),
                engine=engine.name,
                part=_where(engine),
                owner=owners.get(engine.name, "qiusuo"),
            )
        if fault is None:
            found[engine.name] = engine
            owners.setdefault(engine.name, plugin.name)
        else:
            faults.append(fault)
            _log_once(fault.text())
    return found, tuple(faults)


@cache
def _fault(plugin: str, found: Any) -> Fact | None:
    """Return what keeps an engine from being used; it is looked at once, though asked with every list of engines."""
    if not (inspect.isclass(found) and issubclass(found, SearchEngine)):
        return Fact("plugin.failed", name=plugin, part=_where(found), message=Fact("plugin.no_engine"))
    wrong = next(_wrong_attributes(found), None)
    if wrong is not None:
        attribute, wanted = wrong
        value = shortened(getattr(found, attribute, None))
        values = {"name": plugin, "engine": _where(found), "attribute": attribute, "wanted": wanted, "value": value}
        return Fact("plugin.engine_attribute", **values)
    if inspect.isabstract(found):
        lacking = Fact("plugin.abstract_engine", methods=sorted(found.__abstractmethods__))
        return Fact("plugin.failed", name=plugin, part=_where(found), message=lacking)
    return None


def _wrong_attributes(engine: type[SearchEngine]) -> Iterator[tuple[str, str]]:
    for name, (wanted, fits) in _WANTED.items():
        if hasattr(engine, name) and not fits(getattr(engine, name)):
            yield name, wanted


def _where(engine: Any) -> str:
    module, name = getattr(engine, "__module__", ""), getattr(engine, "__qualname__", "")
    return f"{module}:{name}" if module and name else shortened(engine)


@cache
def _log_once(words: str) -> None:
    logger.error("%s: it is left out", words)


def _is(*kinds: type) -> Fits:
    return lambda value: isinstance(value, kinds)


def _number(*, least: float | None = None, whole: bool = False, none: bool = False) -> Fits:
    def fits(value: Any) -> bool:
        if value is None:
            return none
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            return False
        return value == value and (least is None or value >= least)  # noqa: PLR0124 - NaN has no place in an order

    return fits


def _several(kind: type, collection: type[Any] = Collection, *, none: bool = False) -> Fits:
    def fits(value: Any) -> bool:
        if value is None:
            return none
        # A text is a collection of letters: what is meant with it is one name.
        return (
            isinstance(value, collection)
            and not isinstance(value, str)
            and all(isinstance(each, kind) for each in value)
        )

    return fits


_FLAG: Final = ("bool", _is(bool))
_TEXT: Final = ("str", _is(str))
_NAMES: Final = ("tuple[str, ...]", _several(str, Sequence))
_MOST: Final = ("int ≥ 1 | None", _number(least=1, whole=True, none=True))
# What the rest of the program takes for granted, with the type as authors of engines write it.
_WANTED: Final[Mapping[str, tuple[str, Fits]]] = {
    "name": ("str", lambda value: isinstance(value, str) and bool(value.strip())),
    "label": _TEXT,
    "title": ("Fact | None", _is(Fact, type(None))),
    "docs_url": _TEXT,
    "key_env": _NAMES,
    "url_env": _NAMES,
    "features": ("frozenset[Feature]", _several(Feature)),
    "max_results": ("int ≥ 1", _number(least=1, whole=True)),
    "max_query_chars": _MOST,
    "max_query_words": _MOST,
    "costs_money": _FLAG,
    "price_per_search": ("Price | None", _is(Price, type(None))),
    "local": _FLAG,
    "priority": ("int", _number()),
    "storing": ("Storing", _is(Storing)),
    "requests_per_second": (
        "float > 0 | None",
        lambda value: _number(none=True)(value) and (value is None or value > 0),
    ),
    "joins": ("Joins", _is(Joins, property)),  # an instance may say it
    "search_types": ("frozenset[SearchType] | None", _several(SearchType, none=True)),
    "quoted_whole": _FLAG,
    "answers_first": _FLAG,
    "explains": _TEXT,
    "own_settings": ("dict[str, str]", lambda value: isinstance(value, Mapping) and _several(str)(value)),
    "base_url": _TEXT,
    "error_words": _NAMES,
}
