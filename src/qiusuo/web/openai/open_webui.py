"""Sources as Open WebUI wants to be told of them, beside the annotations.

Its page shows ``[n]`` as the n-th source that came with the message. Our numbers run on through a conversation, and an
answer need not cite all of them, so all up to the highest number are told, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from qiusuo.citations.linking.references import LINK

_MOST: Final = 300


def source_events(text: str, sources: Mapping[int, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give an event for each number up to the highest that ``text`` links; a page that is not known has no address."""
    highest = max((int(place[1]) for place in LINK.finditer(text)), default=0)
    for number in range(1, highest + 1 if highest <= _MOST else 1):
        source = sources.get(number)
        if source is None:
            name = place = f"[{number}]"
            shown = {"name": name}
        else:
            name, place = source["title"], source["url"]
            shown = {"name": name, "url": place}
        document = (source or {}).get("snippet") or name
        data = {"source": shown, "document": [document], "metadata": [{"source": place, "name": name}]}
        yield {"type": "source", "data": data}
