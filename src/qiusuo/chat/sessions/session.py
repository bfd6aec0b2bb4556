"""A conversation: its settings, its turns, and what the agent remembers between turns."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Protocol

from qiusuo.chat.depth import Depth
from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.focus import ANY, FRESH, MAX_SITES, WEB, Scope, focuses
from qiusuo.chat.followups import Exchange
from qiusuo.chat.sessions.branches import Branches
from qiusuo.chat.sessions.dead_turns import DeadTurns
from qiusuo.chat.sessions.feedback import FeedbackStore
from qiusuo.chat.sessions.files import FileStore
from qiusuo.chat.sessions.limits import StoreLimits
from qiusuo.chat.sessions.older import without_own_numbers
from qiusuo.chat.sessions.searches import SessionCache
from qiusuo.chat.sessions.shares import Shares
from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.errors import InvalidQuery
from qiusuo.models import Freshness
from qiusuo.pipeline.request import checked_domains
from qiusuo.words import Fact, Language

SAID_TURNS: Final = 20
SAID_CHARS: Final = 600
MAX_TITLE: Final = 200
MAX_RESULTS: Final = 5
_ONE_NUMBERING: Final = "conversation"
AGENT_NOTE: Final = Fact("session.agent_decides")


class Mode(StrEnum):
    """Who decides to search: the switch, or the model."""

    CHAT = "chat"
    AGENT = "agent"


class SwitchState(StrEnum):
    """How the search switch looks."""

    ON = "on"
    OFF = "off"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What the settings panel sets. ``search`` is the switch as the user left it; agent mode only hides it.

    ``engine`` None means the usual order; ``results`` is how many of them go into the prompt; ``depth`` None means what
    the server is set to; ``model`` is the name of the one that answers, None the first. ``focus``, ``sites`` and
    ``freshness`` say where is searched and how new pages must be.
    """

    mode: Mode = Mode.CHAT
    search: bool = False
    engine: str | None = None
    results: int = MAX_RESULTS
    depth: Depth | None = None
    model: str | None = None
    focus: str = WEB
    sites: tuple[str, ...] = ()
    freshness: Freshness | None = None

    @property
    def scope(self) -> Scope:
        """What searches are kept to."""
        return Scope(self.focus, self.sites, self.freshness)

    @property
    def switch(self) -> SwitchState:
        """The state of the switch: disabled in agent mode, where it keeps its former position."""
        if self.mode is Mode.AGENT:
            return SwitchState.DISABLED
        return SwitchState.ON if self.search else SwitchState.OFF

    def changed(self, values: dict[str, Any]) -> ChatSettings:
        """Return the settings with some values changed.

        Raises:
            InvalidQuery: the switch was touched in agent mode, or a value is not one of those that there are.
        """
        values = {name: None if name == "freshness" and value == ANY else value for name, value in values.items()}
        unknown = set(values) - {*_ALLOWED, "focus"}
        if unknown:
            raise InvalidQuery(Fact("session.unknown_setting", names=sorted(unknown)))
        known = focuses()
        focus = values.get("focus")
        if focus is not None and not (isinstance(focus, str) and focus in known):
            allowed = Fact("focus.values", known=list(known))
            raise InvalidQuery(Fact("session.bad_setting", name="focus", allowed=allowed))
        for name in (name for name in values if name in _ALLOWED):
            fits, allowed = _ALLOWED[name]
            if not fits(values[name]):
                raise InvalidQuery(Fact("session.bad_setting", name=name, allowed=allowed))
        depth = values.get("depth", self.depth)
        typed = {
            "mode": Mode(values.get("mode", self.mode)),
            "depth": Depth(depth) if depth else None,
            "model": values.get("model", self.model) or None,
            "focus": values.get("focus", self.focus) or WEB,
            "sites": checked_domains(values.get("sites", self.sites) or ()),
            "freshness": Freshness(fresh) if (fresh := values.get("freshness", self.freshness)) else None,
        }
        new = replace(self, **{**values, **typed})
        if new.mode is Mode.AGENT and new.search != self.search:
            raise InvalidQuery(Fact("session.switch_hidden"))
        return new

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:
        """Return the settings in their JSON shape; ``switch`` is how the switch must look, ``note`` says why."""
        return {
            "mode": self.mode.value,
            "search": self.search,
            "engine": self.engine,
            "results": self.results,
            "depth": self.depth.value if self.depth else None,
            "model": self.model,
            **self.scope.to_dict(),
            "switch": self.switch.value,
            "note": AGENT_NOTE.text(language) if self.mode is Mode.AGENT else "",
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChatSettings:
        """Rebuild settings from ``to_dict``; a value that no longer fits becomes the default."""
        kept = ("mode", "engine", "results", "depth", "model", "focus", "sites", "freshness")
        known: dict[str, Any] = {name: data[name] for name in kept if name in data}
        if known.get("focus") not in focuses():  # that of a plug-in which is no longer here
            known.pop("focus", None)
        try:
            return replace(cls().changed(known), search=bool(data.get("search", False)))
        except InvalidQuery:
            return cls()


_ALLOWED: Final[dict[str, tuple[Callable[[Any], bool], Fact]]] = {
    "mode": (lambda value: value in list(Mode), Fact("session.mode_values")),
    "search": (lambda value: isinstance(value, bool), Fact("session.search_values")),
    "engine": (
        lambda value: value is None or (isinstance(value, str) and bool(value.strip())),
        Fact("session.engine_values"),
    ),
    "results": (
        lambda value: isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_RESULTS,
        Fact("session.results_values", most=MAX_RESULTS),
    ),
    "depth": (lambda value: value is None or value in list(Depth), Fact("session.depth_values")),
    "model": (
        lambda value: value is None or (isinstance(value, str) and len(value) <= MAX_TITLE),
        Fact("session.model_values"),
    ),
    "sites": (lambda value: value is None or _are_names(value), Fact("focus.sites_values", most=MAX_SITES)),
    "freshness": (lambda value: value is None or value in FRESH, Fact("focus.fresh_values")),
}


def _are_names(value: Any) -> bool:
    """Tell whether these may be sites; that they are domains is seen where they are read."""
    return isinstance(value, list | tuple) and len(value) <= MAX_SITES and all(isinstance(one, str) for one in value)


@dataclass(slots=True)
class Memory:
    """What a conversation remembers beside its turns.

    ``messages`` is what the model was sent and said so far, in LangChain's JSON shape: only ever appended to, so that
    providers recognise the beginning (prefix caches). ``registry`` numbers the sources of all turns, ``cache`` has the
    agent's searches. ``starts`` says for each turn, by its id, where its messages begin; ``said`` has what was asked
    and answered in the last ones, by which the next question is understood.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)
    registry: CitationRegistry = field(default_factory=CitationRegistry)
    cache: SessionCache = field(default_factory=SessionCache)
    said: dict[str, Exchange] = field(default_factory=dict)

    def note(self, turn: str, question: str, answer: str) -> None:
        """Note what was asked and answered in a turn; of long ones the beginning, of many the last."""
        self.said[turn] = Exchange(question[:SAID_CHARS], answer[:SAID_CHARS])
        for oldest in list(self.said)[:-SAID_TURNS]:
            del self.said[oldest]

    def to_dict(self) -> dict[str, Any]:
        """Return the memory in its JSON shape."""
        return {
            "messages": self.messages,
            "starts": self.starts,
            "numbering": _ONE_NUMBERING,
            "registry": self.registry.to_dict(),
            "cache": self.cache.to_dict(),
            "said": [[turn, each.question, each.answer] for turn, each in self.said.items()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Memory:
        """Rebuild a memory from ``to_dict``."""
        messages, starts = data["messages"], data.get("starts", {})
        return cls(
            messages=messages if data.get("numbering") == _ONE_NUMBERING else without_own_numbers(messages, starts),
            starts=starts,
            registry=CitationRegistry.from_dict(data["registry"]),
            cache=SessionCache.from_dict(data["cache"]),
            said={turn: Exchange(question, answer) for turn, question, answer in data.get("said", ())},
        )


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A conversation in a list. ``running`` is the turn that is being answered just now.

    ``elsewhere``: by another process. ``died`` is the turn whose process is gone and that nobody has buried yet.
    ``removed`` are the conversations that made room for this one, told once where it is begun.
    """

    id: str
    owner: str
    title: str
    settings: ChatSettings
    created_at: str
    updated_at: str
    running: str | None = None
    removed: tuple[SessionInfo, ...] = ()
    elsewhere: bool = False
    died: str | None = None

    def to_dict(self, language: Language = Language.CHINESE) -> dict[str, Any]:
        """Return the entry in its JSON shape."""
        return {
            "id": self.id,
            "title": self.title,
            "settings": self.settings.to_dict(language),
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "running": self.running,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """What is new of a running turn: ``text`` behind the first ``start`` characters. Pieces are numbered from 1."""

    session: str
    record: TurnRecord
    number: int = 0
    start: int = 0
    text: str = ""
    whole: bool = False
    """More than the text has changed."""


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Some turns of a conversation in their order; ``earlier`` and ``later`` count those before and after them."""

    turns: Sequence[TurnRecord]
    earlier: int = 0
    later: int = 0

    @property
    def total(self) -> int:
        """How many turns the conversation has."""
        return self.earlier + len(self.turns) + self.later


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some conversations, the last used first. ``more``: others follow. ``total`` counts all that the owner has."""

    sessions: Sequence[SessionInfo]
    total: int
    more: bool


class SessionStore(Protocol):
    """Keeps conversations. Every call names the owner; what belongs to others is not found.

    All methods raise SessionNotFound for unknown ids, and Unavailable when the database cannot be used.
    """

    shares: Shares
    branches: Branches
    feedback: FeedbackStore
    dead: DeadTurns

    @property
    def limits(self) -> StoreLimits:
        """How much is kept."""

    @property
    def files(self) -> FileStore:
        """The files of conversations."""

    async def start(self) -> None:
        """Give up the claims of processes of this machine that are gone, and show that this one is there."""

    async def probe(self) -> None:
        """See that the database can be written."""

    async def create(self, owner: str, *, settings: ChatSettings | None = None, title: str = "") -> SessionInfo:
        """Begin a conversation; ``removed`` tells of those that made room for it.

        Raises:
            LimitReached: the owner has as many as are kept, and the oldest do not make room.
        """

    async def adopt(self, about: SessionInfo, records: Sequence[TurnRecord], memory: Memory) -> SessionInfo:
        """Begin a conversation that has turns already, as ``create`` does; it gets an id of its own."""

    async def get(self, owner: str, session: str) -> SessionInfo:
        """Return a conversation without its turns."""

    async def running(self, sessions: Collection[str]) -> dict[str, str]:
        """Return the turns that are being answered in some conversations, whosever they are."""

    async def list(self, owner: str, *, query: str = "", limit: int = 50, offset: int = 0) -> Sequence[SessionInfo]:
        """Return conversations, the last used first; ``query`` looks in titles, questions and answers."""

    async def page(self, owner: str, *, query: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        """Return conversations as ``list`` does, and how many there are."""

    async def change(
        self, owner: str, session: str, *, title: str | None = None, settings: dict[str, Any] | None = None
    ) -> SessionInfo:
        """Rename a conversation or change its settings, in one step that no other server can break into."""

    async def delete(self, owner: str, session: str) -> None:
        """End a conversation: its turns, cache and numbering are gone."""

    async def delete_untouched(self, seconds: float | None) -> int:
        """Delete conversations in which nothing happened for so long, or for as long as their owner's are kept.

        None: the latter alone. Returns how many.
        """

    async def turns(
        self, owner: str, session: str, *, limit: int = 50, before: str | None = None, after: str | None = None
    ) -> TurnPage:
        """Return turns in their order: the last ones, or those next before or after a turn.

        Raises:
            InvalidQuery: there is no such turn.
        """

    async def turn(self, owner: str, session: str, turn: str) -> TurnRecord:
        """Return one turn; SessionNotFound is raised also where there is none of that id."""

    async def begin_turn(self, owner: str, session: str, record: TurnRecord, *, replaces: str | None = None) -> Memory:
        """Claim the conversation for a turn and return what it remembers.

        With ``replaces``, that turn and all after it are dropped first, from the memory too (edit and resend, retry).

        Raises:
            SessionBusy: another turn is running, here or in another process, and has shown signs of life lately.
            LimitReached: the conversation has as many turns as are kept.
        """

    async def keep(self, progress: Sequence[Progress]) -> set[str]:
        """Give a sign of life for all turns that run here, and save what is new of some, all in one step.

        Returns the ids of those turns that still hold their conversations.
        """

    async def end_turn(self, owner: str, session: str, record: TurnRecord, memory: Memory) -> None:
        """Save a turn with what is remembered, and free the conversation. To do so twice is to do so once.

        Raises:
            SessionBusy: the conversation went on without the turn. Its answer is saved where it still has a place, what
                is remembered is left as it is.
        """

    def disown(self, turn: str) -> None:
        """Nobody will end this turn any more."""

    async def aclose(self) -> None:
        """Give up what this process still holds, and close the connections."""


def new_id() -> str:
    """Return a fresh id that nobody can guess."""
    return secrets.token_urlsafe(12)


def now() -> str:
    """Return the time as it is stored: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def title_of(question: str) -> str:
    """Return the title of a conversation that begins with ``question``."""
    line = " ".join(question.split())
    return line if len(line) <= 40 else f"{line[:39]}…"  # noqa: PLR2004 - a line of the sidebar
