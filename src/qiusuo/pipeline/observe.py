"""For those who watch searches, metrics above all."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Sequence

from qiusuo.errors import ConfigurationError
from qiusuo.logs import private
from qiusuo.models import Attempt, SearchResponse

logger = logging.getLogger(__name__)


class SearchObserver:
    """Told of every search of a service, through whichever door it came.

    Override what is of interest. The methods are called in the middle of searches, from any thread: they must be quick
    and must not raise.
    """

    def search_started(self) -> None:
        """A search begins."""

    def search_ended(self, seconds: float, ended: SearchResponse | BaseException) -> None:
        """It has its response, or has failed, or was cancelled."""

    def attempt_ended(self, attempt: Attempt) -> None:
        """An engine was asked, or passed over; told once, also where several callers waited for the answer."""


async def observed(observers: Sequence[SearchObserver], search: Awaitable[SearchResponse]) -> SearchResponse:
    """Await a search and tell the observers of its start and end."""
    started = time.perf_counter()
    for observer in observers:
        observer.search_started()
    try:
        response = await search
    except BaseException as error:  # cancelled searches have ended too
        for observer in observers:
            observer.search_ended(time.perf_counter() - started, error)
        if isinstance(error, ConfigurationError):
            logger.warning("no search can be made: %s", error)
        raise
    how = "an old entry of the cache" if response.stale else "the cache" if response.cached else "the engine"
    count, more = len(response.results), private(query=response.query)
    logger.info("%d results from %s (%s) in %d ms", count, how, response.provider, response.search_time, extra=more)
    for observer in observers:
        observer.search_ended(time.perf_counter() - started, response)
    return response
