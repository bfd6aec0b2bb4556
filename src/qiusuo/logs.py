"""The log: one line for each event, with its time and the request it belongs to, as text or JSON.

What people search for and what providers say stays out of it, unless the settings want it: a failure is told by its
code, with those values that are ours.
"""

from __future__ import annotations

import importlib
import json
import logging
import re
import secrets
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.tracing import trace_ids
from qiusuo.words import Fact, Language

NO_REQUEST: Final = "-"
request_id: Final[ContextVar[str]] = ContextVar("request_id", default=NO_REQUEST)
"""The request in which something happens; tasks that it starts have it too."""
session_id: Final[ContextVar[str]] = ContextVar("session_id", default="")
"""The conversation in which something happens; blank outside of one. Only in JSON: it helps who searches the log."""
_VALID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
# Values that hold no words of a person or a provider.
_OURS: Final = frozenset(
    "address host engine seconds status port limit count timeout winner fault package extra name kind problem".split()  # noqa: SIM905 - easier to read
)
# What stands between an import and the line that fails.
_NOBODYS: Final = ("<frozen", str(Path(importlib.__file__).parent))
# Told on the screen by the commands themselves.
_SHOWN: Final = ("qiusuo.pipeline", "qiusuo.chat", "qiusuo.citations", "qiusuo.tools")


def valid_request_id(given: str) -> str:
    """Return an id that somebody has sent, if it can stand in a log and a header; else a new one."""
    return given if _VALID.fullmatch(given) else secrets.token_hex(8)


def start_logging(*, verbose: bool, stream: TextIO | None = None, language: Language = Language.ENGLISH) -> None:
    """Log warnings and errors to standard error, each in one line; ``verbose`` adds the rest, tracebacks too.

    Facts are told in ``language``: in a terminal somebody reads them.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LogLine(traces=verbose, language=language))
    if not verbose:
        handler.addFilter(_is_not_shown)
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])


def log_for_machines(*, as_json: bool, queries: bool) -> None:
    """Log as a program does before which nobody sits: all warnings, in the format that the settings name."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, LogLine):
            handler.setFormatter(LogLine(as_json=as_json, queries=queries))
            handler.removeFilter(_is_not_shown)


def is_json() -> bool:
    """Tell whether each line of the log is JSON."""
    formatters = (handler.formatter for handler in logging.getLogger().handlers)
    return any(isinstance(one, LogLine) and one.as_json for one in formatters)


def _is_not_shown(record: logging.LogRecord) -> bool:
    """Tell whether the commands do not themselves show what a record says."""
    return record.levelno >= logging.ERROR or not record.name.startswith(_SHOWN)


def in_short(error: BaseException, *, words: bool = True) -> str:
    """Return an error in one line: what it is, perhaps in its words, and in which line of which file it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_NOBODYS)]
    told = f"{type(error).__name__}: {error}" if words else type(error).__name__
    if not frames or (words and isinstance(error, SyntaxError)):  # which says it itself
        return told
    return f"{told} ({Path(frames[-1].filename).name}:{frames[-1].lineno})"


def log_fault(logger: logging.Logger, message: str, *args: object, error: BaseException) -> None:
    """Log a fault of somebody else's code in one line, on a server too; where all is logged, with its traceback."""
    trace = error if logger.isEnabledFor(logging.INFO) else None
    logger.error(f"{message}: %s", *args, in_short(error), exc_info=trace)  # noqa: G004 - no values, only the end


def private(**values: object) -> dict[str, dict[str, object]]:
    """Return the ``extra`` of a line with what is logged only where the settings want it, such as a query."""
    return {"private": values}


class LogLine(logging.Formatter):
    """Makes a line of a record; ``queries`` allows what people ask and what providers say."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        queries: bool = False,
        traces: bool = True,
        language: Language = Language.ENGLISH,
    ) -> None:
        super().__init__()
        self._language = language
        self.as_json = as_json
        self._traces = traces
        self._queries = queries

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; a traceback follows it in text, unless none is wanted, and is a field of it in JSON."""
        facts: dict[str, Any] = {}
        private_values: Mapping[str, object] = getattr(record, "private", {}) if self._queries else {}
        message = self._message(record, facts)
        trace = self.formatException(record.exc_info) if record.exc_info and self._traces else ""
        if record.exc_info and record.exc_info[1] is not None and not self._traces:
            message = f"{message}: {in_short(record.exc_info[1])}"
        at = datetime.fromtimestamp(record.created, UTC)
        if self.as_json:
            line = {
                "time": at.isoformat(timespec="milliseconds"),
                "level": record.levelname.lower(),
                "logger": record.name,
                "requestId": request_id.get(),
                **({"sessionId": session} if (session := session_id.get()) else {}),
                **({"traceId": ids[0], "spanId": ids[1]} if (ids := trace_ids()) else {}),
                "message": message,
                **facts,
                **private_values,
                **({"trace": trace} if trace else {}),
            }
            return json.dumps(line, ensure_ascii=False, default=str)
        more = "".join(f" {name}={value!r}" for name, value in private_values.items())
        head = f"{at.astimezone():%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} {record.levelname}"
        line_text = f"{head} {record.name} [{request_id.get()}] {message}{more}"
        return "\n".join(filter(None, (line_text.replace("\n", "\\n"), trace)))

    def _message(self, record: logging.LogRecord, facts: dict[str, Any]) -> str:
        args = record.args
        if not isinstance(args, tuple):
            return record.getMessage()
        shown: list[object] = []
        for arg in args:
            if isinstance(arg, SearchError):
                facts |= fields_of(arg)
                shown.append(f"{arg} ({_of_error(arg)})" if self._queries else _of_error(arg))
            else:
                shown.append(arg.text(self._language) if isinstance(arg, Fact) else arg)
        return str(record.msg) % tuple(shown) if shown else str(record.msg)


def fields_of(error: SearchError) -> dict[str, Any]:
    """Return the fields of a line about an error."""
    found = {"code": error.fact.code, "values": dict(_own_values(error.fact)), "engine": error.engine}
    return {**found, "outcome": error.outcome.value, "status": error.status}


def _of_error(error: SearchError) -> str:
    engine = f"{error.engine} " if error.engine else ""
    place = f" place={error.place}" if error.place else ""
    # A wrong setting is no attempt at a search, and its outcome ("disabled") would be read as the server's.
    outcome = "" if isinstance(error, ConfigurationError) and not engine else f"{error.outcome.value} "
    return f"{engine}{outcome}{summary(error.fact)}{place}"


def summary(fact: Fact) -> str:
    """Return a fact in short: its code and the values that are ours."""
    return " ".join((fact.code, *(f"{name}={value}" for name, value in _own_values(fact))))


def _own_values(fact: Fact) -> Iterator[tuple[str, object]]:
    for name, value in fact.values.items():
        facts = [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Fact)]
        if facts:
            yield name, f"({'; '.join(map(summary, facts))})"
        elif isinstance(value, bool | int | float) or (name in _OURS and isinstance(value, str)):
            yield name, value
