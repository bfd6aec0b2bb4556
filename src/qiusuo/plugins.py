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
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import TracebackType
from typing import Any, Final, Protocol

from qiusuo.details import Details, PlainDetails
from qiusuo.models import SearchType
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

GROUP: Final = "qiusuo.plugins"
ENGINES_GROUP: Final = "qiusuo.engines"
"""The group of packages that bring an engine and nothing else; it still counts."""

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
    reason: str


def installed() -> tuple[Plugin, ...]:
    """Return the plug-ins of this installation."""
    return _found(tuple(sys.path))[0]


def broken() -> tuple[Broken, ...]:
    """Return what cannot be loaded; of what may need more than is installed here only that it is there is looked at."""
    faults = [_load(plugin.name, part) for plugin in installed() for part in plugin.always_used]
    faults += [_look_for(plugin.name, part) for plugin in installed() for part in plugin.surfaces]
    return (*_found(tuple(sys.path))[1], *(fault for fault in faults if isinstance(fault, Broken)))


def load(plugin: Plugin, part: Piece) -> Any:
    """Return a piece of a plug-in; None where it cannot be loaded, which is logged once."""
    found = _load(plugin.name, part)
    return None if isinstance(found, Broken) else found


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
            except Exception:  # somebody else's fault must not keep a question from being answered
                logger.exception("the plug-in %r failed at a question", plugin.name)
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
                except Exception:  # somebody else's fault must not keep a server from starting
                    logger.exception("the plug-in %r cannot work in the background", plugin.name)
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
def _found(_path: tuple[str, ...]) -> tuple[tuple[Plugin, ...], tuple[Broken, ...]]:
    """Read the entry points; the path is what they depend on."""
    plugins: list[Plugin] = []
    faults: list[Broken] = []
    entries = entry_points()  # once: it reads the metadata of every package
    for entry in entries.select(group=GROUP):
        found = _plugin(entry)
        (plugins if isinstance(found, Plugin) else faults).append(found)  # type: ignore[arg-type]
    plugins += [Plugin(entry.name, engines=(entry.value,)) for entry in entries.select(group=ENGINES_GROUP)]
    return tuple(plugins), tuple(faults)


def _plugin(entry: EntryPoint) -> Plugin | Broken:
    try:
        found = entry.load()
    except Exception as error:  # any fault of somebody else's package must not take the program down
        logger.exception("the plug-in %r (%s) cannot be loaded and is left out", entry.name, entry.value)
        return Broken(entry.name, entry.value, _told(error))
    if isinstance(found, Plugin):
        return found
    if inspect.isclass(found):  # an engine alone
        return Plugin(entry.name, engines=(found,))
    logger.error("the plug-in %r (%s) is no Plugin and is left out", entry.name, entry.value)
    return Broken(entry.name, entry.value, "it is no Plugin")


@cache
def _load(plugin: str, part: Piece) -> Any:
    if not isinstance(part, str):
        return part
    module, _, name = part.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for step in name.split(".") if name else ():
            found = getattr(found, step)
    except Exception as error:  # as above
        logger.exception("%s of the plug-in %r cannot be loaded and is left out", part, plugin)
        return Broken(plugin, part, _told(error))
    return found


def _look_for(plugin: str, part: Piece) -> Broken | None:
    try:
        missing = isinstance(part, str) and importlib.util.find_spec(part.partition(":")[0]) is None
    except Exception as error:  # noqa: BLE001 - whatever the package above it does when it is imported
        return Broken(plugin, str(part), _told(error))
    return Broken(plugin, str(part), "there is no such module") if missing else None


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
