"""For those who watch searches, metrics above all."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from qiusuo.errors import AllEnginesFailed, ConfigurationError, InvalidQuery, UserRateLimited
from qiusuo.logs import private
from qiusuo.models import Attempt, SearchResponse
from qiusuo.tracing import span

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, and on whose behalf."""

    query: str
    user: str | None = None


class SearchObserver:
    """Told of every search of a service, through whichever door it came.

    Override what is of interest. The methods are called in the middle of searches, from any thread: they must be quick
    and must not raise.
    """

    def search_started(self) -> None:
        """A search begins."""

    def search_ended(self, seconds: float, ended: SearchResponse | BaseException, asked: Asked) -> None:
        """It has its response, or has failed, or was cancelled."""

    def attempt_ended(self, attempt: Attempt) -> None:
        """An engine was asked, or passed over; told once, also where several callers waited for the answer."""


async def observed(
    observers: Sequence[SearchObserver], search: Awaitable[SearchResponse], asked: Asked
) -> SearchResponse:
    """Await a search and tell the observers of its start and end."""
    started = time.perf_counter()
    for observer in observers:
        observer.search_started()
    try:
        with span("search") as told:
            try:
                response = await search
            except BaseException as error:
                told.note(outcome=outcome_of(error))
                raise
            told.note(outcome=outcome_of(response), engine=response.provider, results=len(response.results))
    except BaseException as error:  # cancelled searches have ended too
        for observer in observers:
            observer.search_ended(time.perf_counter() - started, error, asked)
        if isinstance(error, ConfigurationError):
            logger.warning("no search can be made: %s", error)
        raise
    how = "an old entry of the cache" if response.stale else "the cache" if response.cached else "the engine"
    count, more = len(response.results), private(query=response.query)
    logger.info("%d results from %s (%s) in %d ms", count, how, response.provider, response.search_time, extra=more)
    for observer in observers:
        observer.search_ended(time.perf_counter() - started, response, asked)
    return response


def outcome_of(ended: SearchResponse | BaseException) -> str:
    """Return in one word how a search has ended."""
    match ended:
        case SearchResponse(stale=True):
            return "stale"
        case SearchResponse(cached=True):
            return "cached"
        case SearchResponse():
            return "ok" if ended.results else "empty"
        case InvalidQuery():
            return "invalid"
        case UserRateLimited():
            return "rate_limited"
        case ConfigurationError():
            return "not_configured"
        case AllEnginesFailed():
            return "failed"
        case Exception():
            return "error"
        case _:  # asyncio.CancelledError: the client hung up
            return "cancelled"
