"""Prints how well follow-up questions are understood, with the goals beside."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

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
    own_rows,
    resolved_in_turn,
    resolved_query,
    unchanged,
    unchanged_after_others,
)
from qiusuo.chat.followups import Exchange, resolve

GOALS = {"en": "goal: recall .84, precision .75, unchanged 75 %", "zh": "goal: recall .72, precision .58"}
# An answer of which nothing can be taken.
EMPTY_ANSWER = "-"


def _line(name: str, rows: Sequence[Row], query: Callable[[Row], str], parts: Parts) -> None:
    share = measure(rows, query, parts)
    print(f"{name:<34}{share.rows:>7}{share.recall:>9.3f}{share.precision:>11.3f}{share.whole:>11.3f}")


def _table(title: str, rows: Sequence[Row], parts: Parts, goal: str) -> None:
    print(f"\n== {title} ==\n{goal}")
    print(f"{'query':<34}{'rows':>7}{'recall':>9}{'precision':>11}{'all there':>11}")
    _line("the question as asked", rows, lambda row: row.question, parts)
    _line("+ the previous question", rows, lambda row: _with(row, -1), parts)
    _line("+ the first question", rows, lambda row: _with(row, 0), parts)
    _line("resolved", rows, resolved_query, parts)
    _line("resolved, looked at", [row for row in rows if row.looked_at], resolved_query, parts)
    _line("resolved, not looked at", [row for row in rows if not row.looked_at], resolved_query, parts)
    _line("resolved, one after the other", rows, resolved_in_turn, parts)
    silent = [
        replace(row, before=tuple(replace(each, answer=each.answer or EMPTY_ANSWER) for each in row.before))
        for row in rows
    ]
    _line("resolved, answers say nothing", silent, resolved_query, parts)
    for name, part in (("looked at", True), ("not looked at", False)):
        count, kept = unchanged([row for row in rows if row.looked_at is part])
        print(f"need no context, {name}: " + (f"{kept:.1%} of {count} unchanged" if count else "none"))
    count, kept = unchanged_after_others(rows)
    print(f"first questions, asked after another conversation: {kept:.1%} of {count} unchanged")


def _own(language: str, parts: Parts) -> None:
    rows = own_rows(language)
    print(f"\n== {language.capitalize()}: our own conversations (looked at: odd ones) ==")
    print(f"{'query':<34}{'rows':>7}{'recall':>9}{'precision':>11}{'all there':>11}")
    _line("the question as asked", rows, lambda row: row.question, parts)
    _line("+ the previous question", rows, lambda row: _with(row, -1), parts)
    for name, part in (("looked at", True), ("set aside", False)):
        of_it = [row for row in rows if row.looked_at is part]
        _line(f"resolved, {name}", of_it, resolved_query, parts)
        _line("  one after the other", of_it, resolved_in_turn, parts)
        count, kept = unchanged(of_it)
        print(f"need no context, {name}: {kept:.0%} of {count} unchanged")


def _with(row: Row, which: int) -> str:
    return f"{row.before[which].question} {row.question}" if row.before else row.question


def _mistakes(rows: Sequence[Row], parts: Parts, count: int) -> None:
    """List the rows that miss something, of those that may be looked at."""
    seen = [row for row in rows if row.looked_at and not parts(row.meant) <= parts(resolved_in_turn(row))]
    for row in seen[:count]:
        print(f"{row.question}\n    found {resolved_in_turn(row)}\n    meant {row.meant}")


def _speed() -> None:
    answers = {"en": "The **tower** is 330 metres high [1]. " * 110, "zh": "昆明今天的天气是多云转小雨[1]。" * 240}
    questions = {
        "en": ["How tall is the Eiffel Tower?", "When was it built?", "What are the opening hours?", "and the Louvre?"],
        "zh": ["昆明天气", "明天有雨吗", "那里海拔多少", "那北京呢"],
    }
    print("\n== microseconds of processor time per call, after 20 turns with answers of 4,000 characters ==")
    for language, asked in questions.items():
        before = [Exchange(question, answers[language][:4000]) for question in asked * 5]
        spent = []
        for question in asked * 50:
            started = time.thread_time()
            resolve(question, before)
            spent.append((time.thread_time() - started) * 1e6)
        tenth = statistics.quantiles(spent, n=10)[-1]
        print(f"{language}: median {statistics.median(spent):.0f}, nine of ten below {tenth:.0f} (goal: 1000)")


def main() -> None:
    """Measure both languages, or list mistakes of one."""
    parser = argparse.ArgumentParser(prog="python -m eval.followups", description=__doc__)
    parser.add_argument(
        "--mistakes",
        choices=["en", "zh", "own-en", "own-zh"],
        help="list rows that miss something, of those looked at",
    )
    parser.add_argument("--count", type=int, default=40, help="how many mistakes")
    asked = parser.parse_args()
    if asked.mistakes:
        english = asked.mistakes.endswith("en")
        parts = content_words if english else character_pairs
        if asked.mistakes.startswith("own"):
            _mistakes(own_rows("english" if english else "chinese"), parts, asked.count)
        elif ENGLISH.exists() and CHINESE.exists():
            _mistakes(english_rows() if english else chinese_rows(), parts, asked.count)
        else:
            print(f"Left out: {ABSENT}.")
        return
    if ENGLISH.exists() and CHINESE.exists():
        _table("English: TREC CAsT 2019 (looked at: even topics)", english_rows(), content_words, GOALS["en"])
        _table("Chinese: dialogues (looked at: the first 9,000)", chinese_rows(), character_pairs, GOALS["zh"])
    else:
        print(f"Left out: {ABSENT}.")
    _own("english", content_words)
    _own("chinese", character_pairs)
    _speed()


if __name__ == "__main__":
    main()
