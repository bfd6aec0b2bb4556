"""Which test shows which requirement: P1-P4, P8, S14, S15 and the scenarios of the seeds. Each must be there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from qiusuo.chat.turns.notices import search_code, search_notice
from qiusuo.errors import AllEnginesFailed, Unavailable
from qiusuo.models import Attempt, Outcome
from qiusuo.words import Fact, Language, said

HERE = Path(__file__).parent
CHAT, AGENT, CACHE, NATIVE, API = (
    "test_chat_mode",
    "test_agent_mode",
    "test_session_cache",
    "../chat_models/test_native_turns",
    "../web/test_chat_api",
)
HERE_ = "test_scenarios"

SHOWN_BY: dict[str, tuple[str, ...]] = {
    "P1 switch on": (f"{CHAT}:test_on_the_message_is_the_query_and_the_results_are_injected",),
    "P1 switch off": (
        f"{CHAT}:test_off_no_search_request_is_made",
        f"{API}:test_off_by_default_and_no_request_is_made",
    ),
    "P1 no results": (f"{CHAT}:test_nothing_found_the_prompt_says_so",),
    "P2": (f"{AGENT}:test_the_model_writes_its_own_query_and_gets_the_results_back",),
    "P3": (f"{CACHE}:test_it_keeps_the_twenty_used_last", f"{CACHE}:test_the_same_query_is_not_asked_twice"),
    "P4": (f"{CHAT}:test_in_the_middle_of_a_conversation_the_answer_still_comes",),
    "P5 effect on the next message": (f"{API}:test_a_change_counts_for_the_next_message",),
    "P6": (f"{API}:test_agent_mode_disables_it_and_chat_mode_brings_its_former_state_back",),
    "S14": (f"{AGENT}:test_search_off_is_said_in_prompt_and_notice",),
    "S15": (f"{NATIVE}:test_no_other_search_api_is_called_and_the_citations_are_ours",),
    "C2": (f"{CHAT}:test_citations_become_links_while_streaming_and_a_list_at_the_end",),
    "C3": (f"{AGENT}:test_the_list_at_the_end_is_grouped_by_round",),
    "T7": (f"{AGENT}:test_the_prompt_has_examples_of_queries_and_of_reading_results",),
    "错误处理与降级 / 搜索失败降级": (f"{CHAT}:test_in_the_middle_of_a_conversation_the_answer_still_comes",),
    "错误处理与降级 / 部分搜索结果失败": (f"{CHAT}:test_rows_that_cannot_be_read_are_skipped",),
    "错误处理与降级 / 网络连接问题": (f"{CHAT}:test_it_fails_fast", f"{HERE_}:test_a_network_problem_is_called_one"),
    "搜索触发机制 / 用户发送消息时触发搜索": (f"{CHAT}:test_on_the_message_is_the_query_and_the_results_are_injected",),
    "搜索触发机制 / 搜索功能未启用": (f"{CHAT}:test_off_no_search_request_is_made",),
    "搜索结果处理 / 注入搜索结果到提示": (f"{CHAT}:test_the_model_is_told_to_cite",),
    "搜索结果处理 / 搜索结果为空": (f"{CHAT}:test_nothing_found_the_prompt_says_so",),
    "搜索结果处理 / 限制结果数量": (f"{CHAT}:test_snippets_are_short_and_results_few",),
    "搜索结果处理 / 引用编号分配": (f"{CHAT}:test_citations_become_links_while_streaming_and_a_list_at_the_end",),
    "搜索结果缓存 / 缓存搜索结果": (f"{CACHE}:test_the_same_query_is_not_asked_twice",),
    "搜索结果缓存 / 使用缓存结果": (f"{CACHE}:test_the_same_query_is_not_asked_twice",),
    "搜索结果缓存 / 缓存过期": (
        f"{CACHE}:test_it_belongs_to_one_conversation",
        f"{HERE_}:test_the_end_clears_the_cache",
    ),
    "搜索结果缓存 / 缓存大小限制": (f"{CACHE}:test_it_keeps_the_twenty_used_last",),
    "搜索结果引用 / Agent 模式结果编号分配": (f"{AGENT}:test_numbers_run_on_over_searches_and_turns",),
    "搜索结果引用 / Agent 模式引用列表生成": (f"{AGENT}:test_the_list_at_the_end_is_grouped_by_round",),
    "搜索结果引用 / 无引用处理": (f"{AGENT}:test_no_citation_no_list",),
}


@cache
def names_in(name: str) -> frozenset[str]:
    tree = ast.parse((HERE / f"{name}.py").read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize("scenario", list(SHOWN_BY))
def test_every_scenario_has_its_test(scenario: str) -> None:
    for entry in SHOWN_BY[scenario]:
        name, _, test = entry.partition(":")
        assert test in names_in(name), f"{scenario} is no longer shown by {test}"


def test_a_network_problem_is_called_one() -> None:
    for reason in (Fact("http.dns", host="searx.invalid"), Fact("http.no_route", host="10.1.1.1", words="")):
        error = AllEnginesFailed.from_attempts([Attempt("searxng", Outcome.UNAVAILABLE, 5, reason)])
        assert search_code(error) == search_code(Unavailable(reason)) == "search_network"
        told = search_notice(error).wording(Language.CHINESE).what
        assert "检查网络" in told
        assert "关闭联网搜索" in told
    refused = AllEnginesFailed.from_attempts([Attempt("searxng", Outcome.UNAVAILABLE, 5, said("Connection refused."))])
    assert "部署" in search_notice(refused).wording(Language.CHINESE).what


async def test_the_end_clears_the_cache() -> None:
    from qiusuo.chat.events.turn import TurnRecord
    from qiusuo.chat.stores.opening import open_store
    from qiusuo.errors import SessionNotFound
    from qiusuo.models import SearchResponse

    store = open_store("sqlite://")
    try:
        first = await store.create("local")
        record = TurnRecord("t1", "问题")
        memory = await store.begin_turn("local", first.id, record)
        memory.cache.put("茶", SearchResponse("茶", (), "searxng"), 1.0)
        await store.end_turn("local", first.id, record, memory)
        assert (await store.begin_turn("local", first.id, TurnRecord("t2", "再问"))).cache.get("茶") is not None
        await store.delete("local", first.id)
        with pytest.raises(SessionNotFound):
            await store.get("local", first.id)
        second = await store.create("local")
        assert (await store.begin_turn("local", second.id, TurnRecord("t3", "新"))).cache.get("茶") is None
    finally:
        await store.aclose()


def test_the_names_of_the_package_are_there() -> None:
    import qiusuo.chat as package

    assert dir(package) == package.__all__ == sorted(package._HOME)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Chatter'"):
        _ = package.Chatter
