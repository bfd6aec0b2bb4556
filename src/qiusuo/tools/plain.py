"""The plain search tools: one for Brave, one for Tavily, the same to use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field

from qiusuo.config import Settings, TavilyWebSearchConfig, WebSearchConfig
from qiusuo.config.files import config_folder
from qiusuo.engines.base import HttpEngine
from qiusuo.engines.brave import BraveEngine
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import AllEnginesFailed, EngineError, EngineNotConfigured, SearchError
from qiusuo.models import SearchResponse
from qiusuo.service import SearchService
from qiusuo.tools.base import Tool, ToolArguments, check_arguments
from qiusuo.tools.render import error_text, language_for, neutral, one_line, untrusted
from qiusuo.validation import refused
from qiusuo.words import Fact

MAX_COUNT = 10


def _not_blank(text: str) -> str:
    if not text.strip():
        raise refused(Fact("tools.empty"))
    return text.strip()


def _at_most_ten(value: int) -> int:
    return min(value, MAX_COUNT)


class SearchArguments(ToolArguments):
    """What both tools take."""

    query: Annotated[str, AfterValidator(_not_blank)] = Field(description="What to search for. 搜索内容。")
    count: Annotated[int, AfterValidator(_at_most_ten)] = Field(
        default=MAX_COUNT,
        ge=1,
        description="Number of results, 1 to 10. 结果数量。",
        json_schema_extra={"maximum": MAX_COUNT},
    )


class EngineSearchTool(Tool):
    """A tool over one engine. Its key comes from the environment, then from the caller, then from the file.

    In the file ``web_search`` (for Tavily ``web_search.tavily``) is looked at first, then the engine's own table.
    """

    engine_class: ClassVar[type[HttpEngine]]
    arguments = SearchArguments

    def __init__(
        self,
        api_key: str | None = None,
        *,
        settings: Settings | None = None,
        base_url: str | None = None,
    ) -> None:
        self._settings = settings or Settings.load()
        self._service: SearchService | None = None
        stored = self._settings.engine(self.engine_class.name)
        candidates = (
            *(self._settings.env(name) for name in self.engine_class.key_env),
            api_key,
            self.configured_key(self._settings.web_search),
            stored.api_key.get_secret_value() if stored.api_key else None,
        )
        key = next((value.strip() for value in candidates if value and value.strip()), None)
        if key is not None:
            engine = self.engine_class(key, base_url=base_url or stored.base_url, timeout=stored.timeout)
            self._service = SearchService([engine], self._settings)

    @staticmethod
    @abstractmethod
    def configured_key(config: WebSearchConfig) -> str | None:
        """Return this tool's key in the table ``web_search`` of the configuration."""

    async def execute(self, **kwargs: Any) -> str:
        """Search and return the results as text: title, URL and description of each."""
        try:
            wanted = check_arguments(SearchArguments, kwargs)
            if self._service is None:
                raise self._missing_key()
            # By name, so that a shared cache cannot answer with what another engine found.
            named = self.engine_class.name
            return _results(await self._service.asearch(wanted.query, num_results=wanted.count, engine=named))
        except AllEnginesFailed as error:
            attempt = error.attempts[-1]
            failed = Fact("tools.engine_failed", engine=self.engine_class.label, reason=attempt.fact or "")
            return error_text(EngineError(failed, fix=attempt.remedy or ""), language_for(kwargs))
        except SearchError as error:
            return error_text(error, language_for(kwargs))

    async def aclose(self) -> None:
        """Close the tool's connections."""
        if self._service is not None:
            await self._service.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def _missing_key(self) -> EngineNotConfigured:
        kind = self.engine_class
        path = self._settings.config_file or config_folder() / "config.toml"
        no_key = Fact("tools.no_key", label=kind.label, variable=kind.key_env[0], engine=kind.name, file=str(path))
        return EngineNotConfigured(no_key, engine=kind.name)


class WebSearchTool(EngineSearchTool):
    """Search with the Brave Search API."""

    name = "web_search"
    description = (
        "Search the web with Brave Search. Returns title, URL and description of each result. 使用 Brave 搜索网页。"
    )
    engine_class = BraveEngine

    @staticmethod
    def configured_key(config: WebSearchConfig) -> str | None:
        return config.api_key


class TavilyWebSearchTool(EngineSearchTool):
    """Search with the Tavily API."""

    name = "tavily_web_search"
    description = (
        "Search the web with Tavily. Returns title, URL and description of each result. 使用 Tavily 搜索网页。"
    )
    engine_class = TavilyEngine

    @staticmethod
    def configured_key(config: WebSearchConfig) -> str | None:
        return config.tavily.api_key if config.tavily else None


def create_web_search_tool(
    config: WebSearchConfig | Mapping[str, Any] | None = None, *, settings: Settings | None = None
) -> WebSearchTool | TavilyWebSearchTool:
    """Return the Tavily tool if ``config.tavily`` is set, the Brave tool otherwise.

    Without ``config`` the one in the configuration file counts.
    """
    settings = settings or Settings.load()
    if config is None:
        config = settings.web_search
    elif isinstance(config, Mapping):
        config = WebSearchConfig.model_validate(config)
    if isinstance(config.tavily, TavilyWebSearchConfig):
        return TavilyWebSearchTool(config.tavily.api_key, settings=settings)
    return WebSearchTool(config.api_key, settings=settings)


def _results(response: SearchResponse) -> str:
    asked = f"{neutral(response.query)} (cached)" if response.cached else neutral(response.query)
    if not response.results:
        return f"No results for: {asked}"
    entries = [
        "\n".join(
            (
                f"{number}. {neutral(item.title)}",
                f"   URL: {one_line(item.url)}",
                f"   Description: {neutral(item.snippet)}",
            )
        )
        for number, item in enumerate(response.results, 1)
    ]
    return f"Results for: {asked}\n" + untrusted("\n".join(entries))
