"""What the server tells whoever has started it, beside its log."""

from __future__ import annotations

import logging
from contextlib import suppress

from rich.console import Console
from rich.markup import escape

from qiusuo.logs import is_json

_logger = logging.getLogger("qiusuo.serve")


def say(err: Console, *lines: str, level: int = logging.INFO) -> None:
    """Say something on standard error; where the log is JSON, as one line of it, so that programs can read them all."""
    if not is_json():
        with suppress(OSError):  # the terminal was closed, which is no reason not to stop in good order
            for line in lines:
                err.print(escape(line))
        return
    # Handled whatever the level of the log is: also what is no warning must be heard.
    _logger.handle(_logger.makeRecord(_logger.name, level, __file__, 0, "\n".join(lines), (), None))
