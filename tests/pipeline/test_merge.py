"""Merged search: fusion by reciprocal rank, and several engines asked at once."""

from __future__ import annotations

import threading
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.errors import AllEnginesFailed, EngineNotConfigured, UnknownEngine
from qiusuo.models import SearchResultItem
from qiusuo.pipeline.merge import RRF_K, fuse
from qiusuo.testing import Answer, Fault, Provider, Seen
from qiusuo.urls import canonical_url
from tests.support.world import World

Lists = dict[str, list[SearchResultItem]]


def item(url: str, title: str = "", snippet: str = "", date: str | None = None) -> SearchResultItem:
    return SearchResultItem(title or url, url, snippet, published_at=date)


# Few pages, so that engines agree often, and each in forms that are the same page.
PAGES = st.builds(
    "{0}://{1}example.com/{2}{3}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www."]),
    st.integers(1, 8),
    st.sampled_from(["", "/", "?utm_source=x", "#part"]),
)
LISTS = st.dictionaries(
    st.sampled_from(["exa", "tavily", "brave", "searxng"]), st.lists(PAGES.map(item), max_size=8), max_size=4
)


def exact_scores(lists: Lists) -> dict[str, Fraction]:
    """The definition, without rounding: sum of 1/(60 + rank) over the engines, each by its best rank."""
    scores: dict[str, Fraction] = {}
    for items in lists.values():
        seen = set()
        for rank, found in enumerate(items, 1):
            page = canonical_url(found.url)
            if page not in seen:
                seen.add(page)
                scores[page] = scores.get(page, Fraction(0)) + Fraction(1, 60 + rank)
    return scores


class TestFuse:
    @given(LISTS)
    def test_scores_are_the_sum_of_reciprocal_ranks(self, lists: Lists) -> None:
        fused = fuse(lists)
        exact = exact_scores(lists)
        assert {canonical_url(found.url): found.score for found in fused} == {
            page: pytest.approx(float(score), abs=1e-6) for page, score in exact.items()
        }
        ranked = [exact[canonical_url(found.url)] for found in fused]
        assert ranked == sorted(ranked, reverse=True)

    @given(LISTS)
    def test_one_entry_per_page_and_every_page_is_there(self, lists: Lists) -> None:
        pages = [canonical_url(found.url) for found in fuse(lists)]
        assert len(pages) == len(set(pages))
        assert set(pages) == {canonical_url(found.url) for items in lists.values() for found in items}

    @given(LISTS)
    def test_each_entry_names_exactly_the_engines_that_found_it(self, lists: Lists) -> None:
        for found in fuse(lists):
            page = canonical_url(found.url)
            assert found.engines == tuple(
                engine for engine, items in lists.items() if page in {canonical_url(one.url) for one in items}
            )

    @given(LISTS, st.randoms())
    def test_the_order_of_pages_does_not_depend_on_the_order_of_engines(self, lists: Lists, random: Any) -> None:
        # Pages and scores, that is: of two engines with the same rank the first one lends its words.
        engines = list(lists)
        random.shuffle(engines)
        shuffled = {engine: lists[engine] for engine in engines}
        assert [(canonical_url(found.url), found.score) for found in fuse(shuffled)] == [
            (canonical_url(found.url), found.score) for found in fuse(lists)
        ]
        assert fuse(lists) == fuse(lists)

    @pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
    def test_ties_are_broken_by_address_alone(self, order: str) -> None:
        # Both pages have the same three ranks; added up in another order, floats may differ in their last bit.
        one, two = item("https://a.example/"), item("https://b.example/")
        for shift in range(60):
            above = [item(f"https://above{number}.example/") for number in range(shift)]
            lists = {
                "x": [*above, one, item("https://x.example/"), two],
                "y": [*above, two, one],
                "z": [*above, item("https://z.example/"), two, one],
            }
            fused = [found.url for found in fuse({engine: lists[engine] for engine in order})]
            assert fused.index(one.url) < fused.index(two.url), shift

    @given(LISTS, st.integers(0, 7))
    def test_one_more_engine_at_the_same_rank_never_ranks_a_page_lower(self, lists: Lists, rank: int) -> None:
        page = "https://agreed.example/"
        places = []
        for engines in (1, 2, 3):
            agreeing = {
                f"agreeing{number}": [item(f"https://f{number}-{place}.example/") for place in range(rank)]
                + [item(page)]
                for number in range(engines)
            }
            fused = [found.url for found in fuse(lists | agreeing) if "//f" not in found.url]
            places.append(fused.index(page))
        assert places == sorted(places, reverse=True)

    def test_a_page_keeps_the_best_ranked_words_the_longest_snippet_and_any_date(self) -> None:
        fused = fuse(
            {
                "exa": [item("https://x.example/"), item("https://a.example/?utm_source=exa", "Exa", "long snippet")],
                "brave": [item("http://www.a.example/", "Brave", "short", "2026-11-15")],
            }
        )
        assert fused[0] == SearchResultItem(
            "Brave",
            "http://www.a.example/",
            "long snippet",
            published_at="2026-11-15",
            score=round(1 / 61 + 1 / 62, 6),
            engines=("exa", "brave"),
        )

    def test_the_same_page_twice_in_one_list_counts_once(self) -> None:
        (found,) = fuse({"exa": [item("https://a.example/"), item("https://a.example/#two")]})
        assert found.score == round(1 / 61, 6)

    def test_the_constant_is_the_usual_one_and_nothing_gives_nothing(self) -> None:
        assert RRF_K == 60
        assert fuse({}) == []
        assert fuse({"exa": []}) == []


