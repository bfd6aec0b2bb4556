"""How tests are shared out among processes: the tests of a file stay together, what takes long comes first."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]  # it has no types

# Loaded while the tests are collected, and by nothing before that.
_LOADED_LATER = "langchain_core.messages"


def compile_first(config: pytest.Config) -> None:
    """After an installation let one process load all tests: else each compiles everything that they import, at once."""
    if hasattr(config, "workerinput") or (config.getoption("numprocesses", None) or 0) < 2:
        return
    found = importlib.util.find_spec(_LOADED_LATER)
    if found and found.origin and not Path(importlib.util.cache_from_source(found.origin)).exists():
        command = [sys.executable, "-m", "pytest", "--collect-only", "-qq"]
        subprocess.run(command, cwd=config.rootpath, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 - ours


def unit_of(node_id: str, group: str | None = None) -> str:
    """Name what stays in one process: a group, or else a file."""
    return group or node_id.partition("::")[0]


class FileScheduling(LoadGroupScheduling):  # type: ignore[misc]  # as above
    """As ``--dist loadgroup``, where tests without a group are handed out by file and not one by one.

    One by one, every process would make the fixtures of every file and load every provider's package.
    """

    def __init__(self, config: pytest.Config, *more: object) -> None:
        config.option.loadscopereorder = False  # the order is that of ``longest_first``
        super().__init__(config, *more)

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return unit_of(scope)


def longest_first(items: list[pytest.Item], drives_a_program: Callable[[pytest.Item], bool]) -> None:
    """Put units that drive programs before the others, many tests before few: the small ones fill up the end."""

    def unit(item: pytest.Item) -> str:
        group = item.get_closest_marker("xdist_group")
        return unit_of(item.nodeid, group and group.args[0])

    units = [unit(item) for item in items]
    sizes = Counter(units)
    with_programs = {name for name, item in zip(units, items, strict=True) if drives_a_program(item)}
    order = sorted(range(len(items)), key=lambda n: (units[n] not in with_programs, -sizes[units[n]], units[n], n))
    items[:] = [items[n] for n in order]
