"""``qiusuo mcp``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import words_for_terminal
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.logs import log_for_machines
from qiusuo.words import Fact


def run_mcp() -> Exit:
    """Serve until the client hangs up. Standard output belongs to the protocol; everything else goes to stderr."""
    try:
        serve = _server()
        settings = Settings.load()
        log_for_machines(as_json=settings.log == "json", queries=settings.log_queries)
        asyncio.run(serve(settings))
    except SearchError as error:
        sys.stderr.write("\n".join(error_lines(error, words_for_terminal())) + "\n")
        return exit_code(error)
    return Exit.OK


def _server() -> Callable[[Settings], Coroutine[Any, Any, None]]:
    try:
        from qiusuo.tools.mcp import serve_stdio  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(Fact("cli.no_mcp"), commands=(install_command("qiusuo[mcp]"),)) from None
    return serve_stdio
