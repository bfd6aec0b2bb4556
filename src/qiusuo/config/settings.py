"""All configuration, read in one place: arguments > environment > configuration file > defaults.

The names that users already have (``SEARCH_TIMEOUT``, ``SEARXNG_URL``, ``TAVILY_API_KEY`` …) are kept; everything else
is ``QIUSUO_*``. The file is TOML, JSON or YAML: the one that ``QIUSUO_CONFIG`` names, else ``config.toml`` (``.json``,
``.yaml``) in the user's configuration folder for ``qiusuo``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_core.core_schema import ValidationInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from qiusuo.config.environment import Environment
from qiusuo.config.files import find_config_file, read_config_file
from qiusuo.config.model import ModelSettings, without_login
from qiusuo.config.places import place_in, problem_with, variable_in, variables_of
from qiusuo.config.sign_in import SignInSettings
from qiusuo.config.web_search import WebSearchConfig
from qiusuo.errors import ConfigurationError
from qiusuo.models import SearchType
from qiusuo.validation import PriceText, not_valid, refused
from qiusuo.words import Fact

logger = logging.getLogger(__package__)

DEFAULT_SEARXNG_URL: Final = "http://localhost:8080"
REGULATION_SITES: Final = ("flk.npc.gov.cn", "npc.gov.cn", "gov.cn", "court.gov.cn", "spp.gov.cn", "moj.gov.cn")
CASE_SITES: Final = ("rmfyalk.court.gov.cn", "court.gov.cn", "spp.gov.cn", "wenshu.court.gov.cn")

NameList = Annotated[tuple[str, ...], NoDecode]
"""A list in files, a comma list in the environment."""


class EngineSettings(BaseModel):
    """What can be set for one engine under ``[engines.NAME]``; other keys go to the engine itself."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    api_key: SecretStr | None = Field(None, description="The provider's key; its environment variable wins.")
    base_url: str | None = Field(None, description="Another address for the provider's API.")
    timeout: float | None = Field(None, gt=0, le=120, description="Seconds for one request, within the search's own.")
    monthly_quota: int | None = Field(None, ge=0, description="Searches per calendar month; near it requests queue.")
    requests_per_second: float | None = Field(None, gt=0, description="Pace that is never exceeded.")
    max_concurrency: int = Field(10, ge=1, le=1000, description="Requests in flight at once.")
    store_results: Literal["shared", "memory", "never"] | None = Field(
        None, description="Where results may be kept: any cache, this process only, or nowhere."
    )
    price: PriceText | None = Field(None, description="What one search costs, for the board: `0.005` or `0.036 CNY`.")

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        # The engine's own keys may be secrets (basic_auth, headers), so only their names are shown.
        for name, value in super().__repr_args__():
            yield name, "***" if name in (self.model_extra or {}) else without_login(value)


