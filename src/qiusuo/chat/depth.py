"""What an answer of chat mode rests on."""

from __future__ import annotations

from enum import StrEnum

from qiusuo.config import Settings
from qiusuo.pages import can_read


class Depth(StrEnum):
    """The snippets of results, the pages behind them, or whichever the question needs."""

    SNIPPETS = "snippets"
    AUTO = "auto"
    READ = "read"


def usual_depth(settings: Settings) -> Depth:
    """Return what answers rest on where a conversation does not say; without a page reader it is the snippets."""
    return Depth(settings.depth) if can_read() else Depth.SNIPPETS
