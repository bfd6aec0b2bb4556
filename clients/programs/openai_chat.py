"""OpenAI's package."""

import json

from common import BASE, FOLLOW_UP, KEY, QUESTION, WEATHER, WEATHER_TOOL, cited, get_weather
from openai import AuthenticationError, OpenAI

client = OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
assert {"qiusuo-chat", "qiusuo-agent"} <= {model.id for model in client.models.list()}

# Whole, with a follow-up: numbers run on.
messages = [{"role": "user", "content": QUESTION}]
first = client.chat.completions.create(model="qiusuo-chat", messages=messages).choices[0].message
cited(first.content, 1)
assert first.annotations[0].url_citation.url.startswith("https://tea-")
messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": FOLLOW_UP}]
again = client.chat.completions.create(model="qiusuo-chat", messages=messages).choices[0].message.content
cited(again)
assert "[[1]]" not in again, again

# Streamed, by its helper.
with client.chat.completions.stream(model="qiusuo-agent", messages=[{"role": "user", "content": QUESTION}]) as stream:
    for _event in stream:
        pass
    cited(stream.get_final_completion().choices[0].message.content)

# Its own tools, streamed.
for model in ("qiusuo-chat", "qiusuo-agent"):
    messages = [{"role": "user", "content": WEATHER}]
    with client.chat.completions.stream(model=model, messages=messages, tools=[WEATHER_TOOL]) as stream:
        said = stream.get_final_completion().choices[0]
    assert said.finish_reason == "tool_calls", said
    call = said.message.tool_calls[0]
    result = get_weather(**json.loads(call.function.arguments))
    messages.append(said.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    with client.chat.completions.stream(model=model, messages=messages, tools=[WEATHER_TOOL]) as stream:
        text = stream.get_final_completion().choices[0].message.content
    assert "21 degrees" in cited(text)

# Responses.
answer = client.responses.create(model="qiusuo-chat", input=QUESTION)
cited(answer.output_text)
assert answer.output[-1].content[0].annotations[0].url.startswith("https://tea-")
with client.responses.stream(model="qiusuo-agent", input=QUESTION) as stream:
    for _event in stream:
        pass
    cited(stream.get_final_response().output_text)

try:
    OpenAI(base_url=BASE, api_key="wrong", max_retries=0).models.list()
except AuthenticationError:
    pass
else:
    raise SystemExit("a wrong key was let in")
