"""The HTTP server (extra ``server``): REST, metrics, and the doors for programs made for SearXNG and Tavily."""
