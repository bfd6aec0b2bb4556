"""``/v1`` in OpenAI's shape, over a real server: the SDK of OpenAI, LangChain and litellm use Qiusuo as a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI
from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from qiusuo.web.app import default_extensions
from qiusuo.web.openai.routes import openai_extension
from tests.support.chat_world import brief_connections
from tests.support.openai_world import ENGLISH, QUESTION, SEARCHED, Served, assert_marks, content_of, serving, user
from tests.support.scripted_model import Asked, Call, Delay, Gate, Reply


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One server for tests that only add to the model's script what they use up."""
    with serving() as served:
        yield served


class TestModels:
    def test_the_sdk_lists_them(self, shared: Served) -> None:
        with OpenAI(**shared.options) as client:
            listed = client.models.list().data
            assert [model.id for model in listed] == ["qiusuo-chat", "qiusuo-agent"]
            assert client.models.retrieve("qiusuo-agent") == Model.model_validate(listed[1].model_dump())
            with pytest.raises(openai.NotFoundError) as caught:
                client.models.retrieve("gpt-4")
            assert caught.value.code == "model_not_found"

    def test_every_server_has_them(self) -> None:
        assert openai_extension in default_extensions()

    def test_an_unknown_one_is_not_found(self, shared: Served) -> None:
        answer = shared.post(model="gpt-4")
        assert answer.status_code == 404
        error = answer.json()["error"]
        assert "gpt-4" in error.pop("message")
        fact = {"code": "openai.unknown_model", "values": {"name": "gpt-4"}}
        assert error == {"type": "invalid_request_error", "param": "model", "code": "model_not_found", "qiusuo": fact}


class TestWhole:
    def test_an_answer_with_everything(self) -> None:
        with serving(SEARCHED) as served, OpenAI(**served.options) as client:
            answer = client.chat.completions.create(model="qiusuo-chat", messages=user())
        ChatCompletion.model_validate(answer.model_dump(), strict=True)
        message = answer.choices[0].message
        content = message.content or ""
        first, second = (f"[[{n}]](https://site{n}." for n in (1, 2))
        assert content.startswith(f"春茶在三月采摘 {first}")
        assert content.count(first) == 3  # twice in the text, once below
        assert content.count(second) == 2
        assert "\n\n## 参考文献\n\n- [[1]](https://" in content
        extra: dict[str, Any] = answer.model_dump()
        assert_marks(content, extra["choices"][0]["message"]["annotations"], [1, 2, 1])
        assert answer.choices[0].finish_reason == "stop"
        assert (answer.model, answer.object) == ("qiusuo-chat", "chat.completion")
        assert answer.usage is not None
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 7, 18)
        results = extra["search_results"]
        assert [result["number"] for result in results] == [1, 2, 3, 4, 5]
        assert set(results[0]) == {"number", "title", "url", "snippet", "date"}
        assert date.fromisoformat(results[0]["date"]).year >= 2020
        assert QUESTION in results[0]["snippet"]
        assert extra["citations"] == [result["url"] for result in results]
        assert extra["qiusuo"]["notices"] == []
        assert extra["qiusuo"]["rounds"][0]["engine"] == "searxng"
        assert [citation["number"] for citation in extra["qiusuo"]["check"]["report"]["claims"][0]["citations"]] == [1]

    async def test_async(self) -> None:
        with serving(SEARCHED) as served:
            async with AsyncOpenAI(**served.options) as client:
                answer = await client.chat.completions.create(model="qiusuo-chat", messages=user())
        assert "采摘 [[1]](https://" in (answer.choices[0].message.content or "")

    def test_without_references(self) -> None:
        with serving(SEARCHED) as served:
            data = served.ask(references=False)
        content = data["choices"][0]["message"]["content"]
        assert "参考文献" not in content
        assert_marks(content, data["choices"][0]["message"]["annotations"], [1, 2, 1])

    @pytest.mark.parametrize("model", ["qiusuo-chat", "qiusuo-agent"])
    def test_search_can_be_switched_off(self, model: str) -> None:
        with serving(Reply.text("你好！")) as served, OpenAI(**served.options) as client:
            answer = client.chat.completions.create(model=model, messages=user(), extra_body={"search": False})
            assert served.searches == 0
            assert served.model.requests[0].tools == []
        assert answer.choices[0].message.content == "你好！"
        assert answer.model_dump()["search_results"] == []

    def test_the_agent_searches_by_itself(self) -> None:
        call = Reply.tools(Call("web_search", {"query": "Yunnan spring tea"}))
        with serving(call, Reply.text("In March [1].")) as served, OpenAI(**served.options) as client:
            answer = client.chat.completions.create(model="qiusuo-agent", messages=user(ENGLISH))
            assert served.searches == 1
            assert "web_search" in served.model.requests[0].tools
        content = answer.choices[0].message.content or ""
        assert content.startswith("In March [[1]](https://site1.")
        assert "## References" in content
        extra: dict[str, Any] = answer.model_dump()
        assert_marks(content, extra["choices"][0]["message"]["annotations"], [1])
        assert extra["qiusuo"]["rounds"][0]["query"] == "Yunnan spring tea"

    def test_tokens_are_estimated_where_the_model_does_not_tell(self) -> None:
        with serving(Reply.text("四个汉字", usage=None)) as served:
            usage = served.ask(search=False)["usage"]
        assert usage["completion_tokens"] == 4
        assert usage["prompt_tokens"] > 100  # with the rules
        assert usage["total_tokens"] == usage["prompt_tokens"] + 4

    def test_a_cut_answer_says_so(self) -> None:
        with serving(Reply.text("half of", finish="length")) as served:
            assert served.ask()["choices"][0]["finish_reason"] == "length"


