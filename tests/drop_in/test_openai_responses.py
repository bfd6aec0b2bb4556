"""``/v1/responses``: what clients of OpenAI's newer interface use by default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI

from tests.support.openai_world import ENGLISH, SEARCHED, Served, serving
from tests.support.scripted_model import Call, Reply

CLOCK: Any = {
    "type": "function",
    "name": "clock",
    "description": "Tells the time.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    "strict": False,
}
CALLS = Reply.tools(Call("clock", {"place": "Kunming"}))


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    with serving(otherwise=Reply.text("Fine.")) as served:
        yield served


def post(served: Served, **body: Any) -> Any:
    asked = {"model": "qiusuo-chat", "input": ENGLISH, **body}
    answer = served.web.client.post("/v1/responses", json=asked)
    return answer.status_code, answer.json()


class TestAnswers:
    def test_whole(self) -> None:
        with serving(SEARCHED) as served, OpenAI(**served.options) as client:
            answer = client.responses.create(model="qiusuo-chat", input=ENGLISH, instructions="Be brief.")
            assert answer.status == "completed"
            assert "[[1]](https://site1.example.com/page/1)" in answer.output_text
            part: Any = answer.output[0]
            cited = part.content[0].annotations
            assert [mark.type for mark in cited] == ["url_citation"] * 3
            text = part.content[0].text
            assert text[cited[0].start_index : cited[0].end_index] == f"[[1]]({cited[0].url})"
            assert answer.usage is not None
            assert answer.usage.total_tokens == 18
            assert served.prompt()[0][1].endswith("Be brief.")

    async def test_streamed(self) -> None:
        with serving(SEARCHED) as served:
            client = AsyncOpenAI(**served.options)
            async with client, client.responses.stream(model="qiusuo-chat", input=ENGLISH) as stream:
                kinds = [event.type async for event in stream]
                answer = await stream.get_final_response()
        assert kinds[:2] == ["response.created", "response.in_progress"]
        assert kinds[-1] == "response.completed"
        assert kinds.count("response.output_text.annotation.added") == 3
        assert "[[1]](https://site1." in answer.output_text

    def test_events_are_numbered_and_agree_with_the_whole(self) -> None:
        with serving(SEARCHED) as served:
            asked = {"model": "qiusuo-chat", "input": ENGLISH, "stream": True}
            events = []
            with served.web.client.stream("POST", "/v1/responses", json=asked) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: {")]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        assert events[-1]["response"]["output"][0]["content"][0]["text"] == text

    def test_earlier_turns_stand_in_the_input(self) -> None:
        with serving(Reply.text("Yes [1].")) as served:
            old = "https://old.example.com/a"
            earlier: list[Any] = [
                {"role": "user", "content": [{"type": "input_text", "text": "When?"}]},
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": f"March [[1]]({old}).", "annotations": []}],
                },
                {"role": "user", "content": "Sure?"},
            ]
            status, data = post(served, input=earlier, search=False)
            assert status == 200
            assert served.prompt()[1:3] == [("user", "When?"), ("assistant", "March [1].")]
            assert data["output"][0]["content"][0]["text"].startswith(f"Yes [[1]]({old}).")

    def test_an_answer_can_be_referred_to(self) -> None:
        with serving(Reply.text("March."), Reply.text("Yes.")) as served:
            _, first = post(served, search=False)
            again = [{"role": "user", "content": ENGLISH}, {"type": "item_reference", "id": first["output"][0]["id"]}]
            status, _ = post(served, input=[*again, {"role": "user", "content": "Sure?"}], search=False)
            assert status == 200
            assert ("assistant", "March.") in served.prompt()

    def test_tools(self) -> None:
        with serving(CALLS, Reply.text("It is noon.")) as served, OpenAI(**served.options) as client:
            first = client.responses.create(model="qiusuo-agent", input=ENGLISH, tools=[CLOCK])
            call: Any = first.output[-1]
            assert (call.type, call.name, json.loads(call.arguments)) == (
                "function_call",
                "clock",
                {"place": "Kunming"},
            )
            more: Any = [
                {"role": "user", "content": ENGLISH},
                call.model_dump(exclude_none=True),
                {"type": "function_call_output", "call_id": call.call_id, "output": "noon"},
            ]
            last = client.responses.create(model="qiusuo-agent", input=more, tools=[CLOCK])
            assert last.output_text == "It is noon."

    def test_streamed_tools(self) -> None:
        with serving(CALLS) as served, OpenAI(**served.options) as client:
            with client.responses.stream(model="qiusuo-agent", input=ENGLISH, tools=[CLOCK]) as stream:
                kinds = [event.type for event in stream]
                answer = stream.get_final_response()
            assert "response.function_call_arguments.done" in kinds
            assert [item.type for item in answer.output] == ["function_call"]

    def test_our_search_as_a_tool_and_json(self) -> None:
        with serving(Reply.text('{"a": [1]}')) as served:
            form = {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}
            _, data = post(served, tools=[{"type": "web_search"}], text={"format": form}, search=False)
            assert served.searches == 1
            assert json.loads(data["output"][0]["content"][0]["text"]) == {"a": [1]}
            sent = served.model.requests[0].body["response_format"]
            assert sent == {
                "type": "json_schema",
                "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True},
            }

    def test_langchain(self) -> None:
        with serving(SEARCHED) as served:
            model = ChatOpenAI(model="qiusuo-chat", use_responses_api=True, **served.options)
            assert "[[1]](https://site1." in model.invoke(ENGLISH).text


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "param"),
        [
            ({"previous_response_id": "resp_1"}, "previous_response_id"),
            ({"conversation": "conv_1"}, "conversation"),
            ({"background": True}, "background"),
            ({"tools": [{"type": "file_search"}]}, "tools"),
            ({"input": []}, "input"),
            ({"input": [{"type": "item_reference", "id": "msg_unknown"}]}, "input"),
            ({"input": [{"type": "computer_call_output"}]}, "input"),
        ],
    )
    def test_what_there_is_not(self, shared: Served, body: dict[str, Any], param: str) -> None:
        status, data = post(shared, **body)
        assert status == 400
        assert data["error"]["param"] == param

    def test_a_model_that_fails(self) -> None:
        with serving(Reply.error(401)) as served:
            status, data = post(served)
            assert (status, data["error"]["code"]) == (401, "model_auth")

    @pytest.mark.parametrize(
        "path", ["/v1/completions", "/v1/embeddings", "/v1/responses/resp_1", "/v1/images/generations"]
    )
    def test_other_endpoints_name_those_that_there_are(self, shared: Served, path: str) -> None:
        answer = shared.web.client.post(path, json={})
        assert answer.status_code == 404
        error = answer.json()["error"]
        assert "/v1/chat/completions" in error["message"]
        assert error["type"] == "invalid_request_error"
