"""What is said about a turn beside its answer, as lines of text: for the terminal and for the pipe alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from qiusuo.chat.events.progress import StepProgress, StepState
from qiusuo.chat.events.turn import (
    Check,
    Notice,
    PageState,
    Reading,
    Round,
    RoundState,
    Stage,
    Status,
    TurnStarted,
    Usage,
)
from qiusuo.chat.focus import Scope
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.citations.linking.references import LINK
from qiusuo.cli.chat.words import ChatWords
from qiusuo.commands import typed
from qiusuo.text import truncate, visible, without_controls

MARKS: Final = {RoundState.DONE: "✓", RoundState.EMPTY: "○", RoundState.FAILED: "✗", RoundState.RUNNING: "…"}
STEP_MARKS: Final = {StepState.DONE: "✓", StepState.EMPTY: "○", StepState.FAILED: "✗"}
SUPPORTS: Final = ("supported", "weak", "not_found")
_SHOWN_QUERY: Final = 60


def safe(text: str) -> str:
    """Return text of many lines without what a terminal would act on; a page or a model may have sent anything."""
    return without_controls(text.replace("\r\n", "\n")).replace("\r", "").replace("\x0b", "").replace("\x0c", "")


def without_citation_links(markdown: str) -> str:
    r"""Return Markdown whose citations are bare (``\[1\]``), for terminals that cannot link."""
    return LINK.sub(r"\\[\1\\]", markdown)


def settings_line(settings: ChatSettings, engine: str, words: ChatWords) -> str:
    """Say how mode, switch and engine stand."""
    parts = [words(f"mode_{settings.mode.value}"), words(f"switch_{settings.switch.value}")]
    if settings.switch.value != "off":
        parts.append(words("engine_is", name=engine if settings.engine else engine or words("engine_auto")))
    if settings.depth and settings.switch.value == "on":
        parts.append(words(f"depth_{settings.depth.value}"))
    if settings.scope.narrowed and settings.switch.value != "off":
        parts.append(visible(settings.scope.told.text(words.language)))
    return " · ".join(parts)


def status_line(status: Status | None, engine: str, words: ChatWords, pages: int = 0) -> str:
    """Say what the turn is busy with; ``pages`` are those that are read at once."""
    if status is None:
        return words("thinking")
    what = truncate(visible(status.detail), _SHOWN_QUERY)
    match status.stage:
        case Stage.SEARCHING:
            return words("searching_with" if engine else "searching_for", engine=engine, what=what)
        case Stage.READING:
            return words("reading", what=what) if what else words("reading_pages", count=pages)
        case Stage.ANSWERING:
            return words("answering")
        case _:
            return words("thinking")


def scope_line(event: TurnStarted, words: ChatWords) -> str:
    """Say what the searches of a turn are kept to; empty where all of the web is searched."""
    return visible(Scope.from_dict(event.scope).told.text(words.language)) if event.scope else ""


def round_line(event: Round, words: ChatWords) -> str:
    """Say how a search ended: ``✓ 第 1 轮 · SearXNG · 找到 5 个来源 “query”``."""
    parts = [words("round", number=event.number)]
    if event.kind == "native":
        parts.append(words("round_native"))
    elif event.engine_label:
        parts.append(visible(words.engine(event.engine, event.engine_label)))
    page = event.kind == "fetch_page"
    match event.state:
        case RoundState.DONE:
            parts.append(words("round_page") if page else words("round_done", count=event.found))
        case RoundState.FAILED:
            parts.append(words("round_page_failed" if page else "round_failed"))
        case _:
            parts.append(words("round_empty"))
    if event.cached:
        parts.append(" ".join(filter(None, (words("cached_short"), event.ago(words.language)))))
    query = truncate(visible(event.query), _SHOWN_QUERY)
    why = event.why(words.language)
    reason = f" — {visible(why)}" if event.state is RoundState.FAILED and why else ""
    return f"{MARKS[event.state]} {' · '.join(parts)} " + (query if page else f"“{query}”") + reason


def reading_line(event: Reading, words: ChatWords) -> str:
    """Say which pages were read, used or not, and which could not be: ``✓ 读了 3 个网页 · 用到 [1] [3] · …``."""
    read = [page for page in event.pages if page.state in {PageState.USED, PageState.UNUSED}]
    used = " ".join(f"[{page.number}]" for page in event.pages if page.state is PageState.USED)
    parts = [words("pages_read", count=len(read)), words("pages_used", numbers=used) if used else ""]
    failed = [page for page in event.pages if page.state is PageState.FAILED]
    parts += [f"[{page.number}] {visible(page.domain)}: {visible(page.why(words.language))}" for page in failed]
    places = {str(page.fact.values["place"]) for page in failed if page.fact and "place" in page.fact.values}
    parts += [words("open_place", places=", ".join(visible(place) for place in sorted(places)))] if places else []
    return f"{'✓' if read else '✗'} {' · '.join(filter(None, parts))}"


def limits_line(limits: Mapping[str, int], words: ChatWords) -> str:
    """Say how much a research may take."""
    return words("research_limits", **{**limits, "minutes": f"{limits['seconds'] / 60:g}"})


def step_line(step: StepProgress, words: ChatWords) -> str:
    """Say how a sub-question stands: ``✓ question · done · 5 results · 2 pages · 3.1 s``."""
    parts = [visible(step.question), words(f"step_{step.state.value}")]
    parts += [words("step_results", count=step.results)] if step.results else []
    parts += [words("step_pages", count=step.pages)] if step.pages else []
    parts += [words("seconds", seconds=f"{step.ms / 1000:.1f}")] if step.ms else []
    return f"{STEP_MARKS.get(step.state, '…')} {' · '.join(parts)}"


def notice_lines(event: Notice, words: ChatWords) -> list[str]:
    """Say what happened and what to do."""
    told = event.wording(words.language)
    lines = [f"{'✗' if event.level == 'error' else '!'} {visible(told.title)}", f"  {visible(told.what)}"]
    if event.retry_after:
        lines.append(f"  {words('retry_after', seconds=round(event.retry_after))}")
    if told.fix:
        lines.append(f"  → {visible(told.fix)}")
    lines.extend(f"  $ {visible(typed(command))}" for command in event.commands)
    return lines


def check_lines(event: Check, words: ChatWords) -> Iterator[str]:
    """Say in brief which citations their sources do not bear out, and which ones were added."""
    counts = event.report.get("counts", {})
    if any(counts.get(name) for name in SUPPORTS[1:]):
        parts = [words(name, count=counts[name]) + _where(event.report, name) for name in SUPPORTS if counts.get(name)]
        yield words("check", parts=" · ".join(parts))
    if event.added:
        yield words("added")
        for each in event.added:
            yield f"  “{truncate(visible(each['sentence']), _SHOWN_QUERY)}” [{each['number']}]"


def usage_line(event: Usage, model: str, words: ChatWords) -> str:
    """Say what the turn took."""
    parts = [words("usage", seconds=f"{event.total_ms / 1000:.1f}")]
    if event.input_tokens is not None and event.output_tokens is not None:
        parts.append(words("usage_tokens", input=event.input_tokens, output=event.output_tokens))
    return " · ".join([*parts, visible(model)])


def support_of(number: int, check: dict[str, Any] | None) -> str:
    """Return how well a source bears out what cites it: the worst of its marks; empty where nothing does."""
    claims = ((check or {}).get("report") or {}).get("claims", [])
    marks = {mark["support"] for claim in claims for mark in claim["citations"] if mark["number"] == number}
    return next((mark for mark in reversed(SUPPORTS) if mark in marks), "")


def _where(report: dict[str, Any], support: str) -> str:
    if support == SUPPORTS[0]:
        return ""
    claims = [claim for claim in report.get("claims", []) if claim["support"] == support]
    numbers = {citation["number"] for claim in claims for citation in claim["citations"]}
    return " " + "".join(f"[{number}]" for number in sorted(numbers))
