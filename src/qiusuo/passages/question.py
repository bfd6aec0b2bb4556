"""What a question asks for: its words, the years it names, and the kind of answer it wants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from qiusuo.citations.meaning.names import names
from qiusuo.citations.meaning.wording import fold, terms
from qiusuo.tables import read_table

YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_TABLE: Final = Path(__file__).parent / "data" / "asked.tsv"
_NO_KIND: Final = "-"
_LONGEST_QUESTION: Final = 600
# Words that only say that something is asked. What kind of thing is asked for is read from the table.
_QUESTION_WORDS: Final = re.compile(
    r"什么时候|什么时间|什么地方|什么|怎么样|怎么|怎样|如何|为什么|为何|哪些|哪一[个位年天支]|哪[个位年天里儿支座]|哪|"
    r"多少(?:平方公里|平方米|公里|千米|厘米|米|公斤|吨|块钱|[个位名支人元])?|多久|多长时间|多[长大高重远快]|几时|几[个位名支]|几|是否|是不是|能不能|有没有|是谁|谁|何时|何地|何人|"
    r"请问|请|叫|[吗呢么？?！!。]|最新|目前|现在|有(?=[\s？?]|$)|"
    r"\b(?:please|tell me|latest|current(?:ly)?|name of)\b",
    re.IGNORECASE,
)
# Where to look is no part of what is asked: 合同里租金是多少 asks for the rent.
_IN_THE_TEXT: Final = re.compile(
    r"(?<![\u4e00-\u9fff])(?:根据|按照|在)?(?:这[份篇个]|[本该])?"
    r"(?:合同|协议|报告|论文|手册|方案|文章|文件|文档|说明书|简历|发票)[里中上内](?:面|边)?(?:的|，|,)?"
)
# Two questions in one (租金是多少，拖欠多久可以解除): each part asks something.
_BETWEEN: Final = re.compile(r"[，,；;。？?！!\n]+|\band (?=(?:how|what|when|where|who|which|why)\b)", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"多少|多久|多[长大高远]|几[个天年月次]|什么|哪|谁|怎么|怎样|如何|是否|能否|能不能|是不是|有没有|何时|为何|吗|"
    r"\b(?:how|what|when|where|who|which|why)\b",
    re.IGNORECASE,
)
_SHORTEST_PART: Final = 4
# The 年 of 2022年春节 belongs to the number, not to a word 年春.
_AFTER_NUMBER: Final = re.compile(r"(?<=\d)\s?[年月日号]份?")
# 多少支队伍, 几层: the first character behind is a measure word, or the thing itself has two.
_HOW_MANY: Final = re.compile(r"(?:多少|几)[个的]*([\u4e00-\u9fff])([\u4e00-\u9fff]?)")
_HOW: Final = re.compile(r"多([高长宽深远重])")
_NO_THING: Final = frozenset("钱是呢啊吗了年月时岁")
_MEASURES: Final = frozenset("支名位只家次届人种辆艘枚部条座套台层件场张间栋颗")
# No real number is longer; a page of nothing but figures shall not take minutes.
_NUMBER: Final = r"(?:(?<!\d)\d[\d.,]{0,20}|[一二两三四五六七八九十百千万亿]{1,8})[多余万亿]{0,3}\s?"
_SEVERAL: Final = re.compile(
    r"哪些|分别|主演|成员|阵容|名单|嘉宾|\b(?:who are|who were|list of|members|cast)\b", re.IGNORECASE
)
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w.'-]*")
_LAST_WORD: Final = re.compile(r"([\u4e00-\u9fff]{2})[是为有的达到了在\s]*\Z")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking needs it.

    ``words`` are stems and pairs of Chinese characters; ``related`` ones stand in answers rather than in questions.
    ``kinds`` are those of the table. ``counted`` is a pattern for the number asked for (多少支队伍: 32支, 多高: 高468).
    ``attribute`` is the last word of a Chinese question (票房 of 2021年总票房是多少). ``asking`` are the words that say
    what is asked of the subject (导演, won); ``names`` are Latin names and 《titles》 in small letters.
    ``several``: more than one may be the answer.
    """

    text: str
    words: frozenset[str]
    related: frozenset[str]
    kinds: frozenset[str]
    years: frozenset[str]
    counted: str
    attribute: str
    asking: frozenset[str]
    names: frozenset[str]
    several: bool


def read_question(question: str) -> Question:
    """Return what a question asks for; of an overlong one only the beginning is read."""
    folded = fold(question[:_LONGEST_QUESTION])
    asked = [(kind, related) for pattern, kind, related in _asked() if pattern.search(folded)]
    said = _QUESTION_WORDS.sub(" ", _IN_THE_TEXT.sub(" ", folded))
    words = terms(_AFTER_NUMBER.sub(" ", said)) or terms(folded)
    related = terms(" ".join(related for _, related in asked)) - words
    last = _LAST_WORD.search(said)
    known = names(folded)
    return Question(
        text=folded.lower(),
        words=frozenset(words),
        related=frozenset(related),
        kinds=frozenset(kind for kind, _ in asked if kind != _NO_KIND),
        years=frozenset(YEAR.findall(folded)),
        counted=_counted(folded),
        attribute=last[1] if last else "",
        asking=frozenset(_asking(said, last[1] if last else "", related) & (words | related)),
        several=_SEVERAL.search(folded) is not None,
        names=known.latin | {title.lower() for title in known.titles},
    )


def questions_in(question: str) -> list[str]:
    """Return the questions that one is made of; itself alone where not every part of it asks something."""
    parts = [part.strip() for part in _BETWEEN.split(question[:_LONGEST_QUESTION])]
    parts = [part for part in parts if part]
    several = len(parts) > 1 and all(len(part) >= _SHORTEST_PART and _ASKS.search(part) for part in parts)
    return parts if several else [question]


def _asking(said: str, attribute: str, related: set[str]) -> set[str]:
    """Return the words that say what is asked of the subject: no names, which are written with capitals in English."""
    return related | {attribute} | terms(_CAPITALISED.sub(" ", said) if said.isascii() else "")


def _counted(question: str) -> str:
    how = _HOW.search(question)
    if how:
        return rf"{how[1]}[度达约近为有]{{0,2}}\s?{_NUMBER}"
    found = _HOW_MANY.search(question)
    if found is None or found[1] in _NO_THING:
        return ""
    thing = found[1] if found[1] in _MEASURES or not found[2] else found[1] + found[2]
    return rf"{_NUMBER}[个名位]?{thing}"


@cache
def _asked() -> list[tuple[re.Pattern[str], str, str]]:
    return [(re.compile(row["asked"], re.IGNORECASE), row["kind"], row["related"]) for row in read_table(_TABLE)]
