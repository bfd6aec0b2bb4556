"""The sections of a report: written by the model and held to their sources, or made of the passages themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import HumanMessage, SystemMessage

from qiusuo.chat.events.progress import StepState
from qiusuo.chat.models.quoting import gives_orders, remark_of, whole_words
from qiusuo.chat.research import prompts
from qiusuo.chat.research.run import Run
from qiusuo.chat.research.state import Found, Step
from qiusuo.chat.turns.history import estimate_tokens
from qiusuo.citations.checking.additions import add_citations
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.text import truncate
from qiusuo.tools.render import neutral
from qiusuo.words import Fact, Language

SECTION_TOKENS: Final = 1200
"""Most tokens of one section."""
_QUOTED: Final = 4
_QUOTE_CHARS: Final = 400
_WHOLE_CHARS: Final = 1500
_SECTION_CHARS: Final = 1500
_LEAST_SECONDS: Final = 2.0
_BLANK: Final = re.compile(r"\n\s*\n")
_HEADING: Final = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_LEADS_IN: Final = re.compile(r"[:：]\s*$")
_BARE_HEADING: Final = re.compile(r"\*\*[^*\n]+\*\*")


@dataclass(frozen=True, slots=True)
class Checked:
    """A text whose paragraphs all have a source, or are marked as having none."""

    text: str
    cited: int
    unsourced: int


async def section_of(run: Run, step: Step, seconds: float) -> str:
    """Return the section of a sub-question, with plain markers.

    Raises:
        ModelError: the model failed.
    """
    if not step.passages:
        failed = step.state is StepState.FAILED
        return Fact("research.not_searched" if failed else "research.nothing_found").text(run.language)
    if not run.has_model:
        return digest(run, step)
    written = await _written(run, step, seconds) if seconds >= _LEAST_SECONDS else ""
    if seconds < _LEAST_SECONDS:
        run.reached.add("seconds")
    checked = checked_text(written, run.context.sources.found, run.context.pages, run.language)
    if checked.cited:
        return checked.text
    # It ran out of time or tokens, or the model named no source: the sources speak for themselves.
    why = "research.unsourced_section" if written else "research.unwritten_section"
    return f"{Fact(why).text(run.language)}\n\n{digest(run, step)}"


async def _written(run: Run, step: Step, seconds: float) -> str:
    rules = prompts.rules(run.language)
    fixed = run.context.fixed_tokens(rules, step.question)
    lines = _fitting(step.passages, run.context.injection_budget(fixed))
    request = prompts.section(run.state.question, step.question, lines, run.language)
    return await run.write([SystemMessage(rules), HumanMessage(request)], seconds, SECTION_TOKENS)


async def summary_of(run: Run, seconds: float) -> str:
    """Return a paragraph that answers the whole question from the sections; empty where there is none with a source.

    Raises:
        ModelError: the model failed.
    """
    if not run.has_model or seconds < _LEAST_SECONDS:
        return ""
    rules = prompts.rules(run.language)
    sections = [
        f"{step.question}\n{truncate(step.section, _SECTION_CHARS)}" for step in run.state.steps if step.passages
    ]
    room = run.context.injection_budget(run.context.fixed_tokens(rules, run.state.question))
    while sections and estimate_tokens("\n".join(sections)) > room:
        sections.pop()
    if not sections:
        return ""
    request = prompts.summary(run.state.question, sections, run.language)
    written = await run.write([SystemMessage(rules), HumanMessage(request)], seconds, SECTION_TOKENS)
    checked = checked_text(written, run.context.sources.found, run.context.pages, run.language)
    return checked.text if checked.cited and not checked.unsourced else ""


def digest(run: Run, step: Step) -> str:
    """Return the best passages as quotations with their numbers, where it can be none that another section quotes.

    What is quoted whole (an article of law) has its name before it; what was cut off might be the exception.
    """
    others = "\n".join(other.section for other in run.state.steps if other is not step)
    # The engine that has whole texts knows better than their words which one answers: its order stands.
    ranked = sorted(step.passages, key=lambda each: each.number if each.number in run.whole else math.inf)
    lines = list(dict.fromkeys(line for each in ranked if (line := _quoted(run, each))))
    new = [line for line in lines if line not in others]
    return "\n".join(f"- {line}" for line in (new or lines[:1])[:_QUOTED])


def _quoted(run: Run, found: Found) -> str:
    whole = run.whole.get(found.number)
    if whole is not None:
        return f"{truncate(whole_words(whole), _WHOLE_CHARS)} [{found.number}]{remark_of(whole, run.language)}"
    text = _without_orders(found.text)
    return f"{truncate(neutral(text), _QUOTE_CHARS)} [{found.number}]" if text else ""


def _without_orders(text: str) -> str:
    """Return a passage without what it tells models to do, which is no information."""
    sentences = [one.text for one in split_sentences(text)]
    kept = [one for one in sentences if not gives_orders(one)]
    return text if len(kept) == len(sentences) else ("" if is_chinese(text) else " ").join(kept)


def checked_text(text: str, sources: CitationProcessor, pages: Mapping[int, str], language: Language) -> Checked:
    """Return a text in which every paragraph cites a source; where none can be added, it is marked."""
    cited = unsourced = 0
    kept: list[str] = []
    for paragraph in _paragraphs(text):
        if _BARE_HEADING.fullmatch(paragraph):
            kept.append(paragraph)
            continue
        words = paragraph
        if not sources.analyse(words).used:
            words = add_citations(words, sources, pages).text
        if sources.analyse(words).used:
            cited += 1
        else:
            unsourced += 1
            words = f"{words} {Fact('research.unsourced').text(language)}"
        kept.append(words)
    return Checked("\n\n".join(kept), cited, unsourced)


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text; one that leads into a list or the next one belongs to it."""
    found: list[str] = []
    for piece in _BLANK.split(_HEADING.sub(r"\n**\1**\n", text.strip())):
        paragraph = piece.strip()
        if not paragraph:
            continue
        if found and _LEADS_IN.search(found[-1]):
            found[-1] += f"\n\n{paragraph}"
        else:
            found.append(paragraph)
    return found


def _fitting(passages: Sequence[Found], tokens: int) -> list[str]:
    """Return passages as numbered lines, the best ones as far as there is room."""
    lines: list[str] = []
    for each in passages:
        head = " · ".join(neutral(part) for part in (each.title, each.heading) if part)
        line = f"[{each.number}] {head}: {neutral(each.text)}"
        cost = estimate_tokens(line)
        if lines and cost > tokens:
            break
        tokens -= cost
        lines.append(line)
    return lines
