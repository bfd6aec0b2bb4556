"""GPT Researcher's retrievers, as its researcher makes them."""

import os

from common import KEY, QUESTION, URL

os.environ["SEARX_URL"] = URL.replace("http://", f"http://me:{KEY}@")
os.environ["TAVILY_API_KEY"] = KEY
from gpt_researcher.retrievers import SearxSearch, TavilySearch

tavily = TavilySearch(QUESTION)
# Its address is written into its code; all else is as it is.
tavily.base_url = f"{URL}/tavily/search"
found = tavily.search(max_results=3)
assert len(found) == 3, found
assert found[0]["href"].startswith("https://tea-")
found = SearxSearch(QUESTION).search(max_results=3)
assert len(found) == 3, found