class Settings(SignInSettings, ModelSettings, BaseSettings):
    """The whole configuration. Invalid values of the first group fall back to their default with a log line."""

    model_config = SettingsConfigDict(
        env_prefix="QIUSUO_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
        populate_by_name=True,
        validate_default=False,
    )

    provider_priority: NameList | None = Field(
        None,
        validation_alias=AliasChoices("provider_priority", "SEARCH_PROVIDER_PRIORITY"),
        description="Engines in the order in which they are tried; only these take part.",
    )
    cache_ttl: float = Field(
        3600,
        ge=0,
        validation_alias=AliasChoices("cache_ttl", "SEARCH_CACHE_TTL"),
        description="Seconds for which general results are kept; 0 switches the cache off.",
    )
    rate_limit: int = Field(
        10,
        ge=0,
        validation_alias=AliasChoices("rate_limit", "SEARCH_RATE_LIMIT"),
        description="Searches per user and minute; 0: no limit. Callers without a user are limited only if it is set. "
        "What the laws on this machine answer does not count.",
    )
    max_results: int = Field(
        10,
        ge=1,
        le=50,
        validation_alias=AliasChoices("max_results", "SEARCH_MAX_RESULTS"),
        description="Results of a search that does not ask for a number. Models get at most five, or this many if "
        "it is fewer.",
    )
    timeout: float = Field(
        5.0,
        gt=0,
        le=120,
        validation_alias=AliasChoices("timeout", "SEARCH_TIMEOUT"),
        description="Seconds for a whole search, all attempts together.",
    )
    language: str = Field(
        "auto",
        pattern=r"^(auto|all|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$",
        validation_alias=AliasChoices("language", "SEARCH_LANGUAGE"),
        description="Language of results (zh-CN, en …); auto follows the query's script.",
    )
    snippet_length: int = Field(
        200,
        ge=20,
        le=5000,
        validation_alias=AliasChoices("snippet_length", "SEARCH_SNIPPET_LENGTH"),
        description="Characters of each snippet that a model gets to see.",
    )
    searxng_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s/?#]+[^\s?#]*$",
        validation_alias=AliasChoices("searxng_url", "SEARXNG_URL"),
        description=f"Address of your SearXNG. Unset: {DEFAULT_SEARXNG_URL} is used if a SearXNG answers there.",
    )

    region: str | None = Field(None, pattern=r"^[A-Za-z]{2}$", description="Two-letter country of results.")
    redis_url: SecretStr | None = Field(
        None, description="Redis or Valkey that shares cache, limits, quotas, cooldowns and running answers."
    )
    hedge_delay: float = Field(
        1.2,
        ge=0,
        le=60,
        description="Seconds after which the next engine starts beside a silent one; 0 switches it off.",
    )
    hedge_paid: bool = Field(False, description="Hedge also between two engines that both cost money.")
    cache_ttl_news: float = Field(3600, ge=0, description="Seconds for news results.")
    cache_ttl_case: float = Field(6 * 3600, ge=0, description="Seconds for case results.")
    cache_ttl_regulation: float = Field(24 * 3600, ge=0, description="Seconds for regulation results.")
    cache_stale: float = Field(
        24 * 3600,
        ge=0,
        description="Seconds past its time for which an entry may still be served when every engine fails.",
    )
    cache_size: int = Field(2000, ge=1, le=1_000_000, description="Entries of the cache in memory.")
    sort_words: bool = Field(False, description="Treat queries with the same words in another order as the same.")
    merge_engines: int = Field(3, ge=2, le=20, description="How many engines a merged search asks, if it names none.")
    regulation_sites: NameList = Field(REGULATION_SITES, description="Sites preferred by regulation searches.")
    case_sites: NameList = Field(CASE_SITES, description="Sites preferred by case searches.")
    regulation_keyword: str = Field("法律法规", description="Added to regulation queries that name no kind of law.")
    case_keyword: str = Field("裁判文书", description="Added to case queries that name no kind of judgment.")
    legal_dir: str | None = Field(None, description="Folder of the legal index. Unset: legal in the data folder.")
    legal_masking: bool = Field(True, description="Hide personal data in judgments.")
    legal_meaning: bool = Field(True, description="Prepare laws for search by meaning, beside a server or a chat.")
    engines: dict[str, EngineSettings] = Field(default_factory=dict, description="Settings of single engines.")
    web_search: WebSearchConfig = Field(
        default_factory=WebSearchConfig, description="Which plain search tool the factory gives, and its key."
    )

    _environ: Mapping[str, str] = PrivateAttr(default_factory=lambda: dict(os.environ))
    _file: Path | None = PrivateAttr(None)
    _named: Path | str | None = PrivateAttr(None)
    _arguments: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    STRICT: ClassVar[bool] = False
    SOURCE: ClassVar[Path | None] = None
    """The file below the environment."""
    SEED_FIELDS: ClassVar[tuple[str, ...]] = (
        "provider_priority", "cache_ttl", "rate_limit", "max_results", "timeout", "language", "snippet_length",
        "searxng_url",
    )  # fmt: skip

    @classmethod
    def load(cls, config_file: Path | str | None = None, **arguments: Any) -> Settings:
        """Read the configuration; ``arguments`` win over everything.

        Raises:
            ConfigurationError: the file cannot be read, or a value outside the first group is not valid.
        """
        if odd := [name for name in arguments if name not in cls.model_fields and not name.isupper()]:
            near = ", ".join(get_close_matches(odd[0], cls.model_fields, 1))
            raise TypeError(f"there is no setting {odd[0]!r}" + (f"; did you mean {near}?" if near else ""))
        path = Path(config_file).expanduser() if config_file else find_config_file()
        settings = cls.from_values(read_config_file(path) if path else {}, path, **arguments)
        settings._named = config_file  # noqa: SLF001 - our own
        return settings

    @classmethod
    def from_values(
        cls, values: Mapping[str, Any], path: Path | None, *, strict: bool = False, **arguments: Any
    ) -> Settings:
        """Return the configuration of what a file holds; ``strict``: values of the first group do not fall back.

        Raises:
            ConfigurationError: a value is not valid; its fact has the problems by name.
        """
        try:
            settings = _above_file(cls, dict(values), path, strict=strict)(**arguments)
        except ValidationError as error:
            raise ConfigurationError(not_valid(error, path, lambda place: cls._variable_at(place, arguments))) from None
        except SettingsError as error:  # a variable for a whole table that holds no JSON
            raise ConfigurationError(Fact("settings.environment", words=str(error))) from None
        settings._file = path  # noqa: SLF001 - our own
        settings._arguments = arguments  # noqa: SLF001 - our own
        return settings

    def read_again(self) -> Settings:
        """Return the configuration as its file stands now, under the same arguments.

        Raises:
            ConfigurationError: as :meth:`load`.
        """
        return Settings.load(self._named, **self._arguments).with_store(self.private_store)

    @property
    def named_file(self) -> Path | str | None:
        """The file that a program has named; None: the user's."""
        return self._named

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What wins over environment and file."""
        return self._arguments

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, without_login(value)) for name, value in super().__repr_args__())

    @property
    def config_file(self) -> Path | None:
        """The file that was read, if any."""
        return self._file

    def env(self, name: str) -> str | None:
        """Return an environment variable as it was when the settings were read; None where it is blank."""
        return (self._environ.get(name) or "").strip() or None

    def variable_set(self, field: str) -> str | None:
        """Return the variable that sets a field, as it is written in the environment; None where none does."""
        return variable_in(self._environ, variable_names(field))

    def value_of(self, variable: str) -> str | None:
        """Return what a variable stands for: the text of the setting that it sets, else the variable itself."""
        for name in type(self).model_fields:
            if variable_name(name) == variable and isinstance(value := getattr(self, name), str):
                return value.strip() or None
        return self.env(variable)

    def ttl_for(self, search_type: SearchType) -> float:
        """Return how long results of a type are fresh; a zero ``cache_ttl`` switches all caching off."""
        if not self.cache_ttl:
            return 0.0
        return {
            SearchType.NEWS: self.cache_ttl_news,
            SearchType.CASE: self.cache_ttl_case,
            SearchType.REGULATION: self.cache_ttl_regulation,
        }.get(search_type, self.cache_ttl)

    def engine(self, name: str) -> EngineSettings:
        """Return the settings of one engine, defaults where none are given."""
        return self.engines.get(name) or EngineSettings()

    @field_validator("provider_priority", "regulation_sites", "case_sites", mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            # People type the Chinese comma too.
            return tuple(part.strip() for part in value.replace("，", ",").split(",") if part.strip())
        return value

    @field_validator("provider_priority")
    @classmethod
    def _lower_names(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        names = tuple(dict.fromkeys(name.strip().lower() for name in value)) if value else None
        return names or None

    @field_validator("searxng_url")
    @classmethod
    def _check_address(cls, value: str | None) -> str | None:
        try:
            parts = urlsplit(value or DEFAULT_SEARXNG_URL)
            usable = bool(parts.hostname) and parts.port != 0  # reading the port checks it
        except ValueError:  # its words quote what it took for the port, perhaps a password
            usable = False
        if not usable:
            raise refused(Fact("settings.no_host_or_port"))
        return value

    @field_validator(*SEED_FIELDS, mode="wrap")
    @classmethod
    def _fall_back(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if cls.STRICT:
                raise
            name = str(info.field_name)
            # Not None: with an address given, even a wrong one, queries must not go outside by surprise.
            default = DEFAULT_SEARXNG_URL if name == "searxng_url" else cls.model_fields[name].get_default()
            shown = value if name != "searxng_url" else str(value).rpartition("@")[2]
            problem = problem_with(name, error.errors()[0])
            told = Fact(
                "settings.fell_back", place=cls._place_of(name), value=repr(shown), problem=problem, used=repr(default)
            )
            logger.warning("%s", told)
            return default

    @classmethod
    def _place_of(cls, name: str) -> Fact | str:
        variable = variable_in(os.environ, variable_names(name))
        if variable is None and cls.SOURCE is not None:
            return Fact("settings.in_file", name=name, file=str(cls.SOURCE))
        return variable or variable_name(name)

    @classmethod
    def _variable_at(cls, place: Sequence[object], arguments: Mapping[str, Any]) -> str | None:
        """Return the variable that a wrong value was given in; None where it comes from elsewhere."""
        return None if place and place[0] in arguments else place_in(os.environ, place, cls.model_fields)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced by Environment
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - not used: a key in a stray .env would surprise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - not used
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, Environment(settings_cls)


def _above_file(base: type[Settings], values: dict[str, Any], path: Path | None, *, strict: bool) -> type[Settings]:
    """Return the settings class with the values of a file below its environment."""
    if not values:
        return base

    class FileSettings(base):  # type: ignore[valid-type,misc]
        SOURCE: ClassVar[Path | None] = path
        STRICT: ClassVar[bool] = strict

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            *sources: PydanticBaseSettingsSource,
            **named: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            above = super().settings_customise_sources(settings_cls, *sources, **named)
            return (*above, InitSettingsSource(settings_cls, init_kwargs=values))

    return FileSettings


@cache
def variable_names(field: str) -> tuple[str, ...]:
    """Return the environment variables that set a field; the first that is set wins."""
    return variables_of(field, Settings.model_fields[field])


def variable_name(field: str) -> str:
    """Return the environment variable that sets a field, as the docs name it."""
    return variable_names(field)[0]
