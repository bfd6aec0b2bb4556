"""LangChain's ChatOpenAI, alone and in an agent."""

from common import BASE, FOLLOW_UP, KEY, QUESTION, WEATHER, cited, get_weather
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Picking(BaseModel):
    """Where and when."""

    city: str
    month: str


for responses in (False, True):
    chat = ChatOpenAI(
        model="qiusuo-chat", base_url=BASE, api_key=KEY, max_retries=0, use_responses_api=responses, stream_usage=True
    )
    first = chat.invoke(QUESTION)
    cited(first.text, 1)
    follow_up = chat.invoke([("user", QUESTION), first, ("user", FOLLOW_UP)])
    cited(follow_up.text)
    cited("".join(chunk.text for chunk in chat.stream(QUESTION)))
    weather = tool(get_weather)
    agent = create_agent(chat, [weather])
    state = agent.invoke({"messages": [("user", WEATHER)]})
    assert "21 degrees" in cited(state["messages"][-1].text)
    picking = chat.with_structured_output(Picking, method="json_schema").invoke("Where and when? As JSON.")
    assert picking == Picking(city="Kunming", month="March"), picking
