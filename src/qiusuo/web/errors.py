"""The one place where an error becomes an HTTP status."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from qiusuo.errors import (
    AllEnginesFailed,
    ConfigurationError,
    EngineNotConfigured,
    InvalidQuery,
    NotAllowed,
    SearchError,
    ServerBusy,
    SessionBusy,
    SessionNotFound,
    TooManyAtOnce,
    TurnElsewhere,
    Unavailable,
    UnknownEngine,
    UserRateLimited,
)
from qiusuo.models import Outcome
from qiusuo.words import Fact, Language, sentences

CLIENT_GONE: Final = 499
"""What nginx writes down for a client that hung up; nobody receives it."""

RETRY_SECONDS: Final = 5
"""A server that stops is back by then, or another answers."""


class Refusal(SearchError):
    """The server itself does not do what a request asks; no search was made."""

    def __init__(
        self, status: HTTPStatus, fact: Fact | str, *, fix: Fact | str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(fact, fix=fix, status=status)
        self.http_status = status
        self.headers = dict(headers or {})

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the refusal in the JSON shape of errors; its kind is the status' name."""
        words = self.wording(language)
        kind = self.http_status.phrase.title().replace(" ", "")
        data = {"error": kind, "message": words.what, **self.fact.to_dict()}
        return data | {"fix": words.fix} if words.fix else data


def status_of(error: SearchError) -> HTTPStatus:
    """Return the status that tells a program what to do about an error."""
    match error:
        case Refusal():
            return error.http_status
        case InvalidQuery() | UnknownEngine() | EngineNotConfigured():
            return HTTPStatus.BAD_REQUEST
        case NotAllowed():
            return HTTPStatus.FORBIDDEN
        case SessionNotFound():
            return HTTPStatus.NOT_FOUND
        case SessionBusy() | TurnElsewhere():
            return HTTPStatus.CONFLICT
        case UserRateLimited() | TooManyAtOnce():
            return HTTPStatus.TOO_MANY_REQUESTS
        case ConfigurationError() | ServerBusy():  # search is off, or there is no place left
            return HTTPStatus.SERVICE_UNAVAILABLE
        case Unavailable() if error.place:  # our own database, no engine
            return HTTPStatus.SERVICE_UNAVAILABLE
        case AllEnginesFailed() if all(attempt.outcome is Outcome.TIMEOUT for attempt in error.attempts):
            return HTTPStatus.GATEWAY_TIMEOUT
        case _:
            return HTTPStatus.BAD_GATEWAY


def headers_of(error: SearchError) -> dict[str, str]:
    """Return the headers that go with an error."""
    if isinstance(error, Refusal):
        return error.headers
    return {} if error.retry_after is None else {"Retry-After": str(max(math.ceil(error.retry_after), 1))}


def in_one_line(error: SearchError, language: Language) -> str:
    """Return all that everybody may read of an error, for clients that show one text."""
    words = error.wording(language)
    return sentences(language, titled(error.engine, words.what, language), words.fix)


def titled(title: str | None, what: str, language: Language) -> str:
    """Return what is told with its subject before it, where there is one."""
    return Fact("web.titled", title=title, what=what).text(language) if title else what
