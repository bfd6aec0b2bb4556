"""Turns that run on another server: joined, shown as they stand, stopped, and buried when that server is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from qiusuo.chat.events.folding import fold, fold_told
from qiusuo.chat.events.turn import Done, Event, Notice, TurnRecord
from qiusuo.chat.live.relay import HEAR_SECONDS, Relay
from qiusuo.chat.live.running import Numbered, joined
from qiusuo.chat.live.stream import READ_ENTRIES, Entry, ToldEvent, ends
from qiusuo.chat.sessions.session import SessionStore
from qiusuo.errors import SearchError, SessionNotFound, TurnElsewhere
from qiusuo.pipeline.flights import Flights
from qiusuo.storage.redis import SharedStateGone
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.1
QUIET_SECONDS: Final = 2.0
QUIET_POLL_SECONDS: Final = 0.25
"""A turn that has said nothing for some seconds is asked for news more rarely: thousands may wait for such."""
LOOK_SECONDS: Final = 0.5
"""A turn that has been silent for so long is looked up in the database: its server may be gone. Readers share it."""
MOST_LOOKS: Final = 1000
APPEAR_SECONDS: Final = 1.5
"""So long a turn that has just begun may take to be heard of."""
STOP_SECONDS: Final = 8.0


class RemoteTurn:
    """A turn of another server, read from any of its events on. ``record`` is what the database has of it."""

    def __init__(self, elsewhere: Elsewhere, owner: str, session: str, record: TurnRecord) -> None:
        self.record = record
        self._elsewhere = elsewhere
        self._owner = owner
        self._session = session
        self._told = -HEAR_SECONDS

    async def follow(self, after: int = -1) -> AsyncGenerator[list[Numbered]]:
        """Give out the events behind number ``after`` as they come, until the turn ends or nobody knows of it.

        It ends without ``Done`` where Redis has lost the turn; the reader then finds it in the database.
        """
        position, loop = after + 1, asyncio.get_running_loop()
        heard = looked = loop.time()
        while (entries := await self._read(position)) is not None:
            if events := _behind(entries, position):
                yield joined(position, events)
                position += len(events)
                heard = looked = loop.time()
                if ends(events):
                    return
            elif loop.time() - looked >= LOOK_SECONDS:
                looked = loop.time()
                if not await self._elsewhere.seems_to_run(self._owner, self._session, self.record.id):
                    if last := await self._last_events(position):
                        yield joined(position, last)
                    return
            if len(entries) < READ_ENTRIES:
                quiet = loop.time() - heard > QUIET_SECONDS
                await asyncio.sleep(QUIET_POLL_SECONDS if quiet else POLL_SECONDS)

    async def _read(self, position: int) -> list[Entry] | None:
        """Return what is there from an event on; None where nobody knows, or not of all that is between."""
        now, relay = asyncio.get_running_loop().time(), self._elsewhere.relay
        if self._elsewhere.closed:
            return None
        try:
            if now > self._told + HEAR_SECONDS / 2:
                self._told = now
                await relay.hear(self.record.id)
            entries = await relay.read(self.record.id, position)
        except SharedStateGone:
            return None
        return None if entries and entries[0].first > position else entries

    async def _last_events(self, position: int) -> list[Event]:
        entries = await self._read(position)  # its end may have come meanwhile
        if entries:
            return _behind(entries, position)
        return await self._elsewhere.end_of(self._owner, self._session, self.record.id)


class Elsewhere:
    """The turns that run on other servers with the same database and Redis."""

    def __init__(self, store: SessionStore, relay: Relay) -> None:
        self.relay = relay
        self.closed = False
        """This server stops: nobody is to keep it from that by listening."""
        self._store = store
        self._looks: dict[str, tuple[float, bool]] = {}
        self._looking: Flights[bool] = Flights()

    async def join(self, owner: str, session: str, turn: str, after: int) -> RemoteTurn:
        """Return a turn that runs elsewhere, to be read behind an event.

        Raises:
            TurnElsewhere: it cannot be heard here now.
            SearchError: there is no such turn, or the database cannot be used.
        """
        remote = RemoteTurn(self, owner, session, await self._store.turn(owner, session, turn))
        try:
            for _ in range(round(APPEAR_SECONDS / 0.05)):
                if await self.relay.is_known(turn):
                    entries = await self.relay.read(turn, after + 1)
                    if entries and entries[0].first > after + 1:
                        break
                    return remote
                await asyncio.sleep(0.05)
        except SharedStateGone:
            pass
        raise TurnElsewhere(Fact("session.runs_elsewhere"))

    async def as_it_stands(self, record: TurnRecord) -> TurnRecord:
        """Return a running turn with what has been heard of it since it was kept last."""
        heard = await self._heard(record)
        return heard if heard is not None and len(heard.answer) >= len(record.answer) else record

    async def stop(self, owner: str, session: str, turn: str) -> None:
        """Let the server that answers a turn stop it.

        Raises:
            TurnElsewhere: it could not be reached, or has not confirmed it in time.
        """

        async def still_runs() -> bool:
            return await self.runs(owner, session, turn)

        try:
            if await self.relay.order_stop(turn, still_runs, STOP_SECONDS):
                return
        except SharedStateGone:
            pass
        raise TurnElsewhere(Fact("session.stop_not_confirmed"))

    async def tell_stop(self, turn: str) -> None:
        """Let the server that answers a turn stop it, if it can be reached; nobody waits for it."""
        with suppress(SharedStateGone):
            await self.relay.send_stop(turn)

    async def runs(self, owner: str, session: str, turn: str) -> bool:
        """Tell whether a turn is still being answered; as long as nobody can know, it is."""
        try:
            return (await self._store.get(owner, session)).running == turn
        except SessionNotFound:
            return False
        except SearchError:
            return True

    async def seems_to_run(self, owner: str, session: str, turn: str) -> bool:
        """Tell the same for all who listen to it here: what was seen a moment ago counts."""
        now = asyncio.get_running_loop().time()
        seen = self._looks.get(turn)
        if seen is not None and now - seen[0] < LOOK_SECONDS:
            return seen[1]
        running, _ = await self._looking.join(turn, lambda: self.runs(owner, session, turn))
        if len(self._looks) >= MOST_LOOKS:
            self._looks = {each: look for each, look in self._looks.items() if now - look[0] < LOOK_SECONDS}
        self._looks[turn] = now, running
        return running

    async def end_of(self, owner: str, session: str, turn: str) -> list[Event]:
        """Return the last events of a turn that is not answered any more: how it broke off, if it did."""
        try:
            await self.bury(owner, session, turn)
            record = await self._store.turn(owner, session, turn)
        except SearchError as error:
            logger.info("nobody knows how a turn has ended: %s", error)
            return []
        if not record.died:
            return []
        last = Notice.from_dict(record.notices[-1])
        return [last, Done(record.state, record.answer, record.references, record.cited, record.finish)]

    async def bury(self, owner: str, session: str, turn: str) -> None:
        """Save a turn whose server is gone, with all that is known of it.

        Raises:
            SearchError: there is no such turn, or the database cannot be used.
        """
        heard = await self._heard(await self._store.turn(owner, session, turn))
        await self._store.dead.bury(owner, session, turn, heard)

    async def _heard(self, record: TurnRecord) -> TurnRecord | None:
        """Return a turn as its events tell it; None where they are not all there."""
        heard, position = TurnRecord(record.id, record.question, language=record.language), 0
        try:
            while entries := await self.relay.read(record.id, position):
                if entries[0].first > position:
                    return None
                for event in _behind(entries, position):
                    if isinstance(event, ToldEvent):
                        fold_told(heard, event.data)
                    else:
                        fold(heard, event)
                position = entries[-1].end
        except (SharedStateGone, KeyError, TypeError, ValueError):  # away, or not what we write there
            return None
        heard.kept = record.kept
        return heard if position else None


def _behind(entries: list[Entry], position: int) -> list[Event]:
    """Return the events of entries from one on."""
    events = [event for entry in entries for event in entry.events]
    return events[position - entries[0].first :] if entries else []
