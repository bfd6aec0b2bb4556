"""The texts of a judgment, packed: its parts are mostly stretches of the whole, and Chinese text packs to a third."""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

import orjson

_LEVEL: Final = 3  # a higher one takes twice as long for a twentieth less


class CaseTexts(NamedTuple):
    """A judgment's whole text and the parts that are known in it."""

    text: str
    facts: str
    reasoning: str
    verdict: str


def pack(texts: CaseTexts) -> bytes:
    """Pack the texts of a judgment."""
    parts = [_stretch(texts.text, part) for part in texts[1:]]
    return zlib.compress(orjson.dumps([texts.text, *parts]), _LEVEL)


def unpack(packed: bytes) -> CaseTexts:
    """Return what was packed."""
    text, *parts = orjson.loads(zlib.decompress(packed))
    facts, reasoning, verdict = (part if isinstance(part, str) else text[part[0] : part[1]] for part in parts)
    return CaseTexts(text, facts, reasoning, verdict)


def _stretch(text: str, part: str) -> str | tuple[int, int]:
    """Return where a part stands in the text, the part itself where it does not."""
    start = text.find(part) if part else -1
    return part if start < 0 else (start, start + len(part))
