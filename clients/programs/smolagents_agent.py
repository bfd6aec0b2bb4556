"""smolagents: an agent that calls tools and ends with one."""

from common import BASE, KEY, WEATHER, cited
from common import get_weather as weather_of
from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: its name.
    """
    return weather_of(city)


model = OpenAIServerModel("qiusuo-chat", api_base=BASE, api_key=KEY)
plain = model.generate(
    [{"role": "user", "content": [{"type": "text", "text": "When is spring tea picked in Yunnan?"}]}]
)
cited(plain.content)
agent = ToolCallingAgent(tools=[get_weather], model=model, max_steps=4, verbosity_level=0)
answer = agent.run(WEATHER)
assert "21 degrees" in answer, answer
