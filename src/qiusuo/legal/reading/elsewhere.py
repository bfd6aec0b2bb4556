"""Other jurisdictions, whose laws have the same names as ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from qiusuo.legal.reading.editions import HOW
from qiusuo.tables import read_table

_TABLE: Final = Path(__file__).parent.parent / "data" / "jurisdictions.tsv"


def _places(kind: str) -> str:
    """Return a pattern for the names of a kind, in the order of the table."""
    rows = [row for row in read_table(_TABLE) if row["kind"] == kind]
    return "|".join(_guarded(row["name"], row["not_after"], row["not_before"]) for row in rows)


def _guarded(name: str, not_after: str, not_before: str) -> str:
    behind = f"(?<![{not_after}])" if not_after else ""
    ahead = f"(?!{not_before})" if not_before else ""
    return f"{behind}{name}{ahead}"


_COUNTRIES: Final = _places("country")
_STATES: Final = _places("state")
_OTHER_COURTS: Final = _places("court")
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
    rf"[(〔\[【]?在?(?P<place>{_LAWGIVER})(?:境内|当地|那边|的话|[)〕\]】的里中下上,:\s]){{0,4}}(?P<law>{_ITS_LAW}[的里中下上,:\s]{{0,4}}+)?$"
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
