"""The answer beside Tavily's results: the model's where there is one, else sentences of the results that fit best."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import Final

from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.passages import Text, ranked_sentences
from qiusuo.web.backend import Backend

_SENTENCES: Final = 3
_DAY: Final = len("2026-01-31")


async def answer_to(backend: Backend, owner: str, query: str, response: SearchResponse) -> str | None:
    """Return an answer; None where nothing was found that fits."""
    if not response.results:
        return None
    conversations = backend.parts.get("conversations")
    if conversations is not None:
        from qiusuo.chat.short_answers import short_answer  # noqa: PLC0415 - an extra

        conversations.places.take(owner)
        try:
            said = await short_answer(conversations.chat, query, response, user=owner)
        finally:
            conversations.places.give_back(owner)
        if said is not None:
            return said
    return await asyncio.to_thread(_extracted, query, response.results)


def _extracted(query: str, results: Sequence[SearchResultItem]) -> str | None:
    texts = [Text(number, item.title, item.snippet) for number, item in enumerate(results, 1)]
    best = [sentence for _, sentence, score in ranked_sentences(query, texts) if score > 0]
    return " ".join(dict.fromkeys(best[:_SENTENCES])) or None


def within(items: Sequence[SearchResultItem], start: date | None, end: date | None) -> tuple[SearchResultItem, ...]:
    """Return the items without those that are known to be older or newer."""
    return tuple(
        item
        for item in items
        if (day := day_of(item)) is None or ((start is None or day >= start) and (end is None or day <= end))
    )


def day_of(item: SearchResultItem) -> date | None:
    """Return the day on which a page appeared, where it is known."""
    try:
        return date.fromisoformat((item.published_at or "")[:_DAY])
    except ValueError:
        return None
