"""Tavily's own package."""

import asyncio

from common import KEY, QUESTION, URL
from tavily import AsyncTavilyClient, InvalidAPIKeyError, TavilyClient

place = f"{URL}/tavily"
client = TavilyClient(KEY, api_base_url=place)
found = client.search(QUESTION, max_results=4, include_answer=True)
assert len(found["results"]) == 4
assert "March" in found["answer"], found["answer"]
assert client.search(QUESTION, topic="news", time_range="week", max_results=2)["results"]
assert "March" in client.qna_search(QUESTION)
assert client.extract(["http://127.0.0.1:1/"])["failed_results"]
assert len(asyncio.run(AsyncTavilyClient(KEY, api_base_url=place).search(QUESTION))["results"]) == 5
try:
    TavilyClient("tvly-wrong", api_base_url=place).search(QUESTION)
except InvalidAPIKeyError:
    pass
else:
    raise SystemExit("a wrong key was let in")
