"""Several workers that accept on one socket: started, replaced when they die, renewed one by one, stopped together."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.cli.exits import Exit
from qiusuo.cli.serving.answering import reload_on_hang_up
from qiusuo.cli.serving.folder import OwnFolder
from qiusuo.cli.serving.orders import Order
from qiusuo.cli.serving.process import WorkerProcess, forget_gauges
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from qiusuo.storage.private import PrivateStore, client_is_installed, find_program
from qiusuo.web.entrance.tally import Tally

logger = logging.getLogger(__name__)

FORCED_SECONDS: Final = 3.0
"""So long a worker that is forced to stop may take."""
READY_SECONDS: Final = 120.0
"""So long a worker of a reload may take until it serves."""
STEADY_SECONDS: Final = 30.0
"""A worker that lived so long was well: the next one is started at once."""
FIRST_WAIT: Final = 0.25
LONGEST_WAIT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What the workers are to do, and how their supervisor speaks to people."""

    settings: Settings
    url: str
    access_log: bool
    read_again: Callable[[], Settings]
    """Reads the settings anew; raises ConfigurationError where they cannot be used."""
    tell_serving: Callable[[int], None]
    """Is told how many workers there are, as soon as one of them serves."""
    tell_reloaded: Callable[[], None]
    """Is told when all workers serve with new settings."""
    complain: Callable[[ConfigurationError | Iterable[str]], None]
    """Says what is wrong with the settings, in the supervisor's words or in those of a worker."""
    refuse: Callable[[ConfigurationError | Iterable[str]], None]
    """Says the same of new settings, and that the workers stay."""


