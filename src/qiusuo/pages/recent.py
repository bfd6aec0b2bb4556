"""Pages that were read lately, in the memory of this process, so that the next question does not fetch them again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from qiusuo.models import domain_of
from qiusuo.pages.models import Page
from qiusuo.pages.reader import PageReader

MOST_CHARS: Final = 4_000_000
"""Characters of all texts that are kept together."""
SILENT_FOR: Final = 120.0
"""Seconds for which a host that has not answered in time is not asked again."""
_MOST_HOSTS: Final = 500


class ReadPage(NamedTuple):
    """A page, and whether it was read before."""

    page: Page
    cached: bool


class RecentPages:
    """Reads pages through a reader and keeps their texts for ``ttl`` seconds, 0: not at all.

    Only memory is used, as for results whose provider allows no more; a page that says ``no-store`` is not kept.
    """

    def __init__(self, reader: PageReader, ttl: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._reader = reader
        self.ttl = ttl
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Page]] = OrderedDict()
        self._silent: OrderedDict[str, float] = OrderedDict()
        self._chars = 0

    async def read(self, url: str, *, max_chars: int, keep: bool = True) -> ReadPage:
        """Return a page; ``keep``: it may be kept for the next question.

        Raises:
            PageError: it cannot be read.
        """
        known = self._recall(url)
        if known is not None:
            return ReadPage(known, cached=True)
        page = await self._reader.read(url, max_chars=max_chars, quick=True)
        if keep and page.storable and self.ttl > 0:
            # Links are most of what a page weighs, and nobody asks for them here.
            self._keep(url, replace(page, links=()))
        return ReadPage(page, cached=False)

    def is_silent(self, url: str) -> bool:
        """Tell whether the host of an address has lately not answered in time; what is kept of it can be read."""
        until = self._silent.get(domain_of(url), 0.0)
        return until > self._clock() and self._recall(url) is None

    def was_late(self, url: str) -> None:
        """Note that a host has not answered in time."""
        host = domain_of(url)
        self._silent[host] = self._clock() + SILENT_FOR
        self._silent.move_to_end(host)
        while len(self._silent) > _MOST_HOSTS:
            self._silent.popitem(last=False)

    def _recall(self, url: str) -> Page | None:
        entry = self._kept.get(url)
        if entry is None:
            return None
        until, page = entry
        if until <= self._clock():
            self._drop(url)
            return None
        self._kept.move_to_end(url)
        return page

    def _keep(self, url: str, page: Page) -> None:
        self._drop(url)
        self._kept[url] = (self._clock() + self.ttl, page)
        self._chars += len(page.text)
        while self._chars > MOST_CHARS and self._kept:
            self._drop(next(iter(self._kept)))

    def _drop(self, url: str) -> None:
        entry = self._kept.pop(url, None)
        if entry is not None:
            self._chars -= len(entry[1].text)
