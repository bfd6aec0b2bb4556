"""The doctor's findings for ``/api/health``, looked up at most every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from qiusuo.config import Settings
from qiusuo.doctor import startup_notices
from qiusuo.doctor.findings import Finding
from qiusuo.pipeline.flights import Flights
from qiusuo.service import SearchService

LASTS: Final = 5.0


class Findings:
    """Warnings and problems of the set-up; callers who ask at the same time share one look."""

    def __init__(
        self, settings: Settings, service: SearchService, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._service = service
        self._clock = clock
        self._looks: Flights[list[Finding]] = Flights()
        self._known: tuple[float, list[Finding]] | None = None

    async def current(self, *, chinese: bool = False) -> list[dict[str, Any]]:
        """Return the findings in their JSON shape."""
        known = self._known
        if known is None or self._clock() - known[0] > LASTS:
            found, _ = await self._looks.join("findings", self._look)
            known = self._known = (self._clock(), found)
        return [finding.to_dict(chinese=chinese) for finding in known[1]]

    async def _look(self) -> list[Finding]:
        return list(await startup_notices(self._settings, self._service))
