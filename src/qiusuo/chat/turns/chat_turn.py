"""A turn of chat mode: search if the switch is on, put the results before the question, answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage
from msgspec.structs import replace

from qiusuo.chat.events.turn import Stage
from qiusuo.chat.questions import is_short, question_in, without_secrets
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.client_tools import TOOL_CALLS, knows_no_tools, sound
from qiusuo.chat.turns.answer import MessageText, conclude
from qiusuo.chat.turns.context import Context, finish_of
from qiusuo.chat.turns.history import remember
from qiusuo.chat.turns.notices import differing, notice, reason_of, search_notice
from qiusuo.chat.turns.sources.evidence import Evidence, body, weak_among
from qiusuo.chat.turns.sources.files import InFiles, look_in_files, with_files
from qiusuo.chat.turns.sources.injecting import WHOLE_CHARS, fitting, room_left, with_passages
from qiusuo.chat.turns.sources.private import without_file_words
from qiusuo.chat.turns.sources.reading import gather
from qiusuo.chat.turns.sources.rewriting import differ_much, query_by_model, query_of_message
from qiusuo.errors import AllEnginesFailed, ModelError, ModelRejected, SearchError
from qiusuo.models import Attempt, SearchResponse
from qiusuo.passages import Text
from qiusuo.pipeline.merge import fuse
from qiusuo.tools.render import numbered_sources

logger = logging.getLogger(__name__)

_TOOL: Final = "web_search"


async def chat_turn(context: Context) -> None:
    """Answer one question in chat mode."""
    answered = context.ask.client.since  # a search was made when the question was asked
    wanted = context.ask.settings.search and not answered
    files = None if answered else await look_in_files(context, beside_web=wanted)
    # What a file answers needs no search, and nobody else need know of it.
    searches = wanted and not (files and files.answers) and await _knows_what_to_search_for(context)
    await answer_from(context, await search_for(context) if searches else None, files)


async def _knows_what_to_search_for(context: Context) -> bool:
    """Tell whether there is a query; where no rule finds one in a long message, the model may."""
    if context.query:
        return True
    if context.has_model:
        context.query = await query_of_message(context.model, context.ask.question, context.language) or ""
    if not context.query:
        context.journal.notice(notice("no_question_found"))
    return bool(context.query)


class Found(NamedTuple):
    """What a search has brought for the prompt, and the numbers of its results."""

    response: SearchResponse
    numbers: list[int]
    evidence: Evidence | None = None


async def search_for(context: Context) -> Found | SearchError:
    """Search for what the question means; a failure is told to the reader and returned.

    What comes back has only the results that the model is going to see: nothing else can be a source of its answer.
    """
    rounds = await asyncio.gather(*(_search(context, query) for query in await _queries(context)))
    found = [(number, response) for number, response in rounds if isinstance(response, SearchResponse)]
    errors = [error for _, error in rounds if isinstance(error, SearchError)]
    if not found:
        return _failed(context, errors[0])
    response = _strong_first(context, _fused([response for _, response in found]))
    response = replace(response, results=fitting(context, response))
    numbers = context.sources.add(response.query, response.results)
    places = {item.url: number for item, number in zip(response.results, numbers, strict=True)}
    for number, its_own in found:
        shown = tuple(item for item in its_own.results if item.url in places)
        context.journal.end_round(number, _TOOL, replace(its_own, results=shown), [places[item.url] for item in shown])
    evidence = await gather(context, response, numbers, tokens=room_left(context, response, numbers))
    read = {number: [body(one) for one in evidence.of(number)] for number in context.pages} if evidence else {}
    # Sentences are quoted out of these: none shall end in the middle of a word.
    context.material.found(numbered_sources(response.results, numbers, snippet_length=WHOLE_CHARS, passages=read))
    _tell_remarks(context, response)
    _tell_differences(context, evidence)
    if response.stale:
        context.journal.notice(notice("search_stale", "warning"))
    return Found(response, numbers, evidence)


async def _queries(context: Context) -> list[str]:
    """Return what to search for: where a question leans on others, the model's query too if it is quite another."""
    if not context.leans or context.found is not None or not context.has_model:
        return [context.query]
    question, said = question_in(context.ask.question), list(context.memory.said.values())
    by_model = await query_by_model(context.model, question, said, context.language)
    if by_model is None:
        return [context.query]
    by_model = await without_file_words(context, by_model)
    by_rule, context.query = context.query, by_model
    return [by_model, by_rule] if differ_much(by_model, by_rule) else [by_model]


