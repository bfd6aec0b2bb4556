"""Tools that agents call: plain classes here, LangChain in ``tools.langchain``, MCP in ``tools.mcp``."""

from qiusuo.tools.base import Tool
from qiusuo.tools.plain import TavilyWebSearchTool, WebSearchTool, create_web_search_tool

__all__ = ["TavilyWebSearchTool", "Tool", "WebSearchTool", "create_web_search_tool"]
