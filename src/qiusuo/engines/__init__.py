"""The engines and how they are found: every module of this folder, and those that plug-ins bring."""

from __future__ import annotations

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Iterator
from functools import cache

from qiusuo import plugins
from qiusuo.engines.base import SearchEngine
from qiusuo.errors import DuplicateEngine
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

__all__ = ["SearchEngine", "discover_engines"]


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


@cache
def _own_engines() -> tuple[type[SearchEngine], ...]:
    """Return the engines of this folder, which stay the same while the program runs."""
    modules = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]
    return tuple(engine for name in modules for engine in _engines_in(f"{__name__}.{name}"))


def _plugged_in_engines() -> Iterator[type[SearchEngine]]:
    for plugin, found in plugins.engines():
        if inspect.isclass(found) and issubclass(found, SearchEngine) and found.name:
            yield found
        else:
            _tell_once(f"{found!r} of the plug-in {plugin.name!r} is not a named SearchEngine and is left out")


@cache
def _tell_once(words: str) -> None:
    logger.error("%s", words)


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
