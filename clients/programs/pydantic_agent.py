"""Pydantic AI, over chat completions and over Responses."""

import asyncio

from common import BASE, FOLLOW_UP, KEY, QUESTION, WEATHER, cited, get_weather
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider


class Picking(BaseModel):
    city: str
    month: str


async def main() -> None:
    provider = OpenAIProvider(base_url=BASE, api_key=KEY)
    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        model = kind("qiusuo-chat", provider=provider)
        agent = Agent(model, tools=[get_weather])
        assert "21 degrees" in cited((await agent.run(WEATHER)).output)
        plain = Agent(model)
        first = await plain.run(QUESTION)
        cited(first.output, 1)
        cited((await plain.run(FOLLOW_UP, message_history=first.all_messages())).output)
        async with plain.run_stream(QUESTION) as streamed:
            cited(await streamed.get_output())
        typed = Agent(model, output_type=NativeOutput(Picking))
        assert (await typed.run("Where and when? As JSON.")).output == Picking(city="Kunming", month="March")


asyncio.run(main())
