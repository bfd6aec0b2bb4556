"""What happens in one turn of a conversation, as typed events.

The terminal, the page and the OpenAI-compatible endpoint consume the same stream. Its order: one ``TurnStarted``; then
``Status``, ``Round``, ``Sources``, ``Reading``, ``Research``, ``ModelTaken``, ``Notice``, ``Delta`` and ``Retraction``
as they happen; at the end ``Check``, ``Related``, ``Usage`` and always one ``Done``, whatever went wrong.
:func:`qiusuo.chat.events.folding.fold` puts the events together to what is kept of a turn.

Events hold facts; their JSON has these and, told in a language, the words.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, Final

from qiusuo.chat.events.base import Event, camel, plain
from qiusuo.chat.events.notice import Notice, is_known
from qiusuo.chat.events.page_reads import PageRead, PageState, Reading
from qiusuo.chat.events.progress import Research, ResearchStage
from qiusuo.models import Attempt
from qiusuo.text import detect_language
from qiusuo.words import Fact, Language, language_of, said
from qiusuo.words.ago import ago

__all__ = [
    "SERVER_RESTART",
    "SERVER_STOPPING",
    "Check",
    "Delta",
    "Done",
    "Event",
    "ModelTaken",
    "Notice",
    "PageRead",
    "PageState",
    "Reading",
    "Related",
    "Research",
    "Retraction",
    "Round",
    "RoundState",
    "Source",
    "Sources",
    "Stage",
    "Status",
    "TurnRecord",
    "TurnStarted",
    "TurnState",
    "Usage",
]

SEARCH_FILES: Final = "search_files"
"""The kind of a round that looks into files of the conversation: nobody is asked for it."""
RESEARCH: Final = "research"
"""What the mode of a turn is called that is a research."""
SERVER_STOPPING: Final = "server_stopping"
"""How a turn has finished that was broken off because the server stopped."""
SERVER_RESTART: Final = "server_restart"
"""How a turn has finished whose server was gone before it could end it."""


class Stage(StrEnum):
    """What the turn is busy with."""

    SEARCHING = "searching"
    READING = "reading"
    THINKING = "thinking"
    ANSWERING = "answering"


class RoundState(StrEnum):
    """How a search stands."""

    RUNNING = "running"
    DONE = "done"
    EMPTY = "empty"
    FAILED = "failed"


class TurnState(StrEnum):
    """How a turn ended, or that it has not yet."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """The turn has begun; ``search`` tells whether it may search at all, ``scope`` what its searches are kept to.

    The scope is that of :class:`qiusuo.chat.focus.Scope` in its JSON shape, None where all of the web is searched.
    ``called`` is the name of a further model.
    """

    type: ClassVar[str] = "turn"
    id: str
    question: str
    mode: str
    model: str
    search: bool
    created_at: str
    scope: dict[str, Any] | None = None
    called: str = ""


@dataclass(frozen=True, slots=True)
class ModelTaken(Event):
    """Another model than the one that the turn began with answers: the first has failed."""

    type: ClassVar[str] = "model"
    model: str
    called: str = ""


@dataclass(frozen=True, slots=True)
class Status(Event):
    """What the turn is doing now, for a status line."""

    type: ClassVar[str] = "status"
    stage: Stage
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Round(Event):
    """One search or page read, first as running, then once more with how it ended.

    ``kind`` is the tool: ``web_search``, ``fetch_page``, one of a plug-in, or ``native``. ``query`` is the address of
    a page. ``numbers`` are those of its sources, ``attempts`` is the receipt, ``fact`` tells why it failed (``reason``
    the same in English). ``asked`` are the reader's own words where something else was searched for. ``age`` is how
    many seconds ago a cached search was made, where that is known.
    """

    type: ClassVar[str] = "round"
    number: int
    kind: str
    query: str
    state: RoundState
    engine: str = ""
    engine_label: str = ""
    found: int = 0
    numbers: tuple[int, ...] = ()
    ms: int = 0
    cached: bool = False
    stale: bool = False
    age: int | None = None
    asked: str = ""
    attempts: tuple[Attempt, ...] = ()
    fact: Fact | None = None

    @property
    def reason(self) -> str:
        """Why it failed, in English."""
        return self.why()

    def why(self, language: Language = Language.ENGLISH) -> str:
        """Return why it failed."""
        return self.fact.text(language) if self.fact else ""

    def ago(self, language: Language = Language.ENGLISH) -> str:
        """Return how long ago the search was made; empty where it is new, or nobody knows."""
        return ago(self.age).text(language) if self.age is not None else ""

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the round in its JSON shape: facts for programs, and words in a language."""
        data = Event.to_dict(self, language)
        del data["fact"]
        data["attempts"] = [attempt.to_dict(language) for attempt in self.attempts]
        words = {"reason": self.why(language), "ago": self.ago(language)}
        return data | words | (self.fact.to_dict() if self.fact else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Round:
        """Rebuild a round from ``to_dict``; a reason without a code is taken as somebody's own words."""
        known: dict[str, Any] = {
            each.name: data[camel(each.name)]
            for each in fields(cls)
            if each.name != "fact" and camel(each.name) in data
        }
        known["state"] = RoundState(data["state"])
        known["numbers"] = tuple(data.get("numbers", ()))
        known["attempts"] = tuple(map(Attempt.from_dict, data.get("attempts", ())))
        fact = Fact.from_dict(data) if "code" in data else None
        words = said(data.get("reason", ""))
        return cls(**known, fact=fact if fact and is_known(fact) else words or None)


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered source. ``card`` is what a page shows in the place of the snippet, where there is more to show.

    ``passages`` are what the answer was given of a page that was read; ``weak``: it hardly touches the question.
    """

    number: int
    title: str
    url: str
    domain: str
    snippet: str = ""
    round: int = 1
    published_at: str | None = None
    engines: tuple[str, ...] = ()
    page_read: bool = False
    passages: tuple[str, ...] = ()
    weak: bool = False
    card: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the source in its JSON shape."""
        return {camel(each.name): plain(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Sources(Event):
    """Sources that are new, or known better by now (the page was read); the same number replaces."""

    type: ClassVar[str] = "sources"
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Delta(Event):
    """The next piece of the answer: Markdown whose citations are links already (``[[1]](https://…)``)."""

    type: ClassVar[str] = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class Retraction(Event):
    """Pieces of the answer turned out to be a thought of the model: ``answer`` is what stays of it so far."""

    type: ClassVar[str] = "retraction"
    answer: str


@dataclass(frozen=True, slots=True)
class Check(Event):
    """Which cited sentences their sources bear out; ``report`` is that of :func:`qiusuo.citations.check_support`."""

    type: ClassVar[str] = "check"
    report: dict[str, Any]
    added: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Usage(Event):
    """What the turn took. Times are milliseconds; tokens are None where the model does not tell."""

    type: ClassVar[str] = "usage"
    input_tokens: int | None = None
    output_tokens: int | None = None
    searches: int = 0
    search_ms: int = 0
    first_token_ms: int | None = None
    total_ms: int = 0


@dataclass(frozen=True, slots=True)
class Related(Event):
    """What may be asked next: words of the model, or of what was found. Data, shown as text."""

    type: ClassVar[str] = "related"
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done(Event):
    """The end of the turn. ``answer`` is the whole Markdown (replaces the pieces), ``references`` the list below it.

    ``cited`` are the numbers the answer cites; ``finish`` tells why the model stopped (``stop``, ``length``, …).
    """

    type: ClassVar[str] = "done"
    state: TurnState
    answer: str
    references: str = ""
    cited: tuple[int, ...] = ()
    finish: str = "stop"


@dataclass(slots=True)
class TurnRecord:
    """What is kept of a turn: the sum of its events, told in ``language`` (if none is given, that of the question).

    ``kept`` is what an unfinished research needs to go on; no reader is sent it.
    """

    id: str
    question: str
    mode: str = "chat"
    model: str = ""
    search: bool = False
    created_at: str = ""
    state: TurnState = TurnState.RUNNING
    stage: Stage | None = None
    answer: str = ""
    references: str = ""
    cited: tuple[int, ...] = ()
    finish: str = ""
    rounds: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    readings: list[dict[str, Any]] = field(default_factory=list)
    notices: list[dict[str, Any]] = field(default_factory=list)
    check: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    language: str = ""
    research: dict[str, Any] | None = None
    scope: dict[str, Any] | None = None
    kept: dict[str, Any] | None = None
    related: tuple[str, ...] = ()
    called: str = ""

    @property
    def can_go_on(self) -> bool:
        """Whether this is a research that has ended before it was finished."""
        if self.state is TurnState.RUNNING or self.mode != RESEARCH:
            return False
        return self.research is None or self.research["stage"] != ResearchStage.DONE

    @property
    def died(self) -> bool:
        """Whether its server was gone before it could end it."""
        return self.finish == SERVER_RESTART

    def __post_init__(self) -> None:
        self.language = self.language or language_of(detect_language(self.question)).value

    def to_dict(self) -> dict[str, Any]:
        """Return the record in its JSON shape."""
        return {camel(each.name): plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TurnRecord:
        """Rebuild a record from ``to_dict``; fields of later versions are left out."""
        values = {each.name: data[camel(each.name)] for each in fields(cls) if camel(each.name) in data}
        values["state"] = TurnState(values.get("state", TurnState.DONE))
        values["stage"] = Stage(values["stage"]) if values.get("stage") else None
        values["cited"] = tuple(values.get("cited", ()))
        values["related"] = tuple(values.get("related", ()))
        return cls(**values)
