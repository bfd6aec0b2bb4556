"""AutoGen's AssistantAgent."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from common import BASE, KEY, QUESTION, WEATHER, cited, get_weather


async def main() -> None:
    known = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "family": "unknown",
        "structured_output": True,
    }
    model = OpenAIChatCompletionClient(model="qiusuo-chat", base_url=BASE, api_key=KEY, model_info=known, max_retries=0)
    plain = AssistantAgent("tea", model)
    cited((await plain.run(task=QUESTION)).messages[-1].content)
    agent = AssistantAgent("weather", model, tools=[get_weather], reflect_on_tool_use=True, model_client_stream=True)
    assert "21 degrees" in cited((await agent.run(task=WEATHER)).messages[-1].content)
    await model.close()


asyncio.run(main())
