"""The catalogue: every sentence that a person may read, by its code, Chinese beside English.

``http.refused`` stands in ``texts/http.toml`` under ``[refused]``. A plug-in brings files of its own, in a folder
``words`` beside the module that its entry point names. Files are read when the first of their codes is told.

Traditional Chinese lies in a folder ``zh-Hant`` beside the files, made of their Chinese by scripts/traditional.py. A
plug-in without one is told in simplified characters.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import string
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

from qiusuo.words.languages import Language

logger = logging.getLogger(__name__)

PLUGINS: Final = ("qiusuo.plugins", "qiusuo.engines")
"""The groups of entry points whose packages may bring words."""
_TEXTS: Final = Path(__file__).with_name("texts")
_WRITTEN: Final = (Language.CHINESE, Language.ENGLISH)
_ABOUT: Final = frozenset({"docs_url", "guide"})
"""What an entry may have beside its sentences: where the thing itself is documented, and which page of our guide is."""


class Part(StrEnum):
    """What a sentence is for."""

    TITLE = "title"  # a heading
    WHAT = "what"  # what is so; the only part of most entries
    WHY = "why"  # why it is so, or why it matters
    FIX = "fix"  # what to do


def template(code: str, language: Language, part: Part = Part.WHAT) -> str:
    """Return a sentence with places for values: of a code that nobody knows (any more) the code itself."""
    found = entry(code)
    if found is None:
        return code.replace("{", "{{").replace("}", "}}") if part is Part.WHAT else ""
    words = _traditional(code) if language is Language.TRADITIONAL else None
    if words is None:
        words = found.get(language.written, "")
    if isinstance(words, str):
        return words if part is Part.WHAT else ""
    return str(words.get(part, ""))


def beginning(code: str, language: Language) -> str:
    """Return what every text of a code begins with, up to its first value."""
    return template(code, language).partition("{")[0]


def about(code: str, name: str) -> str:
    """Return what else an entry says of its code (``docs_url``, ``guide``), or an empty string."""
    return str((entry(code) or {}).get(name, ""))


def entry(code: str) -> Mapping[str, Any] | None:
    """Return all that the catalogue has under a code."""
    prefix, _, rest = code.partition(".")
    found = _file(prefix).get(rest)
    return found if isinstance(found, Mapping) else None


def codes() -> Iterator[str]:
    """Give out every code there is, those of plug-ins too."""
    for folder in folders():
        for file in sorted(folder.glob("*.toml")):
            yield from (f"{file.stem}.{name}" for name in _file(file.stem))


def placeholders(words: str) -> frozenset[str]:
    """Return the names of the values that a sentence wants."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(words) if name)


def problems(code: str) -> list[str]:
    """Return what is wrong with an entry: a language, a part or a value that only one language has."""
    found = entry(code) or {}
    wrong = [f"{code}: {name} is no language" for name in found if name not in {*_WRITTEN, *_ABOUT}]
    sides = [found.get(language) for language in _WRITTEN]
    parts = [({Part.WHAT: side} if isinstance(side, str) else side) if side else {} for side in sides]
    for part in sorted(set(parts[0]) | set(parts[1])):
        words = [side.get(part, "") for side in parts]
        if part not in set(Part):
            wrong.append(f"{code}: {part} is no part")
        if not all(words):
            missing = _WRITTEN[0] if words[1] else _WRITTEN[1]
            wrong.append(f"{code}: {missing}.{part} is missing")
        elif placeholders(words[0]) != placeholders(words[1]):
            wrong.append(f"{code}: {part} has other values in one language than in the other")
    return wrong if any(parts) else [*wrong, f"{code}: has no words"]


def faults_of_plugins() -> Iterator[tuple[Path, str]]:
    """Give out what is wrong with the words of plug-ins, each with its file."""
    for file in (file for folder in folders()[1:] for file in sorted(folder.glob("*.toml"))):
        if _place(file.stem) != file:
            yield file, f"{file.stem} is a name of somebody else's words"
            continue
        try:
            entries = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            yield file, str(error)
            continue
        for code in (f"{file.stem}.{name}" for name in entries):
            try:
                yield from ((file, problem) for problem in problems(code))
            except ValueError as error:  # a brace without its other half
                yield file, f"{code}: {error}"


def _traditional(code: str) -> str | Mapping[str, Any] | None:
    """Return what was made of an entry's Chinese; None where nothing was."""
    prefix, _, rest = code.partition(".")
    found = _traditional_file(prefix).get(rest)
    return found if isinstance(found, str | Mapping) else None


@cache
def _file(prefix: str) -> Mapping[str, Any]:
    """Return the entries of a file; none where no such file exists."""
    file = _place(prefix)
    return _read(file) if file else {}


@cache
def _traditional_file(prefix: str) -> Mapping[str, Any]:
    file = _place(prefix)
    made = file.parent / Language.TRADITIONAL / file.name if file else None
    return _read(made) if made and made.is_file() else {}


def _place(prefix: str) -> Path | None:
    """Return where the words of a prefix stand."""
    if not prefix.isidentifier():
        return None
    own = _TEXTS / f"{prefix}.toml"
    # The plug-ins are looked for only where the word is none of ours.
    files = [own] if own.is_file() else [folder / own.name for folder in folders()]
    return next((file for file in files if file.is_file()), None)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        if file.is_relative_to(_TEXTS):
            raise
        logger.error("%s cannot be read, its words are missing: %s", file, error)  # noqa: TRY400 - one line tells it
        return {}


@cache
def folders() -> tuple[Path, ...]:
    """Return where words are: our own first, so that no plug-in can change them."""
    found = [_TEXTS]
    for point in (point for group in PLUGINS for point in importlib.metadata.entry_points(group=group)):
        try:
            spec = importlib.util.find_spec(point.module)
        except (ImportError, ValueError):
            continue  # a broken plug-in, which those who load plug-ins tell of
        if spec is not None and spec.origin:
            folder = Path(spec.origin).with_name("words")
            if folder.is_dir() and folder not in found:
                found.append(folder)
    return tuple(found)
