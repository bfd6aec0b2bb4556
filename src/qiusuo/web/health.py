"""Whether the server can do its work: the doctor's findings, its database, and whether it is being stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from qiusuo.doctor import startup_notices
from qiusuo.doctor.database import ANSWER_SECONDS, database_failed
from qiusuo.doctor.findings import Finding
from qiusuo.errors import SearchError, Unavailable
from qiusuo.pipeline.flights import Flights
from qiusuo.web.backend import Backend
from qiusuo.words import Fact, Language

LASTS: Final = 5.0
PROBE_LASTS: Final = 1.0
"""Anybody may ask whether the server is ready; the database shall not feel it."""


class Health:
    """What is found is good for some seconds; callers who ask at the same time share one look."""

    def __init__(self, backend: Backend, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._clock = clock
        self._looks: Flights[list[Finding]] = Flights()
        self._known: tuple[float, list[Finding]] | None = None
        self._probes: Flights[SearchError | None] = Flights()
        self._probed: tuple[float, SearchError | None] | None = None

    async def findings(self, language: Language = Language.ENGLISH) -> list[dict[str, Any]]:
        """Return warnings and problems of the set-up in their JSON shape, without the places of files and hosts."""
        known = self._known
        if known is None or self._clock() - known[0] > LASTS:
            found, _ = await self._looks.join("findings", self._look)
            known = self._known = (self._clock(), found)
        database = await self.database_problem()
        found = known[1]
        if "conversations" in self._backend.parts:  # its own connection knows better than a look from outside
            found = [finding for finding in found if not finding.code.startswith("database.")]
            found += [database_failed(database)] if database else []
        return [finding.public().to_dict(language) for finding in found]

    async def database_problem(self) -> SearchError | None:
        """Return why conversations cannot be written, None where they can or there are none."""
        if "conversations" not in self._backend.parts:
            return None
        probed = self._probed
        if probed is None or self._clock() - probed[0] > PROBE_LASTS:
            problem, _ = await self._probes.join("probe", self._probe)
            probed = self._probed = (self._clock(), problem)
        return probed[1]

    async def unready(self) -> str:
        """Return the code of why the server shall not be sent requests, blank where it may."""
        if self._backend.life.stopping:
            return "stopping"
        return "database" if await self.database_problem() else ""

    async def _look(self) -> list[Finding]:
        return list(await startup_notices(self._backend.settings, self._backend.service))

    async def _probe(self) -> SearchError | None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._backend.parts["conversations"].store.probe()
        except TimeoutError:
            return Unavailable(Fact("web.database_silent", seconds=ANSWER_SECONDS))
        except SearchError as error:
            return error
        return None
