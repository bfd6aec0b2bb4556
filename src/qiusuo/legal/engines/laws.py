"""The laws and judgments on this machine as an engine, which needs no key and no network."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Final, Self

from qiusuo.commands import install_command
from qiusuo.engines.base import EngineOptions, EngineResults, Feature, SearchEngine, Storing
from qiusuo.errors import EngineNotConfigured, SearchError, Unavailable
from qiusuo.http import HttpClient
from qiusuo.legal.index.folder import index_folder
from qiusuo.models import Query, SearchResultItem, SearchType
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.legal.index.handle import IndexHandle

_OFF: Final = frozenset({"false", "0", "no", "off"})


class LawsEngine(SearchEngine):
    """The legal index (``qiusuo legal install``): articles in ``regulation`` searches, judgments in ``case`` searches.

    It comes first in these: local, free, at once. It knows nothing but law: where it has nothing, or nothing that is
    near enough, the engines of the web are asked.
    """

    name = "laws"
    label = "本地法律库 Local laws"
    title = Fact("law.local")
    docs_url = "https://flk.npc.gov.cn/"
    features = frozenset({Feature.LANGUAGE, Feature.REGION, Feature.INCLUDE_DOMAINS})
    costs_money = False
    local = True
    priority = 5
    # Asking it costs milliseconds, and what was installed or repealed since must show at once.
    storing = Storing.NEVER
    search_types = frozenset({SearchType.REGULATION, SearchType.CASE})
    quoted_whole = True  # what is cut off may be the exception that matters
    answers_first = True
    explains = "law.note"

    def __init__(self, handle: IndexHandle, *, masked: bool = True) -> None:
        self._handle = handle
        self._masked = masked

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - asks nobody
        folder = index_folder(options.lookup("QIUSUO_LEGAL_DIR"))
        if folder.current() is None:
            raise EngineNotConfigured(Fact("legal.not_here"), engine=cls.name, commands=("qiusuo legal install",))
        if importlib.util.find_spec("tantivy") is None:
            commands = (install_command("qiusuo[legal]"),)
            raise EngineNotConfigured(Fact("legal.no_tantivy"), engine=cls.name, commands=commands)
        from qiusuo.legal.index.handle import IndexHandle  # noqa: PLC0415 - only where there is an index

        masked = (options.lookup("QIUSUO_LEGAL_MASKING") or "").lower() not in _OFF
        return cls(IndexHandle(folder), masked=masked)

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        find = self._judgments if query.type is SearchType.CASE else self._articles
        try:
            return await asyncio.to_thread(find, query.own_words, num_results)
        except SearchError as error:
            fix = error.remedy or ""
            raise Unavailable(error.fact, engine=self.name, fix=fix, commands=error.commands) from error

    def _articles(self, question: str, wanted: int) -> list[SearchResultItem]:
        from qiusuo.legal.answers.finding.regulations import RegulationSearch  # noqa: PLC0415 - loaded when used
        from qiusuo.legal.answers.items import law_item  # noqa: PLC0415 - loaded when used

        search = RegulationSearch(self._handle.get(), self._handle.today)
        # How many are listed is an option of the tools, which nobody has here.
        answer = search.search(question, limit=self.count(wanted), can_raise=False)
        return EngineResults([law_item(result, self.name) for result in answer.results][:wanted], answer.notes)

    def _judgments(self, question: str, wanted: int) -> list[SearchResultItem]:
        from qiusuo.legal.answers.items import judgment_item  # noqa: PLC0415 - loaded when used
        from qiusuo.legal.judgments.cases import CaseSearch  # noqa: PLC0415 - loaded when used

        answer = CaseSearch(self._handle.get(), self._masked).search(question, limit=self.count(wanted))
        return EngineResults([judgment_item(result, self.name) for result in answer.results], answer.notes)
