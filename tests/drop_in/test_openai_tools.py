"""Tools of the client in ``/v1``: our model calls them, the client runs them, its answers continue the turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from openai import OpenAI

from qiusuo.chat.models.extractive import ExtractiveModel
from qiusuo.chat.models.opening import model_from
from qiusuo.chat.models.port import Model, ModelInfo
from qiusuo.chat.models.vendors import EXTRACTIVE
from tests.support.openai_world import Served, serving, user
from tests.support.redis_process import RedisProcess, redis, with_redis
from tests.support.scripted_model import Call, Reply, ScriptedModel

__all__ = ["redis"]  # a fixture

ASKED = "What time is it in Kunming?"
CLOCK: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "clock",
        "description": "Tells the time.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
NOTES: dict[str, Any] = {"type": "function", "function": {"name": "notes", "description": "Keeps a note."}}
CALLS = Reply.tools(Call("clock", {"place": "Kunming"}))
SEARCHES = Reply.tools(Call("web_search", {"query": "Kunming"}))


def no_model(_server: ScriptedModel) -> Model:
    return model_from(ExtractiveModel(), ModelInfo("none", "None", EXTRACTIVE))


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    with serving() as served:
        yield served


def message_of(data: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = data["choices"][0]["message"]
    return message


def answered(message: dict[str, Any], *results: str) -> list[Any]:
    """Return the conversation as a client sends it back after it has run the calls."""
    calls = zip(message["tool_calls"], results, strict=True)
    return [message, *({"role": "tool", "tool_call_id": call["id"], "content": text} for call, text in calls)]


def codes(data: dict[str, Any]) -> list[str]:
    return [notice["code"] for notice in data["qiusuo"]["notices"]]


class TestTheAgent:
    def test_a_call_goes_to_the_client_and_its_answer_continues_the_turn(self) -> None:
        with serving(CALLS, Reply.text("It is noon.")) as served:
            data = served.ask(user(ASKED), model="qiusuo-agent", tools=[CLOCK])
            assert {"web_search", "clock"} <= set(served.model.requests[0].tools)
            choice = data["choices"][0]
            assert choice["finish_reason"] == "tool_calls"
            [call] = choice["message"]["tool_calls"]
            assert (call["type"], call["function"]["name"]) == ("function", "clock")
            assert json.loads(call["function"]["arguments"]) == {"place": "Kunming"}
            assert not choice["message"]["content"]
            more = [*user(ASKED), *answered(choice["message"], "noon")]
            data = served.ask(more, model="qiusuo-agent", tools=[CLOCK])
            assert message_of(data)["content"] == "It is noon."
            assert data["choices"][0]["finish_reason"] == "stop"
            last = served.model.requests[1].messages
            assert [each["role"] for each in last[-3:]] == ["user", "assistant", "tool"]
            assert last[-1]["content"] == "noon"
            assert served.searches == 0

    def test_our_own_tools_run_here_and_their_sources_can_be_cited_after_the_clients_call(self) -> None:
        with serving(SEARCHES, CALLS, Reply.text("Noon, in the west [1].")) as served:
            first = served.ask(user(ASKED), model="qiusuo-agent", tools=[CLOCK])
            assert served.searches == 1
            assert [call["function"]["name"] for call in message_of(first)["tool_calls"]] == ["clock"]
            more = [*user(ASKED), *answered(message_of(first), "noon")]
            last = served.ask(more, model="qiusuo-agent", tools=[CLOCK])
            assert message_of(last)["content"].startswith("Noon, in the west [[1]](https://site1.example.com/page/1).")
            assert message_of(last)["annotations"][0]["url_citation"]["url"] == "https://site1.example.com/page/1"
            roles = [each["role"] for each in served.model.requests[2].messages]
            assert roles[1:] == ["user", "assistant", "tool", "assistant", "tool"]

    def test_another_server_goes_on_too(self) -> None:
        call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": '{"place": "Kunming"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        with serving(Reply.text("It is noon.")) as served:
            data = served.ask([*user(ASKED), *answered(message, "noon")], model="qiusuo-agent", tools=[CLOCK])
            assert message_of(data)["content"] == "It is noon."
            assert [each["role"] for each in served.model.requests[0].messages[-2:]] == ["assistant", "tool"]

    @with_redis[0]
    @with_redis[1]
    def test_another_server_with_the_same_redis_knows_what_was_found(self, redis: RedisProcess) -> None:
        with (
            serving(SEARCHES, CALLS, redis_url=redis.url) as served,
            serving(Reply.text("Noon, in the west [1]."), redis_url=redis.url) as other,
        ):
            first = served.ask(user(ASKED), model="qiusuo-agent", tools=[CLOCK])
            more = [*user(ASKED), *answered(message_of(first), "noon")]
            last = other.ask(more, model="qiusuo-agent", tools=[CLOCK])
            assert message_of(last)["content"].startswith("Noon, in the west [[1]](https://site1.example.com/page/1).")
            assert other.searches == 0

    def test_where_both_are_called_at_once_ours_come_first(self) -> None:
        both = Reply.tools(Call("web_search", {"query": "Kunming"}), Call("clock", {"place": "Kunming"}))
        with serving(both, CALLS) as served:
            data = served.ask(user(ASKED), model="qiusuo-agent", tools=[CLOCK])
            assert served.searches == 1
            assert len(message_of(data)["tool_calls"]) == 1
            assert served.model.requests[1].messages[-1]["role"] == "tool"

    def test_a_tool_of_the_same_name_is_the_clients(self) -> None:
        own = {"type": "function", "function": {"name": "web_search", "parameters": CLOCK["function"]["parameters"]}}
        with serving(SEARCHES) as served:
            data = served.ask(user(ASKED), model="qiusuo-agent", tools=[own])
            assert message_of(data)["tool_calls"][0]["function"]["name"] == "web_search"
            assert served.model.requests[0].tools.count("web_search") == 1
            assert served.searches == 0

    def test_the_sdk_streams_calls(self) -> None:
        with serving(Reply.tools(Call("clock", {"place": "Kunming"}), say=["Let me see."])) as served:
            with OpenAI(**served.options) as client:
                messages: Any = user(ASKED)
                tools: Any = [CLOCK]
                with client.chat.completions.stream(model="qiusuo-agent", messages=messages, tools=tools) as stream:
                    choice = stream.get_final_completion().choices[0]
            assert choice.finish_reason == "tool_calls"
            assert choice.message.content == "Let me see."
            assert choice.message.tool_calls is not None
            assert json.loads(choice.message.tool_calls[0].function.arguments) == {"place": "Kunming"}

    def test_langchain(self) -> None:
        with serving(CALLS, Reply.text("It is noon.")) as served:
            model = ChatOpenAI(model="qiusuo-agent", **served.options).bind_tools([CLOCK])
            asked = HumanMessage(ASKED)
            called = model.invoke([asked])
            [call] = called.tool_calls
            assert call["args"] == {"place": "Kunming"}
            assert model.invoke([asked, called, ToolMessage("noon", tool_call_id=call["id"])]).text == "It is noon."

    def test_earlier_calls_are_remembered(self) -> None:
        call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
        lost = {"id": "call_2", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
        earlier = [
            *user("what time is it"),
            {"role": "assistant", "content": None, "tool_calls": [call, lost]},
            {"role": "tool", "tool_call_id": "call_1", "content": "noon"},
            {"role": "tool", "tool_call_id": "call_9", "content": "of nobody's"},
            {"role": "assistant", "content": "It is noon."},
        ]
        with serving(Reply.text("Welcome.")) as served:
            served.ask([*earlier, *user("thanks")], model="qiusuo-agent", tools=[CLOCK])
            sent = served.model.requests[0].messages[1:-1]
            assert [each["role"] for each in sent] == ["user", "assistant", "tool", "assistant"]
            assert [each["id"] for each in sent[1]["tool_calls"]] == ["call_1"]


class TestChat:
    def test_with_the_switch_off(self) -> None:
        with serving(CALLS, Reply.text("It is noon.")) as served:
            first = served.ask(user(ASKED), tools=[CLOCK], search=False)
            assert served.model.requests[0].tools == ["clock"]
            more = [*user(ASKED), *answered(message_of(first), "noon")]
            assert message_of(served.ask(more, tools=[CLOCK], search=False))["content"] == "It is noon."

    def test_with_the_switch_on_it_is_searched_once(self) -> None:
        with serving(CALLS, Reply.text("It is noon [1].")) as served:
            first = served.ask(user(ASKED), tools=[CLOCK])
            more = [*user(ASKED), *answered(message_of(first), "noon")]
            last = served.ask(more, tools=[CLOCK])
            assert served.searches == 1
            assert "[[1]](https://site1." in message_of(last)["content"]
            assert "site1.example.com" in str(served.model.requests[1].messages)

    def test_a_plain_question_with_tools_is_answered_as_ever(self) -> None:
        with serving(Reply.text("Noon [1].")) as served:
            data = served.ask(user(ASKED), tools=[CLOCK, NOTES], tool_choice="auto", parallel_tool_calls=True)
            assert "[[1]](https://site1." in message_of(data)["content"]
            assert "tool_calls" not in message_of(data)

    def test_calls_of_nobodys_tools_are_none(self) -> None:
        with serving(Reply.tools(Call("unheard_of", {}), say=["Noon."])) as served:
            data = served.ask(user(ASKED), tools=[CLOCK], search=False)
            assert data["choices"][0]["finish_reason"] == "stop"
            assert "tool_calls" not in message_of(data)

    def test_a_model_that_knows_no_tools_answers_without_them(self) -> None:
        refusal = Reply.error(400, "registry.ollama.ai/library/gemma does not support tools")
        with serving(refusal, Reply.text("Noon.")) as served:
            data = served.ask(user(ASKED), tools=[CLOCK], search=False)
            assert message_of(data)["content"].startswith("Noon.")
            assert "client_tools_left_out" in codes(data)

    @pytest.mark.parametrize("model", ["qiusuo-chat", "qiusuo-agent"])
    def test_so_does_no_model_at_all(self, model: str) -> None:
        with serving(port=no_model) as served:
            data = served.ask(user(ASKED), model=model, tools=[CLOCK])
            assert message_of(data)["content"]
            assert "client_tools_left_out" in codes(data)


class TestChoices:
    def test_none(self) -> None:
        with serving(Reply.text("Noon.")) as served:
            served.ask(user(ASKED), tools=[CLOCK], tool_choice="none", search=False)
            assert served.model.requests[0].tools == []

    @pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "clock"}}])
    def test_a_call_that_must_be_made(self, choice: Any) -> None:
        with serving(CALLS) as served:
            served.ask(user(ASKED), tools=[CLOCK, NOTES], tool_choice=choice, search=False)
            assert served.model.requests[0].body["tool_choice"] == choice

    def test_one_at_a_time(self) -> None:
        two = Reply.tools(Call("clock", {"place": "A"}), Call("clock", {"place": "B"}))
        with serving(two, two) as served:
            one = served.ask(user(ASKED), tools=[CLOCK], search=False, parallel_tool_calls=False)
            assert served.model.requests[0].body["parallel_tool_calls"] is False
            assert len(message_of(one)["tool_calls"]) == 1
            assert len(message_of(served.ask(user(ASKED), tools=[CLOCK], search=False))["tool_calls"]) == 2

    @pytest.mark.parametrize("kind", ["web_search", "web_search_preview"])
    def test_our_search_can_be_switched_on_as_a_tool(self, kind: str) -> None:
        with serving(Reply.text("Noon [1].")) as served:
            served.ask(user(ASKED), tools=[{"type": kind}], search=False)
            assert served.searches == 1

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            ({"tools": [{"type": "code_interpreter"}]}, "tools"),
            ({"tools": [{"type": "function", "function": {"name": "no name!"}}]}, "tools"),
            ({"tools": [CLOCK, CLOCK]}, "tools"),
            ({"tools": [CLOCK], "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
            ({"tool_choice": "sometimes", "tools": [CLOCK]}, "tool_choice"),
            ({"functions": [{"name": "clock"}]}, "functions"),
        ],
    )
    def test_what_cannot_be_is_refused(self, shared: Served, body: dict[str, Any], param: str) -> None:
        answer = shared.post(user(ASKED), **body)
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == param


SCHEMA: Any = {
    "type": "json_schema",
    "json_schema": {"name": "time", "schema": {"type": "object", "properties": {"hours": {"type": "array"}}}},
}


class TestJson:
    @pytest.mark.parametrize("wanted", [{"type": "json_object"}, SCHEMA])
    @pytest.mark.parametrize("model", ["qiusuo-chat", "qiusuo-agent"])
    def test_the_answer_is_what_the_model_wrote(self, wanted: Any, model: str) -> None:
        with serving(Reply.text('{"hours": ', "[1]}")) as served:
            data = served.ask(user(ASKED), model=model, response_format=wanted)
            assert json.loads(message_of(data)["content"]) == {"hours": [1]}
            assert served.model.requests[0].body["response_format"] == wanted
            assert served.searches == (1 if model == "qiusuo-chat" else 0)

    def test_without_a_model_there_is_none(self) -> None:
        with serving(port=no_model) as served:
            answer = served.post(user(ASKED), response_format={"type": "json_object"})
            assert answer.status_code == 400
            assert answer.json()["error"]["param"] == "response_format"

    def test_an_unknown_form_is_refused(self, shared: Served) -> None:
        assert shared.post(user(ASKED), response_format={"type": "xml"}).status_code == 400
