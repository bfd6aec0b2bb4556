"""Questions in other writing than the statutes: traditional characters, and laws by their English names."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
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
_NUMBER = r"\d{1,4}(?:-\d{1,4})?"
_ARTICLES = re.compile(
    rf"\b(?:articles?|arts?\.?|secs?\.?|sections?)\s*"
    rf"(?P<numbers>{_NUMBER}(?:\s*(?:,\s*and|,|and|&|to|through)\s*(?:articles?\s*|arts?\.?\s*)?{_NUMBER})*)\b"
)
_NAMES = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(ENGLISH_NAMES, key=len, reverse=True)))
_CHINESE = re.compile(r"\b(?:people'?s republic\s+(?:of\s+)?china|prc|p\.r\.c\.?|chinese|china(?:'s)?)(?!\w)")
_EDITION = re.compile(r"\b(?:(?P<year>(?:19|20)\d\d)|old|former|previous)\b")
# What may stand around a reference and asks for nothing more.
_KNOWN_WORDS = re.compile(
    r"\b(?:what|does|do|is|are|says?|said|the|of|in|under|text|full|please|show|me|find|look|up|about|and|version|a|read|"
    r"give|tell|which|content|provisions?|stipulates?)\b"
)
_HAN = re.compile("[\u4e00-\u9fff]")


def simplified(text: str) -> str:
    """Return text in simplified characters, where OpenCC is installed (extra ``legal``)."""
    try:
        text.encode("gb2312")  # has no traditional characters
    except UnicodeEncodeError:
        with suppress(UnicodeError):  # half a character, which no encoding has
            return _converter()(text)
    return text


@cache
def _converter() -> Callable[[str], str]:
    if importlib.util.find_spec("opencc") is None:
        return str
    convert: Callable[[str], str] = importlib.import_module("opencc").OpenCC("t2s").convert
    return convert


def has_han(text: str) -> bool:
    """Tell whether a text has a Chinese character at all."""
    return bool(_HAN.search(text))


def from_english(query: str) -> tuple[str, bool] | None:
    """Return a question for a law of China by its English name in Chinese, and whether it says that China's is meant.

    ``Article 577 of the PRC Civil Code`` is 民法典第577条. None where it asks for something else as well, or for
    another country's: a search of the web knows more about that.
    """
    if has_han(query):
        return None
    words = re.sub(r"\s+", " ", query.lower().replace("labour", "labor"))
    found = list(_NAMES.finditer(words))
    articles = list(_ARTICLES.finditer(words))
    rest = _KNOWN_WORDS.sub(" ", _NAMES.sub(" ", _ARTICLES.sub(" ", words)))
    ours, edition = bool(_CHINESE.search(words)), _EDITION.search(rest)
    unread = _EDITION.sub(" ", _CHINESE.sub(" ", rest))
    if len(found) != 1 or not (articles or ours) or re.search(r"\w", unread):
        return None
    law = ENGLISH_NAMES[found[0][0]]
    if edition:
        law = f"{law}（{edition['year']}）" if edition["year"] else f"旧{law}"
    numbers = "、".join(_in_chinese(match["numbers"]) for match in articles)
    return law + (f"第{numbers}条" if articles else ""), ours


def _in_chinese(numbers: str) -> str:
    text = re.sub(r"(?:articles?|arts?\.?)\s*", "", numbers)
    return re.sub(r"\s*(?:,\s*and|,|and|&)\s*", "、", re.sub(r"\s*(?:to|through)\s*", "至", text))
