"""Text, Markdown and HTML. Runs in a process of its own (``worker.py``); nothing is fetched."""

from __future__ import annotations

from qiusuo.errors import FileError
from qiusuo.files.models import FileKind
from qiusuo.pages.charset import decode
from qiusuo.words import Fact

_NOWHERE = "about:blank"


def read_plain(name: str, kind: FileKind, data: bytes) -> list[str]:
    """Return the lines of a file of text; HTML becomes Markdown.

    Raises:
        FileError: nothing is in it.
    """
    text, _charset = decode(data)
    if kind is FileKind.HTML:
        from qiusuo.pages.extract import extract  # noqa: PLC0415 - takes a while to load, for HTML alone

        text = extract(text, "text/html", _NOWHERE).text
    if not text.strip():
        raise FileError(Fact("file.no_text", name=name))
    return text.replace("\0", "").splitlines()
