"""A turn of research: sub-questions, searches side by side, pages, a report in sections; it can go on after a break."""

from __future__ import annotations

import asyncio

from langchain_core.messages import AIMessage, HumanMessage

from qiusuo import plugins
from qiusuo.chat.events.progress import ResearchStage, StepState
from qiusuo.chat.events.turn import Done, Round, Stage, TurnRecord, TurnState
from qiusuo.chat.research import planning, prompts
from qiusuo.chat.research.gathering import Gathering
from qiusuo.chat.research.run import Run
from qiusuo.chat.research.state import State, Step, limits_of
from qiusuo.chat.research.writing import section_of, summary_of
from qiusuo.chat.turns.answer import conclude
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.history import remember
from qiusuo.chat.turns.notices import notice
from qiusuo.chat.turns.sources.files import details_at
from qiusuo.citations.linking.references import escape_markdown
from qiusuo.models import SearchResultItem
from qiusuo.words import Fact

_PLAN_TOKENS = 400
_PLAN_SHARE = 0.15
_LIMITS = ("searches", "pages", "tokens", "seconds")


async def research_turn(context: Context) -> None:
    """Answer one question with a research.

    Raises:
        ModelError: the model failed; what was found and written so far is kept.
    """
    limits = limits_of(context.settings)
    earlier = context.ask.earlier
    if earlier is not None and earlier.kept is not None:
        run = Run(context, State.from_dict(earlier.kept, limits))
    else:
        run = Run(context, State(context.query, limits))
    run.state.digest = not run.has_model
    if earlier is not None:
        _take_over(context, earlier, run.state)
    run.tell()
    if not run.state.steps:
        await _plan(run)
    run.tell(ResearchStage.WORKING)
    await _report(run)


def _take_over(context: Context, earlier: TurnRecord, state: State) -> None:
    """Tell once more what was found in an earlier go, under the same numbers."""
    journal = context.journal
    for data in earlier.rounds:
        journal.emit(Round.from_dict(data))
    for data in sorted(earlier.sources, key=lambda source: int(source["number"])):
        item = SearchResultItem(
            data["title"], data["url"], data["snippet"], data["domain"], data.get("publishedAt"),
            engines=tuple(data.get("engines", ())),
            details=details_at(context.ask.files, data["url"], (data.get("card") or {}).get("text", "")),
        )  # fmt: skip
        number = context.memory.registry.number(item)
        context.sources.note([number], [item])
        journal.sources(int(data["round"]), [(number, item)])
        if data.get("pageRead"):
            journal.page_was_read(item.url)
    # The pages themselves are not kept; what was taken out of them is what the report rests on.
    for step in state.steps:
        for found in step.passages:
            before = context.pages.get(found.number, "")
            context.pages[found.number] = f"{before}\n{found.text}".strip()


async def _plan(run: Run) -> None:
    question, most = run.state.question, run.context.settings.research_questions
    run.context.journal.status(Stage.THINKING)
    found: list[str] = []
    if run.has_model:
        request = prompts.plan(question, most, run.language)
        told = await run.write([HumanMessage(request)], _PLAN_SHARE * run.state.limits.seconds, _PLAN_TOKENS)
        found = planning.questions_in(told, question, most)
    run.state.by_rule = not found
    known = plugins.recognise(question) if run.context.scope.asks_plugins else None
    found = found or planning.by_rule(question, most, run.language, facets=known is None)
    run.state.steps = [Step(number, each) for number, each in enumerate(found, 1)]


async def _report(run: Run) -> None:
    """Find and write: sections in their order, each as soon as what it needs is there."""
    state, raw = run.state, list[str]()
    gathering = Gathering(run)
    finding = {
        step.number: asyncio.create_task(gathering.find(step))
        for step in state.steps
        if not step.settled and step.state is not StepState.FOUND
    }
    if state.digest:
        _say(run, raw, Fact("research.digest").text(run.language))
    try:
        for step in state.steps:
            if step.number in finding:
                await finding[step.number]
            if not step.section:
                await _write(run, step)
            _say(run, raw, f"## {escape_markdown(step.question)}\n\n{step.section}")
    finally:
        for task in finding.values():
            task.cancel()
        await asyncio.gather(*finding.values(), return_exceptions=True)
    if all(step.state is StepState.FAILED for step in state.steps):
        # Nothing could be searched; the reader was told why, and may go on when that is mended.
        for step in state.steps:
            step.section = ""
        run.tell()
        run.context.journal.finish(Done(TurnState.FAILED, run.context.journal.record.answer, finish="error"))
        return
    await _end(run, raw)


async def _end(run: Run, raw: list[str]) -> None:
    """Sum the report up, tell which limits it came to, and check it against its sources."""
    context, state = run.context, run.state
    run.tell(ResearchStage.SUMMARY)
    several = sum(bool(step.passages) for step in state.steps) > 1
    if several and (summed := await summary_of(run, run.seconds_left)):
        _say(run, raw, f"## {Fact('research.summary').text(run.language)}\n\n{summed}")
    for name in _LIMITS:
        if name in run.reached:
            limit = Fact(f"research.limit_{name}", most=getattr(state.limits, name))
            context.journal.notice(notice(Fact("notice.research_limit", limit=limit)))
    run.tell(ResearchStage.DONE)
    whole = "\n\n".join(raw)
    remember(context.memory, context.ask.id, [HumanMessage(context.ask.question), AIMessage(whole)])
    await conclude(context.journal, whole, context.sources, pages=context.pages, finish="stop")


async def _write(run: Run, step: Step) -> None:
    began = run.context.journal.ms
    if step.passages:
        run.tell_step(step, StepState.WRITING)
    waiting = sum(not each.section for each in run.state.steps)
    step.section = await section_of(run, step, run.seconds_left / max(waiting, 1))
    step.ms += run.context.journal.ms - began
    run.tell_step(step, StepState.DONE if step.passages else step.state)


def _say(run: Run, raw: list[str], text: str) -> None:
    """Give out a part of the report; its markers become links."""
    run.context.journal.status(Stage.ANSWERING)
    lead = "\n\n" if raw else ""
    raw.append(text)
    run.context.journal.text(lead + run.context.sources.known.convert(text))
