"""Who comes in with a token, and what becomes of wrong ones: they are answered late, counted, and told of in the log.

A right token is served whatever else comes from its address. Behind a proxy everybody has the same one, so if wrong
tokens could close the door, any stranger could lock the others out. Nothing is given away by that: guessing is hopeless
because tokens are long (``config/server.py`` sees to it), and here it becomes slow and seen as well.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol

from starlette.types import Scope

from qiusuo.errors import SearchError
from qiusuo.people.person import Person, Via
from qiusuo.web.entrance.auth import Tokens, network_of, unauthorized
from qiusuo.web.errors import Refusal
from qiusuo.web.watching.metrics import Metrics
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

WINDOW_SECONDS: Final = 60.0
AT_ONCE: Final = 20
"""Wrong tokens of an address in a window that are answered at once: people mistype, programs are set up wrongly."""
MOST: Final = 60
"""More than these are answered with 429."""
LATE_SECONDS: Final = 2.0
WAITING: Final = 2048
"""How many may wait for their late answer; who finds no place is answered at once, and hung up on."""
ADDRESSES: Final = 4096
METRICS_PATH: Final = "/metrics"
LINES: Final = 30
"""Addresses that the log names in a window; the others it only counts."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls something in so many seconds."""


class Members(Protocol):
    """Those who have tokens of the database."""

    @property
    def known(self) -> bool:
        """Whether the database was ever read."""

    def any(self) -> bool:
        """Tell whether there is anybody, as of the last look."""

    def operators(self) -> set[str]:
        """Return the names of those who run the server."""

    def holder(self, token: str) -> Person | None:
        """Return whose token it is, as of the last look."""

    def welcome(self, person: Person) -> None:
        """Remember what is set for somebody who came in another way."""

    def headers(self, user: str) -> Sequence[tuple[bytes, bytes]]:
        """Return headers that tell what somebody has used of a budget."""

    async def look(self) -> None:
        """See to it that what is known is not too old.

        Raises:
            SearchError: the database cannot be read.
        """


@dataclass(slots=True)
class _Caller:
    since: float
    wrong: int = 0


