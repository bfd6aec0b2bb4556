"""Exit codes, and the one place where an error becomes text and a code."""

from __future__ import annotations

from enum import IntEnum

from qiusuo.cli.words import Words
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
    """Return what a person should read: what happened, each attempt, what to do."""
    if isinstance(error, AllEnginesFailed):
        lines = [words("all_failed")]
        for attempt in error.attempts:
            lines.append(f"  {attempt.engine}: {words.outcome(attempt.outcome)} — {attempt.reason}")
            if attempt.fix:
                lines.append(f"    → {attempt.fix}")
        return lines
    prefix = f"{error.engine}: " if error.engine else ""
    place = f" ({error.place})" if error.place else ""
    lines = [f"{prefix}{error.message}{place}"]
    if error.fix:
        lines.append(f"  → {error.fix}")
    return lines
