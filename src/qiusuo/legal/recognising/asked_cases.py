"""Questions for cases: 有没有…的案例, 判例, a 案号 in any writing, a leading case by its number."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.legal.judgments.judgment_text import case_number
from qiusuo.legal.reading.documents import leading_case
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.recognising.crimes import crime_articles, names_crime
from qiusuo.legal.recognising.lay import asks_the_law, speaks_of_law, wants_no_law
from qiusuo.legal.recognising.recognise import looks_legal
from qiusuo.legal.recognising.script import simplified

# Nothing but courts gives these.
_JUDGMENTS: Final = re.compile(
    r"判例|裁判文书|类案(?!件)|(?:找|查|看|搜|有|份|类似的?|相关的?|[审事的])(?:判决书|裁定书)$|指导性?案例|公报案例|典型案例|法院(?:是怎么|怎么|如何)判(?:的|过)"
)
# Everybody has cases: 营销案例, 装修案例. They are the courts' where the rest of the question is about law.
_CASES: Final = re.compile(r"案例|(?:类似|相关|同类|真实)的?案[件子]|判过")
_OTHER_CASES: Final = re.compile(
    r"(?:营销|成功|失败|设计|装修|教学|临床|实战|项目|商业|用户|客户|产品|编程|代码|广告|摄影|培训|管理|创业|投资)案例"
)
# Only where they begin: 申请, 举报 and 持有 have the same characters.
_ASKING: Final = re.compile(
    r"^(?:请问|请|帮我|帮忙|麻烦|能不能|能否|可不可以|给我|我想要?|想要?|看看|查一?[查下]|找一?[找下]|找|搜一?[搜下]|查询|检索|搜索|提供|列举|举|看|要"
    r"|[一几]个|一些|几份|哪些|什么样的|什么|有没有(?:过)?|有无|是否有|有|最新的?|最近的?|相关的?|有关的?|类似的?|同类的?|真实的?|典型的?|关于|因为|因|\s)+"
)
_END: Final = re.compile(r"(?:方面的?|这种|这样的|此类|相关的?|有关的?|类似的?|的|吗|呢|么|[?？。!！,，\s])+$")
_NAMES: Final = re.compile(
    r"的?(?:案例|判例|判决书|裁定书|裁判文书|类案|案[件子](?=$|的))|法院(?:是怎么|怎么|如何)判(?:的|过)?|怎么判(?:的|过)?|判过"
)
# What links the parts of a case in a sentence: 醉酒驾驶判缓刑.
_LINKS: Final = re.compile(r"被?判了?刑|被?判处?(?![决例断令])|而被|因为|导致|之后|以后|[,，]")


def asks_for_cases(question: str) -> bool:
    """Tell whether judgments are asked for, not what the law says."""
    text = simplified(folded(question))
    if case_number(text) or leading_case(text):
        return True
    if wants_no_law(text) or _OTHER_CASES.search(text):
        return False
    return bool(_JUDGMENTS.search(text)) or (bool(_CASES.search(text)) and is_about_law(_CASES.sub("", text)))


def is_about_law(words: str) -> bool:
    """Tell whether words can be about what courts decide on: a crime, a dispute, a word of law."""
    text = simplified(folded(words))
    return any(tells(text) for tells in (looks_legal, speaks_of_law, asks_the_law, names_crime, _is_a_deed))


def case_words(question: str) -> str:
    """Return what the cases that are asked for are about: without the words of asking, where anything else is left."""
    text = simplified(question)
    if not _NAMES.search(text):
        return text
    left = _END.sub("", _ASKING.sub("", _NAMES.sub(" ", text)))
    left = _END.sub("", re.sub(r"(?:民事|刑事|行政)$", "", left))
    return " ".join(_LINKS.sub(" ", left).split()) or text


def case_type_in(question: str) -> str:
    """Return the type of the cases that are asked for: 刑事 of 有没有盗窃的刑事案例; empty where none is said."""
    text = simplified(question)
    found = re.search(r"(民事|刑事|行政|国家赔偿|执行(?=案))(?:案例|判例|判决书|裁定书|案件|裁判)", text)
    return found[1] if found else ""


def _is_a_deed(text: str) -> bool:
    return bool(crime_articles(f"{_ASKING.sub('', text)}判刑"))