class Elsewhere:
    """Makes a provider answer with pages that nobody else has."""

    def __init__(self, here: World, name: str) -> None:
        provider = here[name].provider
        self._page = type(provider).page
        provider.page = self.page  # type: ignore[method-assign]
        self._name = name

    def page(self, number: int, query: str) -> dict[str, str]:
        return {**self._page(number, query), "url": f"https://{self._name}{number}.example.com/"}


class Waiting:
    """Makes a provider wait for the others before it answers (each one has a thread of its own)."""

    def __init__(self, provider: Provider, all_asked: threading.Barrier) -> None:
        self._answer = provider.answer
        self._all_asked = all_asked
        provider.answer = self.answer  # type: ignore[method-assign]

    def answer(self, seen: Seen) -> Answer:
        self._all_asked.wait()
        return self._answer(seen)


class TestMergedSearch:
    async def test_agreement_comes_first_and_every_result_names_its_engines(self) -> None:
        async with World("tavily", "exa", "searxng") as here:
            Elsewhere(here, "exa")
            here["tavily"].provider.results = here["searxng"].provider.results = 4
            response = await here.service.asearch("合并", merge=True)
            assert response.provider == "merged"
            both, alone = response.results[:4], response.results[4:]
            assert {found.engines for found in both} == {("tavily", "searxng")}
            assert {found.engines for found in alone} == {("exa",)}
            assert [attempt.engine for attempt in response.attempts] == ["tavily", "exa", "searxng"]

    async def test_engines_are_asked_at_the_same_time(self) -> None:
        async with World("tavily", "exa", "brave", timeout=20) as here:
            all_asked = threading.Barrier(3, timeout=15)
            for server in here.servers.values():
                Waiting(server.provider, all_asked)
            response = await here.service.asearch("x", merge=True)
            assert [attempt.outcome.value for attempt in response.attempts] == ["ok", "ok", "ok"]

    async def test_who_fails_is_in_the_receipt_and_the_rest_is_kept(self) -> None:
        async with World("tavily", "exa", "brave") as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            here["brave"].fault = Fault.AUTH
            response = await here.service.asearch("x", merge=True)
            assert [(attempt.engine, attempt.outcome.value) for attempt in response.attempts] == [
                ("tavily", "unavailable"),
                ("exa", "ok"),
                ("brave", "auth"),
            ]
            assert len(response.results) == 10
            assert {found.engines for found in response.results} == {("exa",)}

    async def test_a_hanging_engine_costs_no_more_than_the_deadline(self) -> None:
        async with World("tavily", "exa", timeout=2.0) as here:
            here["tavily"].fault = Fault.HANG
            started = time.perf_counter()
            response = await here.service.asearch("x", merge=True)
            assert time.perf_counter() - started < 5
            assert response.attempts[0].outcome.value == "timeout"
            assert len(response.results) == 10

    async def test_all_failed_is_an_error_with_every_attempt(self) -> None:
        async with World("tavily", "exa") as here:
            here["tavily"].fault = here["exa"].fault = Fault.OVERLOADED
            with pytest.raises(AllEnginesFailed) as caught:
                await here.service.asearch("x", merge=True)
            assert [attempt.engine for attempt in caught.value.attempts] == ["tavily", "exa"]

    async def test_all_empty_is_an_empty_answer(self) -> None:
        async with World("tavily", "exa") as here:
            here["tavily"].empty = here["exa"].empty = True
            response = await here.service.asearch("x", merge=True)
            assert response.results == ()
            assert {attempt.outcome.value for attempt in response.attempts} == {"empty"}

    @pytest.mark.parametrize("names", [["exa", "BRAVE"], ("exa", "brave", "exa"), "exa, brave"])
    async def test_named_engines_and_no_others(self, names: Any) -> None:
        async with World("tavily", "exa", "brave") as here:
            response = await here.service.asearch("x", merge=names)
            assert {found.engines for found in response.results} == {("exa", "brave")}
            assert here.requests("tavily") == 0

    async def test_a_named_engine_that_cannot_be_used_is_not_left_out_in_silence(self) -> None:
        from qiusuo import SearchService

        async with World("tavily") as here:
            with pytest.raises(UnknownEngine, match="altavista"):
                await here.service.asearch("x", merge=["tavily", "altavista"])
        async with SearchService.from_settings() as service:
            with pytest.raises(EngineNotConfigured, match="EXA_API_KEY"):
                await service.asearch("x", merge=["exa", "searxng"])

    async def test_the_settings_say_how_many_take_part(self) -> None:
        async with World("tavily", "exa", "brave", "searxng") as here:
            await here.service.asearch("x", merge=True)
            assert [here.requests(name) for name in here.servers] == [1, 1, 1, 0]
        async with World("tavily", "exa", "brave", merge_engines=2) as here:
            await here.service.asearch("x", merge=True)
            assert [here.requests(name) for name in here.servers] == [1, 1, 0]

    @pytest.mark.parametrize("count", [3, 10])
    async def test_no_more_results_than_asked_for(self, count: int) -> None:
        async with World("tavily", "exa") as here:
            Elsewhere(here, "exa")
            assert len((await here.service.asearch("x", merge=True, num_results=count)).results) == count

    async def test_it_is_cached_apart_from_the_plain_search(self) -> None:
        async with World("tavily", "exa") as here:
            await here.service.asearch("x")
            assert not (await here.service.asearch("x", merge=True)).cached
            again = await here.service.asearch("x", merge=True)
            assert again.cached
            assert again.provider == "merged"

    async def test_the_strictest_rule_on_storing_holds(self) -> None:
        async with World("tavily", "exa", engines={"exa": {"store_results": "never"}}) as here:
            await here.service.asearch("x", merge=True)
            assert not (await here.service.asearch("x", merge=True)).cached
            # An engine that brought nothing has no say.
            here["exa"].fault = Fault.SERVER_ERROR
            await here.service.asearch("y", merge=True)
            assert (await here.service.asearch("y", merge=True)).cached

    async def test_a_row_with_the_same_page_in_another_form_is_one_result(self) -> None:
        async with World("tavily", "exa") as here:
            provider = here["exa"].provider
            answer = provider.answer

            def with_tracking(seen: Seen) -> Answer:
                found = answer(seen)
                for row in found.body["results"]:
                    row["url"] = row["url"].replace("https://", "http://www.") + "/?utm_source=exa"
                return found

            provider.answer = with_tracking  # type: ignore[method-assign]
            response = await here.service.asearch("x", merge=True)
            assert len(response.results) == 10
            assert {found.engines for found in response.results} == {("tavily", "exa")}