class TestStream:
    def test_pieces_arrive_as_they_are_made(self) -> None:
        gate = Gate()
        reply = Reply.text("春茶在三月采摘 [1]。", gate, "也有四月 [2]。")
        with serving(reply) as served, OpenAI(**served.options) as client:
            chunks: list[ChatCompletionChunk] = []
            with client.chat.completions.create(model="qiusuo-chat", messages=user(), stream=True) as stream:
                for chunk in stream:
                    chunks.append(chunk)
                    if "三月采摘" in content_of(chunks):
                        gate.open()
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk.model_dump(), strict=True)
            assert chunk.usage is None
        assert chunks[0].choices[0].delta.role == "assistant"
        assert [chunk.choices[0].finish_reason for chunk in chunks[-2:]] == [None, "stop"]
        content = content_of(chunks)
        assert "## 参考文献" in content
        last: dict[str, Any] = chunks[-1].model_dump()
        assert_marks(content, last["choices"][0]["delta"]["annotations"], [1, 2])
        assert len(last["search_results"]) == len(last["citations"]) == 5
        assert last["qiusuo"]["rounds"][0]["state"] == "done"
        assert len({chunk.id for chunk in chunks}) == 1

    async def test_async_with_usage(self) -> None:
        with serving(SEARCHED) as served:
            async with AsyncOpenAI(**served.options) as client:
                stream = await client.chat.completions.create(
                    model="qiusuo-chat", messages=user(), stream=True, stream_options={"include_usage": True}
                )
                chunks = [chunk async for chunk in stream]
        assert chunks[-1].choices == []
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.total_tokens == 18
        assert [chunk.usage for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)

    def test_the_bytes(self) -> None:
        with serving(SEARCHED) as served:
            answer = served.post(stream=True)
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.text.endswith("data: [DONE]\n\n")
        events = answer.text.removesuffix("\n\n").split("\n\n")
        assert all(event.startswith("data: ") for event in events)
        first = json.loads(events[0].removeprefix("data: "))
        assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}

    def test_something_is_heard_while_the_search_takes_its_time(self) -> None:
        gate = Gate()
        with serving(Reply.text(gate, "ready"), ping_seconds=0.02) as served:
            body = {"model": "qiusuo-chat", "messages": user(ENGLISH), "stream": True}
            lines = []
            with served.web.client.stream("POST", "/v1/chat/completions", json=body) as answer:
                for line in answer.iter_lines():
                    lines.append(line)
                    if line == ": ping":
                        gate.open()
        heard = [line for line in lines if line]
        assert '"role":"assistant"' in heard[0]
        assert heard[1] == ": ping"
        assert heard[-1] == "data: [DONE]"
        assert any('"ready"' in line for line in heard)

    def test_something_is_heard_while_much_goes_on_of_which_nothing_is_told(self) -> None:
        searches = [Reply.tools(Call("web_search", {"query": f"q{n}"}), say=[Delay(0.15)]) for n in range(5)]
        with serving(*searches, Reply.text("ready"), ping_seconds=0.4) as served:
            answer = served.post(user(ENGLISH), model="qiusuo-agent", stream=True)
        heard = [line for line in answer.text.splitlines() if line]
        assert ": ping" in heard[: next(place for place, line in enumerate(heard) if '"ready"' in line)]

    def test_citations_that_were_added_afterwards_are_told_of_by_their_sentences(self) -> None:
        sentence = f"About {ENGLISH.removesuffix('?')}: text 3 quoted."
        with serving(Reply.text("Well. ", sentence), Reply.text("Well. ", sentence)) as served:
            with OpenAI(**served.options) as client:
                stream = client.chat.completions.create(model="qiusuo-chat", messages=user(ENGLISH), stream=True)
                chunks = list(stream)
            whole = served.ask(user(ENGLISH))
        content = content_of(chunks)
        last: dict[str, Any] = chunks[-1].model_dump()
        [told] = last["choices"][0]["delta"]["annotations"]
        cited = told["url_citation"]
        assert content[cited["start_index"] : cited["end_index"]] == sentence
        assert [notice["code"] for notice in last["qiusuo"]["notices"]] == ["citations_added"]
        assert "## References" in content
        # An answer that comes at once has them in the text.
        message = whole["choices"][0]["message"]
        [told] = message["annotations"]
        assert '"Citation added' in message["content"][: told["url_citation"]["end_index"]]


