"""LangChain's tool for Tavily."""

from common import KEY, QUESTION, URL
from langchain_tavily import TavilySearch

tool = TavilySearch(tavily_api_key=KEY, api_base_url=f"{URL}/tavily", max_results=3)
found = tool.invoke({"query": QUESTION, "include_domains": ["example.com"]})
assert len(found["results"]) == 3, found
