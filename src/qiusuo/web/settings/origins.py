"""Where the value of a setting comes from: the environment, the file, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from qiusuo.config import Environment, Settings, variable_name
from qiusuo.config.editing import UNSET, Keys, value_at
from qiusuo.engines import discover_engines
from qiusuo.engines.base import SearchEngine

Source = Literal["environment", "file", "default"]


class Origins:
    """The layers of one configuration. What the command line says counts as environment: no file changes it."""

    def __init__(self, settings: Settings, in_file: Mapping[str, Any]) -> None:
        self._settings = settings
        self._file = in_file
        self._environment = Environment(Settings)()

    def source(self, keys: Keys) -> Source:
        """Return where a value comes from."""
        # Variables have the names of models in small letters.
        written = (keys, tuple(key.lower() for key in keys))
        layers = (self._settings.arguments, self._environment)
        if any(value_at(layer, way) is not UNSET for layer in layers for way in written):
            return "environment"
        return "file" if self.in_file(keys) is not UNSET else "default"

    def variable_above(self, keys: Keys) -> str | None:
        """Return the variable that wins over whatever the file says; None where the file decides."""
        if keys[0] == "engines":
            kind = discover_engines()[keys[1]]
            variables = {"api_key": kind.key_env, "base_url": kind.url_env}.get(keys[2], ())
            above = next((name for name in variables if self._settings.env(name)), None)
            if above is not None:
                return above
        if self.source(keys) != "environment":
            return None
        return (self._settings.variable_set(keys[0]) if len(keys) == 1 else None) or self.variable(keys)

    def in_file(self, keys: Keys) -> Any:
        """Return what stands in the file, ``UNSET`` where nothing does."""
        found = value_at(self._file, keys)
        if found is UNSET and len(keys) == 1:
            return self._file.get(variable_name(keys[0]), UNSET)
        return found

    def variable(self, keys: Keys) -> str:
        """Return the variable that would set a value."""
        if len(keys) == 1:
            return variable_name(keys[0])
        return "QIUSUO_" + "__".join(key.upper() for key in keys)

    def engine_key(self, kind: type[SearchEngine]) -> tuple[bool, Source | None, str]:
        """Return whether an engine has a key, where from, and the variable for it."""
        for variable in kind.key_env:
            if self._settings.env(variable):
                return True, "environment", variable
        keys = ("engines", kind.name, "api_key")
        stored = self._settings.engine(kind.name).api_key
        there = stored is not None and bool(stored.get_secret_value().strip())
        return there, self.source(keys) if there else None, kind.key_env[0]

    def engine_address(self, kind: type[SearchEngine]) -> tuple[Source, str]:
        """Return where an engine's address comes from, and the variable for it."""
        if "SEARXNG_URL" in kind.url_env and self._settings.searxng_url:
            return self.source(("searxng_url",)), "SEARXNG_URL"
        for variable in kind.url_env:
            if variable != "SEARXNG_URL" and self._settings.env(variable):
                return "environment", variable
        keys = ("engines", kind.name, "base_url")
        return self.source(keys), kind.url_env[0] if kind.url_env else self.variable(keys)
