"""Which place a regulation is made for, and which place a question is about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qiusuo.legal.models import Law, LawKind

NATIONAL = "-"
# What cities and provinces make is told by its name. 城市 and 上市 are no cities.
_PLACE = re.compile(
    r"^(?!城市|都市|集市|上市|超市|设区的?市|县|市|自治|特别行政区|中华|关于)"
    r"([\u4e00-\u9fff]{2,3}省|[\u4e00-\u9fff]{2,6}?(?:自治区|自治州|自治县|经济特区|(?<!城)市(?!场)|盟|县))"
)
_KIND = re.compile(r"(?:壮族|回族|维吾尔)?自治区|[\u4e00-\u9fff]{1,6}族自治[州县]|经济特区|省|市|自治[州县]|盟|县$")
_NO_LOCAL = frozenset({LawKind.CONSTITUTION, LawKind.STATUTE, LawKind.JUDICIAL_INTERPRETATION})
# Places whose short names are words too.
_WORDS = frozenset({"东方", "和平", "平安", "大同", "长治", "兴安", "日照", "开封"})


def place_of(law: Law) -> str:
    """Return the short name of the place that a law is made for, :data:`NATIONAL` where it holds everywhere."""
    found = _PLACE.match(law.name) if law.kind not in _NO_LOCAL else None
    return short(found[1]) if found else NATIONAL


def short(place: str) -> str:
    """Return a place as people call it: 上海 of 上海市, 广西 of 广西壮族自治区."""
    return _KIND.sub("", place) or place


def places_in(question: str, known: Iterable[str]) -> frozenset[str]:
    """Return the known places that a question names; one that is a word too only with what kind of place it is."""
    return frozenset(
        place
        for place in known
        if place in question and (place not in _WORDS or re.search(rf"{place}(?:市|省|县|自治|人|当地)", question))
    )
