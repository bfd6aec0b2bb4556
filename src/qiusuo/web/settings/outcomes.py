"""How a try of a key or an address ended, for the page: one word, and what is to be told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from qiusuo.doctor.wire import Heard
from qiusuo.errors import (
    AuthFailed,
    BadResponse,
    EngineNotConfigured,
    ModelNotConfigured,
    QuotaExceeded,
    RateLimited,
    SearchError,
    SearchTimeout,
    Unavailable,
)
from qiusuo.http.statuses import error_detail
from qiusuo.words import Fact, Language
from qiusuo.words.wording import wording

Outcome = Literal[
    "accepted", "refused", "no_credit", "limited", "unreachable", "no_such_model", "wrong_service", "failed"
]

_KINDS: Final[tuple[tuple[type[SearchError], Outcome], ...]] = (
    (AuthFailed, "refused"),
    (EngineNotConfigured, "refused"),
    (QuotaExceeded, "no_credit"),
    (RateLimited, "limited"),
    (SearchTimeout, "unreachable"),
)
_ELSEWHERE: Final = frozenset(
    {
        "http.web_page", "http.not_json", "http.unknown_address", "http.redirect", "http.broke_off", "http.too_large",
        "searxng.other_service", "engine.no_list", "engine.none_readable", "engine.bad_shape",
    }
)  # fmt: skip
_NEEDS_KEY: Final = "llm.needs_key"
# What the service says itself; all else of `Unavailable` is that nobody answers.
_ANSWERED: Final = frozenset({"http.failed", "http.gave_up"})
_STATUSES: Final[Mapping[int, Outcome]] = {401: "refused", 402: "no_credit", 403: "refused", 429: "limited"}
_CODES: Final[Mapping[Outcome, str]] = {
    "refused": "trial.refused",
    "no_credit": "trial.no_credit",
    "limited": "trial.limited",
}
_NO_MONEY: Final = ("insufficient_quota", "insufficient balance", "billing", "余额", "欠费")
_REDIRECTS: Final = range(300, 400)
_BAD_REQUEST: Final = 400
_SERVER: Final = 500
_NOT_THERE: Final = frozenset({404, 405, 410})


@dataclass(frozen=True, slots=True)
class Tried:
    """One try. ``names`` are the models that the service has, where it was asked for them."""

    outcome: Outcome
    fact: Fact
    remedy: Fact | None = None
    commands: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def to_dict(self, language: Language, ms: int) -> dict[str, Any]:
        """Return it in its JSON shape."""
        words = wording(self.fact, self.remedy, language)
        return {
            "outcome": self.outcome,
            "message": words.what,
            "fix": words.fix,
            "commands": list(self.commands),
            **self.fact.to_dict(),
            "ms": ms,
        }


def tried_from(error: SearchError) -> Tried:
    """Return how a try ended that raised an error."""
    return Tried(_outcome_of(error), error.fact, error.remedy, error.commands)


def _outcome_of(error: SearchError) -> Outcome:
    found = next((outcome for kind, outcome in _KINDS if isinstance(error, kind)), None)
    if found is not None:
        return found
    if isinstance(error, ModelNotConfigured):
        return "refused" if error.fact.code == _NEEDS_KEY else "failed"
    if error.fact.code in _ELSEWHERE:
        return "wrong_service"
    if isinstance(error, Unavailable) and not isinstance(error, BadResponse) and error.fact.code not in _ANSWERED:
        return "unreachable"
    return "failed"


def tried_from_status(heard: Heard, label: str, address: str) -> Tried | None:
    """Return what the status of an answer says by itself; None where it was well, or there is no such list."""
    if heard.error is not None:
        return tried_from(heard.error)
    status, values = heard.status, {"label": label, "address": address, "status": heard.status}
    detail = error_detail(heard.data).lower()
    outcome = _STATUSES.get(status)
    if outcome == "limited" and any(word in (detail + str(heard.data).lower()) for word in _NO_MONEY):
        outcome = "no_credit"
    if status == _BAD_REQUEST and "api key" in detail:  # Google's way to refuse one
        outcome = "refused"
    if outcome is not None:
        return Tried(outcome, Fact(_CODES[outcome], **values))
    if status in _REDIRECTS:
        return Tried("wrong_service", Fact("trial.wrong_service", **values))
    if status >= _BAD_REQUEST and status not in _NOT_THERE:
        return Tried("failed", Fact("trial.failed" if status >= _SERVER else "trial.not_taken", **values))
    return None


def is_missing(heard: Heard) -> bool:
    """Tell whether a service has nothing at the address that was asked."""
    return heard.status in _NOT_THERE
