"""OpenAI Agents: Responses, as it does by default."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from common import BASE, FOLLOW_UP, KEY, QUESTION, WEATHER, cited
from common import get_weather as weather_of
from openai import AsyncOpenAI

set_default_openai_client(AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0), use_for_tracing=False)
set_tracing_disabled(disabled=True)


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return weather_of(city)


async def main() -> None:
    for model in ("qiusuo-chat", "qiusuo-agent"):
        agent = Agent(name="Tea", instructions="Answer briefly.", model=model, tools=[get_weather])
        result = await Runner.run(agent, WEATHER)
        assert "21 degrees" in cited(result.final_output)
        plain = Agent(name="Tea", model=model)
        first = await Runner.run(plain, QUESTION)
        cited(first.final_output, 1)
        follow_up = [*first.to_input_list(), {"role": "user", "content": FOLLOW_UP}]
        cited((await Runner.run(plain, follow_up)).final_output)
        streamed = Runner.run_streamed(agent, WEATHER)
        kinds = {event.type async for event in streamed.stream_events()}
        assert "raw_response_event" in kinds
        assert "21 degrees" in cited(streamed.final_output)


asyncio.run(main())
