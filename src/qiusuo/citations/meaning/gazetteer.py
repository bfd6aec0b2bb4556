"""Well-known names. Chinese has no capitals to tell names by, and the first word of an English sentence always has one.

General lists (countries, provinces, large cities, states, large companies, planets), not fitted to any data.
"""

from __future__ import annotations

import re
from pathlib import Path

from qiusuo.tables import read_table

_TABLE = Path(__file__).parent.parent / "data" / "gazetteer.tsv"
_ROWS = tuple(read_table(_TABLE))


def _listed(kind: str) -> frozenset[str]:
    return frozenset(name for row in _ROWS if row["kind"] == kind for name in row["names"].split())


_ENGLISH = _listed("name")
# People and adjectives of nations are often added from general knowledge and seldom the point of a sentence.
_DEMONYMS = _listed("demonym")
_KNOWN = {name: row["kind"] for row in _ROWS if row["language"] == "zh" for name in row["names"].split()}
_LENGTHS = {
    first: sorted({len(name) for name in _KNOWN if name[0] == first}, reverse=True) for first in {n[0] for n in _KNOWN}
}
_FIRST = re.compile(f"[{''.join(_LENGTHS)}]")


def chinese_names(text: str) -> dict[str, str]:
    """Return the well-known Chinese names in ``text`` with what they name; of nested ones the longest."""
    found: dict[str, str] = {}
    end = 0
    for match in _FIRST.finditer(text):
        start = match.start()
        if start < end:
            continue
        for length in _LENGTHS[match[0]]:
            name = text[start : start + length]
            if name in _KNOWN:
                found[name] = _KNOWN[name]
                end = start + length
                break
    return found


def is_english_name(word: str) -> bool:
    """Tell whether a word in lower case is a well-known name."""
    return word in _ENGLISH


def is_demonym(word: str) -> bool:
    """Tell whether a word in lower case names a people or says of which nation something is."""
    return word in _DEMONYMS
