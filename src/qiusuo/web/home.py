"""The root."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.errors import Refusal
from qiusuo.web.route import json_answer
from qiusuo.web.searxng import query_redirect


async def home(request: Request) -> Response:
    """Pass queries on, as a SearXNG does at its root; there is no page here yet."""
    answer = await query_redirect(request)
    if answer is not None:
        return answer
    nothing = Refusal(HTTPStatus.NOT_FOUND, "There is no page here.", fix="What there is stands in /openapi.json.")
    return json_answer(nothing.to_dict(), nothing.http_status)


def home_route() -> Route:
    """Return the route of the root."""
    return Route("/", home, methods=["GET", "POST"])
