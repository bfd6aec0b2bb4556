"""The engine ``laws`` in a service: when it joins, where it stands, what happens when it has nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qiusuo import SearchService
from qiusuo.config import Settings
from qiusuo.doctor.context import Examination
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import AllEnginesFailed, SearchDisabled, UserRateLimited
from qiusuo.legal.checks import check_legal_index
from qiusuo.legal.engines.laws import LawsEngine
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.models import Outcome, Query, SearchType
from qiusuo.pipeline.request import build_request
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.ddgs import DuckDuckGo
from qiusuo.testing.providers.tavily import Tavily
from tests.support.legal_samples import POT_LAW, build

pytest_plugins = ["tests.support.legal_fixtures"]


@pytest.fixture(autouse=True)
def _no_searxng_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearxngEngine, "base_url", "http://127.0.0.1:9")


@pytest.fixture
def tavily(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer(Tavily()) as server:
        monkeypatch.setenv("TAVILY_API_KEY", server.key)
        monkeypatch.setenv("QIUSUO_ENGINES__TAVILY__BASE_URL", server.base_url)
        yield server


def configured(tmp_path: Path, folder: Path) -> Settings:
    """The folder is named in the configuration file alone."""
    file = tmp_path / "config.toml"
    file.write_text(f'legal_dir = "{folder}"\n', "utf-8")
    return Settings.load(file)


class TestLimits:
    @pytest.mark.usefixtures("tavily")
    async def test_what_is_on_this_machine_counts_for_no_limit(self, sample_folder: Path) -> None:
        settings = Settings.load(legal_dir=str(sample_folder), rate_limit=2)
        async with SearchService.from_settings(settings) as service:
            for _ in range(4):
                found = await service.asearch("茶叶法第三条", type="regulation", user="甲")
                assert found.provider == "laws"
            assert [one.outcome for one in found.attempts] == [Outcome.OK]
            # The limit is there for what asks others, and none of it is used up.
            for query in ("水", "火"):
                assert (await service.asearch(query, user="甲")).provider == "tavily"
            with pytest.raises(UserRateLimited):
                await service.asearch("土", user="甲")
            with pytest.raises(UserRateLimited):  # the index has nothing, so the web would be asked
                await service.asearch("咖啡豆法第三条", type="regulation", user="甲")
            assert (await service.asearch("茶叶法第三条", type="regulation", user="甲")).provider == "laws"


class TestJoining:
    async def test_first_in_searches_for_law_and_in_no_others(
        self, sample_folder: Path, tmp_path: Path, tavily: ProviderServer
    ) -> None:
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            assert await service.available() == ("tavily",)
            assert await service.available(SearchType.REGULATION) == ("laws", "tavily")
            assert await service.available(SearchType.CASE) == ("laws", "tavily")
            response = await service.asearch("茶叶法第三条", type="regulation")
            assert (response.provider, [one.engine for one in response.attempts]) == ("laws", ["laws"])
            assert tavily.seen == []
            for kind in ("general", "news"):
                assert (await service.asearch("茶叶法第三条", type=kind)).provider == "tavily"
            assert (await service.asearch("茶叶法第三条", engine="laws")).provider == "laws"
            states = {status.name: status.state for status in await service.status()}
            assert (states["laws"], states["tavily"]) == ("ready", "ready")

    @pytest.mark.usefixtures("tavily")
    async def test_without_an_index_it_is_missing_and_says_how_to_get_it(self) -> None:
        async with SearchService.from_settings() as service:
            assert await service.available(SearchType.REGULATION) == ("tavily",)
            (laws,) = [status for status in await service.status() if status.name == "laws"]
        assert (laws.state, laws.fix) == ("missing", "Run: qiusuo legal install")

    @pytest.mark.usefixtures("tavily")
    async def test_a_priority_list_without_it_leaves_it_out(
        self, sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "tavily")
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            assert await service.available(SearchType.REGULATION) == ("tavily",)
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "tavily,laws")
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            assert await service.available(SearchType.REGULATION) == ("tavily", "laws")
            assert await service.available() == ("tavily",)
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "laws")
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            with pytest.raises(SearchDisabled):
                await service.asearch("茶叶")

    async def test_the_last_resort_stands_behind_it(
        self, sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ProviderServer(DuckDuckGo()) as ddgs:
            monkeypatch.setenv("QIUSUO_ENGINES__DDGS__BASE_URL", ddgs.base_url)
            async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
                assert (await service.available(SearchType.REGULATION))[:2] == ("laws", "ddgs")
                assert (await service.asearch("茶叶法第三条", type="regulation")).provider == "laws"
                assert ddgs.seen == []


async def test_what_we_say_about_a_law_is_told_apart_from_what_it_says(sample_folder: Path, tmp_path: Path) -> None:
    async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
        (pot, *_) = (await service.asearch("水壶法第一条", engine="laws", type="regulation")).results
        (tea, *_) = (await service.asearch("茶叶法第三条", engine="laws", type="regulation")).results
    law, _, note = tea.snippet.partition("（检索注：")
    assert law.startswith("茶农有权自行决定采摘时间")
    assert "新版本" not in law
    assert note == "新版本（2025-10-01 公布）自 2027-01-01 起施行。）"
    assert pot.snippet == "水壶应当标明容量。"


async def test_a_day_of_publication_is_told_as_one(tmp_path: Path) -> None:
    sources = tmp_path / "laws"
    sources.mkdir()
    text = "# 水壶法\n\n<!-- INFO END -->\n\n第一条 水壶应当标明容量。\n\n第二条 水壶不得漏水。\n"
    (sources / "水壶法(2015-05-01).md").write_text(text, "utf-8")
    build(tmp_path / "index", sources)
    async with SearchService.from_settings(configured(tmp_path, tmp_path / "index")) as service:
        (pot, *_) = (await service.asearch("水壶法第一条", engine="laws", type="regulation")).results
    assert pot.title == "水壶法 第一条（现行有效，2015-05-01 公布）"
    assert pot.snippet == "水壶应当标明容量。"


class TestFallingOver:
    async def test_nothing_found_here_is_no_word_about_the_web(
        self, sample_folder: Path, tmp_path: Path, tavily: ProviderServer
    ) -> None:
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            response = await service.asearch("咖啡豆烘焙管理办法", type="regulation")
            assert response.provider == "tavily"
            assert [attempt.outcome for attempt in response.attempts] == [Outcome.EMPTY, Outcome.OK]
            note, pack = response.attempts[0].notes
            assert (note.code, note.values["name"]) == ("law.no_document", "咖啡豆烘焙管理办法")
            assert pack.code == "law.pack_may_have"
            assert "flk.npc.gov.cn" in str(tavily.seen[0].json)
            tavily.fault = Fault.SERVER_ERROR
            with pytest.raises(AllEnginesFailed) as caught:
                await service.asearch("咖啡豆运输管理办法", type="regulation")
        assert [attempt.engine for attempt in caught.value.attempts] == ["laws", "tavily"]

    @pytest.mark.usefixtures("tavily")
    async def test_an_index_that_is_gone(self, tmp_path: Path, sample_folder: Path) -> None:
        copy = tmp_path / "index"
        copy.mkdir()
        (copy / "current").write_text((sample_folder / "current").read_text("utf-8"), "utf-8")
        (copy / "generations").symlink_to(sample_folder / "generations")
        async with SearchService.from_settings(configured(tmp_path, copy)) as service:
            (copy / "current").unlink()
            response = await service.asearch("茶叶法第三条", type="regulation")
        assert [attempt.outcome for attempt in response.attempts] == [Outcome.UNAVAILABLE, Outcome.OK]
        assert "qiusuo legal install" in response.attempts[0].fix

    @pytest.mark.usefixtures("tavily")
    async def test_domains_that_were_insisted_on(self, sample_folder: Path, tmp_path: Path) -> None:
        async with SearchService.from_settings(configured(tmp_path, sample_folder)) as service:
            response = await service.asearch("茶叶法第三条", type="regulation", include_domains=["example.com"])
        assert response.attempts[0].outcome is Outcome.EMPTY


async def test_the_added_keyword_does_not_reach_it(samples: IndexHandle) -> None:
    for keyword in ("法律法规", "regulations of China"):
        query = build_request(Settings.load(regulation_keyword=keyword), "水壶漏了", type="regulation").query
        assert (query.text, query.own_words) == (f"水壶漏了 {keyword}", "水壶漏了")
        plain, steered = [await LawsEngine(samples).search(one, 5) for one in (Query("水壶漏了"), query)]
        assert [item.url for item in plain] == [item.url for item in steered]
    own = build_request(Settings.load(), "水壶漏了 法律法规", type="regulation").query
    assert own.own_words == own.text == "水壶漏了 法律法规"


async def test_the_doctor_looks_where_the_file_says(sample_folder: Path, tmp_path: Path) -> None:
    settings = configured(tmp_path, sample_folder)
    service = SearchService.from_settings(settings)
    (finding,) = await check_legal_index(Examination(settings, service.roster))
    assert (finding.code, finding.values["path"]) == ("legal.ok", sample_folder)
    await service.aclose()


async def test_a_new_index_shows_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_LEGAL_DIR", str(tmp_path / "index"))
    (tmp_path / "pot.md").write_text(POT_LAW, "utf-8")
    build(tmp_path / "index", tmp_path / "pot.md")
    async with SearchService.from_settings() as service:
        assert "更换" in (await service.asearch("水壶法第二条", type="regulation")).results[0].snippet
        (tmp_path / "new.md").write_text(POT_LAW.replace("# 水壶法", "# 茶杯法"), "utf-8")
        build(tmp_path / "index", tmp_path / "new.md")
        for _ in range(2):
            response = await service.asearch("茶杯法第二条", type="regulation")
            assert (response.provider, response.cached) == ("laws", False)
