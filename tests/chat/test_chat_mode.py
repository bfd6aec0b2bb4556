"""Chat mode (P1, P4, C2): the switch searches, the model answers from numbered results, and failures cost no answer."""

from __future__ import annotations

import pytest

from qiusuo.chat.events.turn import Check, Notice, RoundState, Sources, TurnStarted, TurnState, Usage
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.chat.turns.context import Ask
from qiusuo.testing import Fault
from tests.support.chat_world import AGENT, SEARCH, ChatWorld
from tests.support.scripted_model import Call, Gate, Reply

OFF = ChatSettings()


class TestSwitch:
    async def test_on_the_message_is_the_query_and_the_results_are_injected(self) -> None:
        async with ChatWorld(Reply.text("见 [1", "] 和[2]。")) as world:
            heard = await world.ask("今天的新闻")
            assert world.requests() == 1
            assert world.world["searxng"].seen[0].params["q"] == "今天的新闻"
            prompt = world.model.requests[0].messages[-1]["content"]
            assert "[1]" in prompt
            assert "[5]" in prompt
            assert "[6]" not in prompt
            assert "今天的新闻 &" not in prompt.split("问题：")[1]
            assert prompt.endswith("问题：今天的新闻")
            assert heard.done.state is TurnState.DONE

    async def test_off_no_search_request_is_made(self) -> None:
        async with ChatWorld(Reply.text("你好！")) as world:
            heard = await world.ask("你好", OFF)
            assert world.requests() == 0
            assert heard.done.answer == "你好！"
            assert heard.rounds == []
            assert heard.of(Sources) == []
            assert heard.codes == []
            assert not heard.of(TurnStarted)[0].search

    async def test_today_is_in_the_prompt_with_and_without_search(self) -> None:
        from qiusuo.tools.render import today

        async with ChatWorld(Reply.text("a"), Reply.text("b"), followups=False) as world:
            await world.ask("what day is it", OFF)
            await world.ask("what day is it", SEARCH)
            assert all(today() in asked.messages[-1]["content"] for asked in world.model.requests)

    async def test_the_model_is_told_to_cite(self) -> None:
        async with ChatWorld(Reply.text("好")) as world:
            await world.ask("问题")
            system = world.model.requests[0].messages[0]
            assert system["role"] == "system"
            assert "[编号]" in system["content"]
            assert "[1]" in system["content"]

    async def test_a_question_in_traditional_characters_is_answered_in_them(self) -> None:
        async with ChatWorld(Reply.text("好"), Reply.text("好")) as world:
            await world.ask("什麼是區塊鏈？")
            await world.ask("它的優點呢？")
            assert world.world["searxng"].seen[0].params["language"] == "zh-TW"
            assert "繁體" in world.model.requests[0].messages[0]["content"]
            asked = [seen.params["q"] for seen in world.world["searxng"].seen if seen.params.get("pageno", "1") == "1"]
            assert asked == ["什麼是區塊鏈？", "區塊鏈的優點呢？"]

    async def test_snippets_are_short_and_results_few(self) -> None:
        async with ChatWorld(Reply.text("x"), snippet_length=30) as world:
            heard = await world.ask("a", ChatSettings(search=True, results=3))
            prompt = world.model.requests[0].messages[-1]["content"]
            assert "[3]" in prompt
            assert "[4]" not in prompt
            assert max(len(line.strip()) for line in prompt.splitlines() if line.startswith("    About")) <= 30
            assert heard.numbers == [1, 2, 3]


