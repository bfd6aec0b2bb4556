"""The JSON that requests about conversations bring."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from qiusuo.chat.sessions.session import MAX_TITLE
from qiusuo.pipeline.request import MAX_QUERY_CHARS
from qiusuo.words.languages import LANGUAGE_PATTERN

_SETTINGS: Final = (
    "What differs: `mode`, `search`, `engine`, `results`, `depth`, `model`, `focus`, `sites`, `freshness`, with values "
    "as in `ChatSettingsAnswer`."
)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class NewSession(_Body):
    """A conversation to begin."""

    title: str = Field(default="", max_length=MAX_TITLE)
    settings: dict[str, Any] = Field(default_factory=dict, description=_SETTINGS)


class NewBranch(_Body):
    """At which question of a conversation another one goes off."""

    turn: str = Field(min_length=1, max_length=200)


class SessionChange(_Body):
    """What to change of a conversation."""

    title: str | None = Field(default=None, min_length=1, max_length=MAX_TITLE)
    settings: dict[str, Any] | None = Field(default=None, description=_SETTINGS)


class Question(_Body):
    """A question, or (with ``replaces``) another go at an earlier one; ``query`` is what to search for instead.

    With ``research`` it is looked into from several sides. ``goes_on`` is a research that broke off, in the place of a
    text: it goes on where it was. ``model`` is the name of the one that answers this message alone, blank: the first.
    """

    text: str = ""
    research: bool = False
    goes_on: str | None = Field(default=None, description="The id of a research that broke off, the last turn.")
    query: str | None = Field(default=None, max_length=MAX_QUERY_CHARS, description="What to search for instead.")
    replaces: str | None = Field(default=None, description="The id of a turn; it and all after it are dropped.")
    language: str | None = Field(default=None, pattern=LANGUAGE_PATTERN, description="That of the question if unset.")
    model: str | None = Field(default=None, description="The name of a model, blank: the first.")
