"""``/v1`` in the OpenAPI document."""

from __future__ import annotations

from typing import Any, Final

from qiusuo.web.document import documented
from qiusuo.web.openai.request import CompletionBody
from qiusuo.web.openai.responses import ResponsesBody

_TAG: Final = "openai"
_SHAPE: Final = "In OpenAI's shape."


def _schema(body: type[CompletionBody | ResponsesBody]) -> dict[str, Any]:
    """Return the schema of a body, with the parts that it names in their places."""
    schema = body.model_json_schema()
    parts = schema.pop("$defs", {})

    def placed(value: Any) -> Any:
        if isinstance(value, list):
            return [placed(each) for each in value]
        if not isinstance(value, dict):
            return value
        named = value.get("$ref")
        return (
            placed(parts[named.rpartition("/")[2]] if isinstance(named, str) else dict(value))
            if named
            else {name: placed(each) for name, each in value.items()}
        )

    placed_schema: dict[str, Any] = placed(schema)
    return placed_schema


PATHS: Final[dict[str, Any]] = {
    "/v1/chat/completions": {
        "post": documented(
            "Answer the last message, searching the web.",
            _schema(CompletionBody),
            _TAG,
            shape=_SHAPE,
        )
    },
    "/v1/responses": {
        "post": documented(
            "The same in the shape of Responses.",
            _schema(ResponsesBody),
            _TAG,
            shape=_SHAPE,
        )
    },
    "/v1/models": {"get": documented("List the models.", None, _TAG, shape=_SHAPE)},
}
