"""A SearXNG of one's own: its files, its container, and the way without Docker."""
