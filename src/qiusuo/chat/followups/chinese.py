"""Follow-up questions in Chinese: what a question means by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from qiusuo.chat.followups import english, english_questions
from qiusuo.chat.followups.chinese_articles import beside_quoted, law_spoken_of, with_whole_article
from qiusuo.chat.followups.chinese_circumstances import (
    beside,
    happens,
    other_quantity,
    overlap,
    with_circumstance,
)
from qiusuo.chat.followups.chinese_questions import (
    CORRECTION,
    EDGE,
    FEW_CHARACTERS,
    PARTICLES,
    Question,
    article_without_law,
    is_hard,
    leaning,
    new_thing,
    read_well,
)
from qiusuo.chat.followups.chinese_words import LEXICON, NOUNS, SOFT, Word
from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.model import Resolved
from qiusuo.citations.meaning.gazetteer import chinese_names

_PERSON_ASPECTS: Final = tuple(LEXICON["person_aspect"])
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN_EDGE: Final = re.compile("[A-Za-z0-9]")
_SHORTEST_NAME: Final = 2
_LONGEST_NAME: Final = 6
_LONGEST_HEARD: Final = 12
_CHARACTERS_HEARD: Final = 60
_WHO_IS: Final = ("是谁", "谁是", "什么人")
_WHO: Final = ("谁", "誰", "哪位", "作者", "创始人", "导演")
_SENTENCE_END: Final = re.compile(r"[。！？\n\[]")
_MOST: Final = 0.5
_ASKS_AT_ONCE: Final = re.compile("多少|几|怎么|什么时候|要|能|可以|需要|免费|收费|有没有")


def understand(text: str, talk: Conversation) -> tuple[Leaning, Resolved]:
    """Return how a question leans and what it means by itself; the conversation goes on with it."""
    if beside := beside_quoted(text, talk):
        understand(beside, talk)
        return Leaning.POINTING, Resolved(beside, changed=True, carried=(beside,))
    question = Question(with_whole_article(text, talk), _known(talk))
    how = leaning(question, talk)
    asked = talk.asked.strip(EDGE)
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
        mere_aspect = (  # 票价呢, 学生呢, 已经领证了呢
            how is Leaning.INSTEAD
            and subject is not None
            and (not is_hard(question, subject) or _group_in(subject.text) or resolved.carried == (asked,))
        )
        if subject is not None and how in {Leaning.ALONE, Leaning.INSTEAD} and not mere_aspect:
            subject = replace(subject, person=any(word.text in _WHO_IS for word in question.words))
            talk.introduce(subject, instead=how is Leaning.INSTEAD)
    return how, resolved


def _known(talk: Conversation) -> list[str]:
    return [thing.text for thing in talk.things if len(thing.text) >= _SHORTEST_NAME]


def _more(question: Question, talk: Conversation) -> Resolved:
    about = tuple(thing.text for thing in talk.things[-1:])
    asked = talk.asked.rstrip(EDGE)
    return Resolved(join(asked, f" {question.bare}") if question.says("why") else asked, changed=True, carried=about)


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
    article = article_without_law(question)
    if article and (law := law_spoken_of(article, talk)):
        return law
    if thing.text == thing.full or not thing.full:
        return _narrowed(thing.text, talk.answer)
    somebody = thing.full.endswith(_PERSON_ASPECTS)  # 红楼梦的作者
    if pointers:
        return thing.full if person and somebody else thing.text
    own = question.own_characters() > (FEW_CHARACTERS if somebody else 0) or question.has(*SOFT)
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
    new = new_thing(question) or _corrected(question.bare)
    asked = talk.asked.strip(EDGE)
    about = tuple(thing.text for thing in talk.things[-1:])
    if not new:
        return Resolved(asked, changed=True, carried=about)
    fresh = Question(new)
    if fresh.has("asking"):
        return Resolved(new, changed=True)
    if new.endswith("的") and fresh.has("time") and not fresh.own_characters():  # 明天的呢
        new = new.removesuffix("的")
        fresh = Question(new)
    if not _HAN.search(asked):  # What is the capital of France? 那德国呢
        thing = Thing(0, 0, new, frozenset({new}), named=True, whole_name=True)
        return english.put_instead(english_questions.Question(talk.asked), thing, new)
    last = Question(asked)
    old = _like(fresh, last)
    if old:
        return _exchanged(last, old.start, _end_of_like(fresh, last, old), new)
    if query := other_quantity(asked, new):
        return Resolved(query, changed=True, carried=(asked,))
    article = article_without_law(fresh)
    if article and (law := law_spoken_of(article, talk)):
        return Resolved(join(law, new), changed=True, carried=(law,))
    return _put_into_last(Question(asked, _known(talk)), fresh, new, about)


def _put_into_last(last: Question, fresh: Question, new: str, about: tuple[str, ...]) -> Resolved:
    """Put a new thing into the last question, which has none of its kind."""
    asked = last.text
    subject = last.subject()
    if not _group_in(new) and (query := beside(last, fresh)):
        return Resolved(query, changed=True, carried=(asked,))
    if subject is not None and fresh.has(*SOFT) and (length := overlap(subject.text, new)):
        return Resolved(subject.text + new[length:], changed=True, carried=(subject.text,))
    if subject is not None and (part := _other_part(subject.text, new)) is not None:
        return _exchanged(last, subject.first + part, subject.last, new)
    if subject is None or _group_in(new):
        start, end = _place_of_group(last, subject)
        return Resolved(_put(asked, start, end, new), changed=True, carried=about)
    if fresh.own_characters() and not is_hard(last, subject):  # 明天天气怎么样, 上海呢
        return Resolved(_put(asked, subject.first, subject.first, new), changed=True, carried=(subject.text,))
    if fresh.own_characters():
        end = subject.first + _alike(subject.text, new)
        if end == subject.last and happens(last, subject):
            return Resolved(with_circumstance(asked, new), changed=True, carried=(asked,))
        return _exchanged(last, subject.first, _behind_what_is_said_again(last, end, new), new)
    if fresh.has("time"):
        return Resolved(_put(asked, subject.last, subject.last, new), changed=True, carried=about)
    return Resolved(join(subject.text, new), changed=True, carried=about)  # an aspect of the same thing


def _end_of_like(fresh: Question, last: Question, old: Word) -> int:
    """Return where the exchanged word ends, with what stands behind both: 1号线, 2号线."""
    word = next((word for word in fresh.words if word.kind == old.kind), None)
    behind = fresh.text[word.end :] if word else ""
    return old.end + (len(behind) if last.text.startswith(behind, old.end) else 0)


def _group_in(new: str) -> bool:
    """Tell whether only somebody is named, or a part of anything that is meant for them: 儿童, 儿童票."""
    part = next((part for part in LEXICON["part"] if new.endswith(part)), "")
    return new.removesuffix(part) in LEXICON["group"]


def _place_of_group(last: Question, subject: Thing | None) -> tuple[int, int]:
    """Return where somebody is put in: in the place of others, before what is asked of the thing, or in front."""
    others = [group for group in LEXICON["group"] if group in last.text]
    if others:
        length, start = max((len(group), -last.text.index(group)) for group in others)
        return -start, -start + length
    end = subject.last if subject is not None else 0
    for word in last.words:
        if word.start == end and word.kind in SOFT:
            end = word.end
    return (end, end) if _ASKS_AT_ONCE.match(last.text, end) else (0, 0)


def _other_part(text: str, new: str) -> int | None:
    """Return where in a thing the part begins that a new one takes the place of: 成人票 in 翠湖公园成人票."""
    part = next((part for part in LEXICON["part"] if new.endswith(part) and text.endswith(part)), "")
    if not part:
        return None
    whole = text.removesuffix(part)
    groups = [group for group in LEXICON["group"] if whole.endswith(group)]
    length = max(map(len, groups)) if groups else len(new) - len(part)
    return max(0, len(whole) - length)


def _alike(text: str, new: str) -> int:
    """Return how much of a thing is of the kind of a new one; a verb may follow: 邻居家的狗咬, 流浪狗."""
    at = text.rfind(new[-1], 1)
    return at + 1 if at > 0 and "的" in text[:at] else len(text)


def _behind_what_is_said_again(last: Question, end: int, new: str) -> int:
    """Return where the exchanged part ends, with the aspect that the new thing has too: 试用期工资, 加班工资."""
    word = next((word for word in last.words if word.start == end), None)
    return word.end if word and word.kind in SOFT and new.endswith(word.text) else end


def _corrected(text: str) -> str:
    """Return what is meant after all: 不对，我问的是微软."""
    while opening := CORRECTION.match(text):
        text = text[opening.end() :].lstrip(EDGE)
    return text.rstrip(PARTICLES)


def _like(fresh: Question, last: Question) -> Word | None:
    """Return the word of the last question that is of the same kind: an article, a time, a well-known name."""
    for kind in ("article", "time", "name"):
        old = next((word for word in last.words if word.kind == kind), None)
        if not old or not fresh.has(kind):
            continue
        # 北极 is only part of 北极熊, and 清华大学 takes no place of a city
        if kind != "name" or (len(fresh.words) == 1 and _is_organisation(old.text) == _is_organisation(fresh.text)):
            return old
    latin = [word for word in last.words if word.kind == "latin"]
    new = next((word for word in fresh.words if word.kind == "latin"), None)
    if not latin or new is None:
        return None
    same_make = new.text.split()[0] == latin[-1].text.split()[0]  # Model 3, Model Y
    return latin[-1] if same_make or not last.has("name") else None


def _is_organisation(name: str) -> bool:
    return chinese_names(name).get(name) == "organisation"


def _exchanged(last: Question, start: int, end: int, new: str) -> Resolved:
    kept = [word.text for word in last.words if word.kind in NOUNS | {"time"} and not start <= word.start < end]
    return Resolved(_put(last.text, start, end, new), changed=True, carried=tuple(kept))


def _pointing(question: Question, about: str) -> Resolved:
    pointer = question.pointers()[0]
    query = _put(question.text, pointer.start, pointer.end, about)
    return Resolved(read_well(query), changed=True, carried=(about,))


def _ellipsis(question: Question, about: str) -> Resolved:
    return Resolved(join(about, read_well(question.text.lstrip(EDGE))), changed=True, carried=(about,))


def _put(text: str, start: int, end: int, new: str) -> str:
    return join(join(text[:start], new), text[end:])


def join(left: str, right: str) -> str:
    """Put two texts together, with a blank between Latin letters or digits."""
    blank = " " if _LATIN_EDGE.match(left[-1:]) and _LATIN_EDGE.match(right[:1]) else ""
    return left + blank + right
