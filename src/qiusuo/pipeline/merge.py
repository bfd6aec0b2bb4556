"""Merged search: several engines at once, their lists fused by reciprocal rank."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from qiusuo.models import Attempt, SearchResultItem
from qiusuo.pipeline.attempt import Attempts, Lane, Tried
from qiusuo.pipeline.request import SearchRequest
from qiusuo.urls import canonical_url

RRF_K = 60


async def ask_all(
    attempts: Attempts, request: SearchRequest, lanes: Sequence[Lane]
) -> tuple[list[Tried], list[Attempt]]:
    """Ask every engine at the same time; return those that answered and the whole receipt."""
    tried = await asyncio.gather(*(attempts.make(lane, request, request.timeout) for lane in lanes))
    return [one for one in tried if one.items is not None], [one.attempt for one in tried]


def fuse(lists: Mapping[str, Sequence[SearchResultItem]], *, k: int = RRF_K) -> list[SearchResultItem]:
    """Fuse ranked lists: each page scores the sum of 1/(k + rank) over the engines that found it.

    A page is known by its canonical URL. It keeps the words of the engine that ranked it best, the longest snippet,
    what is known of it in detail, and the names of all its engines.
    """
    best: dict[str, SearchResultItem] = {}
    best_rank: dict[str, int] = {}
    ranks: dict[str, dict[str, int]] = {}
    for engine, items in lists.items():
        for rank, item in enumerate(items, 1):
            page = canonical_url(item.url)
            found_by = ranks.setdefault(page, {})
            if engine in found_by:
                continue  # the same page twice in one list counts once, at its better rank
            found_by[engine] = rank
            known = best.get(page)
            if known is None:
                best[page], best_rank[page] = item, rank
                continue
            snippet = max(known.snippet, item.snippet, key=len)
            leading = item if rank < best_rank[page] else known
            best_rank[page] = min(rank, best_rank[page])
            best[page] = replace(
                leading,
                snippet=snippet,
                published_at=leading.published_at or known.published_at or item.published_at,
                details=leading.details or known.details or item.details,
            )
    # Added exactly: with a plain sum the order of the engines would decide between pages of the same ranks.
    scores = {page: math.fsum(1 / (k + rank) for rank in found_by.values()) for page, found_by in ranks.items()}
    order = sorted(scores, key=lambda page: (-scores[page], best_rank[page], page))
    return [replace(best[page], score=round(scores[page], 6), engines=tuple(ranks[page])) for page in order]
