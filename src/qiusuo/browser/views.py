"""What is asked of the browser and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qiusuo.browser.solved import host_of
from qiusuo.errors import NotAsked, SearchTimeout, Unavailable
from qiusuo.words import Fact, Value

PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Visit:
    """One page to open.

    ``ready`` is a CSS selector of what stands on a finished page. A page without it is given ``patience`` seconds, for
    some pages first show something else and load again by themselves.
    """

    url: str
    engine: str
    ready: str
    timeout: float
    patience: float = PATIENCE
    begun: Callable[[], None] = lambda: None
    """Called, on the browser's thread, when the visit has a page to itself."""

    @property
    def host(self) -> str:
        return host_of(self.url)

    def timed_out(self, code: str, **values: Value) -> SearchTimeout:
        """Return the error for a visit that took too long; ``code`` says what it was waiting for."""
        return SearchTimeout(Fact(code, **values, seconds=float(self.timeout)), engine=self.engine)

    def not_begun(self, code: str, **values: Value) -> NotAsked:
        """Return the error for a visit that got no page to itself."""
        return NotAsked(Fact(code, **values, seconds=float(self.timeout)), engine=self.engine)

    def unavailable(self, fact: Fact, remedy: Fact | None = None) -> Unavailable:
        """Return the error for a page or a browser that is not there."""
        return Unavailable(fact, engine=self.engine, fix=remedy or "")


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as the browser has it: scripts have run, and their text, like that of styles, is left out of ``html``."""

    url: str
    status: int
    html: str
    retry_after: str | None = None


class PageCircles(Exception):
    """The page loads itself again and again: a check for robots that does not pass."""
