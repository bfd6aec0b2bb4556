"""What counts as a citation marker: the grammar of ``[1]``, ``[1, 3-5]``, ``【1】``, ``［１］`` and ``[^1]``.

A marker is a pair of brackets with nothing but numbers in it. Zero is never one, ranges rise and are short, so
``[0]``, ``[12:30]``, ``[abc]`` and ``[1-999999999]`` are plain text.
"""

from __future__ import annotations

import re
import string
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

# Names that people give to arrays in code and to nothing else in prose.
_ARRAY_NAMES = frozenset(
    "arr args argv buf cols dict dp elem elems idx kwargs lst mat memo nums params ptr str tmp vals vec xs ys".split()  # noqa: SIM905
)
_WORD_CHARACTERS = string.ascii_letters + string.digits + "_."
_CAMEL_CASE = re.compile(r"[a-z]{2,}[A-Z][a-z]")
_LOWER_WITH_DIGITS = re.compile(r"[a-z]+[0-9]+")
_NAMED_BY_LETTER = re.compile(r"(?:[\u3400-\u9fff]|[A-Za-z]{3,} )\Z")
_CODE_AFTER = re.compile(r"\.[a-z_]|->|\[0+\]| ?[-+*/%&|^]?=")
_CODE_AFTER_OPEN = re.compile(r"[.-]?| ?[-+*/%&|^]?|\[0*")
_INTERVAL_BEFORE = re.compile(r"(?:∈|区间|\binterval|\brange) ?\Z")

LOOK_BEHIND = 64
LOOK_AHEAD = 4


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


def index_needs_more(before: str, after: str) -> bool:
    """Tell whether ``looks_like_index`` could answer differently once more text follows ``after``."""
    return len(after) < LOOK_AHEAD and _CODE_AFTER_OPEN.fullmatch(after) is not None and bool(_word_before(before))


def looks_like_index(before: str, after: str, *, several: bool) -> bool:
    r"""Tell whether brackets after ``before`` are an array index or an interval, not a citation.

    Models write "Paris[1]." all the time, so a plain word, an acronym, a brand (iPhone, DeepSeek, H1N1, macOS) or a
    number directly before the bracket is cited. An index is what follows a name that only code has: one lower-case
    letter, an underscore inside, ``lowerCamelCase``, lower case with digits, ``self.x``, ``$x``, ``\sqrt``, usual
    names of arrays; or any ASCII word when code follows (``=``, ``.name``, ``->``, ``[0]``).
    """
    if several and _INTERVAL_BEFORE.search(before):
        return True
    written = _word_before(before)
    # An underscore at the end closes emphasis: _Paris_[1].
    if not written or written.endswith("_"):
        return False
    in_front = before[: -len(written)]
    word = written.lstrip("_.")
    last = word.rpartition(".")[2]
    if last.isdigit():
        return False
    if (
        in_front.endswith(("\\", "$"))
        or "_" in word
        or word.startswith(("self.", "this.", "cls."))
        or last in _ARRAY_NAMES
    ):
        return True
    if len(word) == 1:
        # "Vitamin C[1]" and "维生素C[1]" are cited, "A[1]" on its own is a matrix.
        return word.islower() or not _NAMED_BY_LETTER.search(in_front)
    if _CAMEL_CASE.match(last) or _LOWER_WITH_DIGITS.fullmatch(last):
        return True
    return _CODE_AFTER.match(after) is not None


def _word_before(before: str) -> str:
    """Return the ASCII word, with points in it, that ``before`` ends with."""
    return "" if before.endswith(".") else before[len(before.rstrip(_WORD_CHARACTERS)) :]
