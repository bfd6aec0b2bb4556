"""The engines and how they are found: every module of this folder, and those that plug-ins bring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache

from qiusuo.engines.base import SearchEngine
from qiusuo.engines.plugged_in import add_plugged_in
from qiusuo.errors import DuplicateEngine
from qiusuo.words import Fact

__all__ = ["SearchEngine", "discover_engines", "left_out"]


def discover_engines() -> dict[str, type[SearchEngine]]:
    """Return every engine class by its name, in the default order of priority.

    Raises:
        DuplicateEngine: two classes of this folder claim one name; of plug-ins the second is left out.
    """
    found, _ = add_plugged_in(_own_engines())
    return dict(sorted(found.items(), key=lambda pair: (pair[1].priority, pair[0])))


def left_out() -> tuple[Fact, ...]:
    """Return which engines of plug-ins are left out, and why."""
    return add_plugged_in(_own_engines())[1]


@cache
def _own_engines() -> Mapping[str, type[SearchEngine]]:
    """Return the engines of this folder, which stay the same while the program runs."""
    found: dict[str, type[SearchEngine]] = {}
    modules = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]
    for engine in (engine for name in modules for engine in _engines_in(f"{__name__}.{name}")):
        if (other := found.setdefault(engine.name, engine)) is not engine:
            claimed = Fact("engine.duplicate", name=engine.name, one=other.__module__, other=engine.__module__)
            raise DuplicateEngine(claimed, engine=engine.name)
    return found


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
