"""A turn of chat mode: search if the switch is on, put the results before the question, answer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langchain_core.messages import AIMessage, HumanMessage

from qiusuo.chat.events import Stage
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.answer import MessageText, conclude
from qiusuo.chat.turns.context import Context, finish_of
from qiusuo.chat.turns.history import estimate_tokens, remember
from qiusuo.chat.turns.notices import notes_of, notice, reason_of, search_notice
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.errors import AllEnginesFailed, SearchError
from qiusuo.legal.recognising.asked import results_for
from qiusuo.legal.recognising.recognise import looks_legal
from qiusuo.models import Attempt, SearchResponse, SearchResultItem, SearchType
from qiusuo.pipeline.request import MAX_QUERY_CHARS
from qiusuo.roster import LAWS
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

# An article of law is quoted whole: what is cut off may be the exception that matters.
_LAW_CHARS: Final = 1500


async def chat_turn(context: Context) -> None:
    """Answer one question in chat mode."""
    response = await search_for(context) if context.ask.settings.search else None
    await answer_from(context, response)


async def search_for(context: Context) -> SearchResponse | SearchError:
    """Search with the user's own words; a failure is told to the reader and returned.

    What comes back has only the results that the model is going to see: nothing else can be a source of its answer.
    """
    ask, journal = context.ask, context.journal
    query = ask.question.strip()[:MAX_QUERY_CHARS]
    number = journal.begin_round("web_search", query)
    journal.status(Stage.SEARCHING, query)
    kind = SearchType.REGULATION if looks_legal(query) else SearchType.GENERAL
    try:
        response = await context.service.asearch(
            query, num_results=_wanted(context, kind), engine=ask.settings.engine, type=kind, user=ask.user
        )
    except SearchError as error:
        logger.warning("the search failed, answering without it: %s", error)
        journal.fail_round(number, "web_search", query, reason_of(error), _attempts(error))
        journal.notice(search_notice(error))
        _tell_of_the_law(context, error)
        return error
    response = replace(response, results=_fitting(context, response))
    await journal.read_laws(response)
    journal.end_round(number, "web_search", response, CitationProcessor(response.results).numbers)
    _tell_of_the_law(context, response)
    if response.stale:
        journal.notice(notice("search_stale", "warning"))
    return response


async def answer_from(context: Context, response: SearchResponse | SearchError | None) -> None:
    """Let the model answer from what was found, and end the turn."""
    question, language = context.ask.question, context.language
    match response:
        case None:
            text = prompts.with_date(question, language)
        case SearchResponse():
            text = _injected(context, response, len(response.results))
        case _:
            text = prompts.after_failure(question, language, remark=_remark(response, language))
    processor = CitationProcessor(response.results if isinstance(response, SearchResponse) else ())
    message_text = MessageText(context.journal, processor)
    chat_model = await context.model.chat_model()
    messages = context.prompt(prompts.chat_system(language), text)
    message = await context.say(chat_model, messages, message_text)
    remember(context.memory, context.ask.id, [HumanMessage(text), AIMessage(message.text)])
    await conclude(
        context.journal,
        message_text.raw,
        processor,
        pages=context.pages,
        references=processor.references,
        finish=finish_of(message),
    )


def _fitting(context: Context, response: SearchResponse) -> tuple[SearchResultItem, ...]:
    """Return as many results as the budget of tokens allows, at least one where there are any."""
    question = context.ask.question
    fixed = context.fixed_tokens(prompts.chat_system(context.language), question)
    budget = context.injection_budget(fixed) + estimate_tokens(question)
    wanted = _wanted(context, response.type) if response.provider == LAWS else context.ask.settings.results
    most = min(wanted, len(response.results))
    fitting = (limit for limit in range(most, 1, -1) if estimate_tokens(_injected(context, response, limit)) <= budget)
    return response.results[: next(fitting, 1)]


def _wanted(context: Context, kind: SearchType) -> int:
    usual = context.ask.settings.results
    return results_for(context.ask.question[:MAX_QUERY_CHARS], usual) if kind is SearchType.REGULATION else usual


def _injected(context: Context, response: SearchResponse, limit: int) -> str:
    """Return the question with so many results before it."""
    length = context.settings.snippet_length
    if response.provider == LAWS:
        length = max(length, _LAW_CHARS)
    return prompts.with_results(
        context.ask.question,
        response,
        context.language,
        limit=limit,
        snippet_length=length,
        remark=_remark(response, context.language),
    )


def _tell_of_the_law(context: Context, outcome: SearchResponse | SearchError) -> None:
    notes = _law_notes(outcome)
    if notes:
        found = isinstance(outcome, SearchResponse) and outcome.results
        level = "info" if found else "warning"
        context.journal.notice(notice("law_note", level, reason=notes_of(notes)))


def _remark(outcome: SearchResponse | SearchError, language: Language) -> str:
    """Return what the legal index has to say: why it found nothing, or how it understood the question."""
    return "".join(note.text(language) for note in _law_notes(outcome))


def _law_notes(outcome: SearchResponse | SearchError) -> list[Fact]:
    return [note for attempt in _attempts(outcome) if attempt.engine == LAWS for note in attempt.notes]


def _attempts(outcome: SearchResponse | SearchError) -> Sequence[Attempt]:
    return outcome.attempts if isinstance(outcome, SearchResponse | AllEnginesFailed) else ()
