"""Other jurisdictions, whose laws have the same names as ours."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.legal.reading.editions import HOW

# Words run together: 内蒙古, 即日本人, 依法国家赔偿, 公司法国有企业.
_COUNTRIES: Final = (
    r"美国(?!际)|英国(?!际)|英格兰|苏格兰|(?<![依违合非守枉立执司刑宪民])法国(?![家土有际庆])|德国(?!际)|(?<![今当即生次每近节假同昨某\d])日本|韩国|大韩民国|欧盟|"
    "(?<!白)俄罗斯|白俄罗斯|俄国|苏联|加拿大|澳大利亚|新西兰|新加坡|马来西亚|印度尼西亚|印度|印尼|越南|泰国(?!际)|菲律宾|缅甸|柬埔寨|老挝|"
    "朝鲜(?!族)|(?<!内)蒙古(?!族)|哈萨克斯坦|乌兹别克斯坦|吉尔吉斯斯坦|塔吉克斯坦|巴基斯坦|孟加拉|尼泊尔|斯里兰卡|土耳其|伊朗|伊拉克|以色列|"
    "沙特|阿联酋|卡塔尔|科威特|埃及|南非|肯尼亚|尼日利亚|埃塞俄比亚|乌克兰|波兰|捷克|匈牙利|罗马尼亚|塞尔维亚|奥地利|意大利|西班牙|葡萄牙|瑞士|荷兰|"
    "瑞典|挪威|丹麦|芬兰|冰岛|爱尔兰|比利时|卢森堡|希腊|巴西|墨西哥|阿根廷|(?<![理明机])智利(?![用益])|秘鲁|哥伦比亚|委内瑞拉|古巴"
)
# 参加州里的, 纽约公约, 夏威夷果.
_STATES: Final = (
    "(?<![参增更附])加州|加利福尼亚|纽约(?!公约)|特拉华|得克萨斯|德克萨斯|佛罗里达|华盛顿(?!公约)|伊利诺伊|马萨诸塞|麻省(?!理工)|"
    "宾夕法尼亚|宾州|新泽西|内华达|俄亥俄|密歇根|佐治亚|弗吉尼亚|卡罗来纳|科罗拉多|亚利桑那|夏威夷(?!果)|阿拉斯加|路易斯安那|威斯康星|"
    "明尼苏达|马里兰|康涅狄格|田纳西|肯塔基|密苏里|印第安纳|俄勒冈|犹他|洛杉矶|旧金山|芝加哥|魁北克|安大略|新南威尔士"
)
_OTHER_COURTS: Final = "中华民国|民国|台湾|香港|澳门"
# 俄罗斯联邦, 日本国, 朝鲜民主主义人民共和国, 特拉华州, 香港特别行政区.
_STYLED: Final = (
    "(?:(?:民主|人民|社会|主义|联邦|伊斯兰|阿拉伯|合众|联合){0,5}(?:国家?|共和国|王国|联邦)"
    "|州|市|地区|特别行政区|特区)?"
)
_ABROAD_PLACE: Final = rf"(?:(?:{_COUNTRIES}|{_STATES}){_STYLED}){{1,2}}"
_PLACE: Final = rf"(?:(?:{_COUNTRIES}|{_STATES}|{_OTHER_COURTS}){_STYLED}){{1,2}}"
_ABROAD: Final = re.compile(rf"{_COUNTRIES}|联邦|国际法")
# 德州 before a law is Texas; elsewhere it may well be the city in Shandong.
_LAWGIVER: Final = rf"(?:{_PLACE}|(?<!山东)(?<!山东省)德州(?!市|[,:\s]))"
_ITS_LAW: Final = r"(?:现行|相关|有关|当地)?(?:法律|法规|法例|立法(?!会)|法(?![院律人官学]))(?:规定)?"
# 德国民法典, 在日本，刑法…, 根据日本的法律，刑法….
_BEFORE_A_LAW: Final = re.compile(
    rf"[(〔\[【]?在?(?P<place>{_LAWGIVER})(?:境内|当地|那边|的话|[)〕\]】的里中下上,:\s]){{0,4}}+(?P<law>{_ITS_LAW}[的里中下上,:\s]{{0,4}}+)?$"
)
# 刑法（日本）第199条.
_AFTER_A_LAW: Final = re.compile(rf"[(〔\[【]\s*(?P<place>{_PLACE})(?:的?{_ITS_LAW})?\s*[)〕\]】]的?\s*$")
# 刑法第199条（日本）, 刑法第199条在日本怎么规定, 刑法第199条 日本. A mere Hong Kong may well be what ours is about:
# 反分裂国家法第3条 台湾.
_BEHIND_AN_ARTICLE: Final = re.compile(
    rf"(?:的?(?:规定|内容)|{HOW}|是什么)?[\s,?]*+(?:[(〔\[【]\s*(?P<within>{_PLACE})(?:的?{_ITS_LAW})?\s*[)〕\]】]"
    rf"|(?:在|按照?|依照?|根据|依据)?(?P<place>{_PLACE})(?:境内|当地|那边)?"
    rf"(?:的?{_ITS_LAW}|[里中上下]?的?\s*(?:{HOW}|规定|是什么))"
    rf"|在?(?P<alone>{_ABROAD_PLACE})(?:的|呢)?[?!。\s]*$)"
)
_APART: Final = re.compile(r"[,\s]")
_SPOKEN_OF: Final = re.compile(
    rf"(?P<abroad>{_COUNTRIES}|(?<=在)(?:{_STATES}))|在(?P<near>{_OTHER_COURTS})|\s(?P<last>{_OTHER_COURTS})$"
)


def is_abroad(question: str) -> bool:
    """Tell whether a question is about another country; some laws of ours are about Hong Kong, Macao and Taiwan."""
    return bool(_ABROAD.search(question))


def elsewhere_before(words: str) -> tuple[int, str] | None:
    """Return where the jurisdiction at the end of the words before a law begins, and its name: 德国, 香港."""
    found = _BEFORE_A_LAW.search(words)
    if (
        found
        and not found["law"]
        and _APART.search(found[0])
        and re.search(r"[\u4e00-\u9fff]$", words[: found.start()])
    ):
        return None  # 我丈夫在日本，民法典…: where somebody is
    return (found.start(), found["place"]) if found else None


def elsewhere_after(words: str) -> tuple[str, str]:
    """Take a jurisdiction in brackets off the end of a law's name; empty where there is none."""
    found = _AFTER_A_LAW.search(words)
    return (words[: found.start()], found["place"]) if found else (words, "")


def elsewhere_behind(words: str) -> str:
    """Return the jurisdiction that the words right behind an article say it is of; empty where they say none."""
    found = _BEHIND_AN_ARTICLE.match(words)
    return (found["within"] or found["place"] or found["alone"]) if found else ""


def begins_elsewhere(name: str) -> bool:
    """Tell whether the name of a law begins with another jurisdiction."""
    return bool(re.match(_LAWGIVER, name))


def read_as_ours(question: str) -> tuple[str, str] | None:
    """Return the jurisdiction that a question speaks of, and whose law it is answered with instead."""
    found = _SPOKEN_OF.search(question)
    if found is None:
        return None
    return (found["abroad"], "中国") if found["abroad"] else (found["near"] or found["last"], "内地")
