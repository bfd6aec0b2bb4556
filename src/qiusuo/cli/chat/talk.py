"""The conversation that a terminal is in: its settings, its model, its turns. Knows nothing of how it is shown."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from qiusuo.chat.chat import Chat
from qiusuo.chat.depth import Depth, usual_depth
from qiusuo.chat.events.notice import Notice
from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.live.conversations import Conversations, LiveTurn
from qiusuo.chat.live.places import NO_USER
from qiusuo.chat.models.book import usable_model
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model, called_in
from qiusuo.chat.research.state import limits_of
from qiusuo.chat.sessions.files import FileInfo
from qiusuo.chat.sessions.filing import Underway
from qiusuo.chat.sessions.session import ChatSettings, Mode, SessionInfo
from qiusuo.chat.stores.opening import MEMORY, open_store, store_limits
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.cli.chat.paths import file_at
from qiusuo.config import Settings
from qiusuo.errors import UnknownEngine
from qiusuo.pages import PageReader
from qiusuo.roster import NATIVE
from qiusuo.service import SearchService
from qiusuo.usage.keeping import UsageKeeper
from qiusuo.usage.recorder import UsageRecorder
from qiusuo.usage.store import UsageStore
from qiusuo.words import Fact, Language

_NOTICES_REMEMBERED: Final = 50

# The page's name for the one user of this machine: both show the same conversations.
OWNER: Final = NO_USER
LISTED: Final = 200
FIRST_NAME: Final = "first"
"""How the first model is called where one is chosen, unless another has that name."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks of the conversation; None leaves a setting as it is."""

    mode: str | None = None
    search: bool | None = None
    engine: str | None = None
    session: str | None = None
    save: bool = True
    language: str | None = None
    depth: str | None = None
    model: str | None = None
    """The name of one of the models, blank for the first."""
    focus: str | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """The settings to change, as the page sends them."""
        values: dict[str, Any] = {
            "mode": self.mode, "search": self.search, "engine": self.engine, "depth": self.depth, "model": self.model,
            "focus": self.focus,
        }  # fmt: skip
        given = {name: value for name, value in values.items() if value is not None}
        if given.get("engine") == "auto":
            given["engine"] = None
        return given


