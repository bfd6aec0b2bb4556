"""A turn of chat mode: search if the switch is on, put the results before the question, answer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage

from qiusuo.chat.events import Stage
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.answer import MessageText, conclude
from qiusuo.chat.turns.context import Context, finish_of
from qiusuo.chat.turns.history import estimate_tokens, remember
from qiusuo.chat.turns.notices import notice, reason_of, search_notice
from qiusuo.errors import AllEnginesFailed, SearchError
from qiusuo.models import Attempt, SearchResponse, SearchResultItem, SearchType
from qiusuo.tools.render import numbered_sources

logger = logging.getLogger(__name__)

# What is quoted whole is shown whole, as far as a model has room for it.
_WHOLE_CHARS: Final = 1500


async def chat_turn(context: Context) -> None:
    """Answer one question in chat mode."""
    await answer_from(context, await search_for(context) if context.ask.settings.search else None)


class Found(NamedTuple):
    """What a search has brought for the prompt, and the numbers of its results."""

    response: SearchResponse
    numbers: list[int]


async def search_for(context: Context) -> Found | SearchError:
    """Search for what the question means; a failure is told to the reader and returned.

    What comes back has only the results that the model is going to see: nothing else can be a source of its answer.
    """
    ask, journal = context.ask, context.journal
    query = context.query
    number = journal.begin_round("web_search", query, asked=ask.question.strip())
    journal.status(Stage.SEARCHING, query)
    kind = context.recognised.search_type if context.recognised is not None else SearchType.GENERAL
    try:
        response = context.found or await context.service.asearch(
            query, num_results=context.wanted, engine=ask.settings.engine, type=kind, user=ask.user
        )
    except SearchError as error:
        logger.warning("the search failed, answering without it: %s", error)
        journal.fail_round(number, "web_search", query, reason_of(error), _attempts(error))
        journal.notice(search_notice(error))
        context.material.failed = True
        _tell_remarks(context, error)
        return error
    response = replace(response, results=_fitting(context, response))
    numbers = context.sources.add(query, response.results)
    journal.end_round(number, "web_search", response, numbers)
    context.material.found(
        numbered_sources(response.results, numbers, snippet_length=_snippet_length(context, response))
    )
    _tell_remarks(context, response)
    if response.stale:
        journal.notice(notice("search_stale", "warning"))
    return Found(response, numbers)


async def answer_from(context: Context, found: Found | SearchError | None) -> None:
    """Let the model answer from what was found, and end the turn."""
    question, language = context.ask.question, context.language
    match found:
        case None:
            text = prompts.with_date(question, language)
        case Found(response, numbers):
            text = _injected(context, response, numbers)
        case _:
            text = prompts.after_failure(question, language, remark=context.material.told())
    message_text = MessageText(context.journal, context.sources.known)
    chat_model = await context.model.chat_model()
    messages = context.prompt(prompts.chat_system(language), text)
    message = await context.say(chat_model, messages, message_text)
    remember(context.memory, context.ask.id, [HumanMessage(text), AIMessage(message.text)])
    await conclude(context.journal, message_text.raw, context.sources, pages=context.pages, finish=finish_of(message))


def _fitting(context: Context, response: SearchResponse) -> tuple[SearchResultItem, ...]:
    """Return as many results as the budget of tokens allows, at least one where there are any."""
    question = context.ask.question
    fixed = context.fixed_tokens(prompts.chat_system(context.language), question)
    budget = context.injection_budget(fixed) + estimate_tokens(question)
    wanted = context.wanted if context.quotes_whole(response.provider) else context.most_results
    most = min(wanted, len(response.results))
    fitting = (
        limit
        for limit in range(most, 1, -1)
        if estimate_tokens(_injected(context, response, range(1, limit + 1))) <= budget
    )
    return response.results[: next(fitting, 1)]


def _injected(context: Context, response: SearchResponse, numbers: Sequence[int]) -> str:
    """Return the question with as many results before it as there are numbers."""
    return prompts.with_results(
        context.ask.question,
        response,
        context.language,
        numbers=numbers,
        snippet_length=_snippet_length(context, response),
        remark=context.material.told(context.remarks_of(response.attempts)),
    )


def _snippet_length(context: Context, response: SearchResponse) -> int:
    usual = context.settings.snippet_length
    return max(usual, _WHOLE_CHARS) if context.quotes_whole(response.provider) else usual


def _tell_remarks(context: Context, outcome: SearchResponse | SearchError) -> None:
    """Tell what engines have to say of the question: why they found nothing, or how they understood it."""
    attempts = outcome.attempts if isinstance(outcome, SearchResponse | AllEnginesFailed) else ()
    found = isinstance(outcome, SearchResponse) and bool(outcome.results)
    context.remark(context.remarks_of(attempts), found=found)


def _attempts(outcome: SearchError) -> Sequence[Attempt]:
    return outcome.attempts if isinstance(outcome, AllEnginesFailed) else ()
