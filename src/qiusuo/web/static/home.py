"""The root."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.drop_in.searxng import query_redirect
from qiusuo.web.static.page import chat_page


async def home(request: Request) -> Response:
    """Pass queries on, as a SearXNG does at its root; else show the chat page."""
    return await query_redirect(request) or await chat_page(request)


def home_route() -> Route:
    """Return the route of the root."""
    return Route("/", home, methods=["GET", "POST"])
