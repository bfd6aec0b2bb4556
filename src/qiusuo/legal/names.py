"""Names of laws: what counts as the same name, short names, and the table that finds a law by any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from qiusuo.legal.models import LawKind
from qiusuo.legal.numbers import folded, han_of

STATE = "中华人民共和国"
_YEAR_TAG = re.compile(
    r"\(\s*((?:19|20)\d{2})(?:-\d{2}-\d{2}|年?\s*(?:第[^)]{1,3}次)?\s*(?:修正|修订|修改|公布|版|文本)[^)]{0,6})\s*\)"
)
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
# Names people use; the key of the law on the right.
SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "消法": "消费者权益保护法",
        "消保法": "消费者权益保护法",
        "民诉法": "民事诉讼法",
        "民诉": "民事诉讼法",
        "刑诉法": "刑事诉讼法",
        "刑诉": "刑事诉讼法",
        "行诉法": "行政诉讼法",
        "道交法": "道路交通安全法",
        "交通安全法": "道路交通安全法",
        "治安处罚法": "治安管理处罚法",
        "治安法": "治安管理处罚法",
        "劳动仲裁法": "劳动争议调解仲裁法",
        "个保法": "个人信息保护法",
        "数安法": "数据安全法",
        "网安法": "网络安全法",
        "反电诈法": "反电信网络诈骗法",
        "反家暴法": "反家庭暴力法",
        "未保法": "未成年人保护法",
        "妇保法": "妇女权益保障法",
        "老年法": "老年人权益保障法",
        "土管法": "土地管理法",
        "城管法": "城市房地产管理法",
        "房地产管理法": "城市房地产管理法",
        "税收征管法": "税收征收管理法",
        "征管法": "税收征收管理法",
        "个税法": "个人所得税法",
        "企税法": "企业所得税法",
        "反法": "反不正当竞争法",
        "招投标法": "招标投标法",
        "土地承包法": "农村土地承包法",
        "破产法": "企业破产法",
        "独资企业法": "个人独资企业法",
        "食安法": "食品安全法",
        "海诉法": "海事诉讼特别程序法",
        "涉外法律适用法": "涉外民事关系法律适用法",
        "期货法": "期货和衍生品法",
        "工伤条例": "工伤保险条例",
        "基金法": "证券投资基金法",
        "香港基本法": "香港特别行政区基本法",
        "澳门基本法": "澳门特别行政区基本法",
        "香港国安法": "香港特别行政区维护国家安全法",
        "选举法": "全国人民代表大会和地方各级人民代表大会选举法",
        "代表法": "全国人民代表大会和地方各级人民代表大会代表法",
        "监督法": "各级人民代表大会常务委员会监督法",
        "民间借贷司法解释": "最高人民法院关于审理民间借贷案件适用法律若干问题的规定",
    }
)
# Repealed laws, with the law that took their place: for an index without the text that repeals them, or where that text
# gives no day. Those that installed statutes repeal by name are compared with them by a test.
KNOWN_REPEALS: Mapping[str, tuple[str, str]] = MappingProxyType(
    dict.fromkeys(
        ("婚姻法", "继承法", "民法通则", "收养法", "担保法", "合同法", "物权法", "侵权责任法", "民法总则"),
        ("中华人民共和国民法典", "2021-01-01"),
    )
    | {
        "经济合同法": ("中华人民共和国合同法", "1999-10-01"),
        "涉外经济合同法": ("中华人民共和国合同法", "1999-10-01"),
        "技术合同法": ("中华人民共和国合同法", "1999-10-01"),
        "执业医师法": ("中华人民共和国医师法", "2022-03-01"),
        "治安管理处罚条例": ("中华人民共和国治安管理处罚法", "2006-03-01"),
        "中外合资经营企业法": ("中华人民共和国外商投资法", "2020-01-01"),
        "中外合作经营企业法": ("中华人民共和国外商投资法", "2020-01-01"),
        "外资企业法": ("中华人民共和国外商投资法", "2020-01-01"),
        "环境噪声污染防治法": ("中华人民共和国噪声污染防治法", "2022-06-05"),
        "行政监察法": ("中华人民共和国监察法", "2018-03-20"),
        "增值税暂行条例": ("中华人民共和国增值税法", "2026-01-01"),
    }
)


def name_key(name: str) -> str:
    """Return the form under which names are compared: no state's name, brackets, blanks, year tags."""
    text = _NOISE.sub("", _YEAR_TAG.sub("", folded(name)))
    return text.replace(STATE, "") or text


def year_tag(name: str) -> int | None:
    """Return the year of a tag such as （2018修正） or （2023-12-29）, None where there is none."""
    match = _YEAR_TAG.search(folded(name))
    return int(match[1]) if match else None


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
        for short, official in SHORT_NAMES.items():
            target = keys.get(name_key(official))
            if target and short not in keys:
                keys[short] = target
        for subject in [subject for subject in subjects if subject.endswith("解释一")]:
            # The first of a series is often the only one, and then quoted without its number.
            subjects.setdefault(subject.removesuffix("一"), subjects[subject])
        return cls(
            MappingProxyType({key: tuple(ids) for key, ids in keys.items()}),
            MappingProxyType({key: tuple(ids) for key, ids in subjects.items()}),
        )

    def find(self, name: str) -> tuple[int, ...]:
        """Return the laws of exactly that name; several if the name does not tell them apart."""
        found = self.by_key.get(name_key(name))
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
