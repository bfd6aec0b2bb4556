"""A turn at work: it runs whether or not somebody reads, and can be read from any of its events on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from itertools import groupby

from qiusuo.chat.chat import Turn
from qiusuo.chat.events.turn import Delta, Event, TurnRecord

logger = logging.getLogger(__name__)

Numbered = tuple[int, Event]


class RunningTurn:
    """Does the work of a turn. Its events are kept until it has ended, so that a late reader misses nothing."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.events: list[Event] = []
        self.ended = False
        self._readers: set[asyncio.Event] = set()
        self._task = asyncio.create_task(self._run())

    @property
    def record(self) -> TurnRecord:
        """What has become of the turn so far."""
        return self.turn.record

    def stop(self) -> None:
        """Stop model and search; the turn then ends with ``Done``."""
        self.turn.stop()

    def break_off(self) -> None:
        """Stop the turn because the server stops."""
        self.turn.break_off()

    def when_ended(self, callback: Callable[[], object]) -> None:
        """Call back once the turn has ended and is saved."""
        self._task.add_done_callback(lambda _task: callback())

    async def wait(self) -> None:
        """Wait until the turn has ended and is saved."""
        await asyncio.wait([self._task])

    async def aclose(self) -> None:
        """Stop the turn, and wait until its connections are closed."""
        self.stop()
        await self.wait()

    async def heed(self, event: Event) -> None:
        """Do what has to be done before readers hear of an event."""

    def tell(self, event: Event) -> None:
        """Let readers hear of an event."""
        self.events.append(event)
        self._wake()

    async def news(self, position: int, seconds: float | None = None) -> list[Event]:
        """Return the events from a position on; none at the end of the turn, or if none came for so many seconds."""
        fresh = asyncio.Event()
        self._readers.add(fresh)
        try:
            async with asyncio.timeout(seconds):
                while position >= len(self.events) and not self.ended:
                    fresh.clear()
                    await fresh.wait()
        except TimeoutError:
            pass
        finally:
            self._readers.discard(fresh)
        return self.events[position:]

    async def _run(self) -> None:
        try:
            async with aclosing(self.turn.events()) as events:
                async for event in events:
                    await self.heed(event)
                    self.tell(event)
        except Exception:  # the turn has ended with Done, so its readers are told; this is for who runs the server
            logger.exception("a turn has failed")
        finally:
            self.ended = True
            self._wake()

    def _wake(self) -> None:
        for reader in self._readers:
            reader.set()


def joined(position: int, events: list[Event]) -> list[Numbered]:
    """Return events with their numbers; adjacent pieces of text are one, which has the number of the last."""
    found: list[Numbered] = []
    for is_text, group in groupby(enumerate(events, position), lambda entry: isinstance(entry[1], Delta)):
        run = list(group)
        if is_text:
            text = "".join(event.text for _, event in run if isinstance(event, Delta))
            run = [(run[-1][0], Delta(text))]
        found += run
    return found
