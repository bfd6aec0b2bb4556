"""The question in a message: what stands around it is for the model, and for nobody else.

Programs put whole documents before a question, and tasks of their own in its place. A message that is long or has many
lines is no query: only what is plainly its question is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 240
"""Characters of a message that may be searched for as it is, in one or two lines."""
_LONGEST_OF_LINES: Final = 120
_FEW_LINES: Final = 2
_MOST_LINES: Final = 4
_READ: Final = 20_000

_TASKS: Final = re.compile(
    r"\s*(?:#{1,4} ?task:"
    r"|write \d+ (?:google )?search queries\b"
    r"|(?:please )?(?:provide|create|generate|write) a (?:concise|short|brief)\b[^\n]{0,40}\btitle\b)",
    re.IGNORECASE,
)
# Tags and labels by which programs set the question apart from what it is to be answered from.
_TAG: Final = re.compile(r"<(user_query|user_question|question|query)>(.{1,400}?)</\1>", re.DOTALL | re.IGNORECASE)
_LABEL: Final = re.compile(
    r"^[ \t>*#_]{0,8}(?:(?:the |my |user'?s? )?(?:question|query)|(?:我的|用户的?)?(?:问题|提问|查询))"
    r"[*_]{0,2}[ \t]*[:：][ \t*_]*(?:\n[ \t]*)?([^\n]{1,400})",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"\b(?:question|query|task):\s*[\"“]([^\"“”\n]{1,400})[\"”]", re.IGNORECASE)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END: Final = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+|\n")
_ASKS: Final = ("?", "？")
_MARKS: Final = "\"'“”‘’*_` \t\n"


_SECRETS: Final = re.compile(
    r"(?<!\d)\d{17}[\dXx](?!\d)|(?<!\d)(?!97[89])\d{16,19}(?!\d)|\b(?:sk|pk|ghp|gho|xox[bp]|AKIA)[-_]?[A-Za-z0-9_-]{16,}|"
    r"(?:密码|口令|password|passwd|pwd|api[ _-]?key|secret|token)\s{0,2}(?:[:：=]|is|是|为)?\s{0,2}"
    r"(?=[^\s,，。;；]{0,40}[\d!@#$%^&*])[A-Za-z0-9!@#$%^&*._-]{4,40}",
    re.IGNORECASE,
)


def without_secrets(query: str) -> str:
    """Return a query without passwords, keys, and numbers of identity and bank cards: no search needs them."""
    return " ".join(_SECRETS.sub(" ", query).split()) if _SECRETS.search(query) else query


def is_task(message: str) -> bool:
    """Tell whether a message is a task that a chat program sets by itself: a title, tags, queries to search for."""
    return _TASKS.match(message) is not None


def question_in(message: str) -> str:
    """Return what to search for; nothing where a long message has no question that can be told from the rest."""
    text = message.strip()[:_READ]
    labelled = next((found for found in _labelled(text) if is_short(found)), "")
    if labelled:
        return labelled
    if is_short(text):
        return text
    return next((found for found in _asked(text) if is_short(found)), "")


def is_short(text: str) -> bool:
    """Tell whether a text may be a query as it is."""
    lines = sum(1 for line in text.splitlines() if line.strip())
    if not text or len(text) > LONGEST:
        return False
    return lines <= _FEW_LINES or (
        lines <= _MOST_LINES and len(text) <= _LONGEST_OF_LINES and not _PARAGRAPH.search(text)
    )


def is_one_line(text: str) -> bool:
    """Tell whether a text is one line that may be a query: what comes out of a program as material hardly ever is."""
    return len(text.strip().splitlines()) == 1 and is_short(text.strip())


def _labelled(text: str) -> Iterator[str]:
    for pattern, group in ((_TAG, 2), (_LABEL, 1), (_QUOTED, 1)):
        found = [match[group].strip(_MARKS) for match in pattern.finditer(text)]
        yield from (each for each in reversed(found) if each)


def _asked(text: str) -> Iterator[str]:
    """Give what may be the question, the likeliest first: only of the first and the last paragraph.

    What stands between them is what the question is about, and may have questions of other people.
    """
    paragraphs = [paragraph.strip() for paragraph in _PARAGRAPH.split(text)]
    first, last = paragraphs[0], paragraphs[-1]
    if len(paragraphs) > 1 and first.endswith((":", "：")):
        yield first.rstrip(":：")  # what follows is what it speaks of
        return
    for paragraph in (last, first):
        if paragraph.endswith(_ASKS):
            yield paragraph
    for paragraph in (last, first):
        sentences = [sentence.strip() for sentence in _SENTENCE_END.split(paragraph) if sentence.strip()]
        yield from (sentence for sentence in reversed(sentences) if sentence.endswith(_ASKS))
