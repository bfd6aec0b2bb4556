"""What requests about conversations have in common: whose they are, numbers in them, and errors as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.chat.live.places import owner_named
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.web.errors import headers_of, status_of
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer, user_of
from qiusuo.words import Fact

Handler = Callable[[Request], Awaitable[Response]]


def owner_of(request: Request) -> str:
    """Return whose conversations these are; on this machine, without tokens, there is one user."""
    return owner_named(user_of(request))


def answered(handler: Handler) -> Handler:
    """Return the handler with its errors as JSON."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except SearchError as error:
            language = reader_language(request.scope)
            return json_answer(error.to_dict(language), status_of(error), headers_of(error), language=language)

    return answer


def count_in(query: QueryParams, name: str, otherwise: int) -> int:
    """Return a number of the query.

    Raises:
        InvalidQuery: it is none: another page than the one that was asked for would be shown.
    """
    text = query.get(name)
    if text is not None and not (text.isdecimal() and len(text) < 10):  # noqa: PLR2004 - fits any database
        raise InvalidQuery(Fact("web.not_a_number", name=name))
    return otherwise if text is None else int(text)
