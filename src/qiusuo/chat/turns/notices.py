"""What a reader is told when something fails: what happened, what to do, where it is explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from qiusuo.chat.events.turn import Notice
from qiusuo.errors import (
    AllEnginesFailed,
    BudgetUsedUp,
    ContextOverflow,
    InvalidQuery,
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelNotConfigured,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    NotAllowed,
    PageError,
    SearchDisabled,
    SearchError,
    UserRateLimited,
)
from qiusuo.models import Attempt, Outcome
from qiusuo.passages import Difference
from qiusuo.words import Fact, as_fact
from qiusuo.words.catalogue import about

DOCS: Final = "/docs/troubleshooting"
_DOCTOR: Final = ("qiusuo doctor",)
_COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    **{
        f"notice.search_{kind}": _DOCTOR
        for kind in ("timeout", "unavailable", "network", "misconfigured", "blocked", "quota", "auth", "bad_response")
    },
    "notice.search_disabled": _DOCTOR,
    "notice.model_not_configured": _DOCTOR,
    "notice.model_auth": _DOCTOR,
    "notice.model_unavailable": _DOCTOR,
}
"""What helps where the failure itself brings no commands."""
_OUTCOMES: Final = {
    Outcome.TIMEOUT: "search_timeout",
    Outcome.BLOCKED: "search_blocked",
    Outcome.RATE_LIMITED: "search_rate_limited",
    Outcome.QUOTA: "search_quota",
    Outcome.AUTH: "search_auth",
    Outcome.BAD_RESPONSE: "search_bad_response",
    Outcome.DISABLED: "search_disabled",
    Outcome.UNAVAILABLE: "search_unavailable",
}
_SAY_NOTHING_OF_THE_ANSWER: Final = frozenset({"page_failed", "query_unusable"})
_NETWORK: Final = frozenset({"http.dns", "http.no_route", "searxng.dns", "searxng.unreachable"})
"""The service may well be there; there is no way to it."""
_MISCONFIGURED: Final = frozenset(
    f"searxng.{code}"
    for code in ("json_off", "json_not_applied", "other_service", "redirect", "login", "proxy", "limiter", "tls")
)
"""Something is there, but set up so that it cannot be used: the fact itself is the best title."""
_MODEL_CODES: Final[tuple[tuple[type[ModelError], str], ...]] = (
    (ModelNotConfigured, "model_not_configured"),
    (ModelAuthFailed, "model_auth"),
    (ModelRateLimited, "model_rate_limited"),
    (ModelTimeout, "model_timeout"),
    (ModelRejected, "model_rejected"),
    (ContextOverflow, "model_rejected"),
    (ModelBroken, "model_broken"),
)


def notice(
    what: str | Fact,
    level: str = "info",
    *,
    reason: Fact | None = None,
    commands: Sequence[str] | None = None,
    retry_after: float | None = None,
) -> Notice:
    """Return the notice of a class of failure: the code of one of the facts ``notice.*``, or such a fact.

    Without ``commands`` it has those of its class.
    """
    fact = Fact(f"notice.{what}") if isinstance(what, str) else what
    commands = _COMMANDS.get(fact.code, ()) if commands is None else tuple(commands)
    return Notice(
        fact, level, reason, commands=commands, doc=about(fact.code, "guide") or DOCS, retry_after=retry_after
    )


def differing(one: Difference) -> Fact:
    """Return that two sources say different things of what is asked."""
    first, second = one.first, one.second
    return Fact("notice.sources_differ", first=first.number, one=first.value, second=second.number, other=second.value)


def remark_notice(heading: str, notes: Sequence[Fact], level: str) -> Notice:
    """Return the notice with what an engine or a tool has to say of the question, under a heading of its own."""
    return Notice(Fact(heading), level, notes_of(notes), doc=about(heading, "guide") or DOCS)


def search_notice(error: SearchError, *, has_model: bool = True, then: Fact | None = None) -> Notice:
    """Return what a reader is told about a search that failed, and what became of the answer.

    ``then`` says it; else without a model nothing else can answer.
    """
    wrong, code = _misconfigured(error), search_code(error)
    became = _then(code, has_model=has_model)
    if then is not None and became:
        became |= {"then": then}
    what = Fact(f"notice.{code}", **({"reason": wrong} if wrong else {}), **became)
    # Where one engine was asked and is set up wrongly, the title says it all.
    reason = None if wrong and len(_attempts(error)) <= 1 else reason_of(error)
    # Nobody sits and waits for the next month.
    wait = None if isinstance(error, BudgetUsedUp) else error.retry_after
    # Of a fault that has its name the doctor knows no more: the commands are those of all other surfaces.
    commands = error.commands or (() if _is_named(error) else None)
    return notice(what, "warning", reason=reason, commands=commands, retry_after=wait)


def _then(code: str, *, has_model: bool) -> dict[str, Fact]:
    """Return what became of the answer, for notices that say it, and what else can be done where a model answers."""
    if code in _SAY_NOTHING_OF_THE_ANSWER:
        return {}
    if has_model:
        return {"then": Fact("notice.answered_without_search"), "advice": Fact("notice.check_network_or_switch_off")}
    return {"then": Fact("notice.nothing_to_answer_from"), "advice": Fact("notice.check_network")}


def reason_of(error: SearchError) -> Fact:
    """Return why a search failed, and what to do about it."""
    if isinstance(error, AllEnginesFailed) and error.attempts:
        return Fact("turn.engines_failed", reason=tuple(map(_line, error.attempts)))
    return error.told


def notes_of(notes: Sequence[Fact | str]) -> Fact | None:
    """Return remarks as one; None where there are none."""
    return Fact("turn.notes", notes=tuple(map(as_fact, notes))) if notes else None


def search_code(error: SearchError) -> str:
    """Return the class of a failed search."""
    match error:
        case SearchDisabled():
            return "search_disabled"
        case BudgetUsedUp():
            return "searches_used"
        case NotAllowed():
            return "search_not_allowed"
        case UserRateLimited():
            return "user_rate_limited"
        case PageError():
            return "page_failed"
        case InvalidQuery():
            return "query_unusable"
        case _ if _misconfigured(error):
            return "search_misconfigured"
    decisive = _decisive(error)
    outcome = decisive[0].outcome if decisive else error.outcome
    facts = [attempt.fact for attempt in decisive if attempt.fact] if decisive else [error.fact]
    if any(part.code in _NETWORK for fact in facts for part in _within(fact)):
        return "search_network"
    return _OUTCOMES.get(outcome, "search_unavailable")


def model_code(error: ModelError | TimeoutError) -> str:
    """Return the class of a model's failure."""
    if isinstance(error, TimeoutError):
        return "model_timeout"
    return next((code for kind, code in _MODEL_CODES if isinstance(error, kind)), "model_unavailable")