class TestConversation:
    def test_earlier_messages_are_the_memory(self) -> None:
        messages = [
            {"role": "system", "content": "Speak like a pirate."},
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": "first answer"},
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            *user("last question"),
        ]
        with serving(Reply.text("Arr."), followups=False) as served:
            served.ask(messages)
            assert served.web.world["searxng"].seen[0].params["q"] == "last question"
            (_, system), *said, (role, question) = served.prompt()
        assert system.endswith("Speak like a pirate.\n\nBe brief.")
        assert said == [("user", "one\ntwo"), ("assistant", "first answer")]
        assert role == "user"
        assert question.endswith("Question: last question")

    def test_a_follow_up_is_searched_with_what_it_is_about(self) -> None:
        before = [*user("What is throat cancer?"), {"role": "assistant", "content": "A disease [1]."}]
        with serving(otherwise=Reply.text("Yes.")) as served:
            data = served.ask([*before, *user("Is it treatable?")])
            assert served.web.world["searxng"].seen[0].params["q"] == "Is throat cancer treatable?"
        [search] = data["qiusuo"]["rounds"]
        assert (search["query"], search["asked"]) == ("Is throat cancer treatable?", "Is it treatable?")

    def test_our_own_additions_do_not_come_back_to_the_model(self) -> None:
        with serving(SEARCHED, Reply.text("好"), Reply.text("好"), followups=False) as served:
            content = served.ask()["choices"][0]["message"]["content"]
            again = [*user(), {"role": "assistant", "content": content}, *user("还有呢？")]
            served.ask(again)
            assert served.prompt()[2] == ("assistant", "春茶在三月采摘 [1]，也有人说四月 [2]。🍵 见[1]。")
            own = "See below.\n\n## References\n\nSmith 2020, a book."
            served.ask([*user(), {"role": "assistant", "content": own}, *user("还有呢？")])
            assert served.prompt()[2] == ("assistant", own)

    def test_tools_of_the_client_are_passed_over(self) -> None:
        call = {"id": "1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
        messages = [
            *user("what time is it"),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "noon"},
            {"role": "assistant", "content": "It is noon."},
            *user("thanks"),
        ]
        with serving(Reply.text("Welcome.")) as served:
            served.ask(messages, search=False)
            assert served.prompt()[1:-1] == [("user", "what time is it"), ("assistant", "It is noon.")]

    def test_a_long_history_is_accepted_and_cut(self) -> None:
        history = [
            message
            for number in range(300)
            for message in (
                {"role": "user", "content": f"question {number}"},
                {"role": "assistant", "content": "word " * 2000},
            )
        ]
        with serving(Reply.text("Fine."), followups=False) as served:
            data = served.ask([*history, *user("last")])
            assert "context_trimmed" in [notice["code"] for notice in data["qiusuo"]["notices"]]
            assert len(served.prompt()) < 20

    async def test_two_at_once_do_not_mix(self) -> None:
        gates = {"tea": Gate(), "coffee": Gate()}

        def reply(asked: Asked) -> Reply:
            name = "tea" if "tea" in asked.messages[-1]["content"] else "coffee"
            return Reply.text(f"About {name}: ", gates[name], "hot.")

        with serving(reply, reply) as served:
            async with AsyncOpenAI(**served.options) as client:

                async def ask(name: str) -> str:
                    answer = await client.chat.completions.create(
                        model="qiusuo-chat", messages=user(name), extra_body={"search": False}
                    )
                    return answer.choices[0].message.content or ""

                tea, coffee = asyncio.create_task(ask("tea")), asyncio.create_task(ask("coffee"))
                await asyncio.gather(gates["tea"].reached(), gates["coffee"].reached())
                gates["coffee"].open()
                assert await coffee == "About coffee: hot."
                assert not tea.done()
                gates["tea"].open()
                assert await tea == "About tea: hot."