class TestAnswer:
    async def test_citations_become_links_while_streaming_and_a_list_at_the_end(self) -> None:
        async with ChatWorld(Reply.text("甲[", "1]，乙[2", "][9]。")) as world:
            heard = await world.ask("问题")
            linked = "甲[[1]](https://site1.example.com/page/1)，乙[[2]](https://site2.example.com/page/2)[9]。"
            assert heard.text == heard.done.answer == linked
            assert heard.done.cited == (1, 2)
            assert heard.done.references.startswith("## 参考文献")
            assert heard.done.references.count("\n- ") == 2
            assert heard.numbers == [1, 2, 3, 4, 5]

    async def test_no_citation_no_list_but_the_sources_stay(self) -> None:
        async with ChatWorld(Reply.text("我不知道。")) as world:
            heard = await world.ask("问题")
            assert heard.done.references == ""
            assert heard.done.cited == ()
            assert heard.numbers == [1, 2, 3, 4, 5]

    async def test_citations_are_checked_against_their_sources(self) -> None:
        async with ChatWorld(Reply.text("About tea: text 1 [1]. Rome lies on seven hills in Italy [2].")) as world:
            heard = await world.ask("tea")
            [check] = heard.of(Check)
            assert [claim["support"] for claim in check.report["claims"]] == ["supported", "not_found"]

    async def test_a_sentence_that_clearly_comes_from_a_source_gets_its_citation(self) -> None:
        async with ChatWorld(Reply.text('About green tea leaves: text 3 "quoted" 中文 <ok>.')) as world:
            heard = await world.ask("green tea leaves")
            assert "citations_added" in heard.codes
            assert heard.done.cited
            assert "Citation added by the system" in heard.done.answer
            [check] = heard.of(Check)
            assert check.added

    async def test_a_number_that_no_source_has_is_told(self) -> None:
        async with ChatWorld(Reply.text("Tea was found in 2737 BC [1][7].")) as world:
            heard = await world.ask("when was tea found", ChatSettings())
            [told] = [one for one in heard.of(Notice) if one.code == "citations_unknown"]
            assert told.fact.values["numbers"] == "[1] [7]"
        async with ChatWorld(Reply.text("About tea: text 1 [1]. More of it [9].")) as world:
            heard = await world.ask("tea")
            assert [one.fact.values for one in heard.of(Notice) if one.code == "citations_unknown"] == [
                {"numbers": "[9]"}
            ]
        async with ChatWorld(Reply.text("Your text cites Smith [1].")) as world:
            heard = await world.ask("What does this say: tea is old [1]", ChatSettings())
            assert "citations_unknown" not in heard.codes

    async def test_thoughts_are_left_out(self) -> None:
        async with ChatWorld(Reply.text("<thi", "nk>let me see</thin", "k>\n\nThe answer [1].")) as world:
            heard = await world.ask("tea")
            assert heard.text.startswith("The answer [[1]]")

    async def test_usage_is_told(self) -> None:
        async with ChatWorld(Reply.text("a", usage=(100, 20))) as world:
            [usage] = (await world.ask("tea")).of(Usage)
            assert (usage.input_tokens, usage.output_tokens, usage.searches) == (100, 20, 1)
            assert usage.first_token_ms is not None
            assert usage.total_ms >= usage.first_token_ms

    async def test_nothing_found_the_prompt_says_so(self) -> None:
        async with ChatWorld(Reply.text("我所知道的是……")) as world:
            world.world["searxng"].empty = True
            heard = await world.ask("不存在的东西")
            assert "没有找到" in world.model.requests[0].messages[-1]["content"]
            assert "自身知识" in world.model.requests[0].messages[-1]["content"]
            assert heard.rounds[0].state is RoundState.EMPTY
            assert heard.done.state is TurnState.DONE

    async def test_english_questions_get_english_prompts_and_list(self) -> None:
        async with ChatWorld(Reply.text("Yes [1].")) as world:
            heard = await world.ask("what is tea")
            assert world.model.requests[0].messages[0]["content"].startswith("You are Qiusuo")
            assert heard.done.references.startswith("## References")


FAILURES = {
    Fault.HANG: "search_timeout",
    Fault.SERVER_ERROR: "search_unavailable",
    Fault.RESET: "search_unavailable",
    Fault.HTML: "search_misconfigured",
    Fault.FORBIDDEN: "search_misconfigured",
    Fault.RATE_LIMITED: "search_misconfigured",
    Fault.TRUNCATED: "search_bad_response",
}


class TestSearchFails:
    @pytest.mark.parametrize("fault", list(FAILURES))
    async def test_in_the_middle_of_a_conversation_the_answer_still_comes(self, fault: Fault) -> None:
        async with ChatWorld(Reply.text("一 [1]。"), Reply.text("凭记忆回答。"), timeout=2.0) as world:
            await world.ask("第一个问题")
            world.world["searxng"].fault = fault
            heard = await world.ask("第二个问题")
            assert heard.done.state is TurnState.DONE
            assert heard.done.answer == "凭记忆回答。"
            assert heard.rounds[0].state is RoundState.FAILED
            [notice] = heard.of(Notice)
            assert notice.code == FAILURES[fault]
            assert notice.message
            assert notice.doc.startswith("/docs/")
            assert "没有成功" in world.model.requests[1].messages[-1]["content"]

    async def test_it_fails_fast(self) -> None:
        async with ChatWorld(Reply.text("好"), timeout=0.3) as world:
            world.world["searxng"].fault = Fault.HANG
            [usage] = (await world.ask("问题")).of(Usage)
            assert usage.total_ms < 3000

    async def test_no_engine_at_all_says_how_to_enable_search(self) -> None:
        async with ChatWorld(Reply.text("好"), engines=()) as world:
            heard = await world.ask("问题")
            assert heard.codes == ["search_disabled"]
            assert heard.done.answer == "好"

    async def test_a_named_engine_without_key_is_never_silently_replaced(self) -> None:
        async with ChatWorld(Reply.text("好")) as world:
            heard = await world.ask("问题", ChatSettings(search=True, engine="tavily"))
            assert world.requests() == 0
            assert heard.codes
            assert heard.rounds[0].state is RoundState.FAILED

    async def test_rows_that_cannot_be_read_are_skipped(self) -> None:
        async with ChatWorld(Reply.text("好 [1]。")) as world:
            world.world["searxng"].fault = Fault.UNREADABLE_ROWS
            heard = await world.ask("问题")
            assert heard.done.state is TurnState.DONE


