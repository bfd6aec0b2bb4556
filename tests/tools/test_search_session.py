"""What a LangChain agent of one's own needs for a conversation over search, as one object."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from qiusuo.chat import SearchSession
from qiusuo.chat.sessions.searches import SessionCache
from qiusuo.models import SearchResponse
from qiusuo.testing import Fault
from qiusuo.words import Language
from tests.support.web_server import page_site
from tests.support.world import World

# They are there wherever the web can be searched.
LEGAL = ("regulationSearch", "caseSearch")


class Calling(BaseChatModel):
    """Makes the calls that it was given, one after another, then says its answer."""

    calls: list[tuple[str, dict[str, Any]]]
    answer: str
    prompt: str = ""
    offered: list[dict[str, Any]] = []  # noqa: RUF012 - a pydantic field, copied per instance

    @property
    def _llm_type(self) -> str:
        return "calling"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Calling:
        self.offered = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.prompt = "".join(message.text for message in messages if isinstance(message, SystemMessage))
        since = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        done = sum(isinstance(message, ToolMessage) for message in messages[since:])
        if done == len(self.calls):
            return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])
        name, arguments = self.calls[done]
        call = {"name": name, "args": arguments, "id": str(len(messages)), "type": "tool_call"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


def searches(*queries: str) -> list[tuple[str, dict[str, Any]]]:
    return [("web_search", {"query": query}) for query in queries]


async def told(session: SearchSession, model: Calling, question: str) -> list[ToolMessage]:
    agent: Any = create_agent(model, session.tools, system_prompt=session.prompt())
    state = await agent.ainvoke({"messages": [("user", question)]})
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


class TestSession:
    async def test_an_agent_searches_cites_and_lists_its_sources(self) -> None:
        async with World("tavily") as here:
            session = SearchSession(here.service, language=Language.CHINESE)
            model = Calling(calls=searches("甲"), answer="据此 [1]，又 [9]。")
            await told(session, model, "问题")
            assert "web_search(query=" in model.prompt
            assert "fetch_page" not in model.prompt  # without a reader it is not there
            assert "求索" not in model.prompt  # the agent is the user's own
            assert [tool["name"] for tool in model.offered] == ["web_search", *LEGAL]
            answer = session.finished(model.answer)
            assert f"[[1]]({session.registry.sources[0].url})" in answer
            assert "## 参考文献" in answer
            assert "甲" in answer.partition("## 参考文献")[2]

    async def test_numbers_run_on_and_no_query_is_asked_twice(self) -> None:
        async with World("tavily", "brave") as here:
            session = SearchSession(here.service, engine="tavily")
            (first,) = await told(session, Calling(calls=searches("one"), answer="[1]"), "?")
            (again,) = await told(session, Calling(calls=searches("one"), answer="[1]"), "?")
            assert here.requests("tavily") == 1
            assert (first.artifact["cached"], again.artifact["cached"]) == (False, True)
            assert [found.query for found in session.registry.rounds] == ["one"]

    async def test_the_type_of_search_is_its_own_question(self) -> None:
        async with World("tavily") as here:
            session = SearchSession(here.service)
            calls: list[tuple[str, dict[str, Any]]] = [
                ("web_search", {"query": "election"}),
                ("web_search", {"query": "election", "type": "news"}),
                ("web_search", {"query": "election", "type": "news"}),
                ("web_search", {"query": "election", "type": None}),
            ]
            answers = await told(session, Calling(calls=calls, answer="[1]"), "?")
            assert [seen.json.get("topic") for seen in here["tavily"].seen] == ["general", "news"]
            assert [message.artifact["cached"] for message in answers] == [False, False, True, True]

    async def test_pages_are_numbered_with_the_searches(self) -> None:
        with page_site() as (site, reader):
            async with World("tavily") as here, reader:
                session = SearchSession(here.service, reader)
                assert [tool.name for tool in session.tools] == ["web_search", *LEGAL, "fetch_page"]
                assert "fetch_page" in session.prompt()
                calls = [*searches("one"), ("fetch_page", {"url": f"{site.url}/article", "max_chars": None})]
                _, page = await told(session, Calling(calls=calls, answer="[6]"), "?")
                assert page.text.startswith("[6] ")
                assert session.registry.sources[5].url == f"{site.url}/article"

    async def test_it_can_be_kept_and_taken_up_again(self) -> None:
        async with World("tavily") as here:
            session = SearchSession(here.service)
            await told(session, Calling(calls=searches("one"), answer="[1]"), "?")
            kept = json.loads(json.dumps(session.to_dict()))
            later = SearchSession(here.service, kept=kept)
            (again,) = await told(later, Calling(calls=searches("one"), answer="[1]"), "?")
            assert again.artifact["cached"] is True
            assert later.references("so it is [1]") == session.references("so it is [1]")

    def test_synchronous_calls_in_threads(self) -> None:
        with World("tavily") as here:
            session = SearchSession(here.service)
            tool, *_ = session.tools
            threads = [threading.Thread(target=tool.invoke, args=({"query": f"q{n % 4}"},)) for n in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [source.number for source in session.registry.sources] == list(
                range(1, len(session.registry.sources) + 1)
            )
            assert {found.query for found in session.registry.rounds} == {"q0", "q1", "q2", "q3"}

    @pytest.mark.parametrize("language", list(Language))
    def test_the_prompt_has_examples_of_queries_and_of_reading_results(self, language: Language) -> None:
        with World("tavily") as here:
            prompt = SearchSession(here.service, language=language).prompt()
            assert "web_search(query=" in prompt
            assert "[4]" in prompt

    async def test_a_failure_is_told_to_the_model_and_nothing_is_kept(self) -> None:
        async with World("tavily") as here:
            here["tavily"].fault = Fault.SERVER_ERROR
            session = SearchSession(here.service)
            (message,) = await told(session, Calling(calls=searches("one"), answer="I do not know."), "?")
            assert message.status == "error"
            assert len(session.cache) == 0
            assert session.finished("I do not know.") == "I do not know."


class Yielding(str):
    """A query at which another thread gets its turn whenever it is looked up."""

    __slots__ = ()

    def __hash__(self) -> int:
        time.sleep(0)
        return super().__hash__()


class TestCacheUnderThreads:
    def test_threads_may_share_it(self) -> None:
        cache = SessionCache()
        faults: list[BaseException] = []

        def use(first: int) -> None:
            try:
                for step in range(600):
                    query = Yielding((first + step) % 30)
                    if cache.get(query) is None:
                        cache.put(query, SearchResponse(query, (), "x"), 0.0)
                    if step % 50 == 0:
                        cache.to_dict()
            except (KeyError, RuntimeError) as fault:
                faults.append(fault)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(use, range(0, 42, 7)))
        assert faults == []
        assert len(cache) == 20
