"""``qiusuo usage``: the figures of the board in a terminal, read straight from the database."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import SearchError
from qiusuo.service import SearchService
from qiusuo.text import visible
from qiusuo.words import Language

SPARKS: Final = "▁▂▃▄▅▆▇█"
LONGEST: Final = 36
NARROW: Final = 110
"""In fewer columns the words of a heading stand below each other: broken anywhere they cannot be read."""
_OTHERS: Final = {":others": "others", "local": "thisMachine"}
_NO_MODEL: Final = {"extractive": "excerpts"}
Column = tuple[str, Callable[[Mapping[str, Any]], str]]


class BoardWords(Words):
    """Looks up the words of the board."""

    prefix: ClassVar[str] = "board"

    def named(self, name: str) -> str:
        """Return the name of an engine, a model or a person."""
        return self(_OTHERS[name]) if name in _OTHERS else visible(name)

    def model(self, name: str) -> str:
        """Return the name of a model, or of what answers without one."""
        return self(_NO_MODEL[name]) if name in _NO_MODEL else self.named(name)


def run_usage(*, days: int, user: str | None, as_json: bool) -> Exit:
    """Print what was searched and answered; of one user, or of all."""
    words = BoardWords(words_for_terminal().language)
    try:
        report = asyncio.run(_read(Settings.load(), days, user, words.language))
    except SearchError as error:
        err = Console(stderr=True, highlight=False, emoji=False)
        for line in error_lines(error, words_for_terminal()):
            err.print(Text(line))
        return exit_code(error)
    if as_json:
        sys.stdout.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    else:
        console = Console(highlight=False, emoji=False)
        console.print(shown(report, words, narrow=console.width < NARROW))
    return Exit.OK


async def _read(settings: Settings, days: int, user: str | None, language: Language) -> dict[str, Any]:
    url = settings.database_url.get_secret_value() if settings.database_url else None
    opened = open_store(url)  # tells what is missing before the next lines need it
    from qiusuo.usage.prices import prices  # noqa: PLC0415 - an extra
    from qiusuo.usage.report import Range, Report  # noqa: PLC0415 - the same
    from qiusuo.usage.store import UsageStore  # noqa: PLC0415 - the same

    now, path = time.time(), opened.database.address.path
    # To look must not create a database; one that is not there yet has counted nothing.
    store = opened if path is None or path.exists() else open_store(":memory:")
    try:
        async with SearchService.from_settings(settings) as service:
            kinds = {name: place.kind for name, place in service.roster.places.items()}
        labels = {name: kind.called(language) for name, kind in kinds.items()}
        report = Report(UsageStore(store.database), Range.of(days, None, now), user, prices(settings, kinds), labels)
        return await report.read()
    finally:
        await store.database.aclose()


def sparkline(values: Sequence[int]) -> str:
    """Return a row of small bars; where they would be too many, neighbours are added up."""
    each = -(-len(values) // LONGEST) or 1
    values = [sum(values[start : start + each]) for start in range(0, len(values), each)]
    most = max(values, default=0) or 1
    return "".join(SPARKS[-(-value * (len(SPARKS) - 1) // most)] for value in values)


def shown(report: Mapping[str, Any], words: BoardWords, *, narrow: bool = False) -> Group:
    """Return the figures as a terminal shows them."""
    total, time_ = report["total"], report["time"]
    if not total["searches"] and not total["answers"]:
        return Group(Text(words("noData")))
    facts = Table.grid(padding=(0, 2))
    costs = " + ".join(f"{cost['amount']:.2f} {cost['currency']}" for cost in total.get("cost", ()))
    tokens = words("inOut", **{"in": _count(total["tokensIn"]), "out": _count(total["tokensOut"])})
    times = f"{_ms(total['median'])} · {words('p95Is', time=_ms(total['p95']))}"
    for name, value, bars in (
        ("searches", _count(total["searches"]), sparkline([slot["searches"] for slot in time_])),
        ("fromCache", _share(total["cached"], total["searches"]), ""),
        ("failed", _share(total["failed"], total["searches"]), ""),
        ("saved", _count(total["saved"]), ""),
        ("searchMedian", times, ""),
        ("answers", _count(total["answers"]), sparkline([slot["answers"] for slot in time_])),
        ("tokens", tokens, ""),
        *([("cost", costs, "")] if costs else []),
    ):
        facts.add_row(Text(words(name), style="dim"), Text(value, style="bold"), Text(bars, style="cyan"))
    engines = [*_ENGINES, *(_REQUESTS if "people" in report else ()), *_TIMES, *(_COSTS if costs else ())]
    found: list[tuple[Sequence[Mapping[str, Any]], list[Column]]] = [
        (report["engines"], [("engine", lambda row: words.named(row["label"])), *engines]),
        (report["models"], [("model", lambda row: words.model(row["name"])), *_MODELS]),
        (report.get("people", ()), [("person", lambda row: words.named(row["name"])), *_PEOPLE]),
    ]
    drawn = [_table(rows, words, columns, narrow=narrow) for rows, columns in found if rows]
    return Group(facts, *(part for table in drawn for part in (Text(), table)))


def _table(rows: Sequence[Mapping[str, Any]], words: Words, columns: Sequence[Column], *, narrow: bool) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    if narrow:
        table.box, table.padding = SIMPLE_HEAD, (0, 1, 0, 0)
    for index, (name, _) in enumerate(columns):
        heading = words(name)
        if narrow:
            heading = heading.replace(" %", "\u00a0%").replace(" ", "\n")
        table.add_column(heading, justify="right" if index else "left", overflow="fold", no_wrap=narrow and index > 0)
    for row in rows:
        table.add_row(*(Text(cell(row)) for _, cell in columns))
    return table


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _ms(value: int | None) -> str:
    if value is None:
        return "–"
    return f"{value} ms" if value < 1000 else f"{value / 1000:.1f} s"  # noqa: PLR2004 - a second


def _share(part: int, whole: int) -> str:
    return f"{_count(part)} ({100 * part / whole:.0f} %)" if whole else "–"


def _cost(row: Mapping[str, Any]) -> str:
    return f"{row['cost']:.3f} {row['price']['currency']}" if row.get("price") else "–"


def _of(name: str) -> Column:
    return name, lambda row: _count(row.get(name))


_TIMES: Final[list[Column]] = [("median", lambda row: _ms(row["median"])), ("p95", lambda row: _ms(row["p95"]))]
_ENGINES: Final[list[Column]] = [
    _of("searches"), ("fromCache", lambda row: _count(row["cached"])), _of("saved"),
]  # fmt: skip
_REQUESTS: Final[list[Column]] = [_of("requests"), ("failed", lambda row: _count(row["requestsFailed"]))]
_COSTS: Final[list[Column]] = [("cost", _cost)]
_MODELS: Final[list[Column]] = [
    _of("answers"), ("failed", lambda row: _count(row["answersFailed"])), _of("tokensIn"), _of("tokensOut"), *_TIMES,
]  # fmt: skip
_PEOPLE: Final[list[Column]] = [_of("searches"), _of("answers"), _of("tokensIn"), _of("tokensOut")]
