"""Which place and subject a law is made for, as its name says, and which a question is about."""

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
SHORTEST_SUBJECT = 6
_SUBJECT_BEGINS = re.compile(
    r"^(?:中华人民共和国|国务院关于|最高人民(?:法院|检察院)[、\s]*(?:最高人民检察院)?关于(?:审理|办理|适用)?)"
)
_FORM = re.compile(
    r"(?:纠纷|刑事|民事|行政)?案件?(?:具体)?(?:应用|适用)法律.*$|\([^)]*\)|（[^）]*）"
    r"|(?:管理|暂行|特别|若干|监督|保护|征收)*(?:条例|实施细则|细则|办法|规定|法|决定)$"
)
# Places whose short names are words too.
_WORDS = frozenset({"东方", "和平", "平安", "大同", "长治", "兴安", "日照", "开封"})


def place_of(law: Law) -> str:
    """Return the short name of the place that a law is made for, :data:`NATIONAL` where it holds everywhere."""
    found = _PLACE.match(law.name) if law.kind not in _NO_LOCAL else None
    return short(found[1]) if found else NATIONAL


def subjects_of(laws: Iterable[Law]) -> dict[str, tuple[int, ...]]:
    """Return what national laws are about, by their names: 职工带薪年休假 of 职工带薪年休假条例."""
    found: dict[str, list[int]] = {}
    for law in laws:
        subject = _FORM.sub("", _SUBJECT_BEGINS.sub("", law.name))
        if len(subject) >= SHORTEST_SUBJECT and place_of(law) == NATIONAL:
            found.setdefault(subject, []).append(law.id)
    return {subject: tuple(ids) for subject, ids in found.items()}


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
