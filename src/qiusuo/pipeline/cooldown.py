"""The breaker: an engine that fails is left alone for a while, longer each time, until it answers again."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import orjson

from qiusuo.errors import RequestRejected, SearchError
from qiusuo.models import Outcome
from qiusuo.pipeline.stored import MAX_REST_BYTES, read_rest
from qiusuo.storage.redis import PREFIX, SharedState, SharedStateGone
from qiusuo.words import Fact

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """After how many failures in a row an engine rests, for how long at first, and at most."""

    failures: int
    first: float
    longest: float


_PATIENT = Rule(3, 5, 60)
RULES: dict[Outcome, Rule] = {
    Outcome.TIMEOUT: _PATIENT,
    Outcome.UNAVAILABLE: _PATIENT,
    Outcome.BAD_RESPONSE: Rule(3, 15, 300),
    Outcome.DISABLED: Rule(1, 15, 60),
    Outcome.RATE_LIMITED: Rule(1, 10, 600),
    Outcome.BLOCKED: Rule(1, 600, 6 * 3600),
    Outcome.AUTH: Rule(1, 300, 3600),
    Outcome.QUOTA: Rule(1, 3600, 24 * 3600),
}
PROBE_SECONDS = 5.0
REMEMBERED_SECONDS = 60.0
"""For so long (or as long as the rest was) others still know of a rest that is over: one of them tries, not all."""
# Beyond every rule's longest rest; without an end the power would overflow after a thousand rests.
MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Cooling:
    """Why an engine rests and until when (seconds since the epoch)."""

    until: float
    outcome: Outcome
    fact: Fact
    remedy: Fact | None = None
    commands: tuple[str, ...] = ()
    began: float | None = None


@dataclass(slots=True)
class _Record:
    failures: int = 0
    rests: int = 0
    cooling: Cooling | None = None
    probe_until: float = 0.0
    shared: bool = False
    """Whether its rest stands, or stood, in Redis too."""


class Cooldowns:
    """The records of all engines of a service; rests are shared through Redis where there is one."""

    def __init__(self, *, shared: SharedState | None = None, clock: Callable[[], float] = time.time) -> None:
        self._shared = shared
        self._clock = clock
        self._records: dict[str, _Record] = {}

    async def refresh(self, engines: Iterable[str]) -> None:
        """Learn which engines other processes have put to rest."""
        if self._shared is None:
            return
        names = list(engines)
        try:
            # Not more of each than a rest may have, however much is there.
            found = await self._shared.ask_each([("GETRANGE", _key(name), 0, MAX_REST_BYTES) for name in names])
        except SharedStateGone:
            return
        for name, data in zip(names, found, strict=True):
            if not data:
                self._is_well(name)
                continue
            rest = read_rest(data, self._clock())
            if rest is None:
                # Written by another version, or not by us at all: as good as absent.
                self._shared.odd(f"the shared rest of {name}")
                continue
            cooling = Cooling(rest.until, rest.outcome, rest.told, rest.to_do, tuple(rest.commands), rest.began)
            record = self._record(name)
            if record.cooling is None or cooling.until > record.cooling.until:
                record.cooling = cooling
                record.rests = max(record.rests, rest.rests)
                record.shared = True

    def wake(self, engine: str, reopened: Callable[[], float | None]) -> None:
        """End the rest of a blocked engine if its provider was ``reopened`` (seconds since the epoch) since it began.

        The rest in Redis stays: other machines do not have what a person was given on this one.
        """
        cooling = self.resting(engine)
        if cooling is None or cooling.began is None or cooling.outcome is not Outcome.BLOCKED:
            return
        moment = reopened()
        if moment is not None and moment > cooling.began:
            logger.info("%s is asked again: a person has answered what it wanted", engine)
            del self._records[engine]

    def resting(self, engine: str) -> Cooling | None:
        """Return the rest that is under way, without claiming anything."""
        record = self._records.get(engine)
        cooling = record.cooling if record else None
        return cooling if cooling is not None and cooling.until > self._clock() else None

    async def admit(self, engine: str) -> Cooling | None:
        """Return None if the engine may be asked, else its rest.

        When a rest is over one caller may try, of all processes that share a Redis; the others go on without the engine
        until that one knows.
        """
        record = self._records.get(engine)
        if record is None or record.cooling is None:
            return None
        now = self._clock()
        if record.cooling.until > now:
            return record.cooling
        if record.probe_until > now:
            return replace(record.cooling, until=record.probe_until)
        record.probe_until = now + PROBE_SECONDS
        if record.shared and not await self._may_probe(engine):
            return replace(record.cooling, until=record.probe_until)
        return None

    def seconds_left(self, cooling: Cooling) -> float:
        """Return how long a rest still lasts."""
        return max(cooling.until - self._clock(), 0.0)

    async def succeeded(self, engine: str) -> None:
        """Forget all failures: the engine answered. A rest that began meanwhile goes on."""
        record = self._records.get(engine)
        if record is None or self.resting(engine) is not None:
            return
        if record.cooling is not None:
            logger.info("%s answers again", engine)
        del self._records[engine]
        if record.shared:  # the others need not try one by one
            await self._run(lambda redis: redis.delete(_key(engine)))
            await self._run(lambda redis: redis.delete(_probe_key(engine)))

    async def failed(self, engine: str, error: SearchError) -> None:
        """Count a failure and put the engine to rest when it is time."""
        rule = RULES.get(error.outcome)
        if rule is None or isinstance(error, RequestRejected):
            # The provider refused this one request; that says nothing of the next.
            self.not_asked(engine)
            return
        record = self._record(engine)
        record.failures += 1
        now = self._clock()
        if record.failures < rule.failures and error.retry_after is None:  # a provider that names a wait is obeyed
            return
        if record.cooling is not None and record.cooling.until > now:
            return
        seconds = min(rule.first * 2.0 ** min(record.rests, MOST_DOUBLINGS), rule.longest)
        if error.retry_after is not None:
            seconds = max(error.retry_after, 1.0)
        record.rests += 1
        record.probe_until = 0.0
        record.cooling = Cooling(now + seconds, error.outcome, error.fact, error.remedy, error.commands, now)
        logger.warning("%s rests for %.0f s after: %s", engine, seconds, error)
        if self._shared is not None:
            await self._publish(engine, record, seconds)

    async def forget(self, engine: str) -> None:
        """Forget all failures: the engine is set up anew, perhaps with another key or address."""
        self._records.pop(engine, None)
        await self._run(lambda redis: redis.delete(_key(engine)))

    def not_asked(self, engine: str) -> None:
        """Let another caller try an engine whose rest is over: this one has learnt nothing."""
        record = self._records.get(engine)
        if record is not None:
            record.probe_until = 0.0

    def _is_well(self, engine: str) -> None:
        """Redis knows of no rest: one that is over here was ended by another process, or is long ago."""
        record = self._records.get(engine)
        if record is not None and record.shared and self.resting(engine) is None:
            del self._records[engine]

    async def _may_probe(self, engine: str) -> bool:
        """Tell whether no other process tries just now; without Redis each tries for itself."""
        assert self._shared is not None  # noqa: S101 - the rest stood there
        milliseconds = int(PROBE_SECONDS * 1000)
        try:
            claim = await self._shared.run(lambda redis: redis.set(_probe_key(engine), b"1", nx=True, px=milliseconds))
        except SharedStateGone:
            return True
        return claim is not None

    async def _publish(self, engine: str, record: _Record, seconds: float) -> None:
        cooling = record.cooling
        assert cooling is not None  # noqa: S101 - the caller has set it
        data = orjson.dumps(
            {
                "until": cooling.until,
                "began": cooling.began,
                "outcome": cooling.outcome.value,
                "fact": cooling.fact.to_dict(),
                "remedy": cooling.remedy.to_dict() if cooling.remedy else None,
                "commands": cooling.commands,
                "rests": record.rests,
            }
        )
        kept = int((seconds + max(seconds, REMEMBERED_SECONDS)) * 1000)
        record.shared = await self._run(lambda redis: redis.set(_key(engine), data, px=kept)) is not None

    async def _run(self, operation: Callable[[Redis], Awaitable[T]]) -> T | None:
        """Do something in Redis; None where there is none, or it is away."""
        if self._shared is None:
            return None
        try:
            return await self._shared.run(operation)
        except SharedStateGone:
            return None

    def _record(self, engine: str) -> _Record:
        return self._records.setdefault(engine, _Record())


def _probe_key(engine: str) -> str:
    return f"{PREFIX}probe:{engine}"


def _key(engine: str) -> str:
    return f"{PREFIX}cooldown:{engine}"
