"""How many questions are answered at once: by the server, and for one user."""

from __future__ import annotations

from collections import Counter
from typing import Final

from qiusuo.config.server import THIS_MACHINE, is_loopback
from qiusuo.errors import ServerBusy, TooManyAtOnce
from qiusuo.words import Fact

MAX_LIVE: Final = 500
MAX_OF_ONE: Final = MAX_LIVE // 4
"""Nobody needs so many, but a program behind one token may have many readers; the others shall still find places."""
NO_USER: Final = THIS_MACHINE
"""Owns the conversations of everybody on this machine where there are no tokens. No limit for one user applies:
it may be one program or all the readers behind a proxy."""
_RETRY_SECONDS: Final = 5


def owner_named(user: str | None) -> str:
    """Return to whom belongs what a user asks; on this machine, without tokens, there is one user."""
    return NO_USER if user is None or is_loopback(user) else user


class Places:
    """The places of one server. Taking one is a single step, so that no two questions get the last of them."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._taken: Counter[str] = Counter()

    def take(self, owner: str) -> None:
        """Take a place; whoever does gives it back.

        Raises:
            ServerBusy: there is none.
            TooManyAtOnce: this owner has enough of them.
        """
        if self._taken.total() >= self._most:
            raise ServerBusy(Fact("session.server_busy"), retry_after=_RETRY_SECONDS)
        if owner != NO_USER and self._taken[owner] >= self._most_of_one:
            many = Fact("session.too_many_at_once", limit=self._most_of_one)
            raise TooManyAtOnce(many, retry_after=_RETRY_SECONDS)
        self._taken[owner] += 1

    def give_back(self, owner: str) -> None:
        """Give a place back."""
        self._taken[owner] -= 1
        if not self._taken[owner]:
            del self._taken[owner]  # else every owner that ever was would be kept
