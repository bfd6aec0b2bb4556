"""``regulationSearch``, ``caseSearch``, ``caseDetail``: the local index first, then the web with its site filters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from qiusuo.errors import ConfigurationError, SearchDisabled, SearchError
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.answers.items import judgment_item, law_item
from qiusuo.legal.answers.results import JudgmentDetails, LawDetails, LegalAnswer, Origin, T
from qiusuo.legal.answers.web_results import judgment_page, law_page
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.legal.index.folder import index_folder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch
from qiusuo.models import SearchResponse, SearchResultItem, SearchType
from qiusuo.service import SearchService
from qiusuo.text import truncate
from qiusuo.tools.base import ToolArguments
from qiusuo.tools.render import FROM_CACHE, neutral, one_line, today, untrusted
from qiusuo.tools.specs import MAX_PAGE_CHARS, ToolOutput, ToolSpec
from qiusuo.words import Fact, Language

_ORIGINS = {Origin.INDEX: "", Origin.WEB: "〔网页〕"}
LEGAL_TOOLS = ("regulationSearch", "caseSearch", "caseDetail")
MAX_RESULTS = 20


class RegulationArguments(ToolArguments):
    """What law is asked for."""

    query: str = Field(
        description="法律名称、条款号或问题", examples=["民法典第五百七十七条", "劳动合同法", "试用期最长多久"]
    )
    as_of: str = Field(default="", alias="asOf", description="按哪一天的法律，例如 2020-06-01；默认今天")
    limit: int = Field(default=5, ge=1, le=MAX_RESULTS, description="最多返回几条")


class CaseArguments(ToolArguments):
    """What judgments are asked for."""

    query: str = Field(description="案情、关键词或案号", examples=["醉酒驾驶 缓刑", "（2018）湘01刑终778号"])
    case_type: Literal["", "民事", "刑事", "行政", "执行", "国家赔偿"] = Field(
        default="", alias="caseType", description="案件类型"
    )
    court: str = Field(default="", description="法院名称或其中的地名")
    date_from: str = Field(default="", alias="dateFrom", description="裁判日期不早于，例如 2018-01-01")
    date_to: str = Field(default="", alias="dateTo", description="裁判日期不晚于")
    limit: int = Field(default=5, ge=1, le=MAX_RESULTS, description="最多返回几条")


class CaseDetailArguments(ToolArguments):
    """Which judgment is asked for."""

    case_id: str = Field(alias="id", description="案号，或 caseSearch 结果中的 id")


@dataclass(frozen=True, slots=True)
class LegalSearch:
    """Legal search over the index and, where that has nothing, over the web. ``service`` None: the index alone."""

    handle: IndexHandle
    service: SearchService | None = None
    masked: bool = True

    async def regulations(
        self, query: str, as_of: str = "", limit: int = 5, user: str | None = None
    ) -> LegalAnswer[LawDetails]:
        """Find articles and laws.

        Raises:
            SearchError: the arguments cannot be used, or neither index nor web could answer.
        """

        def from_index() -> LegalAnswer[LawDetails]:
            return RegulationSearch(self.handle.get(), self.handle.today).search(query, as_of or None, limit)

        # With the day among the words, the web is asked for that edition too.
        words = f"{query} {as_of}" if as_of else query
        answer = await self._answer(words, from_index, SearchType.REGULATION, law_page, limit=limit, user=user)
        return replace(answer, query=query)

    async def cases(
        self, query: str, filters: CaseFilters, limit: int = 5, user: str | None = None
    ) -> LegalAnswer[JudgmentDetails]:
        """Find judgments.

        Raises:
            SearchError: the arguments cannot be used, or neither index nor web could answer.
        """

        def from_index() -> LegalAnswer[JudgmentDetails]:
            return CaseSearch(self.handle.get(), self.masked).search(query, filters, limit)

        wanted = filters.checked(query)
        words = " ".join(part for part in (query, wanted.case_type, wanted.court) if part)

        def convert(item: SearchResultItem) -> JudgmentDetails | None:
            page = judgment_page(item)
            return page if wanted.admits_page(page) else None

        answer = await self._answer(words, from_index, SearchType.CASE, convert, limit=limit, user=user)
        return replace(answer, query=query)

    async def case_detail(self, reference: str) -> LegalAnswer[JudgmentDetails]:
        """Return the whole document of a judgment in the index.

        Raises:
            SearchError: there is no index, or the reference is empty.
        """
        return await asyncio.to_thread(lambda: CaseSearch(self.handle.get(), self.masked).detail(reference))

    def has_index(self) -> bool:
        """Tell whether an index is installed."""
        try:
            return self.handle.is_there()
        except SearchError:
            return False

    def is_offered(self) -> bool:
        """Tell whether there is anything to search: an index, or an engine of the web."""
        return self.has_index() or (self.service is not None and self.service.roster.searches_the_web())

    async def _answer(
        self,
        words: str,
        from_index: Callable[[], LegalAnswer[Any]],
        search_type: SearchType,
        convert: Callable[[SearchResultItem], Any],
        *,
        limit: int,
        user: str | None,
    ) -> LegalAnswer[Any]:
        answer: LegalAnswer[Any] | None = None
        if self.service is None or self.handle.is_there():  # without either, this says what to install
            answer = await asyncio.to_thread(from_index)
        if answer is not None and (answer.answers or answer.final or self.service is None):
            return answer
        if self.service is None:
            raise ConfigurationError(Fact("legal.not_here"), commands=("qiusuo legal install",))
        try:
            response = await self.service.asearch(words, type=search_type, num_results=limit, user=user)
        except SearchDisabled:
            if answer is None:
                raise
            return _without_web(answer)
        except SearchError as error:
            if answer is None or answer.says_nothing:
                raise
            # What the index knows (no such article, no such edition) stands without the web, which is told of too.
            return replace(answer, notes=(*answer.notes, Fact("law.web_failed", reason=error.fact)))
        # What the engine of the same index says, asked without the day that was wanted, is known here already.
        items = [item for item in response.results if LawsEngine.name not in item.engines]
        pages = tuple(page for item in items if (page := convert(item)) is not None)[:limit]
        return _together(words, answer, pages, response)


def _without_web(answer: LegalAnswer[Any]) -> LegalAnswer[Any]:
    return replace(answer, notes=(*answer.notes, Fact("law.no_web")))


def _together(
    words: str, answer: LegalAnswer[Any] | None, pages: tuple[Any, ...], response: SearchResponse
) -> LegalAnswer[Any]:
    """Return what the index has, which is no answer, with pages of the web behind it."""
    if answer is None:
        notes: tuple[Fact, ...] = (Fact("law.no_index"),)
    elif not pages and {attempt.engine for attempt in response.attempts} <= {LawsEngine.name}:
        return _without_web(answer)
    elif not pages:
        return replace(answer, notes=(*answer.notes, Fact("law.web_nothing")))
    else:
        notes = (*answer.notes, Fact("law.web_besides" if answer.results else "law.from_web"))
    found = (*(answer.results if answer is not None else ()), *pages)
    time, cached = response.search_time, response.cached
    return LegalAnswer(words, found, notes, origin=Origin.WEB, search_time=time, cached=cached)


def legal_handle(folder: str = "") -> IndexHandle:
    """Return the index of the folder named, else of the user's."""
    return IndexHandle(index_folder(folder))


