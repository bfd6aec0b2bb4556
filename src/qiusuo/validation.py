"""What pydantic finds wrong with a value, as a fact; and how a validator of ours says what it finds wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from qiusuo.words import Fact, said

# Pydantic's names of what is wrong that settings and requests can meet; its own words stand for all others.
_KNOWN: Final = frozenset(
    {
        "bool_parsing",
        "bool_type",
        "finite_number",
        "float_parsing",
        "float_type",
        "greater_than",
        "greater_than_equal",
        "int_from_float",
        "int_parsing",
        "int_type",
        "less_than",
        "less_than_equal",
        "literal_error",
        "missing",
        "string_pattern_mismatch",
        "string_too_long",
        "string_too_short",
        "string_type",
    }
)


def _as_text(value: Any) -> Any:
    """Return a number as people write it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.9f}".rstrip("0").rstrip(".") if is_number else value


PriceText = Annotated[str, BeforeValidator(_as_text), StringConstraints(pattern=r"^\d{1,9}(\.\d{1,9})?( [A-Z]{3})?$")]
"""An amount, perhaps with its currency; in files also a number."""


def refused(fact: Fact) -> PydanticCustomError:
    """Return the error with which a validator refuses a value; its fact is found again by :func:`problem_of`."""
    text = fact.text().replace("{", "(").replace("}", ")")  # to pydantic a brace is a place for a value
    return PydanticCustomError(fact.code, text, dict(fact.values))


def problem_of(details: Mapping[str, Any]) -> Fact:
    """Return one of ``ValidationError.errors()`` as a fact."""
    kind, values = str(details["type"]), details.get("ctx") or {}
    if "." in kind:  # one of ours
        return Fact(kind, **values)
    return Fact(f"value.{kind}", **values) if kind in _KNOWN else said(str(details["msg"]))


def not_valid(error: ValidationError, path: Path | None, variable_at: Callable[[Sequence[object]], str | None]) -> Fact:
    """Return what is wrong with a configuration, value by value; ``variable_at`` names a place in the environment."""
    details = error.errors(include_input=False)
    variables = [variable_at(problem["loc"]) for problem in details]
    problems = [
        Fact(
            "settings.problem",
            name=variable or ".".join(str(part) for part in problem["loc"]),
            problem=problem_of(problem),
        )
        for problem, variable in zip(details, variables, strict=True)
    ]
    if path is None or all(variables):  # then the file is not at fault
        return Fact("settings.not_valid", problems=problems)
    return Fact("settings.file_not_valid", file=str(path), problems=problems)
