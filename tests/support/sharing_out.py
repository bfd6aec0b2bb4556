"""How tests are shared out among processes: the tests of a file stay together, what takes long comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]  # it has no types


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
