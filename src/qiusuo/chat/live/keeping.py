"""What runs is written to the store as it grows; what could not be saved at its end is tried again until it can."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from qiusuo.chat.events.turn import Delta, Event, Retraction, Status, TurnRecord
from qiusuo.chat.sessions.session import Memory, Progress, SessionStore
from qiusuo.chat.stores.database.schema import storable
from qiusuo.errors import SearchError, SessionBusy, SessionNotFound

logger = logging.getLogger(__name__)

KEEP_SECONDS: Final = 2.0
"""How much of an answer may be lost when the process is killed."""
MAX_UNSAVED: Final = 500
MAX_UNSAVED_BYTES: Final = 64 * 1024 * 1024
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 5.0
CLOSING_SECONDS: Final = 5.0
_FAULTS: Final = 5
"""So often a turn is tried that fails for another reason than the database's absence."""


class Draft:
    """How much of a running turn is in the store."""

    def __init__(self, session: str, record: TurnRecord) -> None:
        self._session = session
        self._record = record
        self._text = ""
        self._pieces = 0
        self._changed = False
        self._sent: tuple[str, bool] = ("", False)

    def note(self, event: Event) -> None:
        """See what an event changes."""
        if not isinstance(event, Delta | Retraction | Status):
            self._changed = True

    def progress(self) -> Progress | None:
        """Return what is new since the last time that was written; None: nothing."""
        text, whole = storable(self._record.answer), self._changed
        if text == self._text and not whole:
            return None
        self._sent, self._changed = (text, whole), False
        if text == self._text:
            return Progress(self._session, self._record, whole=whole)
        longer, shorter = text.startswith(self._text), self._text.startswith(text)
        start = min(len(text), len(self._text)) if longer or shorter else 0
        return Progress(self._session, self._record, self._pieces + 1, start, text[start:], whole)

    def written(self) -> None:
        """What ``progress`` gave last is in the store."""
        text, _ = self._sent
        self._pieces += text != self._text
        self._text = text

    def failed(self) -> None:
        """What ``progress`` gave last is not in the store."""
        self._changed = self._changed or self._sent[1]


class Running(Protocol):
    """A turn that is being answered."""

    draft: Draft

    @property
    def record(self) -> TurnRecord:
        """What has become of it so far."""

    def stop(self) -> None:
        """Stop it."""


class Keeper:
    """Writes what is new of all running turns every few seconds, and with it the sign of life of this process."""

    def __init__(self, store: SessionStore, running: Callable[[], Iterable[Running]], seconds: float) -> None:
        self._store = store
        self._running = running
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """A turn has begun."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def aclose(self) -> None:
        """Stop writing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            running = list(self._running())
            if not running:
                return
            await self._keep(running)

    async def _keep(self, running: list[Running]) -> None:
        news = [(turn, progress) for turn in running if (progress := turn.draft.progress()) is not None]
        try:
            held = await self._store.keep([progress for _, progress in news])
        except Exception as error:  # whatever it is: the answers go on, and the next time may be better
            for turn, _ in news:
                turn.draft.failed()
            if isinstance(error, SearchError):
                logger.warning("running turns could not be saved: %s", error)
            else:
                logger.exception("running turns could not be saved")
            return
        for turn, _ in news:
            turn.draft.written()
        for turn in running:
            if turn.record.id not in held:  # deleted, or taken for dead and taken over
                turn.stop()


@dataclass(slots=True)
class Ended:
    """A turn that has ended, with what is remembered after it."""

    owner: str
    session: str
    record: TurnRecord
    memory: Memory
    size: int = 0
    faults: int = 0


class Unsaved:
    """Turns that have ended and could not be saved; they are tried again, ever more rarely, until they can."""

    def __init__(self, store: SessionStore, *, first_pause: float = FIRST_PAUSE) -> None:
        self._store = store
        self._first_pause = first_pause
        self._turns: dict[tuple[str, str], Ended] = {}
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._turns)

    def find(self, owner: str, session: str) -> Ended | None:
        """Return the turn of a conversation that is still to be saved."""
        return self._turns.get((owner, session))

    def add(self, turn: Ended) -> None:
        """Save a turn as soon as that can be done; where too many wait, the one that waits longest is given up."""
        turn.size = len(orjson.dumps([turn.record.to_dict(), turn.memory.to_dict()], default=str))
        self._turns[turn.owner, turn.session] = turn
        while len(self._turns) > MAX_UNSAVED or sum(each.size for each in self._turns.values()) > MAX_UNSAVED_BYTES:
            self._give_up(next(iter(self._turns.values())), "too many wait to be saved")
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def save(self, turn: Ended) -> None:
        """Try to save a turn once.

        Raises:
            SearchError: the database cannot be used; it is tried again later.
        """
        try:
            await self._store.end_turn(turn.owner, turn.session, turn.record, turn.memory)
        except SessionNotFound:
            self._drop(turn)
            logger.info("the conversation was deleted before its turn was saved")
        except SessionBusy:
            self._drop(turn)
            logger.warning("the conversation went on elsewhere before its turn was saved")
        else:
            self._drop(turn)

    async def aclose(self, seconds: float = CLOSING_SECONDS) -> None:
        """Try for some more seconds, then give up."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = asyncio.create_task(self._work())
        await asyncio.wait([self._task], timeout=seconds)
        self._task.cancel()
        await asyncio.wait([self._task])
        for turn in list(self._turns.values()):
            self._give_up(turn, "the server stops")

    async def _work(self) -> None:
        pause, told = 0.0, 0
        while self._turns:
            await asyncio.sleep(pause)
            pause = min(max(pause * 2, self._first_pause), LONGEST_PAUSE)
            for turn in list(self._turns.values()):
                if self.find(turn.owner, turn.session) is not turn:
                    continue  # saved or given up meanwhile
                try:
                    await self.save(turn)
                except SearchError as error:
                    if len(self._turns) != told:
                        told = len(self._turns)
                        logger.warning("%d turns wait to be saved: %s", told, error)
                    break
                except Exception:  # a fault of ours: with this turn perhaps, so the others get their go
                    turn.faults += 1
                    logger.exception("a turn could not be saved")
                    if turn.faults >= _FAULTS:
                        self._give_up(turn, "it cannot be saved at all")
        if told:
            logger.warning("no turn waits to be saved any more")

    def _give_up(self, turn: Ended, why: str) -> None:
        logger.error("the end of a turn is lost: %s", why)
        self._drop(turn)
        self._store.disown(turn.record.id)

    def _drop(self, turn: Ended) -> None:
        if self._turns.get((turn.owner, turn.session)) is turn:
            del self._turns[turn.owner, turn.session]
