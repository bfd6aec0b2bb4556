"""The doors for programs made for SearXNG and Tavily."""
