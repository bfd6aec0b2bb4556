"""Questions in other writing than the statutes: traditional characters, and laws by their English names."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

ENGLISH_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "civil code": "民法典",
        "constitution": "宪法",
        "criminal law": "刑法",
        "criminal code": "刑法",
        "criminal procedure law": "刑事诉讼法",
        "civil procedure law": "民事诉讼法",
        "administrative procedure law": "行政诉讼法",
        "administrative litigation law": "行政诉讼法",
        "administrative penalty law": "行政处罚法",
        "administrative licensing law": "行政许可法",
        "company law": "公司法",
        "partnership enterprise law": "合伙企业法",
        "enterprise bankruptcy law": "企业破产法",
        "securities law": "证券法",
        "insurance law": "保险法",
        "trust law": "信托法",
        "foreign investment law": "外商投资法",
        "labor law": "劳动法",
        "labor contract law": "劳动合同法",
        "social insurance law": "社会保险法",
        "labor dispute mediation and arbitration law": "劳动争议调解仲裁法",
        "arbitration law": "仲裁法",
        "patent law": "专利法",
        "trademark law": "商标法",
        "copyright law": "著作权法",
        "anti-unfair competition law": "反不正当竞争法",
        "anti-monopoly law": "反垄断法",
        "advertising law": "广告法",
        "e-commerce law": "电子商务法",
        "cybersecurity law": "网络安全法",
        "data security law": "数据安全法",
        "personal information protection law": "个人信息保护法",
        "pipl": "个人信息保护法",
        "consumer rights protection law": "消费者权益保护法",
        "consumer protection law": "消费者权益保护法",
        "product quality law": "产品质量法",
        "food safety law": "食品安全法",
        "road traffic safety law": "道路交通安全法",
        "individual income tax law": "个人所得税法",
        "enterprise income tax law": "企业所得税法",
        "land administration law": "土地管理法",
        "environmental protection law": "环境保护法",
        "legislation law": "立法法",
        "lawyers law": "律师法",
    }
)
_ARTICLE = re.compile(r"\bart(?:icle|\.)?\s*(\d{1,4})\b", re.IGNORECASE)
_CHINESE = re.compile(r"\b(?:prc|p\.r\.c|chinese|china|people'?s republic of china)\b", re.IGNORECASE)
_FOREIGN = re.compile(
    r"\b(?:us|u\.s|american?|uk|british|english|german|french|japan(?:ese)?|korean?|taiwan(?:ese)?|hong kong|maca[ou]|"
    r"indian?|swiss|italian|spanish|dutch|russian?|vietnam(?:ese)?|singapore(?:an)?|canad(?:a|ian)|australian?|eu|european|"
    r"quebec|california|louisiana|republic of china(?<!people's republic of china)(?<!peoples republic of china))\b",
    re.IGNORECASE,
)
_HAN = re.compile("[\u4e00-\u9fff]")


def simplified(text: str) -> str:
    """Return text in simplified characters, where OpenCC is installed (extra ``legal``)."""
    try:
        text.encode("gb2312")  # has no traditional characters
    except UnicodeEncodeError:
        return _converter()(text)
    return text


@cache
def _converter() -> Callable[[str], str]:
    if importlib.util.find_spec("opencc") is None:
        return str
    convert: Callable[[str], str] = importlib.import_module("opencc").OpenCC("t2s").convert
    return convert


def from_english(query: str) -> tuple[str, bool] | None:
    """Return a question for a law of China by its English name in Chinese, and whether it says that China's is meant.

    ``Article 577 of the PRC Civil Code`` is 民法典第577条. None where it names no law, or another country.
    """
    if _HAN.search(query):
        return None
    words = re.sub(r"\s+", " ", query.lower().replace("labour", "labor"))
    named = [name for name in ENGLISH_NAMES if re.search(rf"\b{re.escape(name)}\b", words)]
    article = _ARTICLE.search(words)
    ours = bool(_CHINESE.search(words))
    if not named or not (article or ours) or _FOREIGN.search(words):
        return None
    law = ENGLISH_NAMES[max(named, key=len)]
    return f"{law}第{article[1]}条" if article else law, ours
