"""What the environment says about the settings."""

from __future__ import annotations

from typing import Any, Final

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

_OUR_PREFIXES: Final = ("qiusuo_", "search_", "searxng_")


class Environment(EnvSettingsSource):
    """The environment without what is not ours: ``LANGUAGE`` and ``TIMEOUT`` are names of other programs."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        self.env_vars = {name: value for name, value in self.env_vars.items() if name.startswith(_OUR_PREFIXES)}

    # To work out the type of a field takes longer than all else here, so it is done for those that a variable names.

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return (
            super().get_field_value(field, field_name)
            if self._is_named(field, field_name)
            else (None, field_name, False)
        )

    def prepare_field_value(self, field_name: str, field: FieldInfo, value: Any, value_is_complex: bool) -> Any:
        if not self._is_named(field, field_name):
            return None
        return super().prepare_field_value(field_name, field, value, value_is_complex)

    def _is_named(self, field: FieldInfo, name: str) -> bool:
        """Tell whether a variable begins with a name of the field, as those of a table do."""
        alias = field.validation_alias
        others = alias.choices if isinstance(alias, AliasChoices) else (alias or name,)
        names = (name, f"{self.env_prefix}{name}".lower(), *(str(other).lower() for other in others))
        return any(variable.startswith(names) for variable in self.env_vars)
