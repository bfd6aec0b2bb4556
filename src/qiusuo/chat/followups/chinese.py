"""Follow-up questions in Chinese: does a question lean on what was said, and what does it mean by itself?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from qiusuo.chat.followups import english, english_questions
from qiusuo.chat.followups.chinese_articles import law_spoken_of
from qiusuo.chat.followups.chinese_words import (
    HARD,
    LEXICON,
    NOUNS,
    POINTERS,
    SOFT,
    Word,
    one_of,
    things_of,
    words_of,
)
from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.lexicon import is_made_of
from qiusuo.chat.followups.model import Resolved

_EDGE: Final = " \t\n,，。.!！?？;；:：、~…"
_MARKS: Final = re.compile(r"[\s,，。.!！?？;；:：、~…]+")
_PARTICLES: Final = "吗呢吧啊呀么嘛啦哦噢哈哟"
_OPENING: Final = one_of("opener")
_ONLY_OPENING: Final = one_of("only_opens")
_CORRECTION: Final = one_of("correction")
_COURTESY: Final = LEXICON["courtesy"] | frozenset(_PARTICLES)
_LONGEST_COURTESY: Final = max(map(len, LEXICON["courtesy"]))
_PERSON_ASPECTS: Final = tuple(LEXICON["person_aspect"])
_COMPARING: Final = ("和", "跟", "与", "比", "相比", "同")
_COMPARED: Final = ("比", "区别", "差别", "不同", "哪个", "谁更", "一样", "关系")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN_EDGE: Final = re.compile("[A-Za-z0-9]")
# With more characters of its own than this a question names what it is about.
_FEW_CHARACTERS: Final = 2
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
# Of which there is so and so much is an attribute, whatever it is called: 库容是多少. What costs so much is a thing.
_AMOUNT: Final = re.compile("(?:那|那么)?[\u3400-\u9fff]{2,3}[是有]?(?:多少(?!钱)|百分之几)[\u3400-\u9fff]?")
_SHORTEST_NAME: Final = 2
_LONGEST_NAME: Final = 6
_LONGEST_HEARD: Final = 12
_CHARACTERS_HEARD: Final = 60
_WHO_IS: Final = ("是谁", "谁是", "什么人")
_WHO: Final = ("谁", "誰", "哪位", "作者", "创始人", "导演")
_SENTENCE_END: Final = re.compile(r"[。！？\n\[]")
_MOST: Final = 0.5
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
        self.bare = self.text.strip(_EDGE)
        self.words = words_of(self.text, self.known)
        self.things = things_of(self.words, self.text)

    def is_courtesy(self) -> bool:
        """Tell whether nothing but thanks and greetings was said, however many: 好的谢谢你."""
        said = _MARKS.sub("", self.bare.lower()).removeprefix("那")
        return is_made_of(said, _COURTESY, between="", longest=_LONGEST_COURTESY)

    def says(self, kind: str) -> bool:
        """Tell whether the whole question is a phrase of a kind, or several of them."""
        parts = [part for part in _MARKS.split(self.bare) if part]
        return bool(parts) and all(self._is(part, kind) for part in parts)

    @staticmethod
    def _is(text: str, kind: str) -> bool:
        phrases = LEXICON[kind]
        plain = text.rstrip(_PARTICLES)
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
        hard = [thing for thing in self.things if _is_hard(self, thing) and thing.text not in LEXICON["group"]]
        long = [thing for thing in hard if len(thing.text) > 1]
        named = [thing for thing in hard if thing.named]
        return next(iter(named or long or hard or self.things), None)

    def introduces(self) -> bool:
        """Tell whether something is named after words that only lead to it: 你知道苏炳添吗, 介绍一下都江堰."""
        ends = {word.end for word in self.words if word.text in LEXICON["introducing"]}
        if any(thing.first in ends and len(thing.text) > 1 and _is_hard(self, thing) for thing in self.things):
            return True
        return self.bare.startswith(("什么是", "什么叫")) and bool(self.things)


def _is_hard(question: Question, thing: Thing) -> bool:
    return any(word.kind in HARD and thing.first <= word.start < thing.last for word in question.words)


def leaning(question: Question, talk: Conversation) -> Leaning:
    """Tell how a question leans on the conversation before it."""
    if question.is_courtesy():
        return Leaning.COURTESY
    if not talk.asked:
        return Leaning.ALONE
    if question.says("more") or question.says("why"):
        return Leaning.MORE
    if _CORRECTION.match(question.bare) or _new_thing(question):
        return Leaning.INSTEAD
    if question.pointers():
        return Leaning.POINTING
    return Leaning.ELLIPSIS if _leaves_out(question, talk) else Leaning.ALONE


def _new_thing(question: Question) -> str:
    """Return what is asked about instead: 那特斯拉呢."""
    bare = _without_opener(question.bare)
    if len(bare) > _LONGEST_INSTEAD or question.has("asking") or question.pointers():
        return ""
    if not bare.endswith("呢") and not (question.has("article") and bare != question.bare):
        return ""
    rest = bare.rstrip(_PARTICLES)
    return rest if question.has("time", "article", *HARD, *SOFT) else ""


def _without_opener(text: str) -> str:
    opener = _OPENING.match(text)
    return text[opener.end() :].lstrip(_EDGE) if opener else text


def _read_well(text: str) -> str:
    """Return a query without the word that only opened the question; 还有 is part of what is asked."""
    opener = _ONLY_OPENING.match(text)
    return text[opener.end() :].lstrip(_EDGE) if opener else text


def _leaves_out(question: Question, talk: Conversation) -> bool:
    if _article_without_law(question) or _first_half_is_missing(question):
        return True
    # Whoever comes back to something does not mean what was spoken of in between.
    known = frozenset[str]().union(*(thing.stems for thing in talk.things))
    if any(thing.stems & known for thing in question.things):
        return False
    if question.has("inside") or _lacks_subject(question):
        return True
    if question.has("title", "name", "known", "latin") or question.introduces():
        return False
    if _without_opener(question.bare) != question.bare:
        return True
    if question.words[0].kind == "predicate":  # 支持无线充电的手机有哪些
        return False
    first = question.things[0] if question.things else None
    begins = first is not None and first.first == 0 and len(first.full) > 1 and question.words[0].kind in HARD
    few = _FEW_AFTER_A_MODAL if question.bare.startswith(_MODALS) else _FEW_CHARACTERS
    return not begins and question.own_characters() <= few


def _lacks_subject(question: Question) -> bool:
    """Tell whether a question begins with what something does or has: 支持无线充电吗, 流经哪些城市."""
    first = question.words[0]
    if question.has("title", "name", "known") or "的" in question.bare:
        return False
    group = next((name for name in LEXICON["group"] if question.bare.startswith(name)), "")
    if group and question.bare[len(group) :].startswith(_MODALS):  # 学生有优惠吗
        return question.own_characters() <= len(group) + _FEW_CHARACTERS
    if _AMOUNT.fullmatch(question.bare):
        return True
    also = len(question.words) > 1 and question.words[1].text == "也"  # 电动车也要买吗
    return also or first.kind == "predicate"


def _article_without_law(question: Question) -> Word | None:
    """Return an article that is named without its law: 第584条怎么规定的."""
    article = next((word for word in question.words if word.kind == "article"), None)
    if article is None or any(word.kind in HARD and word.end <= article.start for word in question.words):
        return None
    return article


def _first_half_is_missing(question: Question) -> bool:
    """Tell whether something is compared with what was left out: 和华为比哪个好."""
    return question.bare.startswith(_COMPARING) and any(sign in question.bare for sign in _COMPARED)


def understand(text: str, talk: Conversation) -> tuple[Leaning, Resolved]:
    """Return how a question leans and what it means by itself; the conversation goes on with it."""
    question = Question(text, _known(talk))
    how = leaning(question, talk)
    resolved = Resolved(text)
    if how is Leaning.MORE:
        resolved = _more(question, talk)
    elif how is Leaning.INSTEAD:
        resolved = _instead(question, talk)
    elif how in {Leaning.POINTING, Leaning.ELLIPSIS}:
        about = _about(question, talk)
        if about:
            resolved = _pointing(question, about) if question.pointers() else _ellipsis(question, about)
    if how is not Leaning.COURTESY:
        if how is not Leaning.MORE:
            talk.ask(resolved.query)
        subject = question.subject()
        mere_aspect = how is Leaning.INSTEAD and subject is not None and not _is_hard(question, subject)  # 票价呢
        if subject is not None and how in {Leaning.ALONE, Leaning.INSTEAD} and not mere_aspect:
            subject = replace(subject, person=any(word.text in _WHO_IS for word in question.words))
            talk.introduce(subject, instead=how is Leaning.INSTEAD)
    return how, resolved


def _known(talk: Conversation) -> list[str]:
    return [thing.text for thing in talk.things if len(thing.text) >= _SHORTEST_NAME]


def _more(question: Question, talk: Conversation) -> Resolved:
    about = tuple(thing.text for thing in talk.things[-1:])
    asked = talk.asked.rstrip(_EDGE)
    return Resolved(_join(asked, f" {question.bare}") if question.says("why") else asked, changed=True, carried=about)


def _about(question: Question, talk: Conversation) -> str:
    """Return what to carry into a question: the thing, with its aspect where the question has none of its own."""
    pointers = question.pointers()
    person = bool(pointers) and pointers[0].kind == "person"
    if not talk.things or (person and _asked_who(talk)):
        heard = _heard(talk)
        if heard or not talk.things:
            return heard
    people = [thing for thing in talk.things if thing.person] if person else []
    thing = (people or talk.things)[-1]
    article = _article_without_law(question)
    if article and (law := law_spoken_of(article, talk)):
        return law
    if thing.text == thing.full or not thing.full:
        return _narrowed(thing.text, talk.answer)
    somebody = thing.full.endswith(_PERSON_ASPECTS)  # 红楼梦的作者
    if pointers:
        return thing.full if person and somebody else thing.text
    own = question.own_characters() > (_FEW_CHARACTERS if somebody else 0) or question.has(*SOFT)
    return thing.text if own else thing.full


def _asked_who(talk: Conversation) -> bool:
    return any(word in talk.asked for word in _WHO)


def _heard(talk: Conversation) -> str:
    """Return the first thing that the answer names and the question did not."""
    known = frozenset().union(*(thing.stems for thing in talk.things))
    for thing in Question(_first_sentence(talk.answer)).things:
        if _SHORTEST_NAME <= len(thing.text) <= _LONGEST_HEARD and not thing.stems & known:
            return thing.text
    return ""


def _first_sentence(answer: str) -> str:
    return _SENTENCE_END.split(answer, maxsplit=1)[0][:_CHARACTERS_HEARD].replace("*", "")


def _narrowed(text: str, answer: str) -> str:
    """Return the part of a thing that the answer names too, where that is most of it."""
    if len(text) <= _LONGEST_NAME:
        return text
    said = _first_sentence(answer)
    for length in range(len(text), _SHORTEST_NAME - 1, -1):
        for start in range(len(text) - length + 1):
            part = text[start : start + length]
            if part in said:
                return part if length >= len(text) * _MOST else text
    return text


def _instead(question: Question, talk: Conversation) -> Resolved:
    """Put the new thing into the last question, in the place of the one that it is like."""
    new = _new_thing(question) or _corrected(question.bare)
    asked = talk.asked.strip(_EDGE)
    about = tuple(thing.text for thing in talk.things[-1:])
    if not new:
        return Resolved(asked, changed=True, carried=about)
    fresh = Question(new)
    if fresh.has("asking"):
        return Resolved(new, changed=True)
    if not _HAN.search(asked):  # What is the capital of France? 那德国呢
        thing = Thing(0, 0, new, frozenset({new}), named=True, whole_name=True)
        return english.put_instead(english_questions.Question(talk.asked), thing, new)
    last = Question(asked)
    old = _like(fresh, last)
    if old:
        return _exchanged(last, old.start, old.end, new)
    article = _article_without_law(fresh)
    if article and (law := law_spoken_of(article, talk)):
        return Resolved(_join(law, new), changed=True, carried=(law,))
    last = Question(asked, _known(talk))
    subject = last.subject()
    if subject is None or new in LEXICON["group"]:
        return Resolved(_join(new, asked), changed=True, carried=about)
    if fresh.own_characters():
        return _exchanged(last, subject.first, subject.last, new)
    if fresh.has("time"):
        return Resolved(_put(asked, subject.last, subject.last, new), changed=True, carried=about)
    return Resolved(_join(subject.text, new), changed=True, carried=about)  # an aspect of the same thing


def _corrected(text: str) -> str:
    """Return what is meant after all: 不对，我问的是微软."""
    while opening := _CORRECTION.match(text):
        text = text[opening.end() :].lstrip(_EDGE)
    return text.rstrip(_PARTICLES)


def _like(fresh: Question, last: Question) -> Word | None:
    """Return the word of the last question that is of the same kind: an article, a time, a well-known name."""
    for kind in ("article", "time", "name"):
        old = next((word for word in last.words if word.kind == kind), None)
        if old and fresh.has(kind) and (kind != "name" or len(fresh.words) == 1):  # 北极 is only part of 北极熊
            return old
    latin = [word for word in last.words if word.kind == "latin"]
    new = next((word for word in fresh.words if word.kind == "latin"), None)
    if not latin or new is None:
        return None
    same_make = new.text.split()[0] == latin[-1].text.split()[0]  # Model 3, Model Y
    return latin[-1] if same_make or not last.has("name") else None


def _exchanged(last: Question, start: int, end: int, new: str) -> Resolved:
    kept = [word.text for word in last.words if word.kind in NOUNS | {"time"} and not start <= word.start < end]
    return Resolved(_put(last.text, start, end, new), changed=True, carried=tuple(kept))


def _pointing(question: Question, about: str) -> Resolved:
    pointer = question.pointers()[0]
    query = _put(question.text, pointer.start, pointer.end, about)
    return Resolved(_read_well(query), changed=True, carried=(about,))


def _ellipsis(question: Question, about: str) -> Resolved:
    return Resolved(_join(about, _read_well(question.text.lstrip(_EDGE))), changed=True, carried=(about,))


def _put(text: str, start: int, end: int, new: str) -> str:
    return _join(_join(text[:start], new), text[end:])


def _join(left: str, right: str) -> str:
    """Put two texts together, with a blank between Latin letters or digits."""
    blank = " " if _LATIN_EDGE.match(left[-1:]) and _LATIN_EDGE.match(right[:1]) else ""
    return left + blank + right
