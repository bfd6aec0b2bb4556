"""Compares the queries that a real model writes for follow-up questions with those of the rule.

    nice -n 15 python -m eval.followups.by_model build/lines.jsonl --model local:/path/to/model.gguf

What the model said is kept in the file, with the seconds that it took; a run that was broken off goes on where it
was. Without ``--model`` the file is only read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from random import Random

from eval.followups.measures import (
    ABSENT,
    CHINESE,
    ENGLISH,
    Parts,
    Row,
    character_pairs,
    chinese_rows,
    content_words,
    english_rows,
    measure,
    needs_context,
    own_rows,
    resolved_query,
)
from qiusuo.chat.followups import resolve
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model
from qiusuo.chat.turns.sources.rewriting import SECONDS, is_query, line_of_model
from qiusuo.config import Settings
from qiusuo.errors import ModelError
from qiusuo.words import Language

SAMPLE = 120
# Longer than the product waits, so that it is seen what the deadline cuts off.
PATIENCE = 120.0


@dataclass(frozen=True)
class Line:
    """What the model said for a question, and how long it took."""

    text: str
    seconds: float


def samples(language: str) -> dict[str, list[Row]]:
    """Return the questions that need their context: some of the collection, and the conversations set aside."""
    parts = PARTS[language]
    there = ENGLISH.exists() and CHINESE.exists()
    rows = (english_rows() if language == "english" else chinese_rows()) if there else []
    needing = [row for row in rows if needs_context(row, parts)]
    aside = [row for row in own_rows(language) if not row.looked_at and needs_context(row, parts)]
    chosen = Random(0).sample(needing, min(SAMPLE, len(needing)))
    return {"set aside": aside, "collection": chosen}


PARTS: dict[str, Parts] = {"english": content_words, "chinese": character_pairs}
LANGUAGES = {"english": Language.ENGLISH, "chinese": Language.CHINESE}


async def _ask(model: Model, row: Row, language: Language) -> Line:
    started = time.monotonic()
    try:
        text = await line_of_model(model, row.question, row.before, language, seconds=PATIENCE)
    except (TimeoutError, ModelError) as error:
        print(f"{type(error).__name__}: {row.question}")
        text = ""
    return Line(text, time.monotonic() - started)


def _in_turn() -> Iterator[tuple[str, str, Row]]:
    """Yield the questions of both languages by turns: a run that is broken off has some of each."""
    of_each = [
        [(language, name, row) for name, rows in samples(language).items() for row in rows] for language in PARTS
    ]
    for both in zip_longest(*of_each):
        yield from (each for each in both if each)


async def _ask_all(settings: Settings, kept: Path, done: int) -> None:
    model = open_model(settings)
    try:
        await model.chat_model()  # loaded before the first question, as in a server that has answered one
        with kept.open("a", encoding="utf-8") as file:
            for language, name, row in islice(_in_turn(), done, None):
                line = await _ask(model, row, LANGUAGES[language])
                entry = {"of": f"{language}, {name}", "asked": row.question, "meant": row.meant}
                said = {"text": line.text, "seconds": line.seconds}
                file.write(json.dumps(entry | said, ensure_ascii=False) + "\n")
                file.flush()
    finally:
        await model.aclose()


def _report(title: str, rows: Sequence[Row], lines: Sequence[Line], parts: Parts) -> None:
    said = dict(zip(rows, lines, strict=True))
    leaning = [row for row in rows if resolve(row.question, row.before).leans]
    refused = [row for row in leaning if not is_query(said[row].text, row.question, row.before)]
    late = [row for row in leaning if said[row].seconds > SECONDS]
    seconds = sorted(said[row].seconds for row in leaning)
    half = seconds[len(seconds) // 2] if seconds else 0.0

    def accepted(row: Row) -> str | None:
        return said[row].text if row in leaning and row not in refused else None

    def of_the_product(row: Row) -> str:
        in_time = accepted(row) if row not in late else None
        return in_time or resolved_query(row)

    print(f"\n== {title}: {len(rows)} questions, {len(leaning)} lean and are asked of the model ==")
    print(f"{len(refused)} of its lines were refused, {len(late)} took more than {SECONDS:.0f} s (half: {half:.1f} s)")
    queries: dict[str, Callable[[Row], str]] = {
        "the question as asked": lambda row: row.question,
        "by rule": resolved_query,
        "whatever the model said": lambda row: said[row].text,
        "model where accepted, else rule": lambda row: accepted(row) or resolved_query(row),
        "the same within the deadline": of_the_product,
    }
    for name, query in queries.items():
        share = measure(rows, query, parts)
        print(f"{name:<34}{share.recall:>9.3f}{share.precision:>11.3f}{share.whole:>11.3f}")
    good = [row for row in leaning if row not in refused]
    for name, query in (
        ("  accepted ones, by rule", resolved_query),
        ("  accepted ones, by model", queries["whatever the model said"]),
    ):
        share = measure(good, query, parts)
        print(f"{name:<34}{share.recall:>9.3f}{share.precision:>11.3f}{share.whole:>11.3f}  ({len(good)})")


def main() -> None:
    """Ask the model where one is named, and compare."""
    parser = argparse.ArgumentParser(prog="python -m eval.followups.by_model", description=__doc__)
    parser.add_argument("kept", type=Path, help="where the model's lines are kept")
    parser.add_argument("--model", help="as QIUSUO_MODEL", default="")
    asked = parser.parse_args()
    if not ENGLISH.exists() or not CHINESE.exists():
        print(f"Only our own conversations: {ABSENT}.")
    if asked.model:
        settings = Settings.load(model=asked.model, model_context=4096, model_timeout=PATIENCE)
        done = len(asked.kept.read_text("utf-8").splitlines()) if asked.kept.exists() else 0
        asyncio.run(_ask_all(settings, asked.kept, done))
    entries = [json.loads(line) for line in asked.kept.read_text("utf-8").splitlines()]
    for language, parts in PARTS.items():
        for name, rows in samples(language).items():
            title = f"{language}, {name}"
            lines = [Line(each["text"], each["seconds"]) for each in entries if each["of"] == title]
            _report(title, rows[: len(lines)], lines, parts)


if __name__ == "__main__":
    main()
