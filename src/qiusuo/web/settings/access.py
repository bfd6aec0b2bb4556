"""Who may read and change settings: whoever runs the server, from a page of ours or from a program."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from qiusuo.web.backend import Backend
from qiusuo.web.entrance.guard import known_hosts, public_names
from qiusuo.web.entrance.sites import OtherSites
from qiusuo.web.errors import Refusal
from qiusuo.web.route import Handler, LeanRoute
from qiusuo.words import Fact

_JSON: Final = "application/json"
_READS: Final = frozenset({"GET", "HEAD"})


def operators_route(backend: Backend) -> type[LeanRoute]:
    """Return the kind of route that only operators may use; nobody else learns what it thinks of their body."""

    class OperatorsRoute(LeanRoute):
        def get_route_handler(self) -> Handler:
            handle = super().get_route_handler()

            async def admitted(request: Request) -> Response:
                admit(backend, request)
                return await handle(request)

            return admitted

    return OperatorsRoute


def admit(backend: Backend, request: Request) -> None:
    """Let an operator in.

    Raises:
        Refusal: it is somebody else, or a page of another origin, even of one that may search here.
    """
    headers = dict(request.scope["headers"])
    sites = OtherSites(public_names(known_hosts(backend.settings)))
    if sites.is_foreign(request.scope, headers.get(b"host", b"").decode("latin-1"), headers):
        raise Refusal(HTTPStatus.FORBIDDEN, Fact("web.not_our_page"))
    if not backend.is_run_by(request.scope):
        told = backend.not_operator(
            request.scope,
            otherwise="web.not_operator",
            from_here="web.not_from_here",
            by_token="web.not_operator_by_token",  # noqa: S106 - a code
        )
        raise Refusal(HTTPStatus.FORBIDDEN, told)
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    empty = not kind and request.headers.get("content-length", "0") == "0"
    if request.method not in _READS and kind != _JSON and not empty:
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Fact("web.json_wanted"))
