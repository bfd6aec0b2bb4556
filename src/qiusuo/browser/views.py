"""What is asked of the browser and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from qiusuo.errors import SearchTimeout, Unavailable

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

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def timed_out(self, stage: str) -> SearchTimeout:
        """Return the error for a visit that took too long; ``stage`` says what it was waiting for."""
        return SearchTimeout(
            f"{stage} within {self.timeout:g} s.",
            engine=self.engine,
            fix="Check the network, or raise SEARCH_TIMEOUT.",
        )

    def unavailable(self, what: str, fix: str) -> Unavailable:
        """Return the error for a page or a browser that is not there."""
        return Unavailable(what, engine=self.engine, fix=fix)


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as the browser has it: scripts have run, and their text, like that of styles, is left out of ``html``."""

    url: str
    status: int
    html: str
    retry_after: str | None = None


class PageCircles(Exception):
    """The page loads itself again and again: a check for robots that does not pass."""
