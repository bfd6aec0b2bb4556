"""Legal trouble as people tell it: lists of words, and which of them together make a legal question.

No word of daily life is legal by itself: what counts is what it is about, what went wrong, and what is asked. The words
are in ``lay.txt``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

WORDS = Path(__file__).parent.parent / "data" / "lay.txt"
_SECTION = re.compile(r"^\[([a-z-]+)\]\n", re.MULTILINE)
_GAP = r"[^,。?？!！]{0,12}"
ENOUGH_WORDS = 2
# A sentence, not key words: somebody tells what happened.
_HAPPENED = re.compile(r"^(?!.*\s).*(?:我|对方|把|被).{2}")
# Rust 所有权: a Latin word is the name of a program, a game or a brand more often than a matter of law.
_LATIN = re.compile(r"(?<![a-z])(?!(?:app|ktv|vip|hr|atm|etc|ceo|pos)(?![a-z]))[a-z]{3,}", re.IGNORECASE)


@functools.cache
def _lists() -> Mapping[str, re.Pattern[str]]:
    """Return what finds the words of each section."""
    text = "".join(line for line in WORDS.read_text("utf-8").splitlines(keepends=True) if not line.startswith("#"))
    _, *parts = _SECTION.split(text)
    return {name: _finder(words.split()) for name, words in zip(parts[::2], parts[1::2], strict=True)}


def _finder(words: list[str]) -> re.Pattern[str]:
    patterns = (_GAP.join(map(re.escape, word.split("…"))) for word in words)
    return re.compile("|".join(patterns), re.IGNORECASE)


def wants_no_law(text: str) -> bool:
    """Tell whether a question asks for a form, a film, a cure, a program or the like, whatever it is about."""
    return bool(_lists()["elsewhere"].search(text))


def asks_the_law(text: str) -> bool:
    """Tell whether a question asks what nobody but the law answers: 怎么赔, 被判刑."""
    lists = _lists()
    return bool(lists["law-ask"].search(lists["mask"].sub(" ", text)))


def speaks_of_law(text: str) -> bool:
    """Tell whether a question has a word of law at all: enough to believe an article that has its other words too."""
    lists = _lists()
    plain = lists["mask"].sub(" ", text)
    return not wants_no_law(text) and any(lists[name].search(plain) for name in ("matter", "word", "term"))


def tells_trouble(text: str) -> bool:
    """Tell whether a question in everyday words is about trouble that law is for.

    It is, where it holds

    1. trouble that is legal as it stands (不发工资, 撞了人逃逸), or
    2. a question that only law answers (怎么赔, 判几年, 谁负责), of a matter, a side or a wrong, or
    3. a matter that people bring to lawyers (离婚, 工伤, 定金) and any question, or
    4. somebody who may owe something, a wrong and any question (楼上, 漏水, 怎么办), or
    5. the same told as what happened to somebody (我的裸照被前男友发网上), or
    6. two words of law and daily life (合同, 所有权), or one of them in a question about rights (能否, 有权).
    """
    lists = _lists()
    plain = lists["mask"].sub(" ", text)
    if lists["trouble"].search(plain):
        return True
    matter, side, wrong = (lists[name].search(plain) for name in ("matter", "side", "wrong"))
    if lists["law-ask"].search(plain):
        return bool(matter or side or wrong)
    if _LATIN.search(plain):
        return False
    if (matter or (side and wrong)) and lists["ask"].search(plain):
        return True
    if side and wrong and _HAPPENED.search(text):
        return True
    words = set(lists["word"].findall(plain))
    return len(words) >= ENOUGH_WORDS or bool(words and lists["rights-ask"].search(plain))
