"""What packages add to Qiusuo: engines, tools, commands, routes, checks, recognisers of questions, kinds of details.

A package names its :class:`Plugin` in the entry-point group ``qiusuo.plugins``. Its parts are named as
``"package.module:name"`` and loaded when they are first used, so that having a plug-in costs nothing where it is not
needed. One that cannot be loaded is logged and left out; ``qiusuo doctor`` tells of it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from reprlib import repr as shortened
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from qiusuo.details import Details, PlainDetails
from qiusuo.logs import in_short, log_fault
from qiusuo.models import SearchType
from qiusuo.words import Fact, said

logger = logging.getLogger(__name__)

GROUP: Final = "qiusuo.plugins"
ENGINES_GROUP: Final = "qiusuo.engines"
"""The group of packages that bring an engine and nothing else; it still counts."""

Made = TypeVar("Made")
Piece = str | Callable[..., Any]
"""A piece of a plug-in: ``"package.module:name"``, or the thing itself."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """How a question that a plug-in knows is searched for."""

    search_type: SearchType = SearchType.GENERAL
    tool: str = ""
    """The tool that answers it in agent mode, and what it is given beside the query."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    wanted: int = 0
    """How many results answer it; 0: as many as usual."""
    names_results: bool = False
    """It names what it wants one by one, so that all of it belongs into the answer."""


@dataclass(frozen=True, slots=True)
class Focus:
    """A kind of search to which a reader may keep a conversation: its name in commands, what readers are shown."""

    name: str
    search_type: SearchType
    label: Fact


class Beside(Protocol):
    """Work of a plug-in that goes on while a server, or a conversation in a terminal, does."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None: ...

    def status(self) -> Fact | None:
        """Return how far it is, in a few words; None where there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a package brings.

    Attributes:
        name: Its name, for logs and the doctor.
        engines: Classes of :class:`~qiusuo.SearchEngine`.
        details: Classes of :class:`~qiusuo.details.Details` that its engines give their results; they also make cards.
        recognisers: ``(question) -> Recognised | None``.
        focuses: What conversations may be kept to, beside the web and the news.
        tools: ``(service) -> sequence of ToolSpec``, called once for each chat or MCP server.
        commands: Typer apps, each a group of commands under its own name, or functions, each a command.
        routes: ``(backend) -> sequence of APIRouter``, called once for each server.
        checks: By name, ``async (context) -> list of Finding``.
        beside: ``(settings) -> Beside``: work in the background, begun with each server and each conversation in a
            terminal and ended with it.
    """

    name: str
    engines: tuple[Piece, ...] = ()
    details: tuple[Piece, ...] = ()
    recognisers: tuple[Piece, ...] = ()
    focuses: tuple[Focus, ...] = ()
    tools: tuple[Piece, ...] = ()
    commands: Mapping[str, Piece] = field(default_factory=dict)
    routes: tuple[Piece, ...] = ()
    checks: Mapping[str, Piece] = field(default_factory=dict)
    beside: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is easily written instead: a piece where a tuple of pieces is wanted."""
        for each in fields(self):
            value, named = getattr(self, each.name), each.name in {"commands", "checks"}
            if each.name != "name" and (isinstance(value, str) or isinstance(value, Mapping) is not named):
                raise TypeError(f"{each.name} wants a {'dict' if named else 'tuple'}, not {value!r}")

    @property
    def always_used(self) -> tuple[Piece, ...]:
        """The parts that every installation uses."""
        return (*self.engines, *self.details, *self.recognisers, *self.checks.values())

    @property
    def surfaces(self) -> tuple[Piece, ...]:
        """The parts that belong to a chat, a terminal or a server, which need not be installed."""
        return (*self.tools, *self.commands.values(), *self.routes, *self.beside)


@dataclass(frozen=True, slots=True)
class Broken:
    """A plug-in, or a piece of one, that cannot be loaded."""

    plugin: str
    part: str
    reason: Fact

    @property
    def fact(self) -> Fact:
        """What cannot be loaded and why, as people are told it."""
        return Fact("plugin.failed", name=self.plugin, part=self.part, message=self.reason)


def installed() -> tuple[Plugin, ...]:
    """Return the plug-ins of this installation."""
    return _found(tuple(sys.path))[0]