class TestConversation:
    async def test_the_prompt_only_grows(self) -> None:
        async with ChatWorld(Reply.text("一"), Reply.text("二"), Reply.text("三"), followups=False) as world:
            for question in ("甲", "乙", "丙"):
                await world.ask(question)
            first, second, third = (asked.messages for asked in world.model.requests)
            assert second[: len(first)] == first
            assert third[: len(second)] == second
            assert [message["role"] for message in third] == ["system", *("user", "assistant") * 2, "user"]

    async def test_long_histories_are_trimmed_by_tokens(self) -> None:
        replies = [Reply.text("答" * 400) for _ in range(8)]
        async with ChatWorld(*replies, history_tokens=1000) as world:
            codes = [(await world.ask(f"问题{index}", OFF)).codes for index in range(8)]
            assert ["context_trimmed"] in codes
            assert codes[0] == []
            assert max(len(asked.messages) for asked in world.model.requests) <= 6
            assert "问题7" in world.model.requests[-1].prompt
            assert "问题0" not in world.model.requests[-1].prompt

    async def test_an_overflow_drops_history_and_tries_again(self) -> None:
        async with ChatWorld(Reply.text("一"), Reply.text("二"), Reply.overflow(), Reply.text("三")) as world:
            await world.ask("甲", OFF)
            await world.ask("乙", OFF)
            heard = await world.ask("丙", OFF)
            assert heard.done.answer == "三"
            assert heard.codes == ["context_trimmed"]
            assert len(world.model.requests[3].messages) < len(world.model.requests[2].messages)

    async def test_results_stay_within_their_budget(self) -> None:
        async with ChatWorld(Reply.text("一"), injection_tokens=200) as world:
            await world.ask("tea")
            prompt = world.model.requests[0].messages[-1]["content"]
            assert "[1]" in prompt
            assert "[5]" not in prompt


class TestStop:
    async def test_stopping_hangs_up_on_the_model_and_keeps_what_was_said(self) -> None:
        gate = Gate()
        async with ChatWorld(Reply.text("开头", gate, "结尾")) as world:
            turn = world.chat.turn(Ask("问题", OFF), world.memory)
            seen = []
            async for event in turn.events():
                seen.append(event)
                if event.type == "delta":
                    turn.stop()
            await world.model.hung_up()
            assert seen[-1].type == "done"
            assert turn.record.state is TurnState.STOPPED
            assert turn.record.answer == "开头"
            gate.open()
            world.model.add(Reply.text("继续"))
            await world.ask("接着说", OFF)
            assert "开头" in world.model.requests[-1].prompt

    async def test_stopping_stops_the_search(self) -> None:
        async with ChatWorld(timeout=60) as world:
            world.world["searxng"].fault = Fault.HANG
            turn = world.chat.turn(Ask("问题", SEARCH), world.memory)
            async for event in turn.events():
                if event.type == "status":
                    turn.stop()
            assert turn.record.state is TurnState.STOPPED
            assert world.model.requests == []


MODEL_FAILURES = [
    (Reply.error(401, "bad key"), "model_auth"),
    (Reply.rate_limited(), "model_rate_limited"),
    (Reply.error(500, "broken"), "model_unavailable"),
    (Reply.overflow(), "model_rejected"),
    (Reply.html(), "model_broken"),
    (Reply.broken("half"), "model_broken"),
    (Reply.text(), "model_broken"),
]


class TestModelFails:
    @pytest.mark.parametrize(("reply", "code"), MODEL_FAILURES)
    async def test_the_reader_is_told_and_the_next_turn_works(self, reply: Reply, code: str) -> None:
        async with ChatWorld(reply) as world:
            world.model.otherwise = reply  # the wire may try once more
            heard = await world.ask("问题")
            world.model.otherwise = Reply.text("好 [1]")
            assert heard.done.state is TurnState.FAILED
            assert heard.codes == [code]
            assert heard.numbers == [1, 2, 3, 4, 5]  # what was found is shown all the same
            assert (await world.ask("再来")).done.state is TurnState.DONE


class TestMostResults:
    @pytest.mark.parametrize("settings", [SEARCH, AGENT], ids=["chat", "agent"])
    async def test_the_setting_binds_what_the_model_gets(self, settings: ChatSettings) -> None:
        search = [Reply.tools(Call("web_search", {"query": "tea"}))] if settings is AGENT else []
        async with ChatWorld(*search, Reply.text("Yes [1]."), max_results=3) as world:
            heard = await world.ask("tea", settings)
            prompt = world.model.requests[-1].messages[-1]["content"]
        assert "[3] " in prompt
        assert "[4] " not in prompt
        assert heard.rounds[0].found == 3
        assert heard.numbers == [1, 2, 3]
