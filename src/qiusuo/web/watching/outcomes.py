"""What the last attempts at engines have shown, and whether one that has failed works again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from qiusuo.engines.base import SearchEngine
from qiusuo.errors import SearchError
from qiusuo.models import Attempt, Outcome
from qiusuo.pipeline.flights import Flights
from qiusuo.pipeline.observe import SearchObserver

logger = logging.getLogger(__name__)

FAILED_FOR: Final = 60.0
"""Seconds for which a failure speaks against an engine that cannot be probed: only a search can show that it works
again, and a server that is not ready is sent none."""
PROBE_SECONDS: Final = 1.5
PROBE_EVERY: Final = 5.0
_WORKED: Final = frozenset({Outcome.OK, Outcome.EMPTY})


@dataclass(frozen=True, slots=True)
class LastAttempt:
    """How the last attempt at an engine ended; ``failures`` counts those in a row."""

    outcome: Outcome
    problem: SearchError | None
    at: float
    failures: int = 0

    @property
    def worked(self) -> bool:
        return self.outcome in _WORKED

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        code = self.problem.fact.code if self.problem else ""
        at = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="seconds")
        return {"outcome": self.outcome.value, "code": code, "at": at, "failures": self.failures}


class LastAttempts(SearchObserver):
    """Remembers the last attempt at each engine."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._last: dict[str, LastAttempt] = {}
        self._probed: dict[str, float] = {}
        self._probes: Flights[bool] = Flights()

    def attempt_ended(self, attempt: Attempt) -> None:
        fact = attempt.fact
        # One that was not asked, or only slower than another, has shown nothing.
        if attempt.skipped or (fact and fact.code == "search.overtaken"):
            return
        fix = attempt.remedy or ""
        problem = SearchError(fact, engine=attempt.engine, fix=fix, commands=attempt.commands) if fact else None
        self._keep(attempt.engine, attempt.outcome, problem)

    def of(self, engine: str) -> LastAttempt | None:
        """Return the last attempt at an engine, None where there was none."""
        return self._last.get(engine)

    async def none_works(self, engines: Iterable[SearchEngine]) -> bool:
        """Tell whether all of these engines failed when they were tried last, and still do.

        One that was not tried yet may work. One that can be asked for free is asked, so that a server which gets no
        searches because it is not ready learns when the engine is back.
        """
        failed = []
        for engine in engines:
            last = self.of(engine.name)
            if last is None or last.worked:
                return False
            failed.append((engine, last))
        if not failed:
            return False
        works = await asyncio.gather(*(self._works_again(engine, last) for engine, last in failed))
        return not any(works)

    async def _works_again(self, engine: SearchEngine, last: LastAttempt) -> bool:
        if type(engine).probe is SearchEngine.probe:
            return self._clock() - last.at > FAILED_FOR
        if self._clock() - self._probed.get(engine.name, 0.0) < PROBE_EVERY:
            return False
        works, _ = await self._probes.join(engine.name, lambda: self._probe(engine))
        return works

    async def _probe(self, engine: SearchEngine) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await engine.probe()
        except SearchError as error:
            self._keep(engine.name, error.outcome, error)
        except TimeoutError:
            late = engine.too_late(PROBE_SECONDS)  # as a search would name it
            self._keep(engine.name, late.outcome, late)
        except Exception:  # an engine may be anybody's plug-in
            logger.exception("the probe of %s failed", engine.name)
        else:
            self._keep(engine.name, Outcome.OK, None)
            return True
        self._probed[engine.name] = self._clock()
        return False

    def _keep(self, engine: str, outcome: Outcome, problem: SearchError | None) -> None:
        before = self._last.get(engine)
        failures = 0 if outcome in _WORKED else (before.failures if before else 0) + 1
        self._last[engine] = LastAttempt(outcome, problem, self._clock(), failures)