def legal_specs(legal: LegalSearch) -> tuple[ToolSpec, ...]:
    """Return the legal tools, for :class:`~qiusuo.tools.specs.Toolbox`'s ``extra``."""

    async def regulations(wanted: RegulationArguments, user: str | None) -> ToolOutput:
        answer = await legal.regulations(wanted.query, wanted.as_of, wanted.limit, user)
        return _output_of(answer, law_item, lambda numbers: regulations_text(answer, numbers))

    async def cases(wanted: CaseArguments, user: str | None) -> ToolOutput:
        filters = CaseFilters(wanted.case_type, wanted.court, wanted.date_from, wanted.date_to)
        answer = await legal.cases(wanted.query, filters, wanted.limit, user)
        return _output_of(answer, judgment_item, lambda numbers: cases_text(answer, numbers))

    async def detail(wanted: CaseDetailArguments, _user: str | None) -> ToolOutput:
        answer = await legal.case_detail(wanted.case_id)
        data = answer.to_dict()
        text = json.dumps(data, ensure_ascii=False)

        def as_source(numbers: Sequence[int]) -> str:
            # It comes as JSON, for machines; here it is a source with a number, and words of others.
            document = truncate(neutral(text), MAX_PAGE_CHARS)
            return f"[{numbers[0]}] {one_line(answer.results[0].title)}\n{untrusted(document)}" if numbers else text

        documents = tuple(result.text for result in answer.results[:1])
        output = _output_of(answer, judgment_item, as_source)
        return replace(output, text=text, documents=documents)

    return (
        ToolSpec(
            "regulationSearch",
            "法规检索 Regulation search",
            "检索中国法律法规：按法律名称、条款号（如“民法典第577条”）或问题查找条文原文、效力状态和施行日期。"
            "Find Chinese laws and articles by name, number or question.",
            RegulationArguments,
            _output(REGULATION_FIELDS),
            regulations,
            explains=LawsEngine.explains,
            offered=legal.is_offered,
        ),
        ToolSpec(
            "caseSearch",
            "案例检索 Case search",
            "检索裁判文书：按案情、关键词或案号查找，可按案件类型、法院、日期筛选。Find Chinese court judgments.",
            CaseArguments,
            _output(CASE_FIELDS),
            cases,
            explains=LawsEngine.explains,
            offered=legal.is_offered,
        ),
        ToolSpec(
            "caseDetail",
            "裁判文书全文 Case document",
            "按案号或 id 获取一份裁判文书的全文（个人信息已隐去）。The full text of one judgment.",
            CaseDetailArguments,
            _output(CASE_FIELDS),
            detail,
            subject=("id", "case_id"),
            explains=LawsEngine.explains,
            offered=legal.has_index,
        ),
    )


