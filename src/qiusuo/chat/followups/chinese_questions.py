"""Does a Chinese question lean on what was said before?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from qiusuo.chat.followups.chinese_words import (
    HARD,
    LEXICON,
    OPENING,
    POINTERS,
    SOFT,
    Word,
    one_of,
    pairs,
    things_of,
    words_of,
)
from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.lexicon import is_made_of

EDGE: Final = " \t\n,，。.!！?？;；:：、~…"
_MARKS: Final = re.compile(r"[\s,，。.!！?？;；:：、~…]+")
PARTICLES: Final = "吗呢吧啊呀么嘛啦哦噢哈哟"
_THANKS: Final = re.compile(
    "(?:多谢|(?:非常|十分|太)?感谢|谢谢)(?:你们?|您)?的?(?:耐心|热心|详细|宝贵)?的?"
    "(?:帮助|帮忙|解答|回答|讲解|解释|介绍|指点|建议|分享|支持|回复)"
)
_ONLY_OPENING: Final = one_of("only_opens")
CORRECTION: Final = one_of("correction")
_COURTESY: Final = LEXICON["courtesy"] | frozenset(PARTICLES)
_LONGEST_COURTESY: Final = max(map(len, LEXICON["courtesy"]))
_COMPARING: Final = ("和", "跟", "与", "比", "相比", "同")
_COMPARED: Final = ("比", "区别", "差别", "不同", "哪个", "谁更", "一样", "关系")
# With more characters of its own than this a question names what it is about.
FEW_CHARACTERS: Final = 2
# What may be done, must be done or is not done is mostly asked of something that was named: 可以带宠物进去吗.
_MODALS: Final = (
    "可以",
    "能不能",
    "能",
    "会不会",
    "会",
    "要不要",
    "要",
    "需要",
    "需不需要",
    "有没有",
    "有",
    "不",
    "没",
    "为什么不",
)
_FEW_AFTER_A_MODAL: Final = 4
_SEVERAL_WORDS: Final = 4
_GOING_IN: Final = re.compile(
    "[\u3400-\u9fff]{0,4}(?:能不能|可不可以|能|可以|让不让|让|准)带?[\u3400-\u9fff]{0,3}"
    "(?:进去?|入内|入园|入场|入馆|上去|下去)[吗么嘛不]?"
)
# Of which there is so and so much is an attribute, whatever it is called: 库容是多少. What costs so much is a thing.
_AMOUNT: Final = re.compile("(?:那|那么)?[\u3400-\u9fff]{2,3}[是有]?(?:多少(?!钱)|百分之几)[\u3400-\u9fff]?")
_LONGEST_INSTEAD: Final = 16


@dataclass
class Question:
    """A question, taken apart."""

    text: str
    known: Sequence[str] = ()  # what the conversation was about: names, though no table has them
    bare: str = field(init=False)
    words: list[Word] = field(init=False)
    things: list[Thing] = field(init=False)

    def __post_init__(self) -> None:
        self.bare = self.text.strip(EDGE)
        self.words = words_of(self.text, self.known)
        self.things = things_of(self.words, self.text)

    def is_courtesy(self) -> bool:
        """Tell whether nothing but thanks and greetings was said, however many: 好的谢谢你."""
        said = _THANKS.sub("谢谢", _MARKS.sub("", self.bare.lower()).removeprefix("那"))
        return is_made_of(said, _COURTESY, between="", longest=_LONGEST_COURTESY)

    def says(self, kind: str) -> bool:
        """Tell whether the whole question is a phrase of a kind, or several of them."""
        parts = [part for part in _MARKS.split(self.bare) if part]
        return bool(parts) and all(self._is(part, kind) for part in parts)

    @staticmethod
    def _is(text: str, kind: str) -> bool:
        phrases = LEXICON[kind]
        plain = text.rstrip(PARTICLES)
        return text in phrases or plain in phrases or plain.removeprefix("那") in phrases

    def has(self, *kinds: str) -> bool:
        return any(word.kind in kinds for word in self.words)

    def pointers(self) -> list[Word]:
        """Return the words that stand for something said earlier."""
        return [word for at, word in enumerate(self.words) if word.kind in POINTERS and self._points(at)]

    def _points(self, at: int) -> bool:
        word = self.words[at]
        if word.text in {"那", "其"}:  # 那 opens at the beginning; 其 stands inside words elsewhere
            return (word.text == "其") == (at == 0)
        before = self.words[at - 1] if at else None
        if word.kind == "thing" and before is not None and before.kind in HARD and len(before.text) > 1:
            return False  # 呼兰河传这本书
        marks = [i for i in range(at) if self.words[i].kind == "mark"]
        return not marks or not any(thing.last <= self.words[marks[-1]].start for thing in self.things)

    def own_characters(self) -> int:
        return sum(len(word.text) for word in self.words if word.kind in HARD)

    def subject(self) -> Thing | None:
        """Return what the question is about: a name, else what is not a mere aspect, else that."""
        hard = [thing for thing in self.things if is_hard(self, thing) and thing.text not in LEXICON["group"]]
        long = [thing for thing in hard if len(thing.text) > 1]
        named = [thing for thing in hard if thing.named]
        return next(iter(named or long or hard or self.things), None)

    def introduces(self) -> bool:
        """Tell whether something is named after words that only lead to it: 你知道苏炳添吗, 介绍一下都江堰."""
        ends = {word.end for word in self.words if word.text in LEXICON["introducing"]}
        if any(thing.first in ends and len(thing.text) > 1 and is_hard(self, thing) for thing in self.things):
            return True
        return self.bare.startswith(("什么是", "什么叫")) and bool(self.things)


def is_hard(question: Question, thing: Thing) -> bool:
    """Tell whether a thing is more than an aspect or what is done."""
    return any(word.kind in HARD and thing.first <= word.start < thing.last for word in question.words)


def leaning(question: Question, talk: Conversation) -> Leaning:
    """Tell how a question leans on the conversation before it."""
    if question.is_courtesy():
        return Leaning.COURTESY
    if not talk.asked:
        return Leaning.ALONE
    if question.says("more") or question.says("why"):
        return Leaning.MORE
    if CORRECTION.match(question.bare) or new_thing(question):
        return Leaning.INSTEAD
    if question.pointers():
        return Leaning.POINTING
    if talk.was_in_another_script(chinese=True) and _has_subject(question):
        return Leaning.ALONE
    return Leaning.ELLIPSIS if _leaves_out(question, talk) else Leaning.ALONE


def new_thing(question: Question) -> str:
    """Return what is asked about instead: 那特斯拉呢."""
    bare = without_opener(question.bare)
    if len(bare) > _LONGEST_INSTEAD or question.has("asking") or question.pointers():
        return ""
    if not bare.endswith("呢") and not (question.has("article") and bare != question.bare):
        return ""
    rest = bare.rstrip(PARTICLES)
    return rest if question.has("time", "article", *HARD, *SOFT) else ""


def without_opener(text: str) -> str:
    """Return a question without the word that opens it."""
    opener = OPENING.match(text)
    return text[opener.end() :].lstrip(EDGE) if opener else text


def read_well(text: str) -> str:
    """Return a query without the word that only opened the question; 还有 is part of what is asked."""
    opener = _ONLY_OPENING.match(text)
    return text[opener.end() :].lstrip(EDGE) if opener else text


def _leaves_out(question: Question, talk: Conversation) -> bool:
    if article_without_law(question) or _first_half_is_missing(question) or _goes_in(question):
        return True
    # Whoever comes back to something does not mean what was spoken of in between.
    known = frozenset[str]().union(*(thing.stems for thing in talk.things))
    if any(_own_stems(question, thing) & known for thing in question.things):
        return False
    if question.has("inside") or _lacks_subject(question):
        return True
    if question.has("title", "name", "known", "latin") or question.introduces():
        return False
    if without_opener(question.bare) != question.bare:
        return True
    if _asks_for_aspect_of_its_own(question):
        return False
    if question.words[0].kind == "predicate":  # 支持无线充电的手机有哪些
        return False
    first = question.things[0] if question.things else None
    begins = first is not None and first.first == 0 and len(first.full) > 1 and question.words[0].kind in HARD
    few = _FEW_AFTER_A_MODAL if question.bare.startswith(_MODALS) else FEW_CHARACTERS
    return not begins and question.own_characters() <= few


def _own_stems(question: Question, thing: Thing) -> frozenset[str]:
    """Return what a thing can be recognised by; whoever says 公司 does not come back to 公司试用期."""
    groups = [word for word in question.words if word.kind == "class_noun" and word.text in LEXICON["group"]]
    return thing.stems.difference(*(pairs(word.text) for word in groups)) if groups else thing.stems


def _has_subject(question: Question) -> bool:
    """Tell whether a question begins with something of several words: 项目预算是多少, not 预算是多少."""
    first = question.things[0] if question.things else None
    if first is None or first.first or question.pointers():
        return False
    kinds = HARD | {"class_noun"}
    own = sum(len(word.text) for word in question.words if word.kind in kinds and word.start < first.last)
    return is_hard(question, first) and own >= _SEVERAL_WORDS


def _goes_in(question: Question) -> bool:
    """Tell whether somebody wants to go in and does not say where: 狗能进去吗."""
    return _GOING_IN.fullmatch(question.bare) is not None and not question.has("title", "name", "known", "latin")


def _asks_for_aspect_of_its_own(question: Question) -> bool:
    """Tell whether an aspect is asked for and said of what: 有没有民间借贷的案例."""
    words = question.words
    return question.bare.startswith("有") and any(
        word.kind == "aspect"
        and words[at - 1].text == "的"
        and words[at - 2].kind in HARD
        and len(words[at - 2].text) >= FEW_CHARACTERS
        and words[at - 2].text not in LEXICON["group"] | LEXICON["describing"]
        for at, word in enumerate(words)
        if at > 1
    )


def _lacks_subject(question: Question) -> bool:
    """Tell whether a question begins with what something does or has: 支持无线充电吗, 流经哪些城市."""
    first = question.words[0]
    if question.has("title", "name", "known") or "的" in question.bare:
        return False
    group = next((name for name in LEXICON["group"] if question.bare.startswith(name)), "")
    if group and question.bare[len(group) :].startswith(_MODALS):  # 学生有优惠吗
        return question.own_characters() <= len(group) + FEW_CHARACTERS
    if _AMOUNT.fullmatch(question.bare):
        return True
    also = len(question.words) > 1 and question.words[1].text == "也"  # 电动车也要买吗
    return also or first.kind == "predicate"


def article_without_law(question: Question) -> Word | None:
    """Return an article that is named without its law: 第584条怎么规定的."""
    article = next((word for word in question.words if word.kind == "article"), None)
    if article is None or any(word.kind in HARD and word.end <= article.start for word in question.words):
        return None
    return article


def _first_half_is_missing(question: Question) -> bool:
    """Tell whether something is compared with what was left out: 和华为比哪个好."""
    return question.bare.startswith(_COMPARING) and any(sign in question.bare for sign in _COMPARED)