class Talk:
    """One conversation at a time over a service, a model and a store.

    A conversation is begun in the store with its first question: who only looks around leaves nothing behind.
    """

    def __init__(self, conversations: Conversations, settings: Settings, reader: PageReader, wish: Wish) -> None:
        self._conversations = conversations
        self._reader = reader
        self._model_settings = settings
        self._language = wish.language
        self._draft = conversations.chat.usual_settings
        self._first_mode = wish.mode or self._draft.mode
        self.saved = wish.save
        self.info: SessionInfo | None = None
        self.last: TurnRecord | None = None
        self.removed: Sequence[SessionInfo] = ()
        """The conversations that made room for this one."""
        self.told: deque[Notice] = deque(maxlen=_NOTICES_REMEMBERED)
        """The last notices that the screen has shown."""
        self._first_engine = ""

    @property
    def service(self) -> SearchService:
        """The searches."""
        return self._conversations.chat.service

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._conversations.chat.book.chosen(self.settings.model).model

    @property
    def model_name(self) -> str:
        """By what name it is chosen here."""
        name = self._conversations.chat.book.chosen(self.settings.model).name
        return name or next(iter(self.models()))

    def model_shown(self, language: Language) -> str:
        """Return what is shown of it: the name of a further model with that of the provider's."""
        chosen = self._conversations.chat.book.chosen(self.settings.model)
        return " · ".join(filter(None, (chosen.name, called_in(language, chosen.model.info.name))))

    def models(self) -> dict[str, str]:
        """Return the models by the names by which they are chosen here, the first one's first."""
        book = self._conversations.chat.book
        first = FIRST_NAME if FIRST_NAME not in book.names else ""
        return {name or first: book.chosen(name).model.info.name for name in book.names}

    @property
    def settings(self) -> ChatSettings:
        """The settings as they were last seen."""
        return self.info.settings if self.info else self._draft

    @property
    def depth(self) -> Depth:
        """What answers rest on."""
        return self.settings.depth or usual_depth(self._model_settings)

    async def change(self, values: dict[str, Any]) -> None:
        """Change settings, by the same rules and in the same place as the page does.

        Raises:
            SearchError: a value is not one of those that there are, or the switch was touched in agent mode.
        """
        if values.get("engine") is not None:
            self.check_engine(values["engine"])
        if self.info is None:
            self._draft = self._draft.changed(values)
        else:
            self.info = await self._conversations.store.change(OWNER, self.info.id, settings=values)
        await self.look_up_engine()

    def check_engine(self, name: str) -> None:
        """Refuse an engine that does not exist.

        Raises:
            UnknownEngine: no engine has that name.
        """
        known = self.service.engine_problems()
        if name not in {*known, NATIVE}:
            raise UnknownEngine(Fact("engine.unknown", name=repr(name), known=[*known, NATIVE]))

    async def look_up_engine(self) -> None:
        """Find out which engine the next search asks first, for the status line."""
        settings = self.settings
        name = settings.engine
        if name is None and (settings.search or settings.mode is Mode.AGENT):
            taking_part = await self.service.available()
            name = taking_part[0] if taking_part else None
        self._first_engine = name or ""

    def engine_called(self, language: Language) -> str:
        """Return the name of the engine that was looked up, for readers of a language."""
        place = self.service.roster.places.get(self._first_engine)
        return place.kind.called(language) if place else self._first_engine

    def engines_called(self, language: Language) -> dict[str, str]:
        """Return the names of all engines for readers of a language; a turn names them in that of its question."""
        return {name: place.kind.called(language) for name, place in self.service.roster.places.items()}

    @property
    def research_limits(self) -> dict[str, int]:
        """How much a research may take, with the most sub-questions."""
        settings = self._conversations.chat.settings
        return {"questions": settings.research_questions, **limits_of(settings).to_dict()}

    async def go_on(self) -> LiveTurn | None:
        """Go on with a research that broke off, where that is the last turn; None where there is none.

        Raises:
            SearchError: as ``ask``.
        """
        if self.info is None or self.last is None or not self.last.can_go_on:
            return None
        live = await self._conversations.send(OWNER, self.info.id, "", goes_on=self.last.id)
        self.last = live.record
        return live

    async def ask(self, question: str, *, research: bool = False) -> LiveTurn:
        """Ask; the answer begins at once.

        Raises:
            SearchError: the question cannot be used, or the conversation is busy, gone or cannot be saved.
        """
        session = await self._session()
        await self.look_up_engine()
        live = await self._conversations.send(OWNER, session, question, language=self._language, research=research)
        self.last = live.record
        return live

    async def _session(self) -> str:
        """Return the conversation; it is begun where there is none yet."""
        store = self._conversations.store
        # Looked at anew: the page may have changed the settings meanwhile.
        self.info = await store.get(OWNER, self.info.id) if self.info else None
        if self.info is None:
            self.info = await store.create(OWNER, settings=self._draft)
            self.removed = self.info.removed
        return self.info.id

    async def add_file(self, path: str, progress: Callable[[Underway], None] | None = None) -> FileInfo:
        """Add a file of this machine to the conversation.

        Raises:
            SearchError: it cannot be read, or there is no room for it.
        """
        name, data = await asyncio.to_thread(file_at, path)
        return await self._conversations.filing.add(OWNER, await self._session(), name, data, progress)

    async def files(self) -> Sequence[FileInfo]:
        """Return the files of the conversation."""
        return await self._conversations.store.files.list(OWNER, self.info.id) if self.info else ()

    async def turns(self) -> Sequence[TurnRecord]:
        """Return all that was said so far."""
        if self.info is None:
            return ()
        store, session = self._conversations.store, self.info.id
        page = await store.turns(OWNER, session, limit=LISTED)
        turns = list(page.turns)
        while page.earlier:
            page = await store.turns(OWNER, session, limit=LISTED, before=turns[0].id)
            turns[:0] = page.turns
        return turns

    async def sessions(self) -> Sequence[SessionInfo]:
        """Return all conversations, the last used first."""
        found: list[SessionInfo] = []
        more = True
        while more:
            page = await self._conversations.store.page(OWNER, limit=LISTED, offset=len(found))
            found += page.sessions
            more = page.more
        return found

    async def open(self, session: str) -> int:
        """Go on with an earlier conversation; return how many turns it has.

        Raises:
            SessionNotFound: there is none of that id.
        """
        store = self._conversations.store
        self.info = await store.get(OWNER, session)
        page = await store.turns(OWNER, session, limit=1)
        self.last = page.turns[-1] if page.turns else None
        await self.look_up_engine()
        return page.total

    def begin_anew(self) -> None:
        """Leave the conversation; the next question begins another with the same settings.

        Not with its mode: an agent costs many calls, so each conversation is given one on purpose, as on the page. Who
        has started with ``--mode agent`` has said so for all of them.
        """
        self._draft = replace(self.settings, mode=Mode(self._first_mode))
        self.info, self.last = None, None

    async def use_model(self, name: str) -> None:
        """Answer with another model from now on: one of those that are set up, by its name, or any other as the first.

        Raises:
            ModelNotConfigured: it cannot be used; the one so far stays.
        """
        chat = self._conversations.chat
        if name in self.models():
            chosen = chat.book.chosen(name)
            if chosen.model.info.kind == "unusable":
                await chosen.model.chat_model()  # says what is wrong
            await self.change({"model": chosen.name or None})
            return
        settings = with_model(self._model_settings, name)
        open_model(settings)
        await chat.renew(settings)
        self._model_settings = settings
        if self.settings.model is not None:
            await self.change({"model": None})


