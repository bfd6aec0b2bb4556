"""What a finding looks like in words."""

from __future__ import annotations

from typing import NamedTuple


class Wording(NamedTuple):
    """A finding in words: what was seen, why that is so or matters, what to do."""

    what: str
    why: str = ""
    fix: str = ""


class Texts(NamedTuple):
    """The same in both languages, and where the thing itself documents it."""

    chinese: Wording
    english: Wording
    docs_url: str = ""