def tools_for(service: SearchService) -> tuple[ToolSpec, ...]:
    """Return the legal tools over a service; they are offered where there is anything that they can search."""
    handle = legal_handle(service.settings.legal_dir or "")
    return legal_specs(LegalSearch(handle, service, masked=service.settings.legal_masking))


def _output_of(
    answer: LegalAnswer[Any],
    item: Callable[[Any, str], SearchResultItem],
    numbered: Callable[[Sequence[int]], str],
) -> ToolOutput:
    engine = LawsEngine.name if answer.origin is Origin.INDEX else ""
    return ToolOutput(
        numbered(range(1, len(answer.results) + 1)),
        answer.to_dict(),
        tuple(item(one, LawsEngine.name if one.origin is Origin.INDEX else "") for one in answer.results),
        notes=answer.notes,
        engine=engine,
        search_time=answer.search_time,
        cached=answer.cached,
        numbered=numbered,
    )


def regulations_text(answer: LegalAnswer[LawDetails], numbers: Sequence[int] = ()) -> str:
    """Return laws and articles as numbered text for a model; without numbers they count from 1."""
    entries = []
    for number, result in _numbered(answer, numbers):
        lines = [f"[{number}] {_ORIGINS[result.origin]}{neutral(result.title)}"]
        lines += [f"    {neutral(part)}" for part in (result.excerpt or result.content).split("\n")]
        # Paragraphs of the article itself stand above, unless a piece of it was asked for.
        others = [
            cited
            for cited in result.cited
            if result.excerpt
            or cited.law_name != result.law_name
            or not cited.article_number.startswith(f"{result.article_number}第")
        ]
        for cited in others[:3]:
            said = f"（{cited.words}）" if cited.words else ""
            lines.append(f"    引用{said}：{cited.law_name}{cited.article_number} {neutral(cited.brief)}")
        lines += [f"    注意：{neutral(note.text(Language.CHINESE))}" for note in result.notes]
        lines += [f"    {one_line(result.url)}"] if result.url else []
        entries.append("\n".join(lines))
    return _text(answer, entries)


def cases_text(answer: LegalAnswer[JudgmentDetails], numbers: Sequence[int] = ()) -> str:
    """Return judgments as numbered text for a model; without numbers they count from 1."""
    entries = []
    for number, result in _numbered(answer, numbers):
        facts = "，".join(part for part in (result.case_number, result.court, result.date, result.case_type) if part)
        known = f"（{neutral(facts)}）" if facts else ""
        lines = [
            f"[{number}] {_ORIGINS[result.origin]}{neutral(result.case_name)}{known}",
            f"    案情：{neutral(result.summary)}",
        ]
        lines += [f"    裁判：{neutral(result.verdict)}"] if result.verdict else []
        lines += [f"    {one_line(result.url)}"] if result.url else []
        entries.append("\n".join(lines))
    return _text(answer, entries)


def _numbered(answer: LegalAnswer[T], numbers: Sequence[int]) -> Iterator[tuple[int, T]]:
    return zip(numbers or range(1, len(answer.results) + 1), answer.results, strict=False)


def _text(answer: LegalAnswer[Any], entries: list[str]) -> str:
    query = neutral(answer.query)
    said = [f"说明：{neutral(note.text(Language.CHINESE))}" for note in answer.notes]
    if answer.cached:
        said.append(FROM_CACHE)
    if not entries:
        return "\n".join([f"没有找到“{query}”。今天是 {today()}。", *said])
    head = f"“{query}”的检索结果（今天是 {today()}）。引用时请用 [编号]，不要改动原文中的数字。"
    return "\n".join([head, *said, untrusted("\n".join(entries))])


_TEXT = {"type": "string"}
REGULATION_FIELDS = ("lawName", "articleNumber", "content", "effectiveDate", "source")
CASE_FIELDS = ("caseNumber", "caseName", "court", "date", "caseType", "summary", "verdict", "url")


def _output(fields: tuple[str, ...]) -> dict[str, Any]:
    item = {"type": "object", "properties": dict.fromkeys(fields, _TEXT), "required": list(fields)}
    properties = {
        "query": _TEXT,
        "results": {"type": "array", "items": item},
        "totalResults": {"type": "integer"},
        "searchTime": {"type": "integer", "description": "milliseconds"},
        "cached": {"type": "boolean"},
        "origin": {"type": "string", "enum": ["index", "web"]},
        "notes": {"type": "array", "items": _TEXT},
    }
    required = ["query", "results", "totalResults", "cached", "notes"]
    return {"type": "object", "properties": properties, "required": required}
