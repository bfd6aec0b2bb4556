"""Names of files: what may be shown and kept as one."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from qiusuo.errors import FileError
from qiusuo.words import Fact

MAX_NAME: Final = 200
# A path, markup, or characters that are not seen: a name that turns its letters round ends as another kind of file.
_NOT_IN_NAMES: Final = re.compile(r"[/\\<>]")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def checked_name(name: str) -> str:
    """Return the name of a file as it is kept.

    Raises:
        FileError: it is none that may be shown.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not name or name in {".", ".."}:
        raise FileError(Fact("file.no_name"))
    if len(name) > MAX_NAME:
        raise FileError(Fact("file.long_name", limit=MAX_NAME))
    if _NOT_IN_NAMES.search(name) or any(unicodedata.category(each) in _UNSEEN for each in name):
        raise FileError(Fact("file.bad_name", name=_shown(name)))
    return name


def ending(name: str) -> str:
    """Return the last part of a name, in small letters and without its dot."""
    return name.rpartition(".")[2].lower() if "." in name else ""


def _shown(name: str) -> str:
    """Return a name that can be told: what is not seen as a mark, and markup as it cannot work."""
    seen = "".join("�" if unicodedata.category(each) in _UNSEEN else each for each in name)
    return _NOT_IN_NAMES.sub("_", seen)
