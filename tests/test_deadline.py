"""Deadlines that share a timer, and requests that know of them."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from qiusuo.http.deadline import Watch, ends_within
from qiusuo.models import SearchResultItem, quick
from qiusuo.text import clean


async def expires(watch: Watch, seconds: float, work: float = 5.0) -> bool:
    try:
        with watch.within(seconds):
            await asyncio.sleep(work)
    except TimeoutError:
        return True
    return False


class TestWatch:
    async def test_what_takes_too_long_is_broken_off(self) -> None:
        assert await expires(Watch(), 0.01)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0, "the caller goes on"

    async def test_no_time_at_all(self) -> None:
        assert await expires(Watch(), 0)
        assert await expires(Watch(), -1)

    async def test_what_is_in_time_goes_on(self) -> None:
        watch = Watch()
        assert not await expires(watch, 5, work=0)
        assert watch.kept == set()

    async def test_each_ends_at_its_own_time(self) -> None:
        watch = Watch()
        started = asyncio.get_running_loop().time()

        async def one(seconds: float) -> float:
            assert await expires(watch, seconds)
            return asyncio.get_running_loop().time() - started

        # The longest first: the timer must be set forward, and again after each.
        taken = await asyncio.gather(*(one(seconds) for seconds in (0.3, 0.05, 0.15, 0.05)))
        assert all(took >= asked - 0.01 for took, asked in zip(taken, (0.3, 0.05, 0.15, 0.05), strict=True))
        assert max(taken[1], taken[3]) < taken[2] < taken[0]
        assert watch.kept == set()

    async def test_one_that_left_in_time_does_not_end_the_next(self) -> None:
        watch = Watch()
        assert not await expires(watch, 0.03, work=0)
        assert not await expires(watch, 5, work=0.08)
        assert await expires(watch, 0.01)

    async def test_many_share_a_timer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        watch = Watch()
        loop = asyncio.get_running_loop()
        timers: list[float] = []
        monkeypatch.setattr(watch, "_loop", _Counting(loop, timers))
        for _ in range(20):
            assert not await expires(watch, 5, work=0)
        assert len(timers) == 1

    async def test_cancelling_from_outside_is_no_timeout(self) -> None:
        watch = Watch()
        task = asyncio.create_task(expires(watch, 5))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert watch.kept == set()

    async def test_both_at_once_is_a_cancellation(self) -> None:
        task = asyncio.create_task(expires(Watch(), 0.02))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.05
        while loop.time() < until:  # both become due in the same turn of the loop
            pass
        loop.call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    async def test_other_errors_pass(self) -> None:
        with pytest.raises(KeyError), Watch().within(1):
            raise KeyError


class _Counting:
    def __init__(self, loop: asyncio.AbstractEventLoop, timers: list[float]) -> None:
        self.time = loop.time
        self._loop = loop
        self._timers = timers

    def call_at(self, when: float, callback: object) -> asyncio.TimerHandle:
        self._timers.append(when)
        return self._loop.call_at(when, callback)  # type: ignore[arg-type]


class TestRequestsKnow:
    async def test_who_is_broken_off_earlier(self) -> None:
        assert not ends_within(10)
        with Watch().within(5):
            assert ends_within(10)
            assert ends_within(5)
            assert not ends_within(4)
        assert not ends_within(10)

    async def test_a_task_of_its_own_is_not_broken_off(self) -> None:
        async def look() -> bool:
            return ends_within(10)

        with Watch().within(5):
            assert await look()
            assert not await asyncio.create_task(look())


class TestQuickValues:
    def test_they_are_as_frozen_as_before(self) -> None:
        item = SearchResultItem("t", "https://www.a.example/b", "s")
        with pytest.raises(FrozenInstanceError):
            item.title = "u"  # type: ignore[misc]
        assert type(item) is SearchResultItem
        assert item.source == "a.example"
        assert pickle.loads(pickle.dumps(item)) == item  # noqa: S301 - our own
        assert replace(item, title="u") == SearchResultItem("u", item.url, "s")
        assert hash(replace(item)) == hash(item)
        with pytest.raises(TypeError, match="missing 2 required"):
            SearchResultItem("t")  # type: ignore[call-arg]

    def test_subclasses(self) -> None:
        @dataclass(frozen=True, slots=True)
        class More(SearchResultItem):
            extra: int = 0

        class Plain(SearchResultItem):
            pass

        assert More("t", "https://a.example", "s", extra=3).extra == 3
        plain = Plain("t", "https://a.example", "s")
        assert (type(plain), plain.source) == (Plain, "a.example")
        with pytest.raises(FrozenInstanceError):
            plain.title = "u"  # type: ignore[misc]

    def test_default_values(self) -> None:
        @quick
        @dataclass(frozen=True, slots=True)
        class Pair:
            first: int
            second: tuple[str, ...] = ("x",)

        assert Pair(1) == Pair(1, ("x",))
        assert Pair(second=(), first=2).second == ()


class TestCleanTakesTheShortWayOnlyWhereItMay:
    @pytest.mark.parametrize("code", [*range(0x20), *range(0x7E, 0xA1), 0x200B, 0x202E, 0xFEFF])
    def test_controls(self, code: int) -> None:
        kept = clean(f"a{chr(code)}b")
        assert kept in {"ab", "a b", "a~b"}

    @pytest.mark.parametrize("text", ['say "so"', "back\\slash", "搜索 引擎", "naïve", ""])
    def test_plain_texts_stay(self, text: str) -> None:
        assert clean(text) == text