def package_of(plugin: str) -> str:
    """Return the name under which the package that brings a plug-in is installed; empty where nobody says it."""
    return _found(tuple(sys.path))[2].get(plugin, "")


def broken(*, surfaces: bool = False) -> tuple[Broken, ...]:
    """Return what cannot be loaded.

    Of what belongs to a chat, a terminal or a server only that it is there is looked at, unless ``surfaces`` are to be
    loaded too; a package that is not installed here (an extra of ours, say) is then no fault of theirs.
    """
    faults = [_load(plugin.name, part) for plugin in installed() for part in plugin.always_used]
    for plugin in installed():
        parts = [part for part in plugin.surfaces if not surfaces or _has_what_it_needs(part)]
        faults += [_load(plugin.name, part) if surfaces else _look_for(plugin.name, part) for part in parts]
    return (*_found(tuple(sys.path))[1], *(fault for fault in faults if isinstance(fault, Broken)), *_failing.values())


def clashes() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names of commands and checks that several plug-ins bring, with the plug-ins; the first one has it."""
    who: dict[str, list[str]] = {}
    for plugin in installed():
        for name in (*(f"qiusuo {name}" for name in plugin.commands), *plugin.checks):
            who.setdefault(name, []).append(plugin.name)
    return tuple((name, tuple(several)) for name, several in who.items() if len(several) > 1)


def load(plugin: Plugin, part: Piece) -> Any:
    """Return a piece of a plug-in; None where it cannot be loaded, which is logged once."""
    found = load_or_tell(plugin, part)
    return None if isinstance(found, Broken) else found


def load_or_tell(plugin: Plugin, part: Piece) -> Any:
    """Return a piece of a plug-in, or what keeps it from being loaded."""
    return _load(plugin.name, part)


def make(plugin: Plugin, part: Piece, given: object, kind: type[Made]) -> list[Made]:
    """Return what a piece makes (tools, routes); nothing where it fails or makes something else.

    That is logged in a line, and told by the doctor of this process.
    """
    maker = load(plugin, part)
    if maker is None:
        return []
    try:
        found = maker(given)
        made = list(found) if isinstance(found, Iterable) and not isinstance(found, str) else None
    except Exception as error:  # noqa: BLE001 - somebody else's fault must not take the rest away
        _fails(plugin, part, said(in_short(error)), error)
        return []
    if made is None or not all(isinstance(one, kind) for one in made):
        _fails(plugin, part, Fact("plugin.made_other", value=shortened(found), wanted=f"list[{kind.__name__}]"))
        return []
    _failing.pop((plugin.name, _named(part)), None)
    return made


def engines() -> Iterator[tuple[Plugin, Any]]:
    """Yield what the plug-ins bring as engines."""
    for plugin in installed():
        yield from ((plugin, found) for part in plugin.engines if (found := load(plugin, part)) is not None)


def recognise(question: str) -> Recognised | None:
    """Ask the plug-ins whose question this is; None: nobody's, it is searched for as any other."""
    for plugin in installed():
        for part in plugin.recognisers:
            recogniser = load(plugin, part)
            try:
                known: Recognised | None = recogniser(question) if recogniser is not None else None
                if not isinstance(known, Recognised | None):
                    raise TypeError(f"{part} returned {known!r}, which is no Recognised")  # noqa: TRY301 - told below
            except Exception as error:  # noqa: BLE001 - somebody else's must not keep a question from being answered
                log_fault(logger, "the plug-in %r failed at a question", plugin.name, error=error)
                continue
            if known is not None:
                return known
    return None


@contextmanager
def beside(settings: Any) -> Iterator[tuple[Beside, ...]]:
    """Let the plug-ins work in the background meanwhile; what they do is their own concern, also if it fails."""
    begun: list[Beside] = []
    with ExitStack() as stack:
        for plugin in installed():
            for part in plugin.beside:
                make = load(plugin, part)
                try:
                    if make is not None:
                        work: Beside = make(settings)
                        stack.enter_context(work)
                        begun.append(work)
                except Exception as error:  # noqa: BLE001 - somebody else's must not keep a server from starting
                    _fails(plugin, part, said(in_short(error)), error)
        yield tuple(begun)


