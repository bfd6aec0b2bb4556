"""The events of a running turn as a Redis stream: how they are written there, kept within bounds, and read again.

An entry holds some events, one behind the other; its id is the number of events up to its end. So whoever has seen so
many of them reads on behind that id, and a stream that was written anew has the same places. Every command names one
key, and all keys of a turn have the same hash tag.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from qiusuo.chat.events.base import Event
from qiusuo.chat.events.telling import told
from qiusuo.chat.events.turn import Delta, Done
from qiusuo.chat.live.running import RunningTurn
from qiusuo.storage.redis import PREFIX
from qiusuo.words import Language

MAX_ENTRIES: Final = 20_000
MAX_BYTES: Final = 4 * 1024 * 1024
"""So much of a turn is in Redis; of one that is longer the beginning is dropped."""
RUNNING_SECONDS: Final = 600
ENDED_SECONDS: Final = 60
"""So long a stream is kept after its last event."""
ENTRY_BYTES: Final = 64 * 1024
READ_ENTRIES: Final = 50
TICK_SECONDS: Final = 0.05
WRITE_TICKS: Final = 3
"""Turns are written, and orders for them taken, every so many ticks: a reader elsewhere is so far behind."""
REST_TICKS: Final = 100

ODD: Final = (AttributeError, KeyError, IndexError, TypeError, ValueError)
"""What is raised where something else stands in Redis than we write there."""

_EVENTS: Final = b"e"


def key(turn: str, what: str) -> str:
    """Return a key of a turn."""
    return f"{PREFIX}{{{turn}}}:{what}"


@dataclass(frozen=True, slots=True)
class ToldEvent(Event):
    """An event of another server in its JSON shape."""

    data: dict[str, Any]

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the event told in a language."""
        return told(self.data, language)


@dataclass(frozen=True, slots=True)
class Entry:
    """Events that stand together in a stream; ``first`` is the number of the first one."""

    first: int
    events: Sequence[Event]

    @property
    def end(self) -> int:
        """The number of the event that comes next."""
        return self.first + len(self.events)


class Publication:
    """A turn that runs here: how much of it is in its stream, and what is to be written next."""

    def __init__(self, turn: RunningTurn) -> None:
        self.turn = turn
        self.id = turn.record.id
        self._language = Language(turn.record.language)
        self._sent = 0
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self._anew = True
        self._rests = 0
        self._kept_until = 0.0

    def is_due(self, tick: int) -> bool:
        """Tell whether something is to be written now: the beginning and the end of a turn are written at once."""
        if self._rests:
            self._rests -= 1
            return False
        if self.turn.ended or self._sent == 0:
            return self._is_behind
        return self._is_behind and tick % WRITE_TICKS == 0

    @property
    def over(self) -> bool:
        """Whether the turn has ended, and all of it is written or refused."""
        return self.turn.ended and (self._rests > 0 or not self._is_behind)

    @property
    def _is_behind(self) -> bool:
        return self._anew or self._sent < len(self.turn.events)

    def write(self, pipe: Any, most: int, now: float) -> int:
        """Put what is new into a pipeline, about so many bytes at most; return how many they are."""
        stream, new = key(self.id, "events"), self._anew
        if self._anew:
            pipe.delete(stream)
            self._anew, self._sent, self._bytes, self._kept_until = False, 0, 0, 0.0
            self._sizes.clear()
        written = 0
        while self._sent < len(self.turn.events) and written < most:
            data = self._next_entry()
            written += len(data)
            self._count(len(data))
            place, room = f"{self._sent}-0", len(self._sizes)
            # Only the first one makes a stream: where the others find none, Redis has lost it.
            pipe.xadd(stream, {_EVENTS: data}, id=place, maxlen=room, approximate=False, nomkstream=not new)
            new = False
        ended = self.turn.ended and self._sent == len(self.turn.events)
        if ended or now > self._kept_until:
            pipe.expire(stream, ENDED_SECONDS if ended else RUNNING_SECONDS)
            self._kept_until = now + RUNNING_SECONDS / 10
        return written

    def written(self, results: Sequence[Any]) -> None:
        """See that all is there: what Redis has lost is written anew, what it refuses after a rest."""
        if any(isinstance(each, Exception) for each in results):
            self._anew, self._rests = True, REST_TICKS
        elif None in results:
            self._anew = True

    def lost(self) -> None:
        """Nobody knows what Redis has of the turn."""
        self._anew = True

    def _next_entry(self) -> bytes:
        events: list[bytes] = []
        size = 0
        while self._sent < len(self.turn.events) and size < ENTRY_BYTES:
            event = self.turn.events[self._sent]
            data = event.text if isinstance(event, Delta) else event.to_dict(self._language)
            events.append(orjson.dumps(data, default=str))
            size += len(events[-1])
            self._sent += 1
        return b"[%b]" % b",".join(events)

    def _count(self, size: int) -> None:
        self._sizes.append(size)
        self._bytes += size
        while len(self._sizes) > 1 and (self._bytes > MAX_BYTES or len(self._sizes) > MAX_ENTRIES):
            self._bytes -= self._sizes.popleft()


async def read_entries(redis: Any, turn: str, position: int) -> list[Entry]:
    """Return what stands in the stream of a turn from an event on; the first entry may begin before it."""
    return entries_of(await read_command(redis, turn, position))


def read_command(redis: Any, turn: str, position: int) -> Any:
    """Ask for the same, in a pipeline perhaps; :func:`entries_of` reads what comes."""
    return redis.xread({key(turn, "events"): f"{position}-0"}, count=READ_ENTRIES)


def entries_of(found: Any) -> list[Entry]:
    """Return the entries that Redis has found.

    Raises:
        Exception: it is not what we write there; :data:`ODD` has the kinds.
    """
    streams = found.values() if isinstance(found, dict) else (entries for _, entries in found or ())
    return [_entry(name, fields) for entries in streams for name, fields in _flat(entries)]


def behind(entries: Sequence[Entry], position: int) -> list[Event]:
    """Return the events of entries from one on."""
    events = [event for entry in entries for event in entry.events]
    return events[position - entries[0].first :] if entries else []


def ends(events: Sequence[Event]) -> bool:
    """Tell whether a turn ends with these events."""
    last = events[-1] if events else None
    return isinstance(last, Done) or (isinstance(last, ToldEvent) and last.data["type"] == Done.type)


def _flat(entries: Any) -> Iterator[tuple[Any, Any]]:
    for each in entries:
        # The two protocols of Redis nest what they return differently.
        if isinstance(each, list) and each and isinstance(each[0], tuple | list):
            yield from _flat(each)
        else:
            yield each[0], each[1]


def _entry(name: bytes | str, fields: dict[Any, Any]) -> Entry:
    end = int((name.decode() if isinstance(name, bytes) else name).partition("-")[0])
    data = fields[_EVENTS]
    if len(data) > 2 * MAX_BYTES:
        raise ValueError
    events = [Delta(each) if isinstance(each, str) else ToldEvent(_checked(each)) for each in orjson.loads(data)]
    return Entry(end - len(events), events)


def _checked(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise TypeError
    return data
