"""The engines and how they are found: every module of this folder, and the entry points ``qiusuo.engines``."""

from __future__ import annotations

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Iterator
from importlib.metadata import entry_points

from qiusuo.engines.base import SearchEngine
from qiusuo.errors import DuplicateEngine
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "qiusuo.engines"

__all__ = ["ENTRY_POINT_GROUP", "SearchEngine", "discover_engines"]


def discover_engines() -> dict[str, type[SearchEngine]]:
    """Return every engine class by its name, in the default order of priority.

    Raises:
        DuplicateEngine: two classes claim one name.
    """
    found: dict[str, type[SearchEngine]] = {}
    for engine in (*_own_engines(), *_plugged_in_engines()):
        other = found.get(engine.name)
        if other is not None and other is not engine:
            claimed = Fact("engine.duplicate", name=engine.name, one=_where(other), other=_where(engine))
            raise DuplicateEngine(claimed, engine=engine.name)
        found[engine.name] = engine
    return dict(sorted(found.items(), key=lambda pair: (pair[1].priority, pair[0])))


def _own_engines() -> Iterator[type[SearchEngine]]:
    for module in pkgutil.iter_modules(__path__):
        if module.name != "base":
            yield from _engines_in(f"{__name__}.{module.name}")


def _plugged_in_engines() -> Iterator[type[SearchEngine]]:
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            loaded = entry.load()
        except Exception:  # any fault of somebody else's package must not take search away
            logger.exception("the engine plug-in %r (%s) cannot be loaded and is left out", entry.name, entry.value)
            continue
        if inspect.isclass(loaded) and issubclass(loaded, SearchEngine) and loaded.name:
            yield loaded
        else:
            logger.error(
                "the engine plug-in %r (%s) is not a named SearchEngine and is left out", entry.name, entry.value
            )


def _engines_in(module_name: str) -> Iterator[type[SearchEngine]]:
    module = importlib.import_module(module_name)
    for _, value in inspect.getmembers(module, inspect.isclass):
        if (
            issubclass(value, SearchEngine)
            and value.__module__ == module_name
            and value.name
            and not inspect.isabstract(value)
        ):
            yield value


def _where(engine: type[SearchEngine]) -> str:
    return f"{engine.__module__}.{engine.__qualname__}"