async def _search(context: Context, query: str) -> tuple[int, SearchResponse | SearchError]:
    """Make one search; return its round and what came of it."""
    ask, journal = context.ask, context.journal
    asked = ask.question.strip()
    query = await without_file_words(context, without_secrets(query))
    kind = context.recognised.search_type if context.recognised is not None else None
    first = context.service.roster.answers_first(kind) if kind is not None and not context.engine else None
    number = journal.begin_round(_TOOL, query, asked=asked if is_short(asked) else "", engine=first or "")
    journal.status(Stage.SEARCHING, query)
    options = context.scope.options(kind)
    options.update({"num_results": context.wanted, "engine": context.engine, "user": ask.user})
    try:
        response = context.found or await context.service.asearch(query, **options)
    except SearchError as error:
        logger.warning("the search failed, answering without it: %s", error)
        journal.fail_round(number, _TOOL, query, reason_of(error), _attempts(error))
        return number, error
    return number, response


def _failed(context: Context, error: SearchError) -> SearchError:
    answers = context.can_answer or bool(context.remarks_of(_attempts(error)))
    context.journal.notice(search_notice(error, has_model=answers))
    context.material.failed = True
    _tell_remarks(context, error)
    return error


def _fused(responses: Sequence[SearchResponse]) -> SearchResponse:
    """Return one response; of two the pages that both have come first."""
    first = responses[0]
    if len(responses) == 1:
        return first
    results = fuse({response.query: response.results for response in responses})
    attempts = tuple(attempt for response in responses for attempt in response.attempts)
    return replace(first, results=tuple(results), attempts=attempts)


def _strong_first(context: Context, response: SearchResponse) -> SearchResponse:
    """Put results that hardly touch the question behind the others; what is looked up in texts is in its order."""
    if context.quotes_whole(response.provider) or any(item.details for item in response.results):
        return response
    texts = [Text(place, item.title, item.snippet) for place, item in enumerate(response.results)]
    weak = weak_among(context.query, texts)
    places = sorted(range(len(texts)), key=lambda place: place in weak)
    return replace(response, results=tuple(response.results[place] for place in places))


async def answer_from(context: Context, found: Found | SearchError | None, files: InFiles | None = None) -> None:
    """Let the model answer from what was found, in files too, and end the turn."""
    text, message_text = with_files(context, files, _asked(context, found)), _message_text(context)
    try:
        message = await _said(context, text, message_text)
    except ModelError as error:
        if message_text.raw or not context.take_second(error):
            raise
        # It may have less room.
        text, message_text = with_files(context, files, _asked(context, found)), _message_text(context)
        message = await _said(context, text, message_text)
    client = context.ask.client
    context.calls = client.called([call for call in message.tool_calls if call["name"] in client.names])
    said = AIMessage(message.text, tool_calls=context.calls)
    remember(context.memory, context.ask.id, [HumanMessage(text), *client.since, said])
    await conclude(
        context.journal,
        message_text.raw,
        context.sources,
        pages=context.pages,
        finish=TOOL_CALLS if context.calls else finish_of(message),
        as_it_is=client.form is not None,
    )


def _asked(context: Context, found: Found | SearchError | None) -> str:
    """Return the question as the model gets it, with what was found."""
    question, language = context.ask.question, context.language
    match found:
        case None:
            return context.ask.client.asked or prompts.with_date(question, language)
        case Found(response, numbers, evidence):
            return with_passages(context, response, numbers, evidence)
        case _:
            return prompts.after_failure(question, language, remark=context.material.told())


def _message_text(context: Context) -> MessageText:
    return MessageText(context.journal, context.linking, context.ask.client.names)


async def _said(context: Context, text: str, message_text: MessageText) -> AIMessage:
    """Return what the model says to a question; one that refuses the client's tools is asked without them."""
    client, system = context.ask.client, prompts.chat_system(context.language)
    chat_model = await context.model.chat_model()
    messages = context.prompt(system, text, tools=client.tools)
    try:
        message = await context.say(client.bound(chat_model), messages, message_text)
    except ModelRejected as error:
        if not client.tools or client.since or message_text.raw or not knows_no_tools(error):
            raise
        logger.warning("the model is asked again without the client's tools: %s", error)
    else:
        message.tool_calls = sound(message.tool_calls, messages)
        return message
    context.leave_out_client_tools()
    return await context.say(context.ask.client.bound(chat_model), context.prompt(system, text), message_text)


def _tell_remarks(context: Context, outcome: SearchResponse | SearchError) -> None:
    """Tell what engines have to say of the question: why they found nothing, or how they understood it."""
    attempts = outcome.attempts if isinstance(outcome, SearchResponse | AllEnginesFailed) else ()
    found = isinstance(outcome, SearchResponse) and bool(outcome.results)
    context.remark(context.remarks_of(attempts), found=found)


def _tell_differences(context: Context, evidence: Evidence | None) -> None:
    """Tell where sources contradict one another; without a model the answer itself does."""
    found = evidence.differences[:1] if evidence else ()  # one is enough to look closer
    context.material.differences = found
    if context.has_model:
        for one in found:
            context.journal.notice(notice(differing(one)))


def _attempts(outcome: SearchError) -> Sequence[Attempt]:
    return outcome.attempts if isinstance(outcome, AllEnginesFailed) else ()
