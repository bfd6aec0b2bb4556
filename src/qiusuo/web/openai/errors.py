"""Errors as OpenAI words them, for everything under ``/v1/``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from qiusuo.chat.events import SERVER_STOPPING
from qiusuo.errors import SearchError, ServerBusy, TooManyAtOnce
from qiusuo.web.errors import RETRY_SECONDS, Refusal, status_of

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
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        fix: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, fix=fix, headers=headers)
        self.code = code
        self.param = param


def error_shape(error: SearchError) -> dict[str, Any]:
    """Return the JSON of an error."""
    status = status_of(error)
    otherwise = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    own = _CODES_OF_KINDS.get(type(error), _CODES.get(status))
    param, code = (error.param, error.code) if isinstance(error, ApiError) else (None, own)
    return {
        "error": {
            "message": error.public,
            "type": _TYPES.get(status, otherwise),
            "param": param,
            "code": code,
        }
    }


_TAVILY: Final = "/tavily/"
"""Its clients look for the text in ``detail``."""


def refusal_shape(refusal: Refusal, path: str) -> dict[str, Any]:
    """Return the JSON of a refusal as the clients of that path understand it."""
    if path.startswith(PREFIX):
        return error_shape(refusal)
    shape = refusal.to_dict()
    return shape | {"detail": {"error": str(refusal)}} if path.startswith(_TAVILY) else shape


def unsupported(what: str, param: str, *, fix: str = "") -> ApiError:
    """Return the error for something that OpenAI has and Qiusuo has not."""
    return ApiError(HTTPStatus.BAD_REQUEST, what, code="unsupported_parameter", param=param, fix=fix)


def unknown_model(name: str) -> ApiError:
    """Return the error for a model that there is not."""
    message = f"The model '{name[:100]}' does not exist."
    fix = "GET /v1/models lists those that do."
    return ApiError(HTTPStatus.NOT_FOUND, message, code="model_not_found", param="model", fix=fix)


def stopping() -> ApiError:
    """Return the error for an answer that was broken off by the server's stop before it began."""
    return ApiError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The server is being stopped.",
        code=SERVER_STOPPING,
        fix="Try again in a moment.",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


def turn_failed(notices: list[dict[str, Any]]) -> ApiError:
    """Return the error for a turn that ended without an answer; the notice of its failure tells why."""
    told = next((notice for notice in reversed(notices) if notice["level"] == "error"), None)
    if told is None:
        message = "The server has a fault."
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, message, code="server_error", fix="Its log tells more.")
    wait = told["retryAfter"]
    return ApiError(
        _MODEL_STATUSES.get(told["code"], HTTPStatus.BAD_GATEWAY),
        f"{told['title']}: {told['message']}",
        code=told["code"],
        fix=told["fix"],
        headers=None if wait is None else {"Retry-After": str(max(math.ceil(wait), 1))},
    )
