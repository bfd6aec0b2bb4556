"""``/mcp``: the tools over streamable HTTP, and their sessions."""