@asynccontextmanager
async def open_talk(settings: Settings, wish: Wish, *, lenient: bool) -> AsyncIterator[Talk]:
    """Open service, model and store, and the conversation that is wished for.

    Args:
        settings: The configuration.
        wish: What the command line says.
        lenient: A model that cannot be used is no error yet: another can be named, and answers say what is wrong.

    Raises:
        SearchError: something is not set up, or the wish cannot be met.
    """
    url = settings.database_url.get_secret_value() if settings.database_url else None
    store = open_store(url if wish.save else MEMORY, limits=store_limits(settings))
    # Where another model may answer, the first may be set wrongly.
    lenient = lenient or bool(wish.model or settings.second_model)
    model = usable_model(settings) if lenient else open_model(settings)
    async with SearchService.from_settings(settings) as service:
        reader = PageReader.from_settings(settings)
        conversations = Conversations(Chat(service, model, reader=reader, settings=settings), store)
        if wish.save:
            count_usage(service, conversations.chat, store, settings)
        try:
            talk = Talk(conversations, settings, reader, wish)
            if wish.session:
                await talk.open(wish.session)
            if wish.changes:
                await talk.change(wish.changes)
            yield talk
        finally:
            await conversations.aclose()
            await reader.aclose()


def count_usage(service: SearchService, chat: Chat, store: SqlSessionStore, settings: Settings) -> None:
    """Count searches and answers, as a server does; they are written when the store is closed."""
    keeper = UsageKeeper(UsageRecorder(keep_queries=settings.board_queries), UsageStore(store.database), settings)
    if keeper.counts:
        service.observe(keeper.recorder)
        chat.observers.append(keeper.recorder)


def with_model(settings: Settings, name: str | None) -> Settings:
    """Return the settings with another model.

    Address and key belong to the provider that they were set for: another provider gets its own.
    """
    if name is None:
        return settings
    changes: dict[str, Any] = {"model": name.strip() or None}
    if settings.model and _provider(settings.model) != _provider(name):
        changes |= {"model_base_url": None, "model_api_key": None}
    return settings.model_copy(update=changes)


def _provider(model: str) -> str:
    return model.partition(":")[0].strip().lower()


async def find_session(talk: Talk, start: str) -> SessionInfo | list[SessionInfo]:
    """Return the one conversation whose id is or begins with ``start``; a list where it is none or several.

    Raises:
        SearchError: the store cannot be used.
    """
    found = [info for info in await talk.sessions() if info.id.startswith(start)]
    exact = [info for info in found if info.id == start]
    match exact or found:
        case [info]:
            return info
        case several:
            return several
