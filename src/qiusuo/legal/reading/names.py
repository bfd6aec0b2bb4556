"""Names of laws: what counts as the same name, short names, and the table that finds a law by any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from qiusuo.legal.models import LawKind
from qiusuo.legal.reading.numbers import folded, han_of
from qiusuo.tables import read_table

STATE = "中华人民共和国"
_YEAR_TAG = re.compile(
    r"\(\s*((?:19|20)\d{2})(?:-\d{2}-\d{2}|年?\s*(?:第[^)]{1,3}次)?\s*(?:修正|修订|修改|公布|版|文本)[^)]{0,6})\s*\)"
)
_YEAR_NAME = re.compile(r"^(.+?)((?:19|20)\d{2})年$")
_NUMBERED = re.compile(r"(?<!\d)\d{1,2}$")
_NOISE = re.compile(r"[\s《》〈〉<>()\[\]【】“”\"'‘’·、,。:;.\-—_/]+")
_COURTS = re.compile(
    r"^(?:最高人民法院|最高人民检察院|公安部|司法部|国家安全部|[、,和与\s])+(?:印发|发布)?(?:关于|于)?"
)
# What interpretations of the courts carry around their subject, in the order in which it is taken away.
_WRAPPING = (
    "最高人民法院", "最高人民检察院", "刑事案件", "民事案件", "行政案件", "关于", "办理", "审理", "在审理",
    "适用", "具体应用", "应用", "法律若干问题",
    "有关法律问题", "法律问题", "若干问题", "法律", "若干", "问题", "案件", "纠纷", "司法", "有关", "的",
)  # fmt: skip
_SPOKEN = (("民诉法", "民事诉讼法"), ("刑诉法", "刑事诉讼法"), ("行诉法", "行政诉讼法"))
_LAW_ENDING = re.compile(
    r"(?:法|法典|条例|规定|解释|办法|细则|规则|决定|决议|意见|批复|通知|修正案|规范|安排|纪要|答复|公告|解答|章程)"
    r"(?:[一二三四五六七八九十]{1,3}|\d{1,2})?$"
)
_DATA = Path(__file__).parent.parent / "data"
# Laws by their keys, with the names people use. A name of several laws is ambiguous and has to be written out.
_ALSO_CALLED: Mapping[str, str] = {row["law"]: row["names"] for row in read_table(_DATA / "also_called.tsv")}
SHORT_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        short: tuple(official for official, names in _ALSO_CALLED.items() if short in names.split())
        for shorts in _ALSO_CALLED.values()
        for short in shorts.split()
    }
)
"""What people call laws, with the keys of those that they may mean."""
KNOWN_REPEALS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {row["law"]: (row["successor"], row["day"]) for row in read_table(_DATA / "known_repeals.tsv")}
)
"""Repealed laws, with the law that took their place and the day."""


def name_key(name: str) -> str:
    """Return the form under which names are compared: no state's name, brackets, blanks, year tags."""
    text = _NOISE.sub("", _YEAR_TAG.sub("", folded(name)))
    return text.replace(STATE, "") or text


def looks_like_law(text: str) -> bool:
    """Tell whether words end as names of laws do."""
    return bool(_LAW_ENDING.search(name_key(text)))


def subject_key(name: str) -> str:
    """Return what an interpretation is about: 民法典婚姻家庭编解释一 for its official and its spoken names."""
    text = _COURTS.sub("", folded(name))
    text = _YEAR_TAG.sub("", text).replace(STATE, "")
    text = re.sub(r"\(?试行\)?", "", text)
    text = _NOISE.sub("", text)
    for short, official in _SPOKEN:
        text = text.replace(short, official)
    for words in _WRAPPING:
        text = text.replace(words, "")
    # 规定 and 解释 are told apart by nobody who quotes from memory.
    text = re.sub(r"(?:规定|解释)(?=[一二三四五六七八九十]{0,3}$|\d{0,2}$)", "解释", text)
    tail = re.search(r"(\d{1,2})$", text)
    return text[: tail.start()] + han_of(int(tail[1])) if tail else text


def kind_of(name: str) -> LawKind:
    """Tell the kind of a law from its name, where a source does not say it."""
    key = name_key(name)
    if key == "宪法":
        return LawKind.CONSTITUTION
    if name.startswith(("最高人民法院", "最高人民检察院")) or key.endswith("司法解释"):
        return LawKind.JUDICIAL_INTERPRETATION
    if "修正案" in key:
        return LawKind.AMENDMENT
    if "关于修改" in key and key.endswith("决定"):
        return LawKind.AMENDING_DECISION
    if key.startswith("全国人民代表大会") and key.endswith("解释"):
        return LawKind.INTERPRETATION_BY_CONGRESS
    if key.endswith(("法", "法典")):
        return LawKind.STATUTE
    return LawKind.REGULATION if key.endswith(("条例", "细则")) else LawKind.OTHER


@dataclass(frozen=True, slots=True)
class NameTable:
    """Every name under which a law of the index is found. Values are ids of laws."""

    by_key: Mapping[str, tuple[int, ...]]
    by_subject: Mapping[str, tuple[int, ...]]

    @classmethod
    def build(cls, laws: Iterable[tuple[int, str]]) -> NameTable:
        """Build the table from ids and official names."""
        keys: dict[str, list[int]] = {}
        subjects: dict[str, list[int]] = {}
        for law_id, name in laws:
            keys.setdefault(name_key(name), []).append(law_id)
            if kind_of(name) is LawKind.JUDICIAL_INTERPRETATION:
                subjects.setdefault(subject_key(name), []).append(law_id)
        for short, officials in SHORT_NAMES.items():
            # 民促法 may mean either of two laws, also where the index has only one of them: that is no reason to guess.
            meant = [keys.get(name_key(official)) for official in officials]
            if short not in keys and all(meant):
                keys[short] = [law_id for ids in meant if ids for law_id in ids]
        for key, year_of in [(key, _YEAR_NAME.match(key)) for key in keys]:
            if year_of:  # 宪法修正案1988年, of which there are five
                base, year = year_of.groups()
                keys[f"{year}年{base}"] = keys[f"{base}{year}"] = keys[key]
                keys.setdefault(base, []).extend(keys[key])
        for subject in [subject for subject in subjects if subject.endswith("解释一")]:
            # The first of a series is often the only one, and then quoted without its number.
            subjects.setdefault(subject.removesuffix("一"), subjects[subject])
        return cls(
            MappingProxyType({key: tuple(ids) for key, ids in keys.items()}),
            MappingProxyType({key: tuple(ids) for key, ids in subjects.items()}),
        )

    def find(self, name: str) -> tuple[int, ...]:
        """Return the laws of exactly that name; several if the name does not tell them apart."""
        key = name_key(name)
        found = self.by_key.get(key)
        number = _NUMBERED.search(key)
        if found is None and number:  # 刑法修正案11
            found = self.by_key.get(key[: number.start()] + han_of(int(number[0])))
        if found is None and ("解释" in name or "规定" in name):
            found = self.by_subject.get(subject_key(name))
        return found or ()

    def containing(self, words: str, limit: int = 20) -> tuple[int, ...]:
        """Return the laws whose name holds the words, the shortest names first."""
        key = name_key(words)
        if not key:
            return ()
        found = sorted((name for name in self.by_key if key in name), key=lambda name: (len(name), name))
        ids = [law_id for name in found for law_id in self.by_key[name]]
        return tuple(dict.fromkeys(ids))[:limit]
