"""The settings of conversations: model, limits, database; :class:`qiusuo.config.Settings` takes them in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_core.core_schema import ValidationInfo
from pydantic_settings import NoDecode

from qiusuo.validation import refused
from qiusuo.words import Fact

_ADDRESS: Final = r"^https?://[^\s/?#]+[^\s?#]*$"
_NAME_OF_MODEL: Final = re.compile(r"[A-Za-z0-9._-]{1,40}")
_DATABASE: Final = re.compile(r"(?:sqlite|postgres(?:ql)?)(?:\+[a-z0-9]+)?:", re.IGNORECASE)


class OtherModel(BaseModel):
    """A model beside the first, under ``[models.NAME]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str = Field(
        min_length=1, description="The language model, written as in `QIUSUO_MODEL`: `provider:name` or a local file."
    )
    base_url: str | None = Field(None, pattern=_ADDRESS, description="Address of its API, where it is another one.")
    api_key: SecretStr | None = Field(None, description="Its key. Unset: the provider's usual variable.")
    context: int | None = Field(None, ge=512, description="Tokens that it can take, where its server does not say it.")
    temperature: float | None = Field(None, ge=0, le=2, description="Temperature. Unset: the provider's default.")
    max_answer_tokens: int | None = Field(
        None, ge=16, description="Most tokens of one answer. Unset: the provider's default."
    )

    @field_validator("model", mode="before")
    @classmethod
    def _without_blanks(cls, value: Any) -> Any:
        return value.strip() if isinstance(value, str) else value

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, without_login(value)) for name, value in super().__repr_args__())


