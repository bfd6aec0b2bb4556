"""LiteLLM."""

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it looks for prices on the internet

import litellm
from common import BASE, KEY, QUESTION, WEATHER, WEATHER_TOOL, cited, get_weather

options = {"model": "openai/qiusuo-chat", "api_base": BASE, "api_key": KEY, "num_retries": 0}
asked = [{"role": "user", "content": QUESTION}]
whole = litellm.completion(messages=asked, **options)
cited(whole.choices[0].message.content, 1)
assert whole.choices[0].message.annotations
chunks = list(litellm.completion(messages=asked, stream=True, stream_options={"include_usage": True}, **options))
cited(litellm.stream_chunk_builder(chunks, messages=asked).choices[0].message.content)

messages = [{"role": "user", "content": WEATHER}]
said = litellm.completion(messages=messages, tools=[WEATHER_TOOL], **options).choices[0]
assert said.finish_reason == "tool_calls", said
call = said.message.tool_calls[0]
messages.append(said.message.model_dump())
result = get_weather(**json.loads(call.function.arguments))
messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
done = litellm.completion(messages=messages, tools=[WEATHER_TOOL], **options)
assert "21 degrees" in cited(done.choices[0].message.content)

cited(litellm.responses(input=QUESTION, **options).output[-1].content[0].text)
