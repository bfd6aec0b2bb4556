"""What is replaced while it is used is closed when the last of its users is done, and not before."""

from __future__ import annotations

from qiusuo.retiring import Retiring


class Thing:
    def __init__(self) -> None:
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


class Broken(Thing):
    async def aclose(self) -> None:
        raise RuntimeError("cannot be closed")


async def test_with_nobody_at_work_it_is_closed_at_once() -> None:
    thing = Thing()
    await Retiring().retire([thing])
    assert thing.closed == 1


async def test_it_waits_for_those_who_came_before() -> None:
    retiring, first, second = Retiring(), Thing(), Thing()
    early = retiring.enter()
    await retiring.retire([first])
    middle = retiring.enter()
    await retiring.retire([second])
    late = retiring.enter()
    await retiring.leave(late)
    await retiring.leave(middle)
    assert (first.closed, second.closed) == (0, 0), "the first user may still use both"
    await retiring.leave(early)
    assert (first.closed, second.closed) == (1, 1)


async def test_who_came_later_keeps_nothing_open() -> None:
    retiring, thing = Retiring(), Thing()
    early = retiring.enter()
    await retiring.retire([thing])
    retiring.enter()
    await retiring.leave(early)
    assert thing.closed == 1


async def test_at_the_end_all_is_closed() -> None:
    retiring, thing = Retiring(), Thing()
    retiring.enter()
    await retiring.retire([Broken(), thing])
    await retiring.aclose()
    await retiring.aclose()
    assert thing.closed == 1
