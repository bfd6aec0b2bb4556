"""The settings of a running server: read anew when their file changes, whoever has changed it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from qiusuo.config import Settings
from qiusuo.config.writing import ConfigFile, Mark
from qiusuo.errors import ConfigurationError
from qiusuo.loops import PerLoop

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0

Renew = Callable[[Settings], Awaitable[None]]


class LiveSettings:
    """What endpoints read; ``renew`` makes everybody obey new settings, and ``watch`` does when the file changes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.problem: ConfigurationError | None = None
        """Why the file as it stands cannot be used; the settings before it are kept."""
        self._obeying: list[Renew] = []
        self._mark: Mark | None = None
        self._turns: PerLoop[asyncio.Lock] = PerLoop(asyncio.Lock)

    @property
    def file(self) -> ConfigFile:
        """The file that is read and written."""
        return ConfigFile.of_user(self.settings.named_file)

    def on_renewal(self, renew: Renew) -> None:
        """Call something with new settings from now on, in the order in which they came."""
        self._obeying.append(renew)

    async def look(self) -> None:
        """Read the file again if it is another than the one that was read; one that is broken changes nothing."""
        async with self._turns.get():
            mark = await asyncio.to_thread(lambda: self.file.mark)
            if mark == self._mark:
                return
            try:
                settings = await asyncio.to_thread(self.settings.read_again)
            except ConfigurationError as error:
                if self.problem is None:
                    logger.warning("the changed configuration is not used: %s", error)
                self.problem, self._mark = error, mark
                return
            self.problem, self._mark = None, mark
            if _values(settings) != _values(self.settings):
                await self._renew(settings)

    async def read_again(self) -> None:
        """Read the file now, also if it seems to be the same; what is wrong with it is told again."""
        self.problem, self._mark = None, None
        await self.look()

    async def watch(self) -> None:
        """Look at the file for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except Exception:  # whatever it is, the next look may go well
                logger.exception("the configuration cannot be looked at")

    async def _renew(self, settings: Settings) -> None:
        self.settings = settings
        for renew in self._obeying:
            try:
                await renew(settings)
            except Exception:  # one part that cannot obey must not keep the others from it
                logger.exception("a part of the server does not take over new settings")
        logger.info("the settings were read anew")


def _values(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.model_fields}
