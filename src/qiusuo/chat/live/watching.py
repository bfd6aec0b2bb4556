"""Turns of other servers as they are heard here: each is read once, however many readers it has on this server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, Protocol

from qiusuo.chat.events.turn import Event, TurnRecord
from qiusuo.chat.live.relay import Relay
from qiusuo.chat.live.running import Numbered, joined
from qiusuo.chat.live.stream import READ_ENTRIES, Entry, behind, ends
from qiusuo.errors import SearchError
from qiusuo.storage.redis import SharedStateGone

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.1
QUIET_SECONDS: Final = 2.0
QUIET_POLLS: Final = 3
"""A turn that has said nothing for some seconds is asked for news more rarely."""
LOOK_SECONDS: Final = 0.5
"""Turns that have been silent for so long are looked up in the database, all at once: their server may be gone."""
END_SECONDS: Final = 1.5
"""So long the end of a turn that is saved may take to be heard."""
MAX_HELD: Final = 2000
"""So many events of a turn are held for readers who are slower than others; the rest they read for themselves."""


class Looks(Protocol):
    """What is known of turns beside their events."""

    async def running(self, sessions: list[str]) -> dict[str, str]:
        """Return the turns that are being answered in some conversations."""

    async def end_of(self, owner: str, session: str, turn: str) -> list[Event]:
        """Return the last events of a turn that is not answered any more: how it broke off, if it did."""


class Watch:
    """What has been heard of a turn from an event on."""

    def __init__(self, owner: str, session: str, record: TurnRecord, position: int, now: float) -> None:
        self.owner = owner
        self.session = session
        self.record = record
        self.readers: set[asyncio.Event] = set()
        self.heard = self.looked = now
        self._first = position
        self._events: list[Event] = []
        self._finished = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether nobody here will hear more of it."""
        return self._finished.is_set()

    @property
    def turn(self) -> str:
        """Its id."""
        return self.record.id

    @property
    def position(self) -> int:
        """The number of the event that comes next."""
        return self._first + len(self._events)

    def holds(self, position: int) -> bool:
        """Tell whether nothing is missing here from an event on."""
        return position >= self._first

    def add(self, events: list[Event], now: float) -> None:
        """Hear what comes next."""
        self.heard = self.looked = now
        self._events += events
        surplus = len(self._events) - MAX_HELD
        if surplus > MAX_HELD:
            del self._events[:surplus]
            self._first += surplus
        if ends(events):
            self._finished.set()
        self._wake()

    def end(self) -> None:
        """Let the readers go."""
        self._finished.set()
        self._wake()

    async def news(self, position: int, fresh: asyncio.Event) -> list[Event]:
        """Wait for events from one on; none: there will be no more, or they are not held any more."""
        while position >= self.position and not self.over:
            fresh.clear()
            await fresh.wait()
        return self._events[position - self._first :] if self.holds(position) else []

    async def ended(self, seconds: float) -> None:
        """Wait for its end, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._finished.wait()

    def _wake(self) -> None:
        for reader in self.readers:
            reader.set()


class Watches:
    """All turns of other servers that somebody reads here."""

    def __init__(self, relay: Relay, looks: Looks) -> None:
        self._relay = relay
        self._looks = looks
        self._watches: dict[str, Watch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._polls = 0

    def find(self, turn: str) -> Watch | None:
        """Return what is heard of a turn, if somebody reads it here."""
        watch = self._watches.get(turn)
        return None if watch is None or watch.over else watch

    async def follow(self, owner: str, session: str, record: TurnRecord, after: int) -> AsyncGenerator[list[Numbered]]:
        """Give out the events behind number ``after`` as they come, until the turn ends or nobody knows of it."""
        position = after + 1
        with self._reading(owner, session, record, position) as (watch, fresh):
            while True:
                events = await watch.news(position, fresh)
                if not watch.holds(position):
                    events = await self._own(watch, position)
                if not events:
                    return
                yield joined(position, events)
                position += len(events)
                if ends(events):
                    return

    def close(self) -> None:
        """Send all readers away."""
        for watch in self._watches.values():
            watch.end()

    async def aclose(self) -> None:
        """Stop listening."""
        self.close()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    @contextmanager
    def _reading(
        self, owner: str, session: str, record: TurnRecord, position: int
    ) -> Iterator[tuple[Watch, asyncio.Event]]:
        watch, fresh = self.find(record.id), asyncio.Event()
        if watch is None:
            watch = Watch(owner, session, record, position, asyncio.get_running_loop().time())
            self._watches[record.id] = watch
            self._see_to("listen", self._listen)
        watch.readers.add(fresh)
        try:
            yield watch, fresh
        finally:
            watch.readers.discard(fresh)
            if not watch.readers and self._watches.get(watch.turn) is watch:
                del self._watches[watch.turn]

    async def _own(self, watch: Watch, position: int) -> list[Event]:
        """Read for one reader what is not held for all; none where it is not there any more."""
        try:
            entries = await self._relay.read(watch.turn, position)
        except SharedStateGone:
            return []
        return [] if entries and entries[0].first > position else behind(entries, position)

    def _see_to(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Let a piece of work be done beside all others, unless it is being done."""
        task = self._tasks.get(name)
        if task is None or task.done():
            self._tasks[name] = task = asyncio.create_task(_without_fail(work))
            task.add_done_callback(lambda done: self._tasks.pop(name) if self._tasks.get(name) is done else None)

    async def _listen(self) -> None:
        while self._watches:
            await _without_fail(self._poll)
            await asyncio.sleep(POLL_SECONDS)

    async def _poll(self) -> None:
        now = asyncio.get_running_loop().time()
        self._polls += 1
        rarely = self._polls % QUIET_POLLS == 0
        due = [
            each for each in self._watches.values() if not each.over and (rarely or now - each.heard < QUIET_SECONDS)
        ]
        while due:
            try:
                found = await self._relay.read_some({each.turn: each.position for each in due})
            except SharedStateGone:
                self.close()
                return
            due = [each for each in due if self._take(each, found.get(each.turn))]
        if any(now - each.looked >= LOOK_SECONDS for each in self._watches.values()):
            self._see_to("look", self._look)

    def _take(self, watch: Watch, entries: list[Entry] | None) -> bool:
        """Hear what was found of a turn; tell whether there may be more."""
        if entries is None or (entries and entries[0].first > watch.position):
            watch.end()  # nobody knows, or not of all that is between
        elif events := behind(entries, watch.position):
            watch.add(events, asyncio.get_running_loop().time())
        return not watch.over and entries is not None and len(entries) == READ_ENTRIES

    async def _look(self) -> None:
        """See whether turns that say nothing are still being answered."""
        now = asyncio.get_running_loop().time()
        silent = [each for each in self._watches.values() if not each.over and now - each.looked >= LOOK_SECONDS]
        for each in silent:
            each.looked = now
        try:
            running = await self._looks.running([each.session for each in silent])
        except SearchError:
            return  # as long as nobody can know, they are
        for each in silent:
            if running.get(each.session) != each.turn:
                self._see_to(f"part from {each.turn}", partial(self._part, each))

    async def _part(self, watch: Watch) -> None:
        """Hear the last of a turn that is not answered any more."""
        loop = asyncio.get_running_loop()
        if last := await self._looks.end_of(watch.owner, watch.session, watch.turn):
            if not watch.over:
                watch.add(last, loop.time())
        else:  # it has ended well: that is saved first, and then told
            watch.heard = loop.time()
            await watch.ended(END_SECONDS)
        watch.end()


async def _without_fail(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:  # a fault of ours costs readers a moment
        logger.exception("turns of other servers could not be heard")
