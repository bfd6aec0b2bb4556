"""Conversations that were kept before all modes numbered their sources together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

_MARKER: Final = re.compile(r"\[(\d{1,4})\]")


def without_own_numbers(messages: Sequence[dict[str, Any]], starts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return messages in which the numbers of chat mode, which began anew in each turn, are no markers any more.

    Turns with tools were numbered by the registry and stay as they are.
    """
    ends = sorted({*starts.values(), 0, len(messages)})
    renewed: list[dict[str, Any]] = []
    for start, end in pairwise(ends):
        turn = messages[start:end]
        by_registry = any(message.get("type") == "tool" for message in turn)
        renewed += turn if by_registry else [_unmarked(message) for message in turn]
    return renewed


def _unmarked(message: dict[str, Any]) -> dict[str, Any]:
    data = message.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        return message
    return {**message, "data": {**data, "content": _MARKER.sub(r"(\1)", data["content"])}}
