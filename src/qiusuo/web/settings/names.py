"""The names of settings over HTTP: what each stands for, where it stands in the file, and which values it takes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Annotated, Any, Final, get_args

import orjson
from pydantic import ConfigDict, SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from qiusuo.config import EngineSettings, Settings, variable_name
from qiusuo.config.editing import Keys
from qiusuo.config.model import OtherModel
from qiusuo.engines import discover_engines
from qiusuo.validation import problem_of
from qiusuo.web.settings.addresses import address_problem
from qiusuo.words import Fact

ENGINES: Final = "engines"
MODELS: Final = "models"
TABLES: Final = frozenset({ENGINES, MODELS, "web_search"})
"""Settings of which single values have names of their own, or which belong to programs."""
NEEDS_RESTART: Final = frozenset(
    {
        "host", "port", "workers", "uds", "uds_mode", "tls_cert", "tls_key", "root_path", "tokens", "allow_open",
        "allowed_hosts", "allowed_origins", "log", "log_queries",
        "max_connections", "max_connections_per_address", "trusted_proxies", "redis_url", "database_url",
        "proxy_user_header", "proxy_groups_header", "public_url", "oidc_issuer", "oidc_client_id", "oidc_client_secret",
        "oidc_scopes", "sign_in_hours", "sign_in_idle_hours",
        "read_private", "read_proxy", "legal_dir", "legal_masking", "legal_meaning",
    }
)  # fmt: skip
LONGEST_TEXT: Final = 2000
MOST_ENTRIES: Final = 200
_LARGEST: Final = 2**53
_LONGEST_NAME: Final = 100
_NAME_OF_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
# Control characters, invisible ones, breaks of lines, halves of characters.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_KEY: Final = re.compile(r"[\x21-\x7e]+")
_ADDRESSES: Final = frozenset({"base_url", "model_base_url", "searxng_url", "oidc_issuer", "public_url"})


class Wrong(Exception):
    """A name or a value cannot be taken; ``fact`` says why."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(fact.code)
        self.fact = fact


@dataclass(frozen=True, slots=True)
class Name:
    """A setting: ``model``, ``engines.tavily.api_key``, ``models.cheap.base_url``. ``field`` None: a whole model."""

    text: str
    keys: Keys
    field: FieldInfo | None = dataclass_field(compare=False)

    @property
    def is_secret(self) -> bool:
        return self.field is not None and holds_secret(self.field.annotation)

    @property
    def is_key(self) -> bool:
        return self.keys[-1] in {"api_key", "model_api_key"}

    @property
    def needs_restart(self) -> bool:
        return self.keys[0] in NEEDS_RESTART

    def keys_in(self, values: Mapping[str, Any]) -> Keys:
        """Return the way to it in a file, which may have it under the name of its variable."""
        if len(self.keys) == 1 and self.keys[0] not in values:
            variable = variable_name(self.keys[0])
            return (variable,) if variable in values else self.keys
        return self.keys

    def checked(self, value: Any) -> Any:
        """Return a value as it is stored.

        Raises:
            Wrong: it is not of the setting's kind, or nothing that a person would type.
        """
        if self.field is None:
            raise Wrong(Fact("settings.unknown_name", name=self.text))
        value = _plain(value)
        if self.is_key and not (isinstance(value, str) and _KEY.fullmatch(value)):
            raise Wrong(Fact("settings.key_form"))
        # Before its pattern, which would tell a reader nothing.
        if self.keys[-1] in _ADDRESSES and isinstance(value, str) and (problem := address_problem(value)) is not None:
            raise Wrong(problem)
        kind: Any = self.field.annotation
        if self.field.metadata:
            kind = Annotated.__class_getitem__((kind, *self.field.metadata))  # type: ignore[attr-defined]
        adapter = TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False))
        try:
            adapter.validate_json(orjson.dumps(value), strict=True)
        except ValidationError as error:
            raise Wrong(problem_of(error.errors(include_input=False)[0])) from None
        return value


def holds_secret(annotation: Any) -> bool:
    """Tell whether values of a type are never shown."""
    return annotation is SecretStr or any(holds_secret(part) for part in get_args(annotation))


def plain_fields() -> dict[str, FieldInfo]:
    """Return the settings that are single values, by name."""
    return {name: field for name, field in Settings.model_fields.items() if name not in TABLES}


def read_name(text: str, *, to_unset: bool = False) -> Name:
    """Return the setting of a name; ``to_unset``: also a whole model, and what only one engine knows.

    Raises:
        Wrong: there is no such setting.
    """
    unknown = Wrong(Fact("settings.unknown_name", name=_shown(text)))
    if len(text) > _LONGEST_NAME:
        raise unknown
    if text in (fields := plain_fields()):
        return Name(text, (text,), fields[text])
    table, _, rest = text.partition(".")
    if table == ENGINES:
        engine, _, name = rest.partition(".")
        kind = discover_engines().get(engine)
        if kind is None:
            raise unknown
        known = EngineSettings.model_fields.get(name)
        if known is None and not (to_unset and name in kind.own_settings):
            raise unknown
        return Name(text, (ENGINES, engine, name), known)
    if table == MODELS:
        return _of_model(text, rest, unknown, to_unset=to_unset)
    raise unknown


def _of_model(text: str, rest: str, unknown: Wrong, *, to_unset: bool) -> Name:
    # A name may have dots, so the last one parts it from the field.
    model, dot, field = rest.rpartition(".")
    if dot and field in OtherModel.model_fields:
        if not _NAME_OF_MODEL.fullmatch(model) or model.rpartition(".")[2] in OtherModel.model_fields:
            raise Wrong(Fact("settings.model_name", name=_shown(model)))
        return Name(text, (MODELS, model, field), OtherModel.model_fields[field])
    if to_unset and rest:
        return Name(text, (MODELS, rest), None)
    raise unknown


def _plain(value: Any) -> Any:
    """Return a value of a file: a text without blanks around it, a number, yes or no, a list of texts."""
    match value:
        case str():
            return _text(value)
        case bool():
            return value
        case int() | float():
            if not math.isfinite(value) or abs(value) > _LARGEST:
                raise Wrong(Fact("value.finite_number"))
            return value
        case list():
            if len(value) > MOST_ENTRIES:
                raise Wrong(Fact("settings.too_many", most=MOST_ENTRIES))
            texts = [_text(each) if isinstance(each, str) else "" for each in value]
            if not all(texts):
                raise Wrong(Fact("settings.list_of_texts"))
            return texts
        case _:
            raise Wrong(Fact("settings.wrong_kind"))


def _text(value: str) -> str:
    text = value.strip()
    if len(text) > LONGEST_TEXT:
        raise Wrong(Fact("value.string_too_long", max_length=LONGEST_TEXT))
    if any(unicodedata.category(character) in _UNSEEN for character in text):
        raise Wrong(Fact("settings.unseen_characters"))
    if "//***@" in text:
        raise Wrong(Fact("settings.masked"))
    return text


def _shown(text: str) -> str:
    """Return a stranger's word so that it can be told."""
    return "".join(letter if unicodedata.category(letter) not in _UNSEEN else "·" for letter in text[:60])
