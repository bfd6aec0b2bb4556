"""What a plain tool is: a name, a description, a JSON schema, and a coroutine from arguments to text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from qiusuo.errors import InvalidQuery
from qiusuo.validation import problem_of
from qiusuo.words import Fact

M = TypeVar("M", bound=BaseModel)


class ToolArguments(BaseModel):
    """What a tool takes. Models write null for what they leave out, so null means the default."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_the_default(cls, data: Any) -> Any:
        return _without_nulls(cls, data) if isinstance(data, Mapping) else data


class Tool(ABC):
    """A tool for an agent. ``execute`` never raises: what went wrong comes back as text that the model can act on."""

    name: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type[BaseModel]]
    """The model that checks the arguments and gives the schema."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return json_schema(self.arguments)

    @abstractmethod
    async def execute(self, **kwargs: Any) -> str:
        """Run the tool and return its text."""

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as an OpenAI function definition."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a flat schema that small models can follow: no titles, no references, no null types."""
    schema = model.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    return schema


def check_arguments(model: type[M], arguments: dict[str, Any]) -> M:
    """Read the arguments of a call.

    Raises:
        InvalidQuery: they do not fit; the message names each problem.
    """
    try:
        return model.model_validate(_without_nulls(model, arguments))
    except ValidationError as error:
        raise invalid_arguments(error) from None


def _without_nulls(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    optional = {
        key
        for name, field in model.model_fields.items()
        if not field.is_required()
        for key in (name, field.alias or name)
    }
    return {key: value for key, value in arguments.items() if value is not None or key not in optional}


def invalid_arguments(error: ValidationError) -> InvalidQuery:
    """Return the error that names each problem of a call's arguments, without repeating their values."""
    problems = [
        Fact(
            "tools.problem",
            name=".".join(str(part) for part in problem["loc"]) or "arguments",
            problem=problem_of(problem),
        )
        for problem in error.errors(include_input=False, include_url=False)
    ]
    return InvalidQuery(Fact("tools.bad_arguments", problems=problems))
