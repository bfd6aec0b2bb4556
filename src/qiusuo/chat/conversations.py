"""Conversations on a server: a turn goes on whether or not somebody listens, and can be joined at any time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import groupby
from typing import Final

from qiusuo.chat.chat import Chat, Turn
from qiusuo.chat.context import Ask
from qiusuo.chat.events import Delta, Done, Event, TurnRecord
from qiusuo.chat.notices import notice
from qiusuo.chat.places import MAX_LIVE, MAX_OF_ONE, Places
from qiusuo.chat.session import SessionStore
from qiusuo.errors import SearchError, SessionBusy, SessionNotFound

logger = logging.getLogger(__name__)

SIGN_OF_LIFE: Final = 10.0

Numbered = tuple[int, Event]


class LiveTurn:
    """A turn that is being answered. Its events are kept until it has ended, so that late listeners miss nothing."""

    def __init__(self, turn: Turn, owner: str, session: str, store: SessionStore) -> None:
        self._turn = turn
        self._owner = owner
        self._session = session
        self._store = store
        self._log: list[Event] = []
        self._ended = False
        self._listeners: set[asyncio.Event] = set()
        self._task = asyncio.create_task(self._run())

    @property
    def record(self) -> TurnRecord:
        """What has become of the turn so far."""
        return self._turn.record

    def stop(self) -> None:
        """Stop model and search; the turn then ends with ``Done``."""
        self._turn.stop()

    def when_ended(self, callback: Callable[[], object]) -> None:
        """Call back once the turn has ended and is saved."""
        self._task.add_done_callback(lambda _task: callback())

    async def wait(self) -> None:
        """Wait until the turn has ended and is saved."""
        await asyncio.wait([self._task])

    async def follow(self, after: int = -1) -> AsyncGenerator[list[Numbered]]:
        """Give out the events behind number ``after``, those that are there in one go; pieces of text are joined."""
        position = after + 1
        news = asyncio.Event()
        self._listeners.add(news)
        try:
            while True:
                news.clear()
                if position < len(self._log):
                    batch = self._log[position:]
                    yield _joined(position, batch)
                    position += len(batch)
                elif self._ended:
                    return
                else:
                    await news.wait()
        finally:
            self._listeners.discard(news)

    async def _run(self) -> None:
        signs = asyncio.create_task(self._show_signs_of_life())
        try:
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    if isinstance(event, Done):
                        # First saved, then told: who asks the next question at once must find the conversation free.
                        signs.cancel()
                        await self._save()
                    self._tell(event)
        except Exception:  # the turn has ended with Done, so its readers are told; this is for who runs the server
            logger.exception("a turn has failed")
        finally:
            signs.cancel()
            self._ended = True
            self._wake()

    def _tell(self, event: Event) -> None:
        self._log.append(event)
        self._wake()

    def _wake(self) -> None:
        for listener in self._listeners:
            listener.set()

    async def _save(self) -> None:
        try:
            await self._store.end_turn(self._owner, self._session, self.record, self._turn.memory)
        except SessionNotFound:
            logger.info("the conversation was deleted while its turn ran")
        except SearchError as error:
            logger.error("a turn could not be saved: %s", error)  # noqa: TRY400 - the message says it all
            self._tell_not_saved(error.message, error.fix)
        except Exception:  # a fault of the store must not keep the readers from the end of the turn
            logger.exception("a turn could not be saved")
            self._tell_not_saved()

    def _tell_not_saved(self, detail: str = "", fix: str = "") -> None:
        self._tell(notice("not_saved", self._turn.language, level="error", detail=detail, fix=fix))

    async def _show_signs_of_life(self) -> None:
        while True:
            await asyncio.sleep(SIGN_OF_LIFE)
            try:
                await self._store.keep_turn(self._owner, self._session, self.record)
            except (SessionNotFound, SessionBusy):  # deleted, or taken for dead and taken over
                self.stop()
            except SearchError as error:
                logger.warning("a running turn could not be saved: %s", error)


class Conversations:
    """All conversations of a server: their store, and the turns that run here.

    ``places`` limits how many those are; whoever else answers questions on this server takes places there too.
    """

    def __init__(self, chat: Chat, store: SessionStore, places: Places | None = None) -> None:
        self.chat = chat
        self.store = store
        self.places = places or Places(MAX_LIVE, MAX_OF_ONE)
        self._live: dict[tuple[str, str, str], LiveTurn] = {}

    async def send(
        self,
        owner: str,
        session: str,
        question: str,
        *,
        replaces: str | None = None,
        language: str | None = None,
        user: str | None = None,
    ) -> LiveTurn:
        """Ask the next question of a conversation; the answer begins at once.

        Raises:
            SearchError: the question cannot be used, the conversation is unknown or busy, or cannot be saved; or too
                many are being answered.
        """
        self.places.take(owner)
        try:
            info = await self.store.get(owner, session)
            ask = Ask(question, info.settings, language, user)
            self.chat.turn(ask)  # refuses what cannot be asked before anything is changed
            memory = await self.store.begin_turn(owner, session, TurnRecord(ask.id, question), replaces=replaces)
            live = LiveTurn(self.chat.turn(ask, memory), owner, session, self.store)
        except BaseException:  # whatever it is, a hang-up too, no turn has begun
            self.places.give_back(owner)
            raise
        key = (owner, session, ask.id)
        self._live[key] = live

        def ended() -> None:
            self._live.pop(key, None)
            self.places.give_back(owner)

        live.when_ended(ended)
        return live

    def live(self, owner: str, session: str, turn: str) -> LiveTurn | None:
        """Return a turn that runs here."""
        return self._live.get((owner, session, turn))

    async def delete(self, owner: str, session: str) -> None:
        """End a conversation; what runs of it is stopped.

        Raises:
            SearchError: there is no such conversation, or the store cannot be used.
        """
        await self.store.delete(owner, session)
        for (live_owner, live_session, _), live in list(self._live.items()):
            if (live_owner, live_session) == (owner, session):
                live.stop()

    def stop(self) -> None:
        """Stop every turn that runs here; each is saved, and its readers are told."""
        for live in tuple(self._live.values()):
            live.stop()

    async def aclose(self) -> None:
        """Stop what runs, save it, and close the store and the model."""
        self.stop()
        for live in tuple(self._live.values()):
            await live.wait()
        await self.store.aclose()
        await self.chat.aclose()


def _joined(position: int, events: list[Event]) -> list[Numbered]:
    """Return events with their numbers; adjacent pieces of text are one, which has the number of the last."""
    joined: list[Numbered] = []
    for is_text, group in groupby(enumerate(events, position), lambda entry: isinstance(entry[1], Delta)):
        run = list(group)
        if is_text:
            text = "".join(event.text for _, event in run if isinstance(event, Delta))
            run = [(run[-1][0], Delta(text))]
        joined += run
    return joined
