"""LangChain's wrapper of SearXNG."""

from common import KEY, QUESTION, URL
from langchain_community.utilities import SearxSearchWrapper

search = SearxSearchWrapper(searx_host=URL, headers={"Authorization": f"Bearer {KEY}"}, k=3)
assert "tea is picked in March" in search.run(QUESTION)
rows = search.results(QUESTION, 4, engines=["google", "searxng"])
assert len(rows) == 4, rows
