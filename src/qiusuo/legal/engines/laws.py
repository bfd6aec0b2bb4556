"""The laws on this machine as an engine: regulation searches are answered without a key and without a network."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Self

from qiusuo.commands import install_command
from qiusuo.engines.base import EngineOptions, EngineResults, Feature, SearchEngine, Storing
from qiusuo.errors import EngineNotConfigured, SearchError, Unavailable
from qiusuo.http import HttpClient
from qiusuo.legal.index.folder import index_folder
from qiusuo.models import Query, SearchResultItem, SearchType
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.legal.index.handle import IndexHandle


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
    quoted_whole = True  # what is cut off may be the exception that matters
    answers_first = True
    explains = "law.note"

    def __init__(self, handle: IndexHandle) -> None:
        self._handle = handle

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - asks nobody
        return cls(cls.handle_of(options))

    @classmethod
    def handle_of(cls, options: EngineOptions) -> IndexHandle:
        """Return the index that the settings name.

        Raises:
            EngineNotConfigured: there is none, or what reads it is not installed.
        """
        folder = index_folder(options.lookup("QIUSUO_LEGAL_DIR"))
        if folder.current() is None:
            raise EngineNotConfigured(Fact("legal.not_here"), engine=cls.name, commands=("qiusuo legal install",))
        if importlib.util.find_spec("tantivy") is None:
            commands = (install_command("qiusuo[legal]"),)
            raise EngineNotConfigured(Fact("legal.no_tantivy"), engine=cls.name, commands=commands)
        from qiusuo.legal.index.handle import IndexHandle  # noqa: PLC0415 - only where there is an index

        return IndexHandle(folder)

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        from qiusuo.legal.answers.items import law_item  # noqa: PLC0415 - loaded when used
        from qiusuo.legal.answers.regulations import RegulationSearch  # noqa: PLC0415 - loaded when used

        def look() -> list[SearchResultItem]:
            search = RegulationSearch(self._handle.get(), self._handle.today)
            # How many are listed is an option of the tools, which nobody has here.
            answer = search.search(query.own_words, limit=self.count(num_results), can_raise=False)
            found = [law_item(result, self.name) for result in answer.results]
            return EngineResults(found[:num_results], answer.notes)

        try:
            return await asyncio.to_thread(look)
        except SearchError as error:
            fix = error.remedy or ""
            raise Unavailable(error.fact, engine=self.name, fix=fix, commands=error.commands) from error
