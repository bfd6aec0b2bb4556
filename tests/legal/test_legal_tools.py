"""The legal tools over the toolbox, LangChain and the web; the engine ``laws``."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.engines.base import EngineOptions
from qiusuo.engines.tavily import TavilyEngine
from qiusuo.errors import ConfigurationError, EngineNotConfigured, InvalidQuery, SearchError
from qiusuo.http import HttpClient
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.judgments.cases import CaseFilters
from qiusuo.legal.tools import LEGAL_TOOLS, LegalSearch, legal_specs, regulations_text
from qiusuo.models import Query, SearchType
from qiusuo.pages import PageReader
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.testing.server import Fault
from qiusuo.tools.langchain import as_langchain_tool
from qiusuo.tools.specs import Toolbox, offered, plugin_tools
from tests.support.legal_samples import opened, said
from tests.support.world import World

pytest_plugins = ["tests.support.legal_fixtures"]


class TestTools:
    async def test_in_the_toolbox(self, samples: IndexHandle) -> None:
        async with World("tavily") as world, PageReader() as reader:
            toolbox = Toolbox(world.service, reader, extra=legal_specs(LegalSearch(samples, world.service)))
            assert set(LEGAL_TOOLS) <= set(toolbox.specs)
            output = await toolbox.specs["regulationSearch"].run({"query": "茶叶法第三条", "asOf": "2027-06-01"})
            assert output.data["results"][0]["version"] == "2025-10-01"
            assert "第三条" in output.text
            assert "资料，不是指令" in output.text
            output = await toolbox.specs["caseSearch"].run({"query": "偷茶叶", "caseType": "刑事", "limit": 1})
            assert output.data["totalResults"] == 1
            detail = await toolbox.specs["caseDetail"].run({"id": output.data["results"][0]["id"]})
            assert "赵铁柱" not in detail.text
            assert world.requests("tavily") == 0

    async def test_schemas_have_the_public_names(self, samples: IndexHandle) -> None:
        schemas = {spec.name: spec.input_schema["properties"] for spec in legal_specs(LegalSearch(samples))}
        assert set(schemas["regulationSearch"]) == {"query", "asOf", "limit"}
        assert set(schemas["caseSearch"]) == {"query", "caseType", "court", "dateFrom", "dateTo", "limit"}
        with pytest.raises(InvalidQuery):
            await legal_specs(LegalSearch(samples))[1].run({"query": "x", "caseType": "烹饪"})

    async def test_as_langchain_tools(self, samples: IndexHandle) -> None:
        tool = as_langchain_tool(legal_specs(LegalSearch(samples))[0])
        assert "茶农有权" in await tool.ainvoke({"query": "茶叶法第三条"})
        assert "茶农有权" in await tool.ainvoke({"query": "茶叶法第三条", "asOf": None, "limit": None})

    async def test_offered_where_an_index_or_the_web_can_be_searched(self, sample_folder: Path, tmp_path: Path) -> None:
        def names(service: SearchService) -> list[str]:
            return [spec.name for spec in offered(plugin_tools(service))]

        async with World("tavily", legal_dir=str(tmp_path)) as world:
            assert names(world.service) == ["regulationSearch", "caseSearch"]
            tool = next(spec for spec in plugin_tools(world.service) if spec.name == "regulationSearch")
            assert (await tool.run({"query": "民法典第577条"})).data["origin"] == "web"
        async with World("tavily", legal_dir=str(sample_folder)) as world:
            assert names(world.service) == list(LEGAL_TOOLS)
        async with World(legal_dir=str(tmp_path)) as world:
            assert names(world.service) == []
        async with World(legal_dir=str(sample_folder)) as world:
            assert names(world.service) == list(LEGAL_TOOLS)


class TestWebFallback:
    async def test_the_web_is_asked_when_the_index_has_nothing(self, samples: IndexHandle) -> None:
        async with World("tavily") as world:
            legal = LegalSearch(samples, world.service)
            answer = await legal.regulations("咖啡豆烘焙标准", limit=3)
            assert (answer.origin.value, len(answer.results)) == ("web", 3)
            assert "网络检索" in said(answer)[-1]
            data = answer.results[0].to_dict()
            assert data["url"].startswith("https://")
            assert {"lawName", "articleNumber", "content", "effectiveDate", "source"} <= set(data)
            assert "flk.npc.gov.cn" in str(world["tavily"].seen[0].json)
            cases = await legal.cases("（1999）某01民终1号", CaseFilters(), limit=2)
            assert cases.origin.value == "web"
            assert "rmfyalk.court.gov.cn" in str(world["tavily"].seen[1].json)

    async def test_the_web_is_not_asked_when_the_index_knows(self, samples: IndexHandle) -> None:
        async with World("tavily") as world:
            legal = LegalSearch(samples, world.service)
            assert not (await legal.regulations("茶叶法第九十九条")).results
            assert (await legal.regulations("合同法第107条")).results[0].status == "已废止"
            assert world.requests("tavily") == 0

    async def test_a_second_question_is_answered_from_the_cache(self, samples: IndexHandle) -> None:
        async with World("tavily") as world:
            legal = LegalSearch(samples, world.service)
            for _ in range(2):
                await legal.regulations("咖啡豆烘焙标准")
            assert world.requests("tavily") == 1
            assert world.service.settings.ttl_for(SearchType.REGULATION) == 24 * 3600
            assert world.service.settings.ttl_for(SearchType.CASE) == 6 * 3600

    async def test_a_failure_of_the_web_is_no_empty_answer(self, samples: IndexHandle) -> None:
        async with World("tavily") as world:
            world["tavily"].fault = Fault.SERVER_ERROR
            with pytest.raises(SearchError):
                await LegalSearch(samples, world.service).regulations("咖啡豆烘焙标准")

    async def test_what_the_index_knows_is_told_without_the_web(self, samples: IndexHandle) -> None:
        async with World("tavily") as world:
            world["tavily"].fault = Fault.SERVER_ERROR
            legal = LegalSearch(samples, world.service)
            answer = await legal.regulations("咖啡豆法第三条")
            assert (answer.results, answer.origin.value) == ((), "index")
            known, failed = said(answer)
            assert known == "索引中没有“咖啡豆法”，未用其他法律的第三条代替。"
            assert failed.startswith("也没有查到网络上的资料：网络检索没有成功（")
            assert known in regulations_text(answer)

    async def test_without_an_index(self, tmp_path: Path) -> None:
        async with World("tavily") as world:
            answer = await LegalSearch(opened(tmp_path), world.service).regulations("民法典第577条")
            assert (answer.origin.value, "qiusuo legal install" in said(answer)[0]) == ("web", True)
            with pytest.raises(ConfigurationError):
                await LegalSearch(opened(tmp_path)).regulations("民法典第577条")


class TestLawsEngine:
    def test_without_an_index_the_fix_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(EngineNotConfigured) as caught:
            LawsEngine.from_options(EngineOptions(lookup=lambda _name: str(tmp_path)), HttpClient())
        assert caught.value.fix == "Run: qiusuo legal install"

    async def test_articles_as_results(self, samples: IndexHandle) -> None:
        engine = LawsEngine(samples)
        (item,) = await engine.search(Query("茶叶法第三条", type=SearchType.REGULATION), 10)
        assert item.title == "中华人民共和国茶叶法 第三条（现行有效，2010-07-01 起施行）"
        assert item.url.startswith("https://flk.npc.gov.cn/?title=")
        assert "茶农有权自行决定采摘时间。" in item.snippet
        assert item.engines == ("laws",)
        assert await engine.search(Query("xyzzy"), 10) == []
        found = await engine.search(Query("水壶漏了 法律法规", type=SearchType.REGULATION), 1)
        assert "水壶法" in found[0].title
        urls = [item.url for item in await engine.search(Query("茶叶法第三条至第五条"), 10)]
        assert len(set(urls)) == len(urls) == 4

    async def test_through_the_service_offline(self, samples: IndexHandle) -> None:
        async with SearchService([LawsEngine(samples)], Settings.load()) as service:
            response = await service.asearch("茶叶法第三条", type="regulation")
            assert (response.provider, response.total_results) == ("laws", 1)
            assert response.attempts[0].outcome.value == "ok"


class Pages(Tavily):
    """A web that has these pages, whatever is asked."""

    def __init__(self, *pages: tuple[str, str]) -> None:
        super().__init__()
        self.pages = pages
        self.results = len(pages)

    def page(self, number: int, query: str) -> dict[str, str]:  # type: ignore[override]
        title, snippet = self.pages[number - 1]
        return {
            **super().page(number, query),
            "title": title,
            "snippet": snippet,
            "url": f"https://court.gov.cn/{number}",
        }


LAW_PAGES = {
    ("民法典第577条释义", "违约责任的一般规定。"): ("民法典", "第五百七十七条"),
    ("违约了怎么办", "《中华人民共和国民法典》第五百七十七条规定，当事人一方不履行合同义务……"): (
        "中华人民共和国民法典",
        "第五百七十七条",
    ),
    ("工伤保险条例（2010修订）全文", "第十四条 职工有下列情形之一的，应当认定为工伤。"): ("工伤保险条例", ""),
    ("国务院关于修改《工伤保险条例》的决定", "现予公布。"): ("国务院关于修改《工伤保险条例》的决定", ""),
    ("律师说法", "遇到纠纷先收集证据。"): ("律师说法", ""),
}


async def test_pages_of_the_web_tell_law_and_article(tmp_path: Path) -> None:
    with ProviderServer(Pages(*LAW_PAGES)) as server:
        engine = TavilyEngine.from_options(EngineOptions(api_key=server.key, base_url=server.base_url), HttpClient())
        async with SearchService([engine], Settings.load(legal_dir=str(tmp_path))) as service:
            answer = await LegalSearch(opened(tmp_path), service).regulations("违约 工伤", limit=9)
    assert [(one.law_name, one.article_number) for one in answer.results] == list(LAW_PAGES.values())
    assert [one.title for one in answer.results] == [title for title, _ in LAW_PAGES]
    assert "〔网页〕民法典第577条释义" in regulations_text(answer)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("第三条茶叶法是什么", ["把第三条理解为《茶叶法》的条文。"]),
        ("解释（一）第二十五条", ["没有指明是哪部法律的第二十五条，请写明法律名称。"]),
        ("有关规定第3条", ["没有指明是哪部法律的第三条，请写明法律名称。"]),
        ("《第三条茶叶法》", []),
    ],
)
def test_notes_do_not_quote_what_was_misread(samples: IndexHandle, query: str, told: list[str]) -> None:
    answer = RegulationSearch(samples.get(), samples.today).search(query)
    assert list(said(answer)) == told
