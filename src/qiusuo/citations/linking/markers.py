"""What counts as a citation marker: the grammar of ``[1]``, ``[1, 3-5]``, ``【1】``, ``［１］`` and ``[^1]``.

A marker is a pair of brackets with nothing but numbers in it. Zero is never one, ranges rise and are short, so
``[0]``, ``[12:30]``, ``[abc]`` and ``[1-999999999]`` are plain text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_MARKER_CHARS = 160
MAX_NUMBERS = 60

_NUMBER = r"\^?[0-9０-９]{1,9}"
_DASH = "[-‐‑–—−－~～至]"
_ITEM = f"{_NUMBER}(?: ?{_DASH} ?{_NUMBER})?"
_INSIDE = f" ?{_ITEM}(?: ?[,，、;；] ?{_ITEM}){{0,59}} ?"
# 【1†source】 is how models trained on OpenAI's browsing tool write it. The tail is kept short, so that no marker is
# longer than the link that replaces it: text only ever grows, which keeps distances in converted text comparable.
_MARKER = re.compile(rf"\[{_INSIDE}\]|［{_INSIDE}］|【{_INSIDE}(?:†[^】\n]{{0,8}})?】")
_MAY_BECOME_MARKER = re.compile(r"[\[［【][0-9０-９ ^,，、;；‐‑–—−－~～至-]*(?:†[^】\n]{0,8})?")
_READ_ITEM = re.compile(f"({_NUMBER})(?: ?{_DASH} ?({_NUMBER}))?")

_INTERVAL_BEFORE = re.compile(r"(?:∈|区间|\binterval|\brange) ?\Z")
_LATEX_COMMAND_BEFORE = re.compile(r"\\[A-Za-z]+\Z")

LOOK_BEHIND = 64


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker: where it stands in the text, and the numbers it names (ranges written out).

    ``opening`` and ``closing`` are the brackets as they were written.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    opening: str
    closing: str

    def written(self, numbers: list[int]) -> str:
        """Return some of the numbers in the brackets of this marker; neighbours become a range again."""
        runs: list[list[int]] = []
        for number in numbers:
            if runs and number == runs[-1][-1] + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        texts = (str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
        return f"{self.opening}{', '.join(texts)}{self.closing}"


def marker_at(text: str, index: int, offset: int = 0) -> Marker | None:
    """Return the marker that begins at ``index``; its positions are given with ``offset`` added."""
    match = _MARKER.match(text, index, index + MAX_MARKER_CHARS)
    if match is None:
        return None
    inside = match[0]
    numbers: list[int] = []
    for first_text, last_text in _READ_ITEM.findall(inside.partition("†")[0]):
        first = int(first_text.lstrip("^"))
        last = int(last_text.lstrip("^")) if last_text else first
        if first == 0 or last < first or last - first + len(numbers) >= MAX_NUMBERS:
            return None
        numbers.extend(range(first, last + 1))
    opening = "[^" if inside.startswith("[^") else inside[0]
    return Marker(index + offset, match.end() + offset, tuple(numbers), opening, inside[-1])


def may_become_marker(text: str, index: int) -> bool:
    """Tell whether more text could still turn what begins at ``index`` and runs to the end into a marker."""
    return len(text) - index < MAX_MARKER_CHARS and _MAY_BECOME_MARKER.fullmatch(text, index) is not None


def is_mathematics(before: str, *, several: bool) -> bool:
    r"""Tell whether brackets after ``before`` belong to a formula: ``x ∈ [1, 3]``, ``\sqrt[3]{8}``.

    Whatever word stands before it, any other marker is a citation: models write "qwen3[1]", "useEffect[2]" and
    "维生素c[3]", and no spelling tells a product from a variable. Code is left alone where it is marked as code.
    """
    return bool((several and _INTERVAL_BEFORE.search(before)) or _LATEX_COMMAND_BEFORE.search(before))