class ModelSettings(BaseModel):
    """Which model answers, and within which limits."""

    model: str | None = Field(
        None,
        description="The language model: `provider:name` (`openai:gpt-5.5`, `deepseek:deepseek-chat`, `ollama:qwen3`), "
        "`local:/path/to/model.gguf`, or `extractive`. Unset: answers are made of sentences of the results.",
    )
    model_base_url: str | None = Field(
        None, pattern=_ADDRESS, description="Address of the model's API, where it is not the provider's own."
    )
    model_api_key: SecretStr | None = Field(
        None, description="Key for the model. Unset: the provider's usual variable (`OPENAI_API_KEY` …)."
    )
    model_temperature: float | None = Field(None, ge=0, le=2, description="Temperature. Unset: the provider's default.")
    model_timeout: float = Field(
        120, gt=0, le=3600, description="Seconds without any token after which the model is given up."
    )
    model_context: int | None = Field(
        None,
        ge=512,
        description="Tokens that the model can take. Unset: what its own server says, else what is known of the model, "
        "else 8192.",
    )
    max_answer_tokens: int | None = Field(
        None, ge=16, description="Most tokens of one answer. Unset: the provider's default; 1024 for a local file."
    )
    models: dict[str, OtherModel] = Field(
        default_factory=dict,
        description="Further models that a conversation or a message may choose, each under a name: `[models.NAME]`.",
    )
    second_model: str | None = Field(
        None,
        description="The name of one of `models`; it answers where the first fails before it has said anything.",
    )
    search_default: bool | None = Field(
        None, description="Whether new conversations search. Unset: not with a model, always without one."
    )
    model_search: str = Field(
        "auto",
        pattern=r"^[a-z]+$",
        description="The model's own web search: `auto` uses it where the provider is known to have it, `off` never; "
        "the name of a provider (`openai`, `anthropic` …) where a gateway passes requests on to it.",
    )
    agent_rounds: int = Field(6, ge=1, le=50, description="Most rounds of tool calls in one turn of agent mode.")
    agent_tool_choice: Literal["auto", "required"] = Field(
        "auto", description="`required`: every turn of agent mode begins with a tool call (for models that never dare)."
    )
    history_tokens: int = Field(
        16_000,
        ge=256,
        description="Most tokens of earlier turns that the model is sent; never more than fit into its context.",
    )
    injection_tokens: int = Field(
        3000, ge=200, description="Most tokens of search results that are put into a question of chat mode."
    )
    research_questions: int = Field(6, ge=3, le=6, description="Most sub-questions of a research.")
    research_searches: int = Field(12, ge=1, le=100, description="Most searches of a research.")
    research_pages: int = Field(20, ge=0, le=200, description="Most pages that a research reads.")
    research_tokens: int = Field(
        60_000,
        ge=1000,
        description="Most tokens that a model is sent and writes in a research; then it quotes instead.",
    )
    research_seconds: int = Field(300, ge=1, le=7200, description="Most seconds that a research takes.")
    depth: Literal["snippets", "auto", "read"] = Field(
        "auto",
        description="What answers of chat mode rest on where a conversation does not say: the `snippets` of results, "
        "the pages behind the best of them (`read`), or these where the snippets do not answer (`auto`).",
    )
    read_timeout: float = Field(
        4.0, gt=0, le=60, description="Seconds in which pages are read before an answer; what comes later is left out."
    )
    read_private: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Hosts and networks that are not public and whose pages may be read: `wiki.corp`, `10.1.0.0/16`, "
        "`127.0.0.1:8080` (a port other than 80 and 443 is opened for all of them).",
    )
    read_proxy: bool = Field(
        False,
        description="Read pages through the proxy that the environment names; it must refuse private addresses itself.",
    )
    followups: bool = Field(
        True,
        description="Search for what a follow-up question means after what was said before; off: for its words alone.",
    )
    database_url: SecretStr | None = Field(
        None,
        description="PostgreSQL or SQLite that keeps conversations (`postgresql://user:password@host/name`). "
        "Unset: an SQLite file in the user's data folder.",
    )
    max_conversations: int = Field(
        2000, ge=1, le=1_000_000, description="Most conversations that are kept of one user; the page tells near it."
    )
    max_turns: int = Field(500, ge=1, le=100_000, description="Most questions in one conversation.")
    max_files: int = Field(20, ge=0, le=1000, description="Most files in one conversation; 0: none may be added.")
    max_file_chars: int = Field(
        50_000_000, ge=0, description="Most characters in the files of all conversations of one user."
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Conversations in which nothing happened for so many days are deleted, with "
        "their files and links. Unset: they are kept.",
    )
    when_full: Literal["refuse", "delete_oldest"] = Field(
        "refuse",
        description="At `max_conversations`: `refuse` a new one until some are deleted, or `delete_oldest` and tell "
        "which.",
    )

    usage_days: int = Field(
        90,
        ge=0,
        le=3660,
        description="Days for which a server keeps how much was searched and answered, for the board and `qiusuo "
        "usage`; 0 counts nothing and deletes what was kept.",
    )
    audit_days: int = Field(
        365,
        ge=0,
        le=36_500,
        description="Days for which a server keeps who changed settings and tokens, deleted, shared and signed in "
        "(`qiusuo audit`); 0 notes nothing.",
    )
    board_queries: bool = Field(
        False,
        description="For the board, keep also the words of searches that were slowest or found nothing. "
        "Unset: no words.",
    )

    @field_validator("read_private", mode="before")
    @classmethod
    def _split_hosts(cls, value: Any) -> Any:
        return (
            tuple(part.strip() for part in re.split("[,，]", value) if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("model", "second_model")
    @classmethod
    def _blank_is_unset(cls, value: str | None) -> str | None:
        return (value or "").strip() or None

    @field_validator("models", mode="before")
    @classmethod
    def _with_their_variables(cls, value: Any) -> Any:
        """Join what variables say of a model, whose name they have in small letters, to its table in the file."""
        if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
            return value
        joined: dict[str, Any] = {}
        for name in sorted(value, key=lambda name: str(name).islower()):
            same = next((one for one in joined if str(one).lower() == name), name)
            joined[same] = {**joined.get(same, {}), **value[name]}
        return {name: joined[name] for name in value if name in joined}

    @field_validator("models")
    @classmethod
    def _check_names(cls, value: dict[str, OtherModel]) -> dict[str, OtherModel]:
        for name in value:
            if not _NAME_OF_MODEL.fullmatch(name):
                raise refused(Fact("settings.model_name", name=name[:60]))
        return value

    @field_validator("second_model")
    @classmethod
    def _is_one_of_the_models(cls, value: str | None, info: ValidationInfo) -> str | None:
        # Without ``models`` these are wrong themselves, which is told already.
        if value is not None and value not in info.data.get("models", (value,)):
            raise refused(Fact("settings.second_model", name=value[:60]))
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database(cls, value: SecretStr | None) -> SecretStr | None:
        # The message must not quote the address: it may hold a password.
        if value is not None and not _DATABASE.match(value.get_secret_value()):
            raise refused(Fact("settings.database_form"))
        return value


def without_login(value: Any) -> Any:
    """Hide the user and password of an address."""
    return re.sub(r"//.*@", "//***@", value) if isinstance(value, str) else value
