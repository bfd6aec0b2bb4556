"""What all endpoints of conversations do: find out whose they are, and answer errors as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from qiusuo.chat.sessions.places import NO_USER
from qiusuo.errors import SearchError
from qiusuo.server_settings import is_loopback
from qiusuo.web.errors import headers_of, status_of
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer, user_of

Handler = Callable[[Request], Awaitable[Response]]


def owner_of(request: Request) -> str:
    """Return whose conversations these are; on this machine, without tokens, there is one user."""
    user = user_of(request) or NO_USER
    return NO_USER if is_loopback(user) else user


def answered(handler: Handler) -> Handler:
    """Return the handler with its errors as JSON."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except SearchError as error:
            language = reader_language(request.scope)
            return json_answer(error.to_dict(language), status_of(error), headers_of(error), language=language)

    return answer
