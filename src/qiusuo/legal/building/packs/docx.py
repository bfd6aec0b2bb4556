"""The text of a Word document, as lines: what the national database publishes laws in."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Final
from xml.etree import ElementTree as ET

_PART: Final = "word/document.xml"
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_XML_BYTES: Final = 64 * 1024**2
_CHAPTER = re.compile(r"^第\s*[一二三四五六七八九十百零〇\d]{1,6}\s*(?:分编|编|章|节)(?:\s+|$)")
_LONGEST_HEADING: Final = 40


def docx_lines(data: bytes) -> list[str] | None:
    """Return the paragraphs of a document; None where it is none that can be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed, packed.open(_PART) as part:
            text = part.read(MAX_XML_BYTES + 1)
    except (zipfile.BadZipFile, KeyError, zlib.error, EOFError, OSError, RuntimeError):
        return None
    if len(text) > MAX_XML_BYTES or b"<!DOCTYPE" in text:
        return None
    try:
        root = ET.fromstring(text)  # noqa: S314 - no DTD, see above
    except ET.ParseError:
        return None
    return [_text_of(paragraph) for paragraph in root.iter(f"{_W}p")]


def as_markdown(lines: list[str]) -> list[str]:
    """Return the lines of a law with its chapters marked as headings."""
    return [f"## {line}" if _CHAPTER.match(line) and len(line) <= _LONGEST_HEADING else line for line in lines]


def _text_of(paragraph: ET.Element) -> str:
    parts = []
    for node in paragraph.iter():
        if node.tag == f"{_W}t":
            parts.append(node.text or "")
        elif node.tag in {f"{_W}tab", f"{_W}br"}:
            parts.append(" ")
    return "".join(parts).replace("\u3000", " ").strip()
