"""The process that reads one file: what is in a file may be made to break its reader, and then only this one breaks.

Its input is a line of JSON (``name``, ``most``, ``memory``, ``seconds``) and the file; it tells how far it is, a line
of JSON for each page, and at the end the parts of the text, or what is wrong.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

from qiusuo.errors import FileError
from qiusuo.files.kinds import kind_of
from qiusuo.files.models import FileKind, Part
from qiusuo.files.sections import sections
from qiusuo.words import Fact


def main() -> None:
    """Read the file that comes in."""
    order = json.loads(sys.stdin.buffer.readline())
    limit(order["memory"], order["seconds"])
    data = sys.stdin.buffer.read()
    try:
        answer = read(order["name"], data, order["most"])
    except FileError as error:
        answer = {"fault": error.fact.to_dict()}
    except (MemoryError, RecursionError):
        answer = {"fault": Fact("file.too_complex", name=order["name"]).to_dict()}
    _tell(answer)


def read(name: str, data: bytes, most: int) -> dict[str, Any]:
    """Return what is read of a file, as JSON.

    Raises:
        FileError: it cannot be read.
    """
    kind = kind_of(name, data)
    pages, cut = 0, False
    # Each reader is loaded for its own kind alone.
    if kind is FileKind.PDF:
        from qiusuo.files.pdf import read_pdf  # noqa: PLC0415 - as above

        parts, pages, cut = read_pdf(name, data, most, lambda page, total: _tell({"page": page, "pages": total}))
    elif kind is FileKind.DOCX:
        from qiusuo.files.word import read_word  # noqa: PLC0415 - as above

        parts, cut = _within(most, list(sections(read_word(name, data), marked=True, numbered=False)))
    else:
        from qiusuo.files.plain import read_plain  # noqa: PLC0415 - as above

        marked = kind is not FileKind.TEXT
        lines = read_plain(name, kind, data)
        parts, cut = _within(most, list(sections(lines, marked=marked, numbered=kind is not FileKind.HTML)))
    if not parts:
        raise FileError(Fact("file.no_text", name=name))
    return {"kind": kind, "parts": [part.to_dict() for part in parts], "pages": pages, "cut": cut}


def limit(memory: int, seconds: int) -> None:
    """Let this process have so much memory and so many seconds of work, and write nothing."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, where only the deadline holds
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in wanted.items():
        with suppress(ValueError, OSError):  # a system that does not know one of them
            _, highest = resource.getrlimit(kind)
            given = most if highest == resource.RLIM_INFINITY else min(most, highest)
            resource.setrlimit(kind, (given, given))


def _within(most: int, parts: list[Part]) -> tuple[list[Part], bool]:
    """Return as many of the parts as there may be characters, and whether some are left out."""
    kept, size = list[Part](), 0
    for part in parts:
        if size + len(part.text) > most:
            return kept, True
        kept.append(part)
        size += len(part.text)
    return kept, False


def _tell(data: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(data, ensure_ascii=True).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
