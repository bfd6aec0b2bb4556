"""The laws on this machine as an engine: regulation searches are answered without a key and without a network."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from typing import TYPE_CHECKING, Self

from qiusuo.engines.base import EngineOptions, EngineResults, Feature, SearchEngine, Storing
from qiusuo.errors import EngineNotConfigured, SearchError, Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Query, SearchResultItem, SearchType

if TYPE_CHECKING:
    from qiusuo.legal.answers.results import RegulationResult
    from qiusuo.legal.index.handle import IndexHandle


# An option of the tools, which nobody has here.
_HOW_TO_SEE_MORE = re.compile(r"；可增大 limit[^。]*")


class LawsEngine(SearchEngine):
    """Articles of the legal index (``qiusuo legal install``), first in ``regulation`` searches: local, free, at once.

    It knows nothing but laws. Where it has nothing, or nothing that is near enough, the engines of the web are asked.
    """

    name = "laws"
    label = "本地法律库 Local laws"
    docs_url = "https://flk.npc.gov.cn/"
    features = frozenset({Feature.LANGUAGE, Feature.REGION, Feature.INCLUDE_DOMAINS})
    costs_money = False
    local = True
    priority = 5
    # Asking it costs milliseconds, and what was installed or repealed since must show at once.
    storing = Storing.NEVER
    search_types = frozenset({SearchType.REGULATION})

    def __init__(self, handle: IndexHandle) -> None:
        self._handle = handle

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - asks nobody
        from qiusuo.legal.index.folder import index_folder  # noqa: PLC0415 - with the rest of legal search, loaded when used

        folder = index_folder(options.lookup("QIUSUO_LEGAL_DIR"))
        if folder.current() is None:
            raise EngineNotConfigured(
                "There is no legal index on this machine.", engine=cls.name, fix="Run: qiusuo legal install"
            )
        if importlib.util.find_spec("tantivy") is None:
            raise EngineNotConfigured(
                "The legal index needs tantivy, which is not installed.",
                engine=cls.name,
                fix="Run: pip install 'qiusuo[legal]'",
            )
        from qiusuo.legal.index.handle import IndexHandle  # noqa: PLC0415 - only where there is an index

        return cls(IndexHandle(folder))

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        from qiusuo.legal.answers.regulations import RegulationSearch  # noqa: PLC0415 - loaded when used

        def look() -> list[SearchResultItem]:
            search = RegulationSearch(self._handle.get(), self._handle.today)
            answer = search.search(query.own_words, limit=self.count(num_results))
            found = [item for result in answer.results if (item := self._item(result)) is not None]
            return EngineResults(found[:num_results], [_HOW_TO_SEE_MORE.sub("", note) for note in answer.notes])

        try:
            return await asyncio.to_thread(look)
        except SearchError as error:
            raise Unavailable(error.message, engine=self.name, fix=error.fix) from error

    def _item(self, result: RegulationResult) -> SearchResultItem | None:
        from qiusuo.legal.answers.results import is_news  # noqa: PLC0415 - loaded when used

        remarks = [note for note in result.notes if is_news(note)]
        facts = "，".join(part for part in (result.status, result.since) if part)
        title = f"{result.law_name} {result.article_number}".rstrip() + (f"（{facts}）" if facts else "")
        # What we say about the law is told apart from what it says, so that nobody quotes it as law.
        notes = "".join(remarks)
        said = result.excerpt or result.content  # of an article the 款 or 项 that was asked for; its card has the rest
        text = f"{said}（检索注：{notes}）" if said and notes else said or notes
        return self.item(title, result.url, text, score=result.score)
