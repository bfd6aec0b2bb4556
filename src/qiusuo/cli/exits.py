"""Exit codes, and the one place where an error becomes text and a code."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from qiusuo.cli.words import Words
from qiusuo.commands import typed
from qiusuo.errors import AllEnginesFailed, ConfigurationError, InvalidQuery, SearchError, UserRateLimited


class Exit(IntEnum):
    """What a command's exit code means."""

    OK = 0
    NOTHING_FOUND = 1
    USAGE = 2
    NOT_CONFIGURED = 3
    ALL_FAILED = 4
    RATE_LIMITED = 5


def exit_code(error: SearchError) -> Exit:
    """Return the exit code for an error."""
    if isinstance(error, InvalidQuery):
        return Exit.USAGE
    if isinstance(error, ConfigurationError):
        return Exit.NOT_CONFIGURED
    if isinstance(error, UserRateLimited):
        return Exit.RATE_LIMITED
    return Exit.ALL_FAILED


def error_lines(error: SearchError, words: Words) -> list[str]:
    """Return what a person should read: what happened, each attempt, what to do, in the terminal's language."""
    if isinstance(error, AllEnginesFailed):
        lines = [words("all_failed")]
        for attempt in error.attempts:
            told = attempt.wording(words.language)
            outcome = words.outcome(attempt.outcome)
            lines.append("  " + words("attempt", engine=attempt.engine, outcome=outcome, reason=told.what))
            lines += [f"    {line}" for line in advice_lines(told.fix, attempt.commands)]
            if attempt.retry_after and not attempt.skipped:  # a rest tells its time itself
                lines.append("    " + words("may_be_tried_again", seconds=round(attempt.retry_after)))
        return lines
    told = error.wording(words.language)
    what = words("in_place", what=told.what, place=error.place) if error.place else told.what
    first = words("of_engine", engine=error.engine, what=what) if error.engine else what
    return [first, *(f"  {line}" for line in advice_lines(told.fix, error.commands))]


def advice_lines(fix: str, commands: Iterable[str]) -> list[str]:
    """Return what to do, and the commands that do it."""
    return [*([f"→ {fix}"] if fix else []), *(f"$ {typed(command)}" for command in commands)]
