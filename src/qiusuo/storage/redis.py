"""Redis (or Valkey) as the memory that several processes share.

Redis is a help, never a need: when it goes away each caller falls back to what it has in its own process, one log line
says so, and another tells when it is back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError
from qiusuo.loops import PerLoop
from qiusuo.storage.patience import Patience
from qiusuo.storage.together import Command, Together
from qiusuo.words import Fact

if TYPE_CHECKING:
    from redis.asyncio import BlockingConnectionPool, Redis

logger = logging.getLogger(__name__)
T = TypeVar("T")

OPERATION_TIMEOUT = 0.5
# The first operation of a process also loads the client and connects, on a machine that may be busy starting up.
FIRST_OPERATION_TIMEOUT = 2.0
MAX_CONNECTIONS = 32
RETRY_AFTER_FAILURE = 5.0
PREFIX = "qiusuo:"
_SHOWN_CHARS = 100
_MOST_TOLD = 100


class SharedStateGone(Exception):
    """Redis did not answer; the caller uses its own process's state instead."""


class SharedState:
    """A Redis connection that knows when to leave Redis alone."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        try:
            from redis import RedisError, ResponseError  # noqa: PLC0415 - an extra
            from redis.asyncio import BlockingConnectionPool, Redis  # noqa: PLC0415 - an extra
        except ImportError:
            raise ConfigurationError(
                Fact("redis.not_installed"), commands=(install_command("qiusuo[redis]"),)
            ) from None
        address = url.replace("valkey://", "redis://", 1).replace("valkeys://", "rediss://", 1)
        try:
            BlockingConnectionPool.from_url(address)
        except ValueError:
            # Not the error's words: of an address that cannot be split they quote parts, a password's too.
            raise ConfigurationError(Fact("redis.bad_address")) from None
        self._faults: tuple[type[Exception], ...] = (RedisError, OSError, TimeoutError)
        self._refusal = ResponseError
        self._told: set[str] = set()
        self._clock = clock
        self._away_until = 0.0
        self._away = False
        self._tried = False
        # Whoever finds all connections busy waits for one instead of opening more.
        self.pools: PerLoop[BlockingConnectionPool] = PerLoop(
            lambda: BlockingConnectionPool.from_url(
                address,
                max_connections=MAX_CONNECTIONS,
                # The watch below is stricter once the first operation is over.
                timeout=FIRST_OPERATION_TIMEOUT,
                socket_timeout=FIRST_OPERATION_TIMEOUT,
                socket_connect_timeout=FIRST_OPERATION_TIMEOUT,
            ),
            self._close,
        )
        self._clients: PerLoop[Redis] = PerLoop(lambda: Redis(connection_pool=self.pools.get()))
        self._together: PerLoop[Together] = PerLoop(lambda: Together(self._clients.get()))

    @property
    def away(self) -> bool:
        """Whether Redis has failed a moment ago and is left alone."""
        return self._clock() < self._away_until

    async def ask(self, *command: str | bytes | int) -> Any:
        """Return what Redis answers to a short command, which travels together with those of other callers.

        Raises:
            SharedStateGone: Redis failed, now or a moment ago, or has something else under that key.
        """
        (answer,) = await self._ask([command])
        if isinstance(answer, Exception):
            raise SharedStateGone
        return answer

    async def ask_each(self, commands: Sequence[Command]) -> list[Any]:
        """Return what Redis answers to several commands, None for those that it refuses.

        Raises:
            SharedStateGone: Redis failed, now or a moment ago.
        """
        return [None if isinstance(answer, Exception) else answer for answer in await self._ask(commands)]

    async def _ask(self, commands: Sequence[Command]) -> list[Any]:
        answers = await self.guard(lambda: self._together.get().ask(commands))
        for answer in answers:
            if isinstance(answer, Exception):
                self._tell_refusal(answer)
        return answers

    async def run(self, operation: Callable[[Redis], Awaitable[T]]) -> T:
        """Run one operation.

        Raises:
            SharedStateGone: Redis failed, now or a moment ago.
        """
        return await self.guard(lambda: operation(self._clients.get()))

    async def guard(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Run anything that talks to this Redis under the same watch (the limits library has its own connection)."""
        if self.away:
            raise SharedStateGone
        patience = OPERATION_TIMEOUT if self._tried else FIRST_OPERATION_TIMEOUT
        try:
            async with Patience(patience):
                value = await operation()
        except self._refusal as error:
            self._tell_refusal(error)
            raise SharedStateGone from None
        except self._faults as error:
            self._away_until = self._clock() + RETRY_AFTER_FAILURE
            if not self._away:
                self._away = True
                logger.warning(
                    "Redis is away (%s): this process goes on with its own cache and limits", type(error).__name__
                )
            raise SharedStateGone from None
        finally:
            self._tried = True
        if self._away:
            self._away = False
            logger.warning("Redis is back: cache and limits are shared again")
        return value

    def odd(self, what: str) -> None:
        """Tell, once, that something in Redis is not what we write there."""
        self._tell_once(f"{what} cannot be read and is ignored")

    def _tell_refusal(self, error: Exception) -> None:
        # It is there, but not with what was asked for: a key of another kind, no rights, a full memory.
        self._tell_once(f"Redis refuses ({str(error)[:_SHOWN_CHARS]})")

    def _tell_once(self, text: str) -> None:
        # A bound, since some of the words are Redis' own.
        if text not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(text)
            logger.warning("%s", text)

    async def aclose(self) -> None:
        """Close the connections; those of a loop that has ended went with it."""
        here = asyncio.get_running_loop()
        for made in (self._together, self._clients):
            for _ in made.drain():
                pass
        for loop, pool in self.pools.drain():
            if loop is here:
                await self._close(pool)
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(self._close(pool), loop)

    async def _close(self, pool: BlockingConnectionPool) -> None:
        with suppress(*self._faults):
            await pool.aclose()
