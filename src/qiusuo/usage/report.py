"""Figures for people and programs, made of the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from qiusuo.engines.price import Price
from qiusuo.errors import InvalidQuery
from qiusuo.usage.histogram import PARTS, quantile
from qiusuo.usage.prices import PAID_FOR
from qiusuo.usage.recorder import ANSWER, HOUR, SEARCH
from qiusuo.usage.store import DAY, HOURLY_DAYS, Sums, UsageStore
from qiusuo.words import Fact

MAX_DAYS: Final = 3660
USUAL_DAYS: Final = 7
_CACHED: Final = frozenset({"cached", "stale"})
_SEARCHED: Final = frozenset({"ok", "empty", "failed"})
_ANSWERED: Final = frozenset({"ok", "empty"})
_FAILED: Final = frozenset({"failed", "error", "not_configured"})


@dataclass(frozen=True, slots=True)
class Range:
    """The time that a report is about, in slots of an hour or a day of UTC."""

    days: int
    slot: int
    since: int
    until: int

    @classmethod
    def of(cls, days: int, by: str | None, now: float) -> Range:
        """Return the last so many days; ``by`` is ``hour`` or ``day``, None whichever is read best.

        Raises:
            InvalidQuery: there is no such range.
        """
        if not 1 <= days <= MAX_DAYS:
            raise InvalidQuery(Fact("usage.days", most=MAX_DAYS))
        by = by or ("hour" if days < HOURLY_DAYS else "day")
        if by not in {"hour", "day"}:
            raise InvalidQuery(Fact("usage.by"))
        if by == "hour" and days > HOURLY_DAYS:
            raise InvalidQuery(Fact("usage.hours_gone", days=HOURLY_DAYS))
        slot = HOUR if by == "hour" else DAY
        last = int(now) // slot * slot
        return cls(days, slot, last - (days * DAY - slot), last)

    @property
    def slots(self) -> range:
        """When each slot begins."""
        return range(self.since, self.until + 1, self.slot)

    def to_dict(self) -> dict[str, Any]:
        """Return the range in its JSON shape."""
        return {
            "days": self.days,
            "by": "hour" if self.slot == HOUR else "day",
            "since": moment(self.since),
            "until": moment(self.until + self.slot),
        }


def moment(seconds: int) -> str:
    """Return a moment as programs write it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


@dataclass(slots=True)
class Figures:
    """What several sums come to."""

    searches: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    saved: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    search_times: list[int] = field(default_factory=lambda: [0] * PARTS)
    attempt_times: list[int] = field(default_factory=lambda: [0] * PARTS)
    answer_times: list[int] = field(default_factory=lambda: [0] * PARTS)

    def add(self, sums: Sums) -> None:
        """Add sums."""
        times: list[int] | None = None
        match sums.kind:
            case "search":
                self.searches[sums.outcome] += sums.n
                self.saved += sums.saved
                times = self.search_times if sums.outcome in _SEARCHED else None
            case "attempt":
                self.attempts[sums.outcome] += sums.n
                times = self.attempt_times if sums.outcome in _ANSWERED else None
            case "skipped":
                self.skipped[sums.outcome] += sums.n
            case "answer":
                self.answers[sums.outcome] += sums.n
                self.tokens_in += sums.tokens_in
                self.tokens_out += sums.tokens_out
                times = self.answer_times if sums.outcome == "done" else None
        if times is not None:
            for part, count in enumerate(sums.histogram):
                times[part] += count

    def of_searches(self) -> dict[str, Any]:
        """Return how searches went; times are those of searches that the cache did not answer."""
        return {
            "searches": self.searches.total(),
            "cached": _of(self.searches, _CACHED),
            "failed": _of(self.searches, _FAILED),
            "saved": self.saved,
            **_times(self.search_times),
        }

    def of_answers(self) -> dict[str, Any]:
        """Return how answers went."""
        return {
            "answers": self.answers.total(),
            "answersFailed": self.answers["failed"],
            "tokensIn": self.tokens_in,
            "tokensOut": self.tokens_out,
        }


def figures(sums: Iterable[Sums], by: Callable[[Sums], Any]) -> dict[Any, Figures]:
    """Return figures for everything that ``by`` tells apart."""
    found: dict[Any, Figures] = {}
    for each in sums:
        found.setdefault(by(each), Figures()).add(each)
    return found