class Door:
    """Lets in those with a token. Every server has one, also for tokens that stand in a body."""

    def __init__(
        self,
        tokens: Tokens,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        later: Later | None = None,
    ) -> None:
        self._tokens = tokens
        self.people: Members | None = None
        """Those with tokens of the database, where there is one."""
        self.others_are_known = False
        """Whether people sign in or are named by a proxy: then nobody is let in unknown."""
        self.beyond_this_machine = False
        """Whether others could call: then nobody comes in without a token, even where the last one was revoked."""
        self.is_trusted: Callable[[Scope], bool] = lambda _scope: False
        """Tells who may come in while nobody could ever tell whether there are tokens: who sits at this machine."""
        self._metrics = metrics
        self._clock = clock
        self._sleep = sleep
        # The one that was wrong longest ago comes first.
        self._callers: OrderedDict[str, _Caller] = OrderedDict()
        self._waiting = 0
        self._log = _Log(later or _on_this_loop)

    async def is_open(self, scope: Scope, *, harmless: bool = False) -> bool:
        """Tell whether nobody needs a token. For what is ``harmless`` what was known last is good enough.

        Raises:
            Refusal: it cannot be told whether there are tokens.
        """
        if self._tokens or self.others_are_known:
            return False
        if self.people is not None:
            if not harmless:
                await self._look(scope)
            if self.people.any():
                return False
        return not self.beyond_this_machine

    @property
    def is_sure(self) -> bool:
        """Whether it is known if there are tokens."""
        return self.people is None or self.people.known

    def welcome(self, person: Person | None) -> None:
        """Remember what is set for somebody, however they came in."""
        if person is not None and self.people is not None and person.via not in {Via.SETTINGS, Via.TOKEN}:
            self.people.welcome(person)

    def budget_headers(self, person: Person | None) -> Sequence[tuple[bytes, bytes]]:
        """Return headers that tell what somebody has used of a budget; none where there is no budget."""
        return self.people.headers(person.name) if person is not None and self.people is not None else ()

    async def person(self, token: str | None, scope: Scope) -> Person:
        """Return whose token it is.

        Raises:
            Refusal: nobody's; after a while, where there were many from that address. Or it cannot be told; or the
                token is for ``/metrics`` alone.
        """
        person = self._tokens.person(token)
        if person is not None and token and self._tokens.only_watches(token) and scope["path"] != METRICS_PATH:
            raise Refusal(HTTPStatus.FORBIDDEN, Fact("web.only_metrics"))
        if person is None and token and self.people is not None:
            await self._look(scope)
            person = self.people.holder(token)
        if person is not None:
            return person
        if not token:  # nothing was guessed
            raise unauthorized()
        address = address_of(scope)
        self._log.wrong(address)
        raise await self._refusal(address, unauthorized(), count=True)

    async def _look(self, scope: Scope) -> None:
        """See to it that those with tokens of the database are known.

        Raises:
            Refusal: they are not.
        """
        if self.people is None:
            return
        try:
            await self.people.look()
        except SearchError as error:
            if self.people.known or self._tokens or self.others_are_known or not self.is_trusted(scope):
                headers = {"Retry-After": str(max(math.ceil(error.retry_after or 1), 1))}
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, error.fact, headers=headers) from None

    async def guessed(self, scope: Scope, answer: Refusal) -> Refusal:
        """Return what somebody is told who opens a link that is not there: after many of them late, or nothing more."""
        return await self._refusal(address_of(scope), answer)

    async def _refusal(self, address: str, answer: Refusal, *, count: bool = False) -> Refusal:
        caller = self._caller(address)
        caller.wrong += 1
        over = caller.wrong > MOST
        if count:
            self._metrics.wrong_token(limited=over)
        left = max(round(caller.since + WINDOW_SECONDS - self._clock()), 1)
        if caller.wrong <= AT_ONCE:
            return answer
        if self._waiting >= WAITING:
            return _too_many(left, hang_up=True)
        self._waiting += 1
        try:
            await self._sleep(LATE_SECONDS)
        finally:
            self._waiting -= 1
        return _too_many(left) if over else answer

    def _caller(self, address: str) -> _Caller:
        now = self._clock()
        caller = self._callers.setdefault(address, _Caller(now))
        self._callers.move_to_end(address)
        if now - caller.since >= WINDOW_SECONDS:
            caller.since, caller.wrong = now, 0
        if len(self._callers) > ADDRESSES:
            self._callers.popitem(last=False)
        return caller


class _Log:
    """Tells of wrong tokens: of an address at once, and a minute later how many they were."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._counts: dict[str, int] = {}
        self._unnamed = 0

    def wrong(self, address: str) -> None:
        if not self._counts:
            self._later(WINDOW_SECONDS, self._sum_up)
        if address in self._counts:
            self._counts[address] += 1
        elif len(self._counts) < LINES:
            self._counts[address] = 1
            logger.warning("a wrong token was sent from %s", address)
        else:
            self._unnamed += 1

    def _sum_up(self) -> None:
        for address, count in self._counts.items():
            if count > 1:
                logger.warning("%d wrong tokens were sent from %s within a minute", count, address)
        if self._unnamed:
            logger.warning("%d wrong tokens were sent from other addresses within a minute", self._unnamed)
        self._counts, self._unnamed = {}, 0


def _on_this_loop(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


def address_of(scope: Scope) -> str:
    """Return the address that wrong tokens are counted by."""
    client = scope.get("client")
    return network_of(client[0]) if client else "local"


def _too_many(seconds: int, *, hang_up: bool = False) -> Refusal:
    return Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        Fact("web.wrong_tokens"),
        headers={**unauthorized().headers, "Retry-After": str(seconds)} | ({"Connection": "close"} if hang_up else {}),
    )
