"""What belongs to one event loop, and the loop behind synchronous calls."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from qiusuo.bridge import SyncBridge
from qiusuo.loops import PerLoop


def test_loops_that_have_ended_are_forgotten() -> None:
    places = PerLoop(lambda: asyncio.Semaphore(1))

    async def use() -> None:
        async with places.get():
            await asyncio.sleep(0)

    async def crowd() -> None:
        await asyncio.gather(*(use() for _ in range(3)))

    for _ in range(5):
        asyncio.run(crowd())
    assert len(list(places.drain())) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    async def work() -> int:
        return 7

    bridge = SyncBridge()
    assert bridge.run(work()) == 7
    child = os.fork()
    if not child:
        signal.alarm(5)  # the fault was to wait for ever
        os._exit(bridge.run(work()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    bridge.close()
