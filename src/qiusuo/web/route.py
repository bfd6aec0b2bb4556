"""A leaner way from request to response: documented as FastAPI does it, run without its dependency machinery.

The body is parsed and checked in one step, the answer is bytes made once. That is what keeps a cached search over
HTTP near the speed of the bare framework (bench/rest.py).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar, get_type_hints

import orjson
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.errors import SearchError
from qiusuo.web.entrance.auth import unauthorized
from qiusuo.web.entrance.hangup import ClientGone
from qiusuo.web.errors import CLIENT_GONE, headers_of, status_of
from qiusuo.web.invalid import invalid_body
from qiusuo.web.language import language_headers, reader_language
from qiusuo.words import Language

B_ = TypeVar("B_", bound=BaseModel)
Handler = Callable[[Request], Coroutine[Any, Any, Response]]

# What was found for one user is nothing for a proxy to keep.
_NOT_KEPT: Final = {"Cache-Control": "no-store"}


def json_answer(
    data: Any, status: int = 200, headers: Mapping[str, str] | None = None, *, language: Language | None = None
) -> Response:
    """Return ``data`` as a JSON response; ``language`` is that of the words in it, where there are any."""
    told = language_headers(language) if language else {}
    return Response(
        orjson.dumps(data),
        status,
        {**_NOT_KEPT, **told, **(headers or {})},
        media_type="application/json",
    )


def user_of(request: Request) -> str | None:
    """Return the user whom the guard has recognised; None where the endpoint itself must ask for a token."""
    user: str | None = request.scope.get("state", {}).get("user")
    return user


class LeanRoute(APIRoute):
    """Calls ``endpoint(request)``, or ``endpoint(request, body)`` with its JSON body checked.

    The endpoint's signature and ``response_model`` are documentation as ever. ``error_shape`` words errors as the
    clients of these routes expect them.
    """

    @staticmethod
    def error_shape(error: SearchError, language: Language) -> dict[str, Any]:
        """Return the JSON of an error."""
        return error.to_dict(language)

    def get_route_handler(self) -> Handler:
        endpoint: Callable[..., Coroutine[Any, Any, Response]] = self.endpoint
        kind: type[BaseModel] | None = get_type_hints(endpoint).get("body")
        shape = self.error_shape

        async def handle(request: Request) -> Response:
            try:
                if kind is None:
                    return await endpoint(request)
                return await endpoint(request, await read_body(request, kind))
            except SearchError as error:
                language = reader_language(request.scope)
                return json_answer(shape(error, language), status_of(error), headers_of(error), language=language)
            except ClientGone:
                return Response(status_code=CLIENT_GONE)

        return handle


async def read_body(request: Request, kind: type[B_]) -> B_:
    """Read a JSON body.

    Raises:
        InvalidQuery: it is not of that kind.
        Refusal: nor is it known who sent it.
    """
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        # A stranger's token may stand in the body; no valid body, no token.
        raise (invalid_body(error) if user_of(request) else unauthorized()) from None