class Supervisor:
    """Keeps the workers of one listening socket."""

    def __init__(self, plan: Plan, listener: socket.socket) -> None:
        self._plan = plan
        self._listener = listener
        self._settings = plan.settings
        self._own = OwnFolder()
        self._folder = self._own.path
        self._tally = Tally(self._folder)
        self._store: PrivateStore | None = None
        self._workers: list[WorkerProcess] = []
        """Those that have a place; others finish what they answer, or are about to serve."""
        self._everybody: set[WorkerProcess] = set()
        self._waits: dict[int, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._changing = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._reloading = asyncio.Event()
        self._signals: list[int] = []
        self._code: int = Exit.OK

    async def run(self) -> int:
        """Serve until told to stop; return the exit code, or the negative number of the signal that ended it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop, number)
        reload_on_hang_up(loop, self._reloading.set, lambda: self._told_to_stop(signal.SIGTERM))
        try:
            await self._open_store()
            async with self._changing:
                begun = await self._begin()
            if begun:
                self._do(self._reload_when_told())
                await self._stopping.wait()
        finally:
            await self._stop_all()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._store is not None:
                await self._store.aclose()
            self._own.remove()
        return -signal.SIGTERM if signal.SIGTERM in self._signals[:1] else self._code

    async def _open_store(self) -> None:
        """Start what the workers share, unless a Redis is set. Where there is no program for it, the doctor says so."""
        program = find_program()
        if self._store is not None or self._settings.redis_url is not None:
            return
        if program is None or not client_is_installed():
            return
        store = PrivateStore(program, self._folder, os.getpid())
        if await store.start():
            self._store = store
            self._do(store.watch())
        else:
            logger.warning("%s does not start: each worker has a cache and limits of its own", program)

    async def _begin(self) -> bool:
        """Start the workers; the first one alone, so that whatever is wrong with all of them is told once."""
        if self._stopping.is_set():
            return False
        first = await self._start(0, notices=True)
        if not await first.ready():
            code = await first.wait()
            if not self._stopping.is_set():
                self._tell_failure(first, code)
                self._code = code if code > 0 else Exit.ALL_FAILED
            return False
        self._plan.tell_serving(self._settings.worker_count)
        first.tell()
        self._workers.append(first)
        for place in range(1, self._settings.worker_count):
            if self._stopping.is_set():
                break
            self._workers.append(await self._start(place))
        return True

    async def _start(self, place: int, *, notices: bool = False) -> WorkerProcess:
        def order(listener: int, control: int) -> Order:
            return Order(
                listener=listener,
                control=control,
                arguments=dict(self._settings.arguments),
                url=self._plan.url,
                count=self._settings.worker_count,
                folder=str(self._folder),
                store=self._store.address if self._store is not None else None,
                access_log=self._plan.access_log,
                verbose=logging.getLogger().isEnabledFor(logging.INFO),
                notices=notices,
                work=place == 0,
            )

        worker = await WorkerProcess.start(self._listener, order)
        self._everybody.add(worker)
        self._do(self._watch(worker))
        if self._stopping.is_set():
            worker.stop()
        return worker

    async def _watch(self, worker: WorkerProcess) -> None:
        """Put another worker into the place of one that has died."""
        served = await worker.ready()
        if served:
            logger.info("worker %d serves", worker.pid)
        code = await worker.wait()
        self._everybody.discard(worker)
        forget_gauges(worker.pid, self._folder)
        self._tally.forget(worker.pid)
        async with self._changing:  # whoever puts it into a place has done so
            if worker not in self._workers or self._stopping.is_set():
                return
            wait = self._next_wait(self._workers.index(worker), worker)
        if served:
            logger.warning("worker %d has ended (%s): another takes its place in %.2g s", worker.pid, code, wait)
        else:
            self._tell_failure(worker, code)
            if worker.report is not None and not self._everybody:  # nobody is left, and nobody can be started
                self._code = worker.report.code
                self._stopping.set()
                return
        await asyncio.sleep(wait)
        async with self._changing:
            if worker in self._workers and not self._stopping.is_set():
                place = self._workers.index(worker)
                self._workers[place] = await self._start(place)

    def _next_wait(self, place: int, worker: WorkerProcess) -> float:
        """Return how long a place stays empty: longer each time that workers die there soon."""
        before = 0.0 if worker.seconds >= STEADY_SECONDS else self._waits.get(place, 0.0)
        self._waits[place] = min(max(before * 2, FIRST_WAIT), LONGEST_WAIT)
        return self._waits[place]

    def _tell_failure(self, worker: WorkerProcess, code: int, *, kept: bool = False) -> None:
        """Tell why a worker does not serve; ``kept``: those that do keep their settings."""
        if worker.report is not None:
            (self._plan.refuse if kept else self._plan.complain)(worker.report.refused)
        else:
            logger.error("worker %d has ended before it served (%s)", worker.pid, code)

    async def _reload_when_told(self) -> None:
        while True:
            await self._reloading.wait()
            self._reloading.clear()
            async with self._changing:
                await self._reload()

    async def _reload(self) -> None:
        """Put workers with new settings into the places of the old ones, which finish what they answer."""
        before = self._settings
        try:
            self._settings = self._plan.read_again()
        except ConfigurationError as error:
            self._plan.refuse(error)
            return
        await self._open_store()
        count = self._settings.worker_count
        for place in range(count):
            if self._stopping.is_set():
                return
            new = await self._start(place, notices=place == 0)
            if not await _ready_in_time(new):
                if place == 0:
                    self._settings = before
                if not self._stopping.is_set():
                    self._tell_failure(new, await new.wait(), kept=place == 0)
                return
            new.tell()
            if place < len(self._workers):
                self._workers[place].retire()
                self._workers[place] = new
            else:
                self._workers.append(new)
        for worker in self._workers[count:]:
            worker.retire()
        del self._workers[count:]
        self._plan.tell_reloaded()

    def _told_to_stop(self, number: int) -> None:
        """Hear a signal: the first one stops in good order, the second one at once."""
        self._signals.append(number)
        self._stop_listening()
        for worker in self._everybody:
            if len(self._signals) == 1:
                worker.stop()
            else:
                worker.force()
        if len(self._signals) > 1:
            asyncio.get_running_loop().call_later(FORCED_SECONDS, self._kill_all)

    def _stop_listening(self) -> None:
        """Leave the port to the workers: when the last of them closes it, who comes is refused and asks another server.

        Open here, it would let people in whom nobody answers any more.
        """
        self._stopping.set()
        self._listener.close()

    async def _stop_all(self) -> None:
        self._stop_listening()
        if not self._signals:
            for worker in self._everybody:
                worker.stop()
        while self._everybody:
            worker = next(iter(self._everybody))
            await worker.wait()
            self._everybody.discard(worker)

    def _kill_all(self) -> None:
        for worker in self._everybody:
            worker.kill()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _ready_in_time(worker: WorkerProcess) -> bool:
    """Wait until a worker serves; end one that takes too long, since others wait for their turn."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            return await worker.ready()
    except TimeoutError:
        worker.kill()
        return False