class TestParameters:
    def test_wishes_reach_the_model(self) -> None:
        with serving(Reply.text("a"), Reply.text("b"), Reply.text("c"), max_answer_tokens=500) as served:
            served.ask(temperature=0.25, max_tokens=40, stop="END", seed=7)
            served.ask(max_completion_tokens=4000)
            served.ask(max_tokens=-1)
            first, second, third = (asked.body for asked in served.model.requests)
        assert (first["temperature"], first["stop"], first["seed"]) == (0.25, ["END"], 7)
        assert (first.get("max_tokens") or first["max_completion_tokens"]) == 40
        assert (second.get("max_tokens") or second["max_completion_tokens"]) == 500
        assert not {"temperature", "stop", "seed", "max_tokens", "max_completion_tokens"} & set(third)

    @pytest.mark.parametrize(
        ("param", "body"),
        [
            ("n", {"n": 2}),
            ("tools", {"tools": [{"type": "code_interpreter"}]}),
            ("functions", {"functions": [{"name": "clock"}]}),
            ("logprobs", {"logprobs": True}),
            ("response_format", {"response_format": {"type": "xml"}}),
            ("modalities", {"modalities": ["text", "audio"]}),
            ("messages", {"messages": []}),
            ("messages", {"messages": [{"role": "assistant", "content": "and then"}]}),
            ("messages", {"messages": [{"role": "system", "content": "x"}]}),
            ("messages", {"messages": user([{"type": "image_url", "image_url": {"url": "data:,"}}])}),
            ("stream", {"stream": "perhaps"}),
        ],
    )
    def test_what_there_is_not_is_refused(self, shared: Served, param: str, body: dict[str, Any]) -> None:
        before = shared.searches
        asked = {"model": "qiusuo-chat", "messages": user(), **body}
        answer = shared.web.client.post("/v1/chat/completions", json=asked)
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert (error["type"], error["param"]) == ("invalid_request_error", param)
        assert error["message"]
        assert shared.searches == before

    @pytest.mark.parametrize("question", ["", "   ", "x" * 20_001])
    def test_so_is_what_cannot_be_asked(self, shared: Served, question: str) -> None:
        answer = shared.post(user(question))
        assert answer.status_code == 400
        assert "question" in answer.json()["error"]["message"]

    def test_no_json(self, shared: Served) -> None:
        answer = shared.web.client.post("/v1/chat/completions", content=b"{")
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"

    def test_what_has_no_meaning_here_is_ignored(self, shared: Served) -> None:
        extras: dict[str, Any] = {
            "n": 1,
            "tools": [],
            "top_p": 0.5,
            "presence_penalty": 0.1,
            "user": "someone",
            "response_format": {"type": "text"},
            "web_search_options": {"search_context_size": "low"},
            "reasoning_effort": "low",
            "unheard_of": {"x": 1},
            "stream": None,
            "stop": None,
        }
        shared.model.add(Reply.text("fine"))
        assert shared.ask(**extras)["choices"][0]["message"]["content"] == "fine"


class TestOtherClients:
    def test_langchain(self) -> None:
        with serving(SEARCHED, SEARCHED) as served:
            model = ChatOpenAI(model="qiusuo-chat", **served.options)
            answer = model.invoke(QUESTION)
            pieces = list(model.stream(QUESTION))
        assert "[[1]](https://site1." in answer.text
        assert answer.usage_metadata is not None
        assert answer.usage_metadata["total_tokens"] == 18
        assert "".join(piece.text for piece in pieces) == answer.text

    async def test_langchain_async(self) -> None:
        with serving(SEARCHED) as served:
            model = ChatOpenAI(model="qiusuo-agent", http_async_client=brief_connections(), **served.options)
            pieces = [piece.text async for piece in model.astream(QUESTION)]
        assert "".join(pieces).startswith("春茶在三月采摘")

    @pytest.mark.xdist_group("drop-in-clients")
    @pytest.mark.filterwarnings("ignore")  # its own affairs: deprecated settings of pydantic and the like
    def test_litellm(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Else it asks for a price list at import.
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        litellm: Any = pytest.importorskip("litellm", reason="litellm is not installed")
        monkeypatch.setattr(litellm, "suppress_debug_info", True)
        with serving(SEARCHED, SEARCHED, Reply.error(401)) as served:
            options = {
                "model": "openai/qiusuo-chat",
                "api_base": f"{served.web.url}/v1",
                "api_key": "tok-0123456789abcdef",
            }
            answer = litellm.completion(messages=user(), max_retries=0, **options)
            content = answer.choices[0].message.content
            pieces = list(litellm.completion(messages=user(), stream=True, max_retries=0, **options))
            with pytest.raises(litellm.AuthenticationError):
                litellm.completion(messages=user(), max_retries=0, **options)
        assert "[[1]](https://site1." in content
        assert_marks(content, [dict(each) for each in answer.choices[0].message.annotations], [1, 2, 1])
        assert answer.usage.total_tokens == 18
        assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices) == content
