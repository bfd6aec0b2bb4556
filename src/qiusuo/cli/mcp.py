"""``qiusuo mcp``."""

from __future__ import annotations

import asyncio
import sys

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import words_for_terminal
from qiusuo.errors import SearchError


def run_mcp() -> Exit:
    """Serve until the client hangs up. Standard output belongs to the protocol; everything else goes to stderr."""
    try:
        from qiusuo.tools.mcp import serve_stdio  # noqa: PLC0415 - an extra
    except ImportError:
        sys.stderr.write("The MCP server is not installed. → pip install 'qiusuo[mcp]'\n")
        return Exit.NOT_CONFIGURED
    try:
        asyncio.run(serve_stdio())
    except SearchError as error:
        sys.stderr.write("\n".join(error_lines(error, words_for_terminal())) + "\n")
        return exit_code(error)
    return Exit.OK
