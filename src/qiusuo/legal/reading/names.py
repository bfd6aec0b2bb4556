"""Names of laws: what counts as the same name, short names, and the table that finds a law by any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from qiusuo.legal.models import LawKind
from qiusuo.legal.reading.numbers import folded, han_of

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
# Laws by their keys, with the names people use. A name of several laws is ambiguous and has to be written out.
_ALSO_CALLED: Mapping[str, str] = MappingProxyType(
    {
        "刑法": "刑法典",
        "消费者权益保护法": "消法 消保法 消费者保护法 消费者权益法 消费者权益保障法",
        "民事诉讼法": "民诉法 民诉",
        "刑事诉讼法": "刑诉法 刑诉",
        "行政诉讼法": "行诉法 行诉",
        "行政复议法": "复议法",
        "行政许可法": "许可法",
        "行政强制法": "强制法",
        "行政处罚法": "处罚法",
        "治安管理处罚法": "治安处罚法 治安法 治安管理法 处罚法",
        "国家赔偿法": "赔偿法 国赔法",
        "道路交通安全法": "道交法 交通安全法 道路安全法 道路交通法 交通法",
        "海上交通安全法": "海交法 交通法",
        "劳动合同法": "劳合法",
        "劳动争议调解仲裁法": "劳动仲裁法 劳动争议仲裁法",
        "社会保险法": "社保法",
        "就业促进法": "促进就业法",
        "电子商务法": "电商法",
        "个人信息保护法": "个保法 个人信息法",
        "数据安全法": "数安法",
        "网络安全法": "网安法",
        "反电信网络诈骗法": "反电诈法 反诈法 反诈骗法 反电信诈骗法 反网络诈骗法",
        "反家庭暴力法": "反家暴法",
        "反恐怖主义法": "反恐法",
        "反外国制裁法": "反制裁法",
        "反不正当竞争法": "反法 不正当竞争法",
        "未成年人保护法": "未保法 未成年保护法",
        "预防未成年人犯罪法": "预防未成年犯罪法",
        "妇女权益保障法": "妇保法 妇女权益保护法 妇女保障法 妇女保护法",
        "老年人权益保障法": "老年法 老年人权益保护法 老年人保护法 老年人保障法",
        "残疾人保障法": "残疾人保护法 残疾人权益保障法",
        "退役军人保障法": "退役军人法",
        "军人地位和权益保障法": "军人权益保障法",
        "英雄烈士保护法": "英烈法 英烈保护法",
        "人口与计划生育法": "计划生育法 计生法 人口计生法",
        "家庭教育促进法": "家庭教育法",
        "民办教育促进法": "民促法 民办教育法",
        "民营经济促进法": "民促法 民营经济法",
        "中小企业促进法": "中小企业法",
        "高等教育法": "高教法",
        "职业教育法": "职教法",
        "土地管理法": "土管法",
        "城市房地产管理法": "城管法 房地产管理法 房地产法",
        "城乡规划法": "规划法",
        "国家发展规划法": "规划法 发展规划法",
        "农村土地承包法": "土地承包法",
        "农村土地承包经营纠纷调解仲裁法": "农村土地承包仲裁法 土地承包仲裁法",
        "农民专业合作社法": "合作社法 农民合作社法 专业合作社法",
        "农村集体经济组织法": "集体经济组织法",
        "乡村振兴促进法": "乡村振兴法",
        "村民委员会组织法": "村委会组织法 村组法",
        "城市居民委员会组织法": "居委会组织法 居民委员会组织法",
        "税收征收管理法": "税收征管法 征管法 税法",
        "个人所得税法": "个税法 所得税法 税法",
        "企业所得税法": "企税法 所得税法 税法",
        "增值税法": "税法",
        "城市维护建设税法": "城建税法",
        "车辆购置税法": "购置税法 车购税法",
        "环境保护税法": "环保税法",
        "招标投标法": "招投标法 招标法",
        "政府采购法": "政采法",
        "合伙企业法": "合伙法",
        "企业破产法": "破产法",
        "个人独资企业法": "独资企业法",
        "企业国有资产法": "国资法 国有资产法",
        "食品安全法": "食安法",
        "农产品质量安全法": "农产品安全法",
        "产品质量法": "产品质量安全法",
        "药品管理法": "药管法",
        "疫苗管理法": "疫苗法",
        "传染病防治法": "传染病法",
        "职业病防治法": "职业病法",
        "基本医疗卫生与健康促进法": "基本医疗卫生法 医疗卫生与健康促进法",
        "特种设备安全法": "特种设备法",
        "危险化学品安全法": "危化品安全法 危化品法",
        "环境保护法": "环保法",
        "环境影响评价法": "环评法",
        "固体废物污染环境防治法": "固废法 固体废物法 固体废物污染防治法 固废污染防治法",
        "大气污染防治法": "大气法 大气污染法",
        "水污染防治法": "水污染法",
        "噪声污染防治法": "噪声法 噪声污染法",
        "海洋环境保护法": "海洋环保法 海环法",
        "野生动物保护法": "野保法 野生动物法",
        "节约能源法": "节能法",
        "清洁生产促进法": "清洁生产法",
        "循环经济促进法": "循环经济法",
        "著作权法": "版权法",
        "非物质文化遗产法": "非遗法",
        "科学技术进步法": "科技进步法",
        "科学技术普及法": "科普法",
        "促进科技成果转化法": "科技成果转化法 成果转化法",
        "国家通用语言文字法": "语言文字法 通用语言文字法",
        "无障碍环境建设法": "无障碍法",
        "保守国家秘密法": "保密法",
        "国家安全法": "国安法",
        "香港特别行政区维护国家安全法": "国安法 香港国安法 港区国安法",
        "香港特别行政区基本法": "基本法 香港基本法",
        "澳门特别行政区基本法": "基本法 澳门基本法",
        "香港特别行政区驻军法": "驻军法 香港驻军法",
        "澳门特别行政区驻军法": "驻军法 澳门驻军法",
        "出境入境管理法": "出入境管理法 出入境法",
        "境外非政府组织境内活动管理法": "境外非政府组织法 境外非政府组织管理法 境外NGO法",
        "集会游行示威法": "游行示威法",
        "居民身份证法": "身份证法",
        "公职人员政务处分法": "政务处分法",
        "人民警察法": "警察法",
        "人民武装警察法": "武警法",
        "人民陪审员法": "陪审员法",
        "人民法院组织法": "法院组织法",
        "人民检察院组织法": "检察院组织法",
        "全国人民代表大会组织法": "全国人大组织法",
        "地方各级人民代表大会和地方各级人民政府组织法": "地方组织法 地方人大组织法",
        "全国人民代表大会和地方各级人民代表大会选举法": "选举法 人大代表选举法 人大选举法",
        "全国人民代表大会和地方各级人民代表大会代表法": "代表法 人大代表法",
        "各级人民代表大会常务委员会监督法": "监督法 人大监督法 人大常委会监督法",
        "中国人民银行法": "人民银行法 央行法 银行法",
        "商业银行法": "银行法",
        "银行业监督管理法": "银监法 银行业监管法 银行监管法",
        "证券投资基金法": "基金法",
        "期货和衍生品法": "期货法",
        "注册会计师法": "注会法",
        "海事诉讼特别程序法": "海诉法 海事诉讼法",
        "涉外民事关系法律适用法": "涉外法律适用法 法律适用法",
        "民用航空法": "民航法 航空法",
        "进出口商品检验法": "商检法",
        "国境卫生检疫法": "卫生检疫法",
        "进出境动植物检疫法": "动植物检疫法",
        "公益事业捐赠法": "捐赠法",
        "海南自由贸易港法": "海南自贸港法 自贸港法",
        "石油天然气管道保护法": "管道保护法",
        "领海及毗连区法": "领海法",
        "工伤保险条例": "工伤条例",
        "最高人民法院关于审理民间借贷案件适用法律若干问题的规定": "民间借贷司法解释",
    }
)
SHORT_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        short: tuple(official for official, names in _ALSO_CALLED.items() if short in names.split())
        for shorts in _ALSO_CALLED.values()
        for short in shorts.split()
    }
)
"""What people call laws, with the keys of those that they may mean."""
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
