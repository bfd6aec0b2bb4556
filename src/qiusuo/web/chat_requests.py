"""What requests about conversations have in common: whose they are, and numbers in them."""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.requests import Request

from qiusuo.chat.sessions.places import owner_named
from qiusuo.errors import InvalidQuery
from qiusuo.web.route import user_of
from qiusuo.words import Fact


def owner_of(request: Request) -> str:
    """Return whose conversations these are; on this machine, without tokens, there is one user."""
    return owner_named(user_of(request))


def count_in(query: QueryParams, name: str, otherwise: int) -> int:
    """Return a number of the query.

    Raises:
        InvalidQuery: it is none: another page than the one that was asked for would be shown.
    """
    text = query.get(name)
    if text is not None and not (text.isdecimal() and len(text) < 10):  # noqa: PLR2004 - fits any database
        raise InvalidQuery(Fact("web.not_a_number", name=name))
    return otherwise if text is None else int(text)
