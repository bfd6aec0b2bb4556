"""The judgments on this machine as an engine: case searches are answered without a key and without a network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Self

from qiusuo.engines.base import EngineOptions, EngineResults
from qiusuo.errors import SearchError, Unavailable
from qiusuo.http import HttpClient
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.models import Query, SearchResultItem, SearchType

if TYPE_CHECKING:
    from qiusuo.legal.index.handle import IndexHandle

_OFF: Final = frozenset({"false", "0", "no", "off"})


class JudgmentsEngine(LawsEngine):
    """Judgments of the legal index (``qiusuo legal import``), first in ``case`` searches; without any it says so."""

    name = "judgments"
    label = "本地裁判文书 Local judgments"
    docs_url = "https://wenshu.court.gov.cn/"
    priority = 6
    search_types = frozenset({SearchType.CASE})

    def __init__(self, handle: IndexHandle, *, masked: bool = True) -> None:
        super().__init__(handle)
        self._masked = masked

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - asks nobody
        masked = (options.lookup("QIUSUO_LEGAL_MASKING") or "").lower() not in _OFF
        return cls(cls.handle_of(options), masked=masked)

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:
        from qiusuo.legal.answers.items import judgment_item  # noqa: PLC0415 - loaded when used
        from qiusuo.legal.judgments.cases import CaseSearch  # noqa: PLC0415 - loaded when used

        def look() -> list[SearchResultItem]:
            search = CaseSearch(self._handle.get(), self._masked)
            answer = search.search(query.own_words, limit=self.count(num_results))
            found = [judgment_item(result, self.name) for result in answer.results]
            return EngineResults(found[:num_results], answer.notes)

        try:
            return await asyncio.to_thread(look)
        except SearchError as error:
            fix = error.remedy or ""
            raise Unavailable(error.fact, engine=self.name, fix=fix, commands=error.commands) from error
