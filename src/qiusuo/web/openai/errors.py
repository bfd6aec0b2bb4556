"""Errors as OpenAI words them, for everything under ``/v1/``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Scope

from qiusuo.chat.events.turn import SERVER_STOPPING, Notice
from qiusuo.errors import SearchError, ServerBusy, TooManyAtOnce
from qiusuo.web.errors import RETRY_SECONDS, Refusal, in_one_line, status_of, titled
from qiusuo.web.language import reader_language, wished_language
from qiusuo.web.route import json_answer
from qiusuo.words import Fact, Language
from qiusuo.words.wording import Wording

PREFIX: Final = "/v1/"

_TYPES: Final = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}
_CODES: Final = {
    HTTPStatus.UNAUTHORIZED: "invalid_api_key",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
}
_CODES_OF_KINDS: Final[Mapping[type[SearchError], str]] = {ServerBusy: "busy", TooManyAtOnce: "too_many_at_once"}
# What became of the model behind us, by the code of the notice.
_MODEL_STATUSES: Final = {
    "model_auth": HTTPStatus.UNAUTHORIZED,
    "model_rate_limited": HTTPStatus.TOO_MANY_REQUESTS,
    "model_timeout": HTTPStatus.GATEWAY_TIMEOUT,
    "model_unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "model_not_configured": HTTPStatus.SERVICE_UNAVAILABLE,
    "model_rejected": HTTPStatus.BAD_REQUEST,
    "server_error": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class ApiError(Refusal):
    """A request that cannot be answered. ``code`` is for programs, ``param`` names the field that is to blame."""

    def __init__(
        self,
        status: HTTPStatus,
        fact: Fact,
        *,
        code: str | None = None,
        param: str | None = None,
        fix: Fact | str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, fact, fix=fix, headers=headers)
        self.code = code
        self.param = param


def error_shape(error: SearchError, language: Language) -> dict[str, Any]:
    """Return the JSON of an error. ``code`` is OpenAI's field; the fact is under ``qiusuo``."""
    status = status_of(error)
    otherwise = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    own = _CODES_OF_KINDS.get(type(error), _CODES.get(status))
    param, code = (error.param, error.code) if isinstance(error, ApiError) else (None, own)
    return {
        "error": {
            "message": in_one_line(error, language),
            "type": _TYPES.get(status, otherwise),
            "param": param,
            "code": code,
            "qiusuo": error.fact.to_dict(),
        }
    }


_TAVILY: Final = "/tavily/"
"""Its clients look for the text in ``detail``."""


def refusal_shape(refusal: Refusal, path: str, language: Language) -> dict[str, Any]:
    """Return the JSON of a refusal as the clients of that path understand it."""
    if path.startswith(PREFIX):
        return error_shape(refusal, language)
    shape = refusal.to_dict(language)
    return shape | {"detail": {"error": in_one_line(refusal, language)}} if path.startswith(_TAVILY) else shape


def no_such_address(path: str) -> Fact:
    """Return that there is nothing at an address, and what there is for clients of its kind."""
    if path.startswith(_TAVILY):
        return Fact("web.not_of_tavily")
    return Fact("openai.no_such_endpoint") if path.startswith(PREFIX) else Fact("web.no_such_address")


def refused(refusal: Refusal, scope: Scope) -> Response:
    """Return the answer to a request that is refused."""
    language = reader_language(scope)
    shape = refusal_shape(refusal, scope["path"], language)
    return json_answer(shape, refusal.http_status, refusal.headers, language=language)


def unsupported(fact: Fact, param: str) -> ApiError:
    """Return the error for something that OpenAI has and Qiusuo has not."""
    return ApiError(HTTPStatus.BAD_REQUEST, fact, code="unsupported_parameter", param=param)


def unknown_model(name: str) -> ApiError:
    """Return the error for a model that there is not."""
    fact = Fact("openai.unknown_model", name=name[:100])
    return ApiError(HTTPStatus.NOT_FOUND, fact, code="model_not_found", param="model")


def stopping() -> ApiError:
    """Return the error for an answer that was broken off by the server's stop before it began."""
    return ApiError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        Fact("web.stopping"),
        code=SERVER_STOPPING,
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


class TurnFailed(ApiError):
    """A turn ended without an answer; a notice tells why. ``language`` is that of the question."""

    def __init__(self, notice: Notice, language: Language) -> None:
        wait = notice.retry_after
        super().__init__(
            _MODEL_STATUSES.get(notice.code, HTTPStatus.BAD_GATEWAY),
            notice.fact,
            code=notice.code,
            headers=None if wait is None else {"Retry-After": str(max(math.ceil(wait), 1))},
        )
        self.notice = notice
        self.language = language

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the notice in words, its title before the rest."""
        words = self.notice.wording(language)
        return words._replace(what=titled(words.title, words.what, language))


def turn_failed(notices: list[dict[str, Any]], language: Language) -> ApiError:
    """Return the error for a turn that ended without an answer."""
    told = next((notice for notice in reversed(notices) if notice["level"] == "error"), None)
    if told is None:
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, Fact("web.fault"), code="server_error")
    return TurnFailed(Notice.from_dict(told), language)


def language_for(error: SearchError, scope: Scope) -> Language:
    """Return the language of an error: programs seldom ask for one, but the question has one."""
    asked = error.language if isinstance(error, TurnFailed) else Language.ENGLISH
    return wished_language(scope) or asked
