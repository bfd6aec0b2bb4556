"""Turns that run on another server: joined, shown as they stand, stopped, and buried when that server is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from qiusuo.chat.events.folding import fold, fold_told
from qiusuo.chat.events.turn import Done, Event, Notice, TurnRecord
from qiusuo.chat.live.relay import Relay
from qiusuo.chat.live.running import Numbered
from qiusuo.chat.live.stream import ToldEvent, behind
from qiusuo.chat.live.watching import Watches
from qiusuo.chat.sessions.session import SessionStore
from qiusuo.errors import SearchError, SessionNotFound, TurnElsewhere
from qiusuo.storage.redis import SharedStateGone
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

APPEAR_SECONDS: Final = 1.5
"""So long a turn that has just begun may take to be heard of."""
STOP_SECONDS: Final = 8.0


class RemoteTurn:
    """A turn of another server, read from any of its events on. ``record`` is what the database has of it."""

    def __init__(self, watches: Watches, owner: str, session: str, record: TurnRecord) -> None:
        self.record = record
        self._watches = watches
        self._owner = owner
        self._session = session

    def follow(self, after: int = -1) -> AsyncGenerator[list[Numbered]]:
        """Give out the events behind number ``after`` as they come, until the turn ends or nobody knows of it.

        It ends without ``Done`` where Redis has lost the turn; the reader then finds it in the database.
        """
        return self._watches.follow(self._owner, self._session, self.record, after)


class Elsewhere:
    """The turns that run on other servers with the same database and Redis."""

    def __init__(self, store: SessionStore, relay: Relay) -> None:
        self._store = store
        self._relay = relay
        self._watches = Watches(relay, self)
        self._closed = False

    async def join(self, owner: str, session: str, turn: str, after: int) -> RemoteTurn:
        """Return a turn that runs elsewhere, to be read behind an event.

        Raises:
            TurnElsewhere: it cannot be heard here now.
            SearchError: there is no such turn, or the database cannot be used.
        """
        if self._closed:
            raise TurnElsewhere(Fact("session.runs_elsewhere"))
        watch = self._watches.find(turn)
        if watch is not None and watch.holds(after + 1):
            return RemoteTurn(self._watches, owner, session, watch.record)
        remote = RemoteTurn(self._watches, owner, session, await self._store.turn(owner, session, turn))
        try:
            for _ in range(round(APPEAR_SECONDS / 0.05)):
                if await self._relay.is_known(turn):
                    entries = await self._relay.read(turn, after + 1)
                    if entries and entries[0].first > after + 1:
                        break
                    return remote
                await asyncio.sleep(0.05)
        except SharedStateGone:
            pass
        raise TurnElsewhere(Fact("session.runs_elsewhere"))

    def close(self) -> None:
        """Send readers away, to come back at another server: nobody is to keep this one from stopping."""
        self._closed = True
        self._watches.close()

    async def aclose(self) -> None:
        """Stop listening."""
        await self._watches.aclose()

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
            if await self._relay.order_stop(turn, still_runs, STOP_SECONDS):
                return
        except SharedStateGone:
            pass
        raise TurnElsewhere(Fact("session.stop_not_confirmed"))

    async def tell_stop(self, turn: str) -> None:
        """Let the server that answers a turn stop it, if it can be reached; nobody waits for it."""
        with suppress(SharedStateGone):
            await self._relay.send_stop(turn)

    async def runs(self, owner: str, session: str, turn: str) -> bool:
        """Tell whether a turn is still being answered; as long as nobody can know, it is."""
        try:
            return (await self._store.get(owner, session)).running == turn
        except SessionNotFound:
            return False
        except SearchError:
            return True

    async def running(self, sessions: list[str]) -> dict[str, str]:
        """Return the turns that are being answered in some conversations.

        Raises:
            SearchError: the database cannot be used.
        """
        return await self._store.running(sessions)

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
            while entries := await self._relay.read(record.id, position):
                if entries[0].first > position:
                    return None
                for event in behind(entries, position):
                    if isinstance(event, ToldEvent):
                        fold_told(heard, event.data)
                    else:
                        fold(heard, event)
                position = entries[-1].end
        except (SharedStateGone, KeyError, TypeError, ValueError):  # away, or not what we write there
            return None
        heard.kept = record.kept
        return heard if position else None
