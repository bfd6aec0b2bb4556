"""An article that is named without its law is one of the law that was spoken of: 那第十九条呢."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.chat.followups.chinese_words import NUMBER, OPENING, Word, words_of
from qiusuo.chat.followups.conversation import Conversation
from qiusuo.numerals import han_number

_LAW: Final = "法典|法|条例|办法|规定|细则|解释"
_NAMED: Final = re.compile(
    rf"(?:《(?P<title>[^《》]{{2,60}})》|(?P<name>[\u3400-\u9fff]{{1,40}}(?:{_LAW})))\s?(?P<article>第[{NUMBER}]+条)"
)
_IS_LAW: Final = re.compile(rf".+(?:{_LAW})[》”\"]?")
# What leads to a name is no part of it, and 本法 names none.
_LEADS: Final = re.compile("根据|依据|依照|按照|参照|违反|符合|本|该")
_SHORTEST: Final = 2
_ARTICLE: Final = re.compile(
    rf"(?P<whole>(?:第[{NUMBER}]+|(?<=[法典例定则释》])\d{{1,4}})[条條](?:之[一二三四五六七八九十])?)"
    rf"(?P<paragraph>(?:第[{NUMBER}]+款)?)(?:第[{NUMBER}]+项)?"
)
_NO_OBJECT: Final = r"(?=$|[\s?？,，。呢吗的是有和与之第说讲]|规定|内容|怎么|什么|如何)"  # 3条裤子
_WITHOUT_SIGN: Final = re.compile(rf"(?P<opens>{OPENING.pattern}|)(?P<number>\d{{1,4}}|[{NUMBER}]{{2,}})条{_NO_OBJECT}")
_MERE_NUMBER: Final = re.compile(rf"(?P<opens>{OPENING.pattern}|)(?P<number>(?!(?:19|20)\d\d)\d{{1,4}})呢?[?？]*")
_NEIGHBOUR: Final = re.compile(
    rf"(?P<opens>{OPENING.pattern}|)再?(?P<way>[下后上前])(?:面的?)?一[条條](?=$|[\s?？,，。呢吗的是说讲]|规定|内容|怎么|什么|如何)"
)
_ON: Final = {"下": 1, "后": 1, "上": -1, "前": -1}
_PART: Final = re.compile(rf"(?P<opens>{OPENING.pattern}|)(?=第[{NUMBER}]+(?P<part>[款项]))")


def with_whole_article(text: str, talk: Conversation) -> str:
    """Return a question with the article that it means spelled out: 584条呢, 第二款呢 after 刑法第266条."""
    bare, number, part = _WITHOUT_SIGN.match(text), _MERE_NUMBER.fullmatch(text), _PART.match(text)
    next_to = _NEIGHBOUR.match(text)
    if not (bare or number or part or next_to):
        return text
    last = next(_ARTICLE.finditer(talk.asked), None)
    if next_to and last and (beside := _beside(last["whole"], next_to["way"])):
        return f"{next_to['opens']}{beside}{text[next_to.end() :]}"
    if bare and (last or any(_law(thing.text) for thing in talk.things)):
        return f"{bare['opens']}第{text[bare.start('number') :]}"
    if number and last:
        return f"{number['opens']}第{number['number']}条呢"
    if part and last:
        whole = f"第{last['whole'].removeprefix('第')}"
        paragraph = last["paragraph"] if part["part"] == "项" else ""
        return f"{part['opens']}{whole}{paragraph}{text[part.end() :]}"
    return text


def beside_quoted(text: str, talk: Conversation) -> str:
    """Return the article next to the first that the answer has quoted, where that is meant and none was asked for."""
    wanted = _NEIGHBOUR.match(text)
    if not wanted or _ARTICLE.search(talk.asked):
        return ""
    quoted = next((match for match in _NAMED.finditer(talk.answer) if len(_name(match)) >= _SHORTEST), None)
    beside = _beside(quoted["article"], wanted["way"]) if quoted else ""
    return _name(quoted) + beside if quoted and beside else ""


def _beside(article: str, way: str) -> str:
    """Return the next article or the one before; none beside 第133条之一, where the number does not tell."""
    digits = article.removeprefix("第").rstrip("条條")
    number = int(digits) if digits.isdecimal() else int(han_number(digits) or 0)
    beside = number + _ON[way]
    return f"第{beside}条" if number and beside else ""


def law_before(text: str) -> str:
    """Return the name of the law before the number of its article."""
    return next((text[: word.start] for word in words_of(text) if word.kind == "article"), "")


def law_spoken_of(article: Word, talk: Conversation) -> str:
    """Return the law that an article belongs to: the one asked about last, else one that the answer quotes from.

    Of several in the answer it is the one with that article, else the first.
    """
    last, *earlier = [_law(thing.text) for thing in reversed(talk.things)] or [""]
    return last or _heard(article.text, talk.answer) or next(filter(None, earlier), "")


def _law(thing: str) -> str:
    return law_before(thing) or (thing if _IS_LAW.fullmatch(thing) else "")


def _heard(article: str, answer: str) -> str:
    found = [(_name(match), match["article"]) for match in _NAMED.finditer(answer)]
    named = [(law, number) for law, number in found if len(law) >= _SHORTEST]
    return next((law for law, number in named if number == article), named[0][0] if named else "")


def _name(match: re.Match[str]) -> str:
    return match["title"] or _LEADS.split(match["name"])[-1]
