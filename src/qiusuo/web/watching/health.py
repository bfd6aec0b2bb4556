"""Whether the server can do its work: the doctor's findings, its database, and whether it is being stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from qiusuo.config import Settings
from qiusuo.doctor import startup_notices
from qiusuo.doctor.database import ANSWER_SECONDS, database_failed
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import SearchError, Unavailable
from qiusuo.models import SearchType
from qiusuo.pipeline.flights import Flights
from qiusuo.web.backend import Backend
from qiusuo.words import Fact, Language

LASTS: Final = 5.0
LOOK_SECONDS: Final = 3.0
PROBE_LASTS: Final = 1.0
"""Anybody may ask whether the server is ready; the database shall not feel it."""


class Health:
    """What is found is good for some seconds; callers who ask at the same time share one look."""

    def __init__(self, backend: Backend, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._clock = clock
        self._looks: Flights[list[Finding]] = Flights()
        self._looking: set[asyncio.Future[tuple[list[Finding], bool]]] = set()
        self._known: tuple[float, list[Finding]] | None = None
        self._probes: Flights[SearchError | None] = Flights()
        self._probed: tuple[float, SearchError | None] | None = None

    async def forget(self, _settings: Settings) -> None:
        """Look again: what was found may be mended by other settings."""
        self._known = None

    async def findings(self, language: Language = Language.ENGLISH) -> list[dict[str, Any]]:
        """Return warnings and problems of the set-up in their JSON shape, without the places of files and hosts."""
        found, database = await asyncio.gather(self._found(), self.database_problem())
        told = [*found, *([database_failed(database)] if database else [])]
        return [finding.public().to_dict(language) for finding in told]

    async def database_problem(self) -> SearchError | None:
        """Return why conversations cannot be written, None where they can or there are none."""
        if "conversations" not in self._backend.parts:
            return None
        probed = self._probed
        if probed is None or self._clock() - probed[0] > PROBE_LASTS:
            problem, _ = await self._probes.join("probe", self._probe)
            probed = self._probed = (self._clock(), problem)
        return probed[1]

    async def unready(self, *, search: bool = True) -> str:
        """Return the code of why the server shall not be sent requests, blank where it may.

        Without ``search`` engines that fail are no reason: where all servers ask the same, another one helps nobody.
        """
        if self._backend.life.stopping:
            return "stopping"
        if await self.database_problem():
            return "database"
        return "search" if search and await self.searchless() else ""

    async def searchless(self) -> bool:
        """Tell whether no engine worked when it was tried last, not even one for a single subject, such as statutes."""
        roster = self._backend.service.roster
        choices = [await roster.available(kind) for kind in SearchType]
        engines = {engine.name: engine for choice in choices for engine in choice.engines}
        return await self._backend.attempts.none_works(engines.values())

    async def webless(self) -> bool:
        """Tell whether none of the engines that search the web worked when it was tried last."""
        return await self._backend.attempts.none_works((await self._backend.service.roster.available()).engines)

    async def _found(self) -> list[Finding]:
        known = self._known
        if known is not None and self._clock() - known[0] <= LASTS:
            return known[1]
        # Whatever hangs goes on by itself: whoever watches the server hears in time what is known.
        look = asyncio.ensure_future(self._looks.join("findings", self._look))
        self._looking.add(look)
        look.add_done_callback(self._looking.discard)
        done, _ = await asyncio.wait({look}, timeout=LOOK_SECONDS)
        if done:
            return look.result()[0]
        late = Finding(
            "check.failed", Level.WARNING, {"name": "health", "reason": Fact("check.late", seconds=LOOK_SECONDS)}
        )
        return [*(known[1] if known else ()), late]

    async def _look(self) -> list[Finding]:
        # Its own connection to the database knows better than a look from outside.
        own = ("database",) if "conversations" in self._backend.parts else ()
        found = list(await startup_notices(self._backend.settings, self._backend.service, leave_out=own))
        self._known = (self._clock(), found)
        return found

    async def _probe(self) -> SearchError | None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._backend.parts["conversations"].store.probe()
        except TimeoutError:
            return Unavailable(Fact("web.database_silent", seconds=ANSWER_SECONDS))
        except SearchError as error:
            return error
        return None
