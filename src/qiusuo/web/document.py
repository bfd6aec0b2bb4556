"""The OpenAPI document of endpoints whose bodies are checked by others: the protocol's own package, or ourselves."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

_ERRORS: Final = (400, 401, 403, 413, 421, 429)


def documented(description: str, body: dict[str, Any] | None, tag: str, *, shape: str = "") -> dict[str, Any]:
    """Return an operation. ``shape`` says how errors look where they are not in our own."""
    json_of_any_kind = {"application/json": {"schema": {"type": "object"}}}
    refused = {
        str(status): {"description": f"{HTTPStatus(status).phrase}. {shape}".strip(), "content": json_of_any_kind}
        for status in _ERRORS
    }
    asked = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    answers = {"200": {"description": "The answer.", "content": json_of_any_kind}, **refused}
    return {"tags": [tag], "description": description, **asked, "responses": answers}
