"""The clients: what is installed, which program uses it, and what that program tries."""

from __future__ import annotations

from dataclasses import dataclass

MCP_CLIENTS = "tools listed, web_search with numbers, numbers run on; over HTTP and stdio"


@dataclass(frozen=True)
class Client:
    """A client by its package; the program of the same ``name`` under ``programs`` uses it."""

    name: str
    packages: tuple[str, ...]
    tried: str
    program: str
    seconds: float = 120
    in_our_environment: bool = False
    """The program runs beside us and is told where the client is, since it needs what we have (a browser's driver)."""
    client_fault: str = ""
    """Why it fails, where that is the client's own doing: then its failure is told but does not count."""


CLIENTS = (
    Client("openai", ("openai",), "chat streamed and whole, follow-up, own tools, Responses, models", "openai_chat.py"),
    Client("openai-agents", ("openai-agents",), "agent with a tool over Responses, whole and streamed", "openai_agents.py"),
    Client("langchain-openai", ("langchain-openai", "langchain"), "invoke, stream, agent with a tool, structured output, Responses", "langchain_chat.py"),
    Client("llama-index", ("llama-index-llms-openai-like",), "OpenAILike: chat, stream, follow-up, tool calls", "llama_index_like.py"),
    Client("litellm", ("litellm", "mcp"), "completion, stream, own tools, Responses", "litellm_chat.py"),
    Client("llm", ("llm",), "model in its YAML, prompt, -c goes on", "llm_cli.py"),
    Client("smolagents", ("smolagents[openai]",), "ToolCallingAgent with a tool", "smolagents_agent.py"),
    Client("pydantic-ai", ("pydantic-ai-slim[openai]",), "agent with a tool, stream, typed output; chat and Responses", "pydantic_agent.py"),
    Client("autogen", ("autogen-agentchat", "autogen-ext[openai]"), "AssistantAgent with a tool", "autogen_agent.py"),
    Client("instructor", ("instructor",), "typed answer by tool and by JSON schema", "instructor_typed.py"),
    Client("haystack-ai", ("haystack-ai",), "OpenAIChatGenerator: whole, follow-up, streamed", "haystack_chat.py"),
    Client("mcp", ("mcp",), MCP_CLIENTS, "mcp_session.py"),
    Client("fastmcp", ("fastmcp",), "tools, web_search with structured content; over HTTP", "fastmcp_client.py"),
    Client("langchain-mcp-adapters", ("langchain-mcp-adapters",), "tools as LangChain's, one called", "mcp_adapters.py"),
    Client("tavily-python", ("tavily-python",), "search, news, answer, async, wrong key", "tavily_sdk.py"),
    Client("langchain-tavily", ("langchain-tavily",), "TavilySearch with domains", "tavily_langchain.py"),
    Client("langchain-community", ("langchain-community",), "SearxSearchWrapper: run and results", "searx_wrapper.py"),
    Client("gpt-researcher", ("gpt-researcher",), "its SearXNG retriever (password in the URL), its Tavily retriever (address set in the object)", "gpt_researcher_retrievers.py", 240),
    Client("nanobot-ai", ("nanobot-ai",), "its model, its search (SearXNG), its MCP server", "nanobot_agent.py"),
    Client("httpx", ("httpx",), "no key, Basic, X-API-Key, HEAD, packed body", "httpx_calls.py"),
    Client("curl", (), "Bearer and Basic, packed body, SSE to its end", "curl_calls.py"),
    Client("npm:openai", ("openai",), "chat streamed, follow-up, own tools, Responses", "openai_chat.mjs"),
    Client("npm:@ai-sdk/openai-compatible", ("@ai-sdk/openai-compatible", "ai", "zod"), "streamText, tool loop, object", "ai_sdk_compatible.mjs"),
    Client("npm:@ai-sdk/openai", ("@ai-sdk/openai", "ai", "zod"), "Responses: streamText, sources, tool loop", "ai_sdk_responses.mjs"),
    Client("npm:@modelcontextprotocol/sdk", ("@modelcontextprotocol/sdk",), MCP_CLIENTS, "mcp_session.mjs"),
    Client("npm:@tavily/core", ("@tavily/core",), "search, answer, wrong key", "tavily_core.mjs"),
    Client("npm:@librechat/agents", ("@librechat/agents",), "its run over /v1 with a follow-up; its search tool over /search and /tavily", "librechat_agents.mjs", 240),
    Client("open-webui", ("open-webui",), "its page in Chromium: question, cited answer, follow-up, chips name their pages", "open_webui_page.py", 600, in_our_environment=True),
)  # fmt: skip