def model_notice(error: ModelError, label: str = "", before: tuple[ModelError, str] | None = None) -> Notice:
    """Return what a reader is told about a model that failed, and about the first where that has failed ``before``."""
    code, reason = model_code(error), error.told
    if before is not None:
        both = ((before[0].told, before[1]), (reason, label))
        reason = Fact(
            "turn.engines_failed",
            reason=tuple(Fact("turn.engine_failed", engine=name, reason=why) for why, name in both),
        )
    return notice(code, "error", reason=reason, commands=error.commands or None, retry_after=error.retry_after)


def _misconfigured(error: SearchError) -> Fact | None:
    """Return what must be set up differently, where that is why the search failed."""
    decisive = _decisive(error)
    met = [(attempt.fact, attempt.remedy) for attempt in decisive] if decisive else [(error.fact, error.remedy)]
    for fact, remedy in met:
        for part in _within(fact) if fact else ():
            if part.code in _MISCONFIGURED:
                return _with(part, remedy)
    return None


def _is_named(error: SearchError) -> bool:
    """Tell whether SearXNG is all that failed, with a fault that the doctor would find under the same name."""
    decisive = _decisive(error)
    facts = [attempt.fact for attempt in decisive] if decisive else [error.fact]
    return all(fact is not None and any(part.code.startswith("searxng.") for part in _within(fact)) for fact in facts)


def _attempts(error: SearchError) -> Sequence[Attempt]:
    return error.attempts if isinstance(error, AllEnginesFailed) else ()


def _decisive(error: SearchError) -> list[Attempt]:
    """Return the attempts that ended as most did; an engine that was not asked says least about what is wrong now."""
    asked = [attempt for attempt in _attempts(error) if not attempt.skipped] or list(_attempts(error))
    most = Counter(attempt.outcome for attempt in asked).most_common(1)
    return [attempt for attempt in asked if attempt.outcome is most[0][0]]


def _line(attempt: Attempt) -> Fact:
    """Return a line of the receipt as a sentence; where nothing more is known, how it ended."""
    if not attempt.fact:
        return Fact("turn.engine_ended", engine=attempt.engine, outcome=attempt.outcome.fact)
    return Fact("turn.engine_failed", engine=attempt.engine, reason=_with(attempt.fact, attempt.remedy))


def _with(fact: Fact, remedy: Fact | None) -> Fact:
    return Fact("search.told", reason=fact, remedy=remedy) if remedy else fact


def _within(fact: Fact) -> Iterator[Fact]:
    """Give out a fact and all that it rests on."""
    yield fact
    reason = fact.values.get("reason")
    for part in reason if isinstance(reason, tuple) else (reason,):
        if isinstance(part, Fact):
            yield from _within(part)
