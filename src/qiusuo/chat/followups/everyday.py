"""Weather, food for tonight, jokes, news, the time: asked at any moment, whatever was talked about before.

Such a question takes a place along at most, and is nothing that a later question could be about.
"""

from __future__ import annotations

import re
from typing import Final

from qiusuo.chat.followups import chinese, english
from qiusuo.chat.followups.chinese_questions import read_well
from qiusuo.chat.followups.chinese_words import NOUNS, POINTERS, words_of
from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.english_words import LEXICON
from qiusuo.chat.followups.model import Resolved
from qiusuo.citations.meaning.gazetteer import chinese_names

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LONGEST: Final = 60
_MARKS: Final = re.compile(r"[^\w\s']+")
# What to eat without a day may well be asked about an illness: 高血压吃什么好.
_CHINESE: Final = {
    "weather": re.compile("天气(?:预报)?|[下有]大?[雨雪]|气温|降温|空气质量"),
    "food": re.compile("(?:今天|今晚|今早|明天|明早|明晚|周末).{0,3}[吃做喝][点些]?个?(?:什么|啥)[菜饭]?"),
    "joke": re.compile("笑话|段子|绕口令|谜语|脑筋急转弯|[讲说]一?个故事"),
    "news": re.compile("(?:国际|国内|体育|财经|娱乐|科技|重大|热点|头条)?新闻|热搜|头条"),
    "time": re.compile(
        "(?:现在是?几点|几点钟?了|(?:今天|今日|明天|昨天)是?(?:几号|几月几[号日]|星期几|周几|礼拜几|什么日子|什么节日?))"
        "钟?[了啊呀呢]?$"
    ),
}
_DAY: Final = (
    "(?: (?:right )?(?:now|today|tonight|tomorrow|outside|this (?:week|weekend|morning|evening|afternoon))"
    "| (?:on |this |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day| later| (?:tomorrow|today) (?:morning|evening))*"
)
_SOME_DAY: Final = _DAY.removesuffix("*") + "+"
_ENGLISH: Final = {
    "weather": re.compile(
        rf"(?:(?:what|how)(?:'s| is| will| was)? (?:the |today's |tomorrow's )?(?:weather|forecast)(?: forecast)?"
        rf"(?: be)?(?: like| going to be)?|(?:will|is|does) it (?:going to |gonna )?(?:rain|snow)(?:ing)?"
        rf"|(?:the |today's |tomorrow's )?weather(?: forecast| report)?){_DAY}"
    ),
    "food": re.compile(
        rf"what (?:(?:should|can|could|shall|do|will) (?:i|we) )?(?:to )?"
        rf"(?:(?:cook|make|order)(?: for (?:dinner|lunch|breakfast|supper){_DAY}|{_SOME_DAY})"
        rf"|(?:eat|have|drink)(?: for (?:dinner|lunch|breakfast|supper))?{_SOME_DAY})"
        rf"|what(?:'s| is) for (?:dinner|lunch|breakfast|supper){_DAY}"
    ),
    "joke": re.compile(
        r"(?:please )?(?:(?:can|could|will|would) you )?(?:please )?"
        r"(?:(?:tell|give|write|sing)(?: me| us)?|do you know)"
        r" (?:an?|another|some|any)(?: \w+)? (?:jokes?|riddles?|story|stories|poem|song)|make me laugh"
    ),
    "news": re.compile(
        rf"(?:(?:what(?:'s| is| are)|tell me|show me|give me|is there|are there)(?: in)? ?)?(?:the |any |some )?"
        rf"(?:latest |top |today's |current |world )*(?:news|headlines){_DAY}|what happened today"
    ),
    "time": re.compile(
        rf"what (?:time|day|date|year|month) is it{_DAY}|what(?:'s| is) (?:the|today's) (?:time|date|day){_DAY}"
        r"|what day is today"
    ),
}
_ABOUT_WEATHER: Final = re.compile(rf"{_CHINESE['weather'].pattern}|\b(?:weather|rain|snow)")
_ENGLISH_SIGN: Final = re.compile(
    "weather|forecast|rain|snow|cook|make|order|eat|have|drink|dinner|lunch|breakfast|supper|joke|riddle|stor|poem|song"
    "|laugh|news|headlines|today|time|day|date|year|month",
    re.IGNORECASE,
)
_PLACE_ENDS: Final = (*"市省县区镇乡村州岛山湖江河", "古城", "景区", "公园", "机场", "草原", "沙漠")
_PLACE_KINDS: Final = frozenset({"country", "city", "continent", "landscape"})
# Who asks this of something takes it for a place, though no table knows it.
_ASKED_OF_PLACES: Final = re.compile("好玩|景点|旅游|旅行|特产|美食|小吃|攻略|民宿|酒店|房价|海拔|古镇")


def topic(text: str) -> str:
    """Return which of these a question asks for, where it names nothing else; else nothing."""
    if len(text) > _LONGEST:
        return ""
    if not _HAN.search(text):
        if not _ENGLISH_SIGN.search(text):
            return ""
        said = " ".join(_MARKS.sub(" ", text.lower().replace("’", "'")).split())
        said = re.sub("^(?:and|so|but|ok|okay|by the way) ", "", said)
        return next((name for name, pattern in _ENGLISH.items() if pattern.fullmatch(said)), "")
    bare = text.rstrip("?？!！。. ")
    for name, pattern in _CHINESE.items():
        if (match := pattern.search(bare)) and not _names_more(bare, match.start(), match.end()):
            return name
    return ""


def _names_more(text: str, start: int, end: int) -> bool:
    """Tell whether something is named or pointed to beside the topic; 那 at the beginning only opens."""
    return any(
        word.kind in NOUNS or (word.kind in POINTERS and word.text != "那")
        for word in words_of(text)
        if not start <= word.start < end
    )


def understand(text: str, asked_for: str, talk: Conversation) -> tuple[Leaning, Resolved] | None:
    """Return what such a question means; None where it goes on with one of its own kind: 凯里天气, 明天下雨吗."""
    thing = talk.things[-1] if talk.things else None
    if thing and thing.text in talk.asked and asked_for == "weather" and _ABOUT_WEATHER.search(talk.asked):
        return None
    place = _place(thing, talk.asked) if thing and asked_for not in {"joke", "time"} else ""
    how, resolved = Leaning.ALONE, Resolved(text)
    if place:
        query = chinese.join(place, read_well(text)) if _HAN.search(text) else english.with_added(text, place)
        how, resolved = Leaning.ELLIPSIS, Resolved(query, changed=True, carried=(place,))
    talk.ask(resolved.query)
    return how, resolved


def _place(thing: Thing, asked: str) -> str:
    """Return the place that a thing is or that is named in it."""
    text = thing.text
    if not _HAN.search(text):
        return _english_place(text, asked)
    if text.endswith(_PLACE_ENDS) or (text in asked and _ASKED_OF_PLACES.search(asked)):
        return text
    return next((name for name, kind in chinese_names(text).items() if kind in _PLACE_KINDS), "")


def _english_place(text: str, asked: str) -> str:
    known = next((word for word in text.split() if word.lower() in LEXICON["place"]), "")
    whole = text if all(word[:1].isupper() for word in text.split()) else ""
    if known:
        return whole or known
    there = re.search(r"\b(?:in|to|near|around|visit|visiting) ((?:[A-Z][\w'-]*)(?: [A-Z][\w'-]*)*)", asked)
    return there[1] if there and there[1] in text else ""
