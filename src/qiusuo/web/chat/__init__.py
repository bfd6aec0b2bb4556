"""``/api/chat``: conversations, their files and answers, taken along, shared, and told as server-sent events."""
