"""What is wrong with a request's JSON, field by field, without repeating what was sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from qiusuo.errors import InvalidQuery
from qiusuo.words import Fact, said

_MOST_PROBLEMS: Final = 5

_TEXT: Final = Fact("body.text")
_NUMBER: Final = Fact("body.number")
_WHOLE: Final = Fact("body.whole")
_BOOLEAN: Final = Fact("body.boolean")
_LIST: Final = Fact("body.list")
_OBJECT: Final = Fact("body.object")
_DATE: Final = Fact("body.date")
_KINDS: Final[Mapping[str, Fact]] = {
    "missing": Fact("body.missing"),
    "extra_forbidden": Fact("body.unknown"),
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": Fact("body.finite"),
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
}
_BOUNDED: Final[Mapping[str, Callable[[Mapping[str, Any]], Fact]]] = {
    "json_invalid": lambda context: Fact("body.not_json", words=str(context["error"])),
    "string_too_short": lambda context: Fact("body.too_short", least=context["min_length"]),
    "string_too_long": lambda context: Fact("body.too_long", most=context["max_length"]),
    "too_short": lambda context: Fact("body.too_few", least=context["min_length"]),
    "too_long": lambda context: Fact("body.too_many", most=context["max_length"]),
    "string_pattern_mismatch": lambda context: Fact("body.pattern", pattern=context["pattern"]),
    "enum": lambda context: Fact("body.one_of", expected=context["expected"]),
    "literal_error": lambda context: Fact("body.one_of", expected=context["expected"]),
    "greater_than_equal": lambda context: Fact("body.at_least", least=context["ge"]),
    "less_than_equal": lambda context: Fact("body.at_most", most=context["le"]),
    "greater_than": lambda context: Fact("body.more_than", bound=context["gt"]),
    "less_than": lambda context: Fact("body.less_than", bound=context["lt"]),
}


def invalid_body(error: ValidationError) -> InvalidQuery:
    """Return the error for a body of another shape than the endpoint's."""
    found = error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]
    return InvalidQuery(Fact("body.invalid", problems=[_problem(each) for each in found]))


def _problem(problem: Mapping[str, Any]) -> Fact:
    kind, place = str(problem["type"]), ".".join(str(step) for step in problem["loc"])
    bounded = _BOUNDED.get(kind)
    # Of what is left pydantic's own words are told.
    what = bounded(problem["ctx"]) if bounded else _KINDS.get(kind) or said(str(problem["msg"]))
    return Fact("body.field", field=place, problem=what) if place else what
