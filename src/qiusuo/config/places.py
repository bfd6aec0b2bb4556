"""Where a setting comes from, by the name that its user has written, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from qiusuo.validation import problem_of
from qiusuo.words import Fact

PREFIX: Final = "QIUSUO_"


def variables_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the variables that set a field; the first that is set wins. Older names are read beside the usual one."""
    alias, usual = field.validation_alias, f"{PREFIX}{name.upper()}"
    return (str(alias.choices[-1]), usual) if isinstance(alias, AliasChoices) else (usual,)


def variable_in(environ: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Return the first of these variables that is set, as it is written: small letters count as large ones."""
    written = {name.upper(): name for name, value in environ.items() if value.strip()}
    return next((written[name] for name in names if name in written), None)


def place_in(environ: Mapping[str, str], place: Sequence[object], fields: Mapping[str, FieldInfo]) -> str | None:
    """Return a place in the settings as the environment names it; None where the environment says nothing of it."""
    way = [str(part) for part in place]
    for length in range(len(way), 0, -1):
        names: Sequence[str] = (PREFIX + "__".join(way[:length]).upper(),)
        if length == 1:
            names = variables_of(way[0], fields[way[0]]) if way[0] in fields else (way[0].upper(),)
        if (variable := variable_in(environ, names)) is not None:
            return ".".join((variable, *way[length:]))
    return None


def problem_with(name: str, details: Mapping[str, Any]) -> Fact:
    """Return what is wrong with the value of a setting; in words where its pattern would tell a reader nothing."""
    if details["type"] in {"string_pattern_mismatch", "settings.no_host_or_port"}:
        if name == "searxng_url":
            return Fact("settings.address_form")
        if name == "language":
            return Fact("settings.language_form")
    return problem_of(details)
