"""What the programs share: the address, the token, the question, and how an answer is looked at."""

import os
import re

URL = os.environ["QIUSUO_URL"]
KEY = os.environ["QIUSUO_TOKEN"]
BASE = f"{URL}/v1"
QUESTION = "When is spring tea picked in Yunnan?"
FOLLOW_UP = "And when is autumn tea picked in Fujian?"
WEATHER = "What is the weather in Kunming, and when is spring tea picked in Yunnan?"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
WEATHER_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather of a city.", "parameters": SCHEMA},
}
LINK = re.compile(r"\[\[(\d+)\]\]\((https://tea-\w+\.example\.com/page/\d+)\)")


def cited(text: str, *numbers: int) -> str:
    """Demand that an answer cites its sources by links, with these numbers where they are given."""
    found = [int(number) for number, _ in LINK.findall(text)]
    assert found, f"no citation in: {text!r}"
    assert not numbers or set(numbers) <= set(found), f"{numbers} are not among {found}"
    return text


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"21 degrees in {city}"
