"""What is put before a question of chat mode: results with their numbers, passages of the pages that were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.history import estimate_tokens
from qiusuo.chat.turns.sources.evidence import Evidence, body
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.passages import Passage

WHOLE_CHARS: Final = 1500
"""What is quoted whole is shown whole, as far as a model has room for it."""


def fitting(context: Context, response: SearchResponse) -> tuple[SearchResultItem, ...]:
    """Return as many results as the budget of tokens allows, at least one where there are any."""
    budget = _budget(context)
    wanted = context.wanted if context.quotes_whole(response.provider) else context.most_results
    most = min(wanted, len(response.results))
    fitting = (
        limit
        for limit in range(most, 1, -1)
        if estimate_tokens(_injected(context, response, range(1, limit + 1))) <= budget
    )
    return response.results[: next(fitting, 1)]


def with_passages(context: Context, response: SearchResponse, numbers: Sequence[int], evidence: Evidence | None) -> str:
    """Return the question with what was found before it: of pages that were read, as many passages as fit."""
    if evidence is None or not context.pages:
        return _injected(context, response, numbers)
    left = room_left(context, response, numbers, read=context.pages)
    shown: dict[int, list[Passage]] = {}
    passages = [one for number in context.pages for one in evidence.of(number)]
    for passage in sorted(passages, key=lambda one: -one.score):
        cost = estimate_tokens(_told(passage))
        if cost <= left:
            left -= cost
            shown.setdefault(passage.number, []).append(passage)
    in_order = {number: [_told(one) for one in sorted(of, key=lambda one: one.start)] for number, of in shown.items()}
    return _injected(context, response, numbers, in_order)


def room_left(
    context: Context, response: SearchResponse, numbers: Sequence[int], *, read: Iterable[int] | None = None
) -> int:
    """Return the tokens that are left for passages when each result has its title, address and date.

    Those that were not ``read`` keep their snippets; without it all are.
    """
    bare = _injected(context, response, numbers, dict.fromkeys(numbers if read is None else read, ("…",)))
    return _budget(context) - estimate_tokens(bare)


def _budget(context: Context) -> int:
    """Return the tokens that the question may take together with what was found."""
    question = context.ask.question
    fixed = context.fixed_tokens(prompts.chat_system(context.language), question)
    return context.injection_budget(fixed) + estimate_tokens(question)


def _told(passage: Passage) -> str:
    """Return a passage with the heading above it, as a model is shown it."""
    heading, text = passage.heading.strip("# "), body(passage)
    return f"{heading}: {text}" if heading and heading not in (passage.title, text) else text


def _injected(
    context: Context,
    response: SearchResponse,
    numbers: Sequence[int],
    passages: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Return the question with as many results before it as there are numbers."""
    return prompts.with_results(
        context.ask.question,
        response,
        context.language,
        numbers=numbers,
        snippet_length=_snippet_length(context, response),
        remark=context.material.told(context.remarks_of(response.attempts)),
        passages=passages,
        differing=[(one.first.number, one.second.number) for one in context.material.differences],
    )


def _snippet_length(context: Context, response: SearchResponse) -> int:
    usual = context.settings.snippet_length
    return max(usual, WHOLE_CHARS) if context.quotes_whole(response.provider) else usual
