"""Conversations on a server: a turn goes on whether or not somebody listens, and can be joined at any time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from qiusuo.chat.chat import Chat, Turn
from qiusuo.chat.events.turn import RESEARCH, Done, Event, TurnRecord
from qiusuo.chat.live.elsewhere import Elsewhere, RemoteTurn
from qiusuo.chat.live.keeping import KEEP_SECONDS, Draft, Ended, Keeper, Unsaved
from qiusuo.chat.live.places import MAX_LIVE, MAX_OF_ONE, Places
from qiusuo.chat.live.relay import Relay
from qiusuo.chat.live.running import Numbered, RunningTurn, joined
from qiusuo.chat.sessions.filing import Filing
from qiusuo.chat.sessions.retention import Retention
from qiusuo.chat.sessions.session import SessionInfo, SessionStore
from qiusuo.chat.turns.context import Ask
from qiusuo.chat.turns.notices import notice
from qiusuo.chat.turns.prompts import language_of
from qiusuo.errors import InvalidQuery, SearchError, SessionBusy, SessionNotFound, TurnElsewhere
from qiusuo.logs import session_id
from qiusuo.storage.redis import SharedState
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

START_SECONDS: Final = 3.0
SAVE_SECONDS: Final = 3.0
"""So long a reader waits for the end of an answer to be saved before it is told that it is not."""


class LiveTurn(RunningTurn):
    """A turn of a conversation that is kept."""

    def __init__(self, turn: Turn, owner: str, session: str, unsaved: Unsaved) -> None:
        self.draft = Draft(session, turn.record)
        self._owner = owner
        self._session = session
        self._unsaved = unsaved
        super().__init__(turn)

    async def follow(self, after: int = -1) -> AsyncGenerator[list[Numbered]]:
        """Give out the events behind number ``after``, those that are there in one go; pieces of text are joined."""
        position = after + 1
        while events := await self.news(position):
            yield joined(position, events)
            position += len(events)

    async def heed(self, event: Event) -> None:
        """Keep an event; the end of a turn is first saved, then told: who asks on at once must find it free."""
        self.draft.note(event)
        if isinstance(event, Done):
            await self._save()

    async def _save(self) -> None:
        ended = Ended(self._owner, self._session, self.record, self.turn.memory)
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                await self._unsaved.save(ended)
        except (SearchError, TimeoutError) as error:
            logger.warning("a turn is not saved yet: %s", _reason(error))
            self._save_later(ended, error)
        except Exception:  # a fault of the store must not keep the readers from the end of the turn
            logger.exception("a turn is not saved yet")
            self._save_later(ended)

    def _save_later(self, ended: Ended, error: Exception | None = None) -> None:
        self._unsaved.add(ended)
        reason = error.told if isinstance(error, SearchError) else None
        self.tell(notice("not_saved", "error", reason=reason))


class Conversations:
    """All conversations of a server: their store, and the turns that run here.

    ``places`` limits how many those are; whoever else answers questions on this server takes places there too. With
    ``shared`` the turns of all servers that share it can be heard and stopped on each.
    """

    def __init__(
        self,
        chat: Chat,
        store: SessionStore,
        places: Places | None = None,
        *,
        keep_seconds: float = KEEP_SECONDS,
        shared: SharedState | None = None,
    ) -> None:
        self.chat = chat
        self.store = store
        self.places = places or Places(MAX_LIVE, MAX_OF_ONE)
        self.filing = Filing(store)
        self._live: dict[tuple[str, str, str], LiveTurn] = {}
        self._unsaved = Unsaved(store)
        self._keeper = Keeper(store, self._live.values, keep_seconds)
        self._relay = Relay(shared) if shared is not None else None
        self._elsewhere = Elsewhere(store, self._relay) if self._relay is not None else None
        self.retention = Retention(store, lambda: self.chat.settings.retention_days)

    async def start(self) -> None:
        """Free the conversations that an earlier process of this machine left in the middle of an answer."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.store.start()
        except (SearchError, TimeoutError) as error:  # it is tried again with the first question
            logger.warning("conversations of an earlier run are not freed yet: %s", _reason(error))
        self.retention.start()

    async def send(
        self,
        owner: str,
        session: str,
        question: str,
        *,
        replaces: str | None = None,
        language: str | None = None,
        user: str | None = None,
        query: str | None = None,
        research: bool = False,
        goes_on: str | None = None,
        model: str | None = None,
    ) -> LiveTurn:
        """Ask the next question of a conversation; the answer begins at once. ``query``: what to search for instead.

        ``model`` is the name of the one that is to answer this message, None that of the conversation.
        ``goes_on`` is the research, the last turn, that broke off: the new turn takes its place and its question.

        Raises:
            SearchError: the question cannot be used, the conversation is unknown or busy, or cannot be saved; or too
                many are being answered.
        """
        self.places.take(owner)
        try:
            await self.settle(owner, session)
            info = await self.look_up(owner, session)
            session_id.set(session)  # what the turn does is its own task, which has it too
            earlier = await self._broken_off(owner, session, goes_on) if goes_on is not None else None
            if earlier is not None:
                question, replaces, research = earlier.question, earlier.id, True
                language = earlier.language
            files = await self.store.files.load(owner, session)
            ask = Ask(
                question,
                info.settings,
                language,
                user,
                query=query,
                research=research,
                earlier=earlier,
                model=model,
                files=files,
                related=True,
            )
            self.chat.turn(ask)  # refuses what cannot be asked before anything is changed
            record = TurnRecord(ask.id, question, language=language_of(question, language))
            record.mode = RESEARCH if research else info.settings.mode.value
            if earlier is not None:  # so that nothing is lost if this process dies at once
                record.research, record.kept = earlier.research, earlier.kept
                record.sources, record.rounds = earlier.sources, earlier.rounds
            memory = await self.store.begin_turn(owner, session, record, replaces=replaces)
            live = LiveTurn(self.chat.turn(ask, memory), owner, session, self._unsaved)
        except BaseException:  # whatever it is, a hang-up too, no turn has begun
            self.places.give_back(owner)
            raise
        key = (owner, session, ask.id)
        self._live[key] = live

        def ended() -> None:
            self._live.pop(key, None)
            self.places.give_back(owner)

        live.when_ended(ended)
        self._keeper.wake()
        if self._relay is not None:
            self._relay.publish(live)
        return live

    async def look_up(self, owner: str, session: str) -> SessionInfo:
        """Return a conversation; a turn in it whose server is gone is ended, with all that was heard of it.

        Raises:
            SearchError: there is no such conversation, or the store cannot be used.
        """
        info = await self.store.get(owner, session)
        if info.died is None or self._elsewhere is None:
            return info
        with suppress(SearchError):  # it reads as broken off all the same
            await self._elsewhere.bury(owner, session, info.died)
        return await self.store.get(owner, session)

    async def _broken_off(self, owner: str, session: str, turn: str) -> TurnRecord:
        """Return the research that is to go on.

        Raises:
            InvalidQuery: it is not the last turn, no research, or finished.
        """
        page = await self.store.turns(owner, session, limit=1)
        found = page.turns[-1] if page.turns else None
        if found is None or found.id != turn or not found.can_go_on:
            raise InvalidQuery(Fact("session.nothing_to_go_on"))
        return found

    async def settle(self, owner: str, session: str) -> None:
        """Save the last turn of a conversation where that could not be done so far.

        Raises:
            SearchError: it still cannot be done.
        """
        ended = self._unsaved.find(owner, session)
        if ended is None:
            return
        try:
            await self._unsaved.save(ended)
        except SearchError:
            raise
        except Exception:  # a fault of the store: the turn is tried again, and must not be asked over
            logger.exception("a turn is not saved yet")
            raise SessionBusy(Fact("session.not_saved_yet")) from None

    @property
    def answering(self) -> bool:
        """Whether a turn runs here."""
        return bool(self._live)

    def live(self, owner: str, session: str, turn: str) -> LiveTurn | None:
        """Return a turn that runs here."""
        return self._live.get((owner, session, turn))

    async def join(self, owner: str, session: str, turn: str, after: int = -1) -> LiveTurn | RemoteTurn:
        """Return a turn that runs, here or elsewhere, to be followed behind an event.

        Raises:
            TurnElsewhere: it runs on another server and cannot be heard here.
            SearchError: it does not run, or the store cannot be used.
        """
        live = self.live(owner, session, turn)
        if live is not None:
            return live
        await self._check_elsewhere(owner, session, turn)
        if self._elsewhere is None:
            raise TurnElsewhere(Fact("session.runs_elsewhere"))
        return await self._elsewhere.join(owner, session, turn, after)

    async def stop(self, owner: str, session: str, turn: str) -> None:
        """Stop a turn wherever it runs, and wait until it has ended.

        Raises:
            TurnElsewhere: it runs on another server, which could not be reached.
            SearchError: it does not run, or the store cannot be used.
        """
        live = self.live(owner, session, turn)
        if live is not None:
            live.stop()
            await live.wait()
            return
        await self._check_elsewhere(owner, session, turn)
        if self._elsewhere is None:
            raise TurnElsewhere(Fact("session.stop_not_reached"))
        await self._elsewhere.stop(owner, session, turn)

    async def as_it_stands(self, info: SessionInfo, record: TurnRecord) -> TurnRecord:
        """Return a turn with all that is known of it if it runs just now."""
        live = self.live(info.owner, info.id, record.id)
        if live is not None:
            return live.record
        if info.elsewhere and info.running == record.id and self._elsewhere is not None:
            return await self._elsewhere.as_it_stands(record)
        return record

    async def _check_elsewhere(self, owner: str, session: str, turn: str) -> None:
        """See by the database, not by who knows an id, that a turn runs and whose it is."""
        info = await self.look_up(owner, session)
        if not info.elsewhere or info.running != turn:
            raise SessionNotFound(Fact("session.turn_not_running"))

    async def delete(self, owner: str, session: str) -> None:
        """End a conversation; what runs of it is stopped.

        Raises:
            SearchError: there is no such conversation, or the store cannot be used.
        """
        elsewhere = self._elsewhere
        info = await self.store.get(owner, session) if elsewhere is not None else None
        await self.store.delete(owner, session)
        if elsewhere is not None and info is not None and info.running is not None and info.elsewhere:
            await elsewhere.tell_stop(info.running)
        for (live_owner, live_session, _), live in list(self._live.items()):
            if (live_owner, live_session) == (owner, session):
                live.stop()

    async def stop_all(self, owner: str) -> None:
        """Stop what runs here of somebody, and wait for its end."""
        mine = [live for (whose, _, _), live in self._live.items() if whose == owner]
        for live in mine:
            live.stop()
        for live in mine:
            await live.wait()

    def break_off(self) -> None:
        """Break off every turn that runs here; each is saved, and its readers are told.

        Readers of turns that run elsewhere are sent away, to come back at another server.
        """
        if self._elsewhere is not None:
            self._elsewhere.close()
        for live in tuple(self._live.values()):
            live.break_off()

    async def aclose(self) -> None:
        """Stop what runs, save it, and close the store and the model."""
        for live in tuple(self._live.values()):
            live.stop()
        for live in tuple(self._live.values()):
            await live.wait()
        if self._elsewhere is not None:
            await self._elsewhere.aclose()
        if self._relay is not None:
            await self._relay.aclose()
        await self.retention.aclose()
        await self._keeper.aclose()
        await self._unsaved.aclose()
        await self.store.aclose()
        await self.chat.aclose()


def _reason(error: Exception) -> str:
    return str(error) or "the database does not answer in time"
