"""Settings of the plain search tools."""

from __future__ import annotations

from pydantic import AliasChoices, BaseModel, ConfigDict, Field


class TavilyWebSearchConfig(BaseModel):
    """Settings of the plain Tavily search tool; beside :class:`WebSearchConfig`, which names it."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    api_key: str | None = Field(
        None,
        repr=False,
        validation_alias=AliasChoices("api_key", "apiKey"),
        description="Tavily API key; TAVILY_API_KEY wins.",
    )


class WebSearchConfig(BaseModel):
    """Settings of the plain search tools. Files written before ``tavily`` existed parse unchanged."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    api_key: str | None = Field(
        None,
        repr=False,
        validation_alias=AliasChoices("api_key", "apiKey"),
        description="Brave Search API key; BRAVE_API_KEY wins.",
    )
    tavily: TavilyWebSearchConfig | None = Field(
        None, description="When set, Tavily is used instead of Brave Search, whose settings here are then ignored."
    )