@dataclass(frozen=True, slots=True)
class Report:
    """Reads figures out of a store, for one owner or (None) for who runs the server."""

    store: UsageStore
    range: Range
    owner: str | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    async def read(self) -> dict[str, Any]:
        """Return all figures in their JSON shape.

        Raises:
            SearchError: the database cannot be used.
        """
        sums = await self.store.sums(self.range.since, slot=self.range.slot, owner=self.owner)
        whole = figures(sums, lambda _each: 0).get(0, Figures())
        engines = self._engines(sums)
        total: dict[str, Any] = {**whole.of_searches(), **whole.of_answers()}
        data = {
            **self.range.to_dict(),
            "total": total,
            "time": self._time(sums),
            "outcomes": [{"outcome": name, "searches": n} for name, n in whole.searches.most_common()],
            "engines": engines,
            "models": _models(sums),
        }
        if self.owner is None:
            total["cost"] = _costs(engines)
            data["people"] = _people(await self.store.by_owner(self.range.since))
            data["queries"] = [
                {"kind": each.kind, "query": each.query, "count": each.n, "ms": each.ms, "outcome": each.outcome}
                for each in await self.store.queries(self.range.since)
            ]
        return data

    def _time(self, sums: Sequence[Sums]) -> list[dict[str, Any]]:
        by_slot = figures(sums, lambda each: each.slot)
        searches, answers = _named(sums, SEARCH), _named(sums, ANSWER)
        return [
            {
                "at": moment(slot),
                **(whole := by_slot.get(slot, Figures())).of_searches(),
                **whole.of_answers(),
                "engines": searches.get(slot, {}),
                "outcomes": dict(whole.searches),
                "models": answers.get(slot, {}),
            }
            for slot in self.range.slots
        ]

    def _engines(self, sums: Sequence[Sums]) -> list[dict[str, Any]]:
        mine = figures((each for each in sums if each.kind != ANSWER and each.name), lambda each: each.name)
        rows = [self._engine(name, found) for name, found in mine.items()]
        return sorted(rows, key=lambda row: (-row["searches"], -row.get("requests", 0), row["name"]))

    def _engine(self, name: str, found: Figures) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": name,
            "label": self.labels.get(name, name),
            "searches": found.searches.total(),
            "cached": _of(found.searches, _CACHED),
            "saved": found.saved,
        }
        if self.owner is not None:
            return row | _times(found.search_times)
        price = self.prices.get(name)
        asked = found.attempts.total()
        return row | {
            "requests": asked,
            "requestsFailed": asked - _of(found.attempts, _ANSWERED),
            "outcomes": dict(found.attempts),
            "skipped": found.skipped.total(),
            **_times(found.attempt_times),
            "price": _price(price) if price else None,
            "cost": round(price.amount * _of(found.attempts, PAID_FOR), 6) if price else None,
        }


def _of(counts: Counter[str], outcomes: Iterable[str]) -> int:
    return sum(counts[each] for each in outcomes)


def _times(histogram: Sequence[int]) -> dict[str, int | None]:
    """Return the time that half of all took at most, and nineteen of twenty, in milliseconds."""
    return {name: _ms(quantile(histogram, share)) for name, share in (("median", 0.5), ("p95", 0.95))}


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _named(sums: Iterable[Sums], kind: str) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for each in sums:
        if each.kind == kind and each.name:
            names = found.setdefault(each.slot, {})
            names[each.name] = names.get(each.name, 0) + each.n
    return found


def _models(sums: Iterable[Sums]) -> list[dict[str, Any]]:
    mine = figures((each for each in sums if each.kind == ANSWER), lambda each: each.name)
    rows = [
        {"name": name, **found.of_answers(), "outcomes": dict(found.answers), **_times(found.answer_times)}
        for name, found in mine.items()
    ]
    return sorted(rows, key=lambda row: (-row["answers"], row["name"]))


def _people(sums: Iterable[Sums]) -> list[dict[str, Any]]:
    rows = [
        {"name": name, **found.of_searches(), **found.of_answers()}
        for name, found in figures(sums, lambda each: each.owner).items()
    ]
    return sorted(rows, key=lambda row: (-row["searches"], -row["answers"], row["name"]))


def _price(price: Price) -> dict[str, Any]:
    return {"amount": price.amount, "currency": price.currency, "asOf": price.as_of, "source": price.source}


def _costs(engines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was spent in each currency; nobody's rates are known here."""
    found: dict[str, float] = {}
    for row in engines:
        if row["cost"]:
            currency = row["price"]["currency"]
            found[currency] = found.get(currency, 0.0) + row["cost"]
    return [{"currency": currency, "amount": round(amount, 6)} for currency, amount in sorted(found.items())]
