"""What stands in files stays here: only the words of the user leave for a provider of searches."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from qiusuo.chat.questions import LONGEST, question_in
from qiusuo.chat.turns.context import Context
from qiusuo.citations.meaning.wording import fold, terms
from qiusuo.files import FileText
from qiusuo.passages.reading import occurrences, same_length_fold
from qiusuo.text import truncate
from qiusuo.urls import canonical_url


async def without_file_words(context: Context, query: str) -> str:
    """Return a query, or the user's own question where a model or a rule has put words of a file into it."""
    files = context.ask.files
    if not files or not await asyncio.to_thread(_has_file_words, query, _said(context), files):
        return query
    return question_in(context.ask.question) or truncate(context.ask.question, LONGEST)


def was_given(context: Context, url: str) -> bool:
    """Tell whether an address may be read: with files at hand, one that a search has found or the user has written.

    An address can carry words away as well as a query can.
    """
    if not context.ask.files or any(url in said for said in _said(context)):
        return True
    wanted = canonical_url(url)
    return any(canonical_url(source.url) == wanted for source in context.sources.known.sources.values())


def _said(context: Context) -> list[str]:
    """Return what the user has asked in this conversation."""
    return [context.ask.question, *(each.question for each in context.memory.said.values())]


def _has_file_words(query: str, said: Iterable[str], files: Sequence[FileText]) -> bool:
    own = terms(fold(" \n ".join(said)))
    strange = terms(fold(query)) - own
    if not strange:
        return False
    for file in files:
        for part in file.parts:
            folded = same_length_fold(part.text)
            if any(next(occurrences(folded, word), None) is not None for word in strange):
                return True
    return False