def read_details(data: Mapping[str, Any]) -> Details | None:
    """Rebuild the details of a result from JSON: plain ones where nobody knows the kind, None where they do not fit."""
    kind = data.get("kind")
    if not isinstance(kind, str):
        return None
    for plugin in installed():
        for part in plugin.details:
            found = load(plugin, part)
            if found is not None and found.kind == kind:
                try:
                    read: Details = found.from_dict(data)
                except (KeyError, TypeError, ValueError):
                    return None
                return read
    return PlainDetails(kind, data)


@cache
def _found(_path: tuple[str, ...]) -> tuple[tuple[Plugin, ...], tuple[Broken, ...], Mapping[str, str]]:
    """Read the entry points; the path is what they depend on."""
    plugins: list[Plugin] = []
    faults: list[Broken] = []
    packages: dict[str, str] = {}
    entries = entry_points()  # once: it reads the metadata of every package
    for entry in entries.select(group=GROUP):
        found = _plugin(entry)
        (plugins if isinstance(found, Plugin) else faults).append(found)  # type: ignore[arg-type]
        if isinstance(found, Plugin) and entry.dist is not None:
            packages.setdefault(found.name, entry.dist.name)
    for entry in entries.select(group=ENGINES_GROUP):
        plugins.append(Plugin(entry.name, engines=(entry.value,)))
        if entry.dist is not None:
            packages.setdefault(entry.name, entry.dist.name)
    return tuple(plugins), tuple(faults), packages


def _plugin(entry: EntryPoint) -> Plugin | Broken:
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - no fault of somebody's package takes the program down
        return _left_out(Broken(entry.name, entry.value, said(in_short(error))))
    if isinstance(found, Plugin):
        return found
    if inspect.isclass(found):  # an engine alone
        return Plugin(entry.name, engines=(found,))
    return _left_out(Broken(entry.name, entry.value, Fact("plugin.no_plugin")))


@cache
def _load(plugin: str, part: Piece) -> Any:
    if not isinstance(part, str):
        return _piece(part, Broken(plugin, repr(part), Fact("plugin.no_piece")))
    module, _, name = part.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for step in name.split(".") if name else ():
            found = getattr(found, step)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        return _left_out(Broken(plugin, part, said(in_short(error))))
    return _piece(found, Broken(plugin, part, Fact("plugin.no_piece")))


def _piece(found: object, otherwise: Broken) -> object:
    return found if callable(found) else _left_out(otherwise)


def _left_out(fault: Broken) -> Broken:
    # In one line: this is said at every start, often before anybody could say how much is to be logged.
    logger.error(
        "%s of the plug-in %r cannot be loaded and is left out: %s", fault.part, fault.plugin, str(fault.reason)
    )
    return fault


_failing: Final[dict[tuple[str, str], Broken]] = {}
"""What could be loaded and did not work, when it was last used here."""


def _fails(plugin: Plugin, part: Piece, reason: Fact, error: Exception | None = None) -> None:
    fault = Broken(plugin.name, _named(part), reason)
    _failing[plugin.name, fault.part] = fault
    trace = error if logger.isEnabledFor(logging.INFO) else None
    logger.error(
        "%s of the plug-in %r does not work and is left out: %s", fault.part, fault.plugin, str(reason), exc_info=trace
    )


def _named(part: Piece) -> str:
    return part if isinstance(part, str) else f"{part.__module__}:{getattr(part, '__qualname__', shortened(part))}"


def _look_for(plugin: str, part: Piece) -> Broken | None:
    try:
        missing = isinstance(part, str) and importlib.util.find_spec(part.partition(":")[0]) is None
    except Exception as error:  # noqa: BLE001 - whatever the package above it does when it is imported
        return Broken(plugin, str(part), said(in_short(error)))
    return Broken(plugin, str(part), Fact("plugin.no_module")) if missing else None


def _has_what_it_needs(part: Piece) -> bool:
    """Tell whether a module fails for no want of a package of somebody else's."""
    module = part.partition(":")[0] if isinstance(part, str) else ""
    try:
        importlib.import_module(module or __name__)
    except ModuleNotFoundError as error:
        return (error.name or "").partition(".")[0] == module.partition(".")[0]
    except (Exception, SystemExit):  # noqa: BLE001 - told by those who load it
        return True
    return True
