"""``PATCH /api/settings``: what is asked for is checked name by name, written in one step, and obeyed at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from qiusuo.chat.models.vendors import choose
from qiusuo.config import Settings
from qiusuo.config.editing import UNSET, Changes
from qiusuo.errors import ConfigurationError, ModelNotConfigured
from qiusuo.web.backend import Backend
from qiusuo.web.errors import Refusal
from qiusuo.web.settings.keys import keys_wanted, model_settings
from qiusuo.web.settings.names import MODELS, Name, Wrong, read_name
from qiusuo.web.settings.origins import Origins
from qiusuo.web.settings.versions import changed_since
from qiusuo.words import Fact, Language

MOST_CHANGES = 200


class Change(BaseModel):
    """Settings to set and to take out; ``version`` is that of the settings as they were read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: str | None = Field(
        None, max_length=20_000, pattern=r"^[A-Za-z0-9_=-]*$", description="The `version` that was read."
    )
    set: dict[str, Any] = Field(default_factory=dict, max_length=MOST_CHANGES, description="Values by name.")
    unset: list[str] = Field(default_factory=list, max_length=MOST_CHANGES, description="Names to take out.")


class FieldsWrong(Refusal):
    """Some of the settings cannot be taken; nothing was written."""

    code: ClassVar = "settings.refused"

    def __init__(self, wrong: Mapping[str, Fact], status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        problems = [Fact("settings.problem", name=name, problem=fact) for name, fact in wrong.items()]
        fact = Fact(self.code, problems=problems)
        if status is HTTPStatus.CONFLICT:
            fact = Fact("settings.changed_meanwhile", names=list(wrong))
        super().__init__(status, fact)
        self._wrong = dict(wrong)

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the refusal with what is wrong with each name."""
        fields = {name: {**fact.to_dict(), "message": fact.text(language)} for name, fact in self._wrong.items()}
        return {**super().to_dict(language), "fields": fields}


class NotTried(FieldsWrong):
    """What was given cannot be tried; nothing was sent."""

    code: ClassVar = "settings.not_tried"


async def change_settings(backend: Backend, change: Change) -> tuple[list[str], list[str]]:
    """Change settings; return the names that were changed, and those of them that wait for a restart.

    Raises:
        FieldsWrong: some cannot be taken, or somebody else has changed them meanwhile.
        ConfigurationError: the file is broken or cannot be written.
    """
    wanted = _read(change)
    if not wanted:
        return [], []
    await backend.live.look()
    writing = Writing(backend, change.version, wanted)
    try:
        await asyncio.to_thread(writing.write)
    finally:
        await backend.live.look()
    names = [name.text for name in writing.really_changed]
    return names, [name.text for name in writing.really_changed if name.needs_restart]


def _read(change: Change) -> dict[Name, Any]:
    """Return the settings by name with their values.

    Raises:
        FieldsWrong: a name or a value cannot be taken.
    """
    wanted: dict[Name, Any] = {}
    wrong: dict[str, Fact] = {}
    for text, value in (*change.set.items(), *((text, None) for text in change.unset)):
        try:
            empty = value is None or (isinstance(value, str) and not value.strip()) or value == []
            name = read_name(text, to_unset=empty)
            wanted[name] = UNSET if empty else name.checked(value)
        except Wrong as problem:
            wrong[text] = problem.fact
    for text in set(change.set) & set(change.unset):
        wrong[text] = Fact("settings.set_and_unset")
    if wrong:
        raise FieldsWrong(wrong)
    return wanted


class Writing:
    """One change on its way into the file."""

    def __init__(self, backend: Backend, version: str | None, wanted: Mapping[Name, Any]) -> None:
        self._settings = backend.settings
        self._file = backend.live.file
        self._version = version
        self._wanted = wanted
        self._before: Mapping[str, Any] = {}
        self.really_changed: list[Name] = []

    def write(self) -> None:
        """Write it, or raise why not."""
        salt = self._file.salt if self._version is not None else b""
        self._file.change(lambda values: self._plan(values, salt), self._check)

    def _plan(self, values: Mapping[str, Any], salt: bytes) -> Changes:
        origins = Origins(self._settings, values)
        wrong: dict[str, Fact] = {}
        meanwhile: dict[str, Fact] = {}
        planned: dict[tuple[str, ...], Any] = {}
        for name, value in self._wanted.items():
            variable = origins.variable_above(name.keys) if name.field is not None else None
            if variable is not None:
                wrong[name.text] = Fact("settings.from_environment", variable=variable)
                continue
            keys = name.keys_in(values)
            there = origins.in_file(name.keys)
            if there == value or (there is UNSET and value is UNSET):
                continue
            if self._version is not None and changed_since(self._version, values, keys, salt):
                meanwhile[name.text] = Fact("settings.changed_by_other")
                continue
            planned[keys] = value
            self.really_changed.append(name)
        if wrong:
            raise FieldsWrong(wrong)
        if meanwhile:
            raise FieldsWrong(meanwhile, HTTPStatus.CONFLICT)
        self._before = values
        return planned

    def _check(self, values: Mapping[str, Any]) -> None:
        """Refuse what would not be a valid configuration, or would send a key elsewhere."""
        path, arguments = self._file.path, self._settings.arguments
        try:
            Settings.from_values(values, path, strict=True, **arguments)
        except ConfigurationError as error:
            concerned = self._concerned(_problems(error))
            if concerned:
                raise FieldsWrong(concerned) from None
        try:  # a value of the first group that was wrong before may stay so
            after = Settings.from_values(values, path, **arguments)
        except ConfigurationError as error:
            problems = _problems(error)
            if not problems:
                raise
            raise FieldsWrong(problems) from None
        wrong = {
            **self._unknown_providers(after),
            **dict(keys_wanted(self._as_before(), after, {name.text for name in self._wanted})),
        }
        if wrong:
            raise FieldsWrong(wrong)

    def _as_before(self) -> Settings:
        try:
            return Settings.from_values(self._before, self._file.path, **self._settings.arguments)
        except ConfigurationError:  # this change mends it
            return self._settings

    def _concerned(self, problems: Mapping[str, Fact]) -> dict[str, Fact]:
        """Return what is wrong with the names that are to be changed."""
        found: dict[str, Fact] = {}
        for name in self._wanted:
            path = ".".join(name.keys)
            for where, problem in problems.items():
                if f"{where}.".startswith(f"{path}.") or f"{path}.".startswith(f"{where}."):
                    found[name.text] = problem
        return found

    def _unknown_providers(self, after: Settings) -> Mapping[str, Fact]:
        found: dict[str, Fact] = {}
        for name, value in self._wanted.items():
            if name.keys[-1] != "model" or value is UNSET:
                continue
            chosen = model_settings(after, name.keys[1] if name.keys[0] == MODELS else "")
            try:
                if chosen is not None:
                    choose(chosen)
            except ModelNotConfigured as error:
                if error.fact.code == "llm.unknown_provider":
                    found[name.text] = error.fact
        return found


def _problems(error: ConfigurationError) -> dict[str, Fact]:
    """Return what is wrong with a configuration by name."""
    told = (each for each in error.fact.values.get("problems", ()) if isinstance(each, Fact))
    return {str(each.values["name"]): each.values["problem"] for each in told}
