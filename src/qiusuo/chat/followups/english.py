"""Follow-up questions in English: what a question means by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Final

from qiusuo.chat.followups.conversation import Conversation, Leaning, Thing
from qiusuo.chat.followups.english_questions import (
    POINTERS,
    PREPOSITIONS,
    QUESTION_WORDS,
    Question,
    leaning,
    pointers_in,
    short_for,
)
from qiusuo.chat.followups.english_words import ARTICLES, LEXICON, things_of, words_of
from qiusuo.chat.followups.model import Resolved
from qiusuo.citations.meaning.wording import stem

_POSSESSIVES: Final = frozenset({"its", "their", "theirs", "his", "her", "hers"})
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN_IN_CHINESE: Final = re.compile(
    r"(?<=[\u3400-\u9fff])[A-Za-z][A-Za-z0-9 -]*|^[A-Za-z][A-Za-z0-9 -]*(?=[\u3400-\u9fff])"
)
_MEASURES: Final = frozenset({"maximum", "minimum", "max", "min", "average", "total"})
_HOW_HOT: Final = 2
_SENTENCE_END: Final = re.compile(r"\[|\n|[.!?](?=\s)")


def understand(text: str, talk: Conversation) -> tuple[Leaning, Resolved]:
    """Return how a question leans and what it means by itself; the conversation goes on with it."""
    question = Question(text)
    how = leaning(question, talk)
    resolved = _resolved(question, how, talk)
    if how is not Leaning.COURTESY:
        _go_on(question, how, resolved, talk)
    return how, resolved


def _go_on(question: Question, how: Leaning, resolved: Resolved, talk: Conversation) -> None:
    if how is not Leaning.MORE:
        talk.ask(resolved.query)
    subject = _known(question, talk) or question.subject()
    if subject is not None and how in {Leaning.ALONE, Leaning.INSTEAD}:
        owner = _asked_of(question, resolved.query)
        if how is Leaning.INSTEAD:
            subject = _as_asked(subject, resolved.query)
        subject = replace(owner or subject, person=_asks_who_it_is(question) and subject.whole_name)
        talk.introduce(subject, instead=how is Leaning.INSTEAD, exactly=owner is not None)


def _asks_who_it_is(question: Question) -> bool:
    """Tell whether somebody is asked for by name: not in "Who painted The Night Watch?"."""
    return question.bare[0] in {"who", "who's"} and question.opens_with("what_is") > 0


def _asked_of(question: Question, query: str) -> Thing | None:
    """Return the name that a mere aspect was asked of: the maximum value size of Zephyrine."""
    if not _says_measure(question) or not question.things:
        return None
    last = Question(query)
    if last.asks():
        return None
    return next((thing for thing in last.things if thing.whole_name and query.endswith(f" of {thing.text}")), None)


def _as_asked(thing: Thing, query: str) -> Thing:
    """Return a thing as the query has it: "the core" was asked for, the core of the sun is meant."""
    return next((whole for whole in Question(query).things if thing.stems < whole.stems), thing)


def _known(question: Question, talk: Conversation) -> Thing | None:
    """Return the name that the conversation was about already: "Oscars" are asked for, "Parasite" stays the thing."""
    named = [thing.stems for thing in question.things]
    return next((thing for thing in reversed(talk.things) if thing.named and thing.stems in named), None)


def _resolved(question: Question, how: Leaning, talk: Conversation) -> Resolved:
    if how in {Leaning.ALONE, Leaning.COURTESY}:
        return Resolved(question.text)
    if how is Leaning.MORE:
        return _more(question, talk)
    if how is Leaning.INSTEAD:
        return _instead(question, talk)
    if not talk.things:
        return Resolved(question.text)
    resolved = _pointing(question, talk) if how is Leaning.POINTING else _ellipsis(question, talk)
    theme = talk.theme
    if theme is None or theme.text in resolved.carried or not resolved.changed:
        return resolved
    if stem(theme.text.split()[-1].lower()) in {stem(word.low) for word in words_of(resolved.query)}:
        return resolved
    return Resolved(with_added(resolved.query, theme.text), changed=True, carried=(*resolved.carried, theme.text))


def _more(question: Question, talk: Conversation) -> Resolved:
    about = tuple(thing.text for thing in talk.things[-1:])
    asks = question.bare[-1] != "else" and any(
        word in QUESTION_WORDS | {"example", "examples"} for word in question.bare
    )
    query = f"{question.text.strip()} {talk.asked}" if asks else talk.asked
    return Resolved(query, changed=True, carried=about)


def _instead(question: Question, talk: Conversation) -> Resolved:
    """Put the new thing into the last question, in the place of the one that it is like."""
    opening = question.opens_with("correction") or question.opens_with("opener")
    spoken = [word for word in question.words if word.kind != "mark"][opening:]
    about = tuple(thing.text for thing in talk.things[-1:])
    if not spoken:
        return Resolved(talk.asked, changed=True, carried=about)
    new = question.text[spoken[0].start : spoken[-1].end]
    last = Question(talk.asked)
    if spoken[0].low in PREPOSITIONS:
        return _other_circumstance(new, spoken[0].low, last)
    if spoken[-1].kind == "time" or spoken[-1].low in LEXICON["group"]:
        return Resolved(with_added(talk.asked, new), changed=True, carried=about)
    if not question.things and about:  # and the causes? and cheaper ones?
        of = " of" if spoken[-1].kind == "aspect" else ""
        return Resolved(f"{new}{of} {about[0]}", changed=True, carried=about)
    if about and _is_aspect_of_it(question, last):
        return Resolved(f"{new} of {_name_in(about[0])}", changed=True, carried=(_name_in(about[0]),))
    if last.subject() is None or not question.things:
        return Resolved(with_added(talk.asked, new), changed=True, carried=about)
    return put_instead(last, question.things[0], new)


def _is_aspect_of_it(question: Question, last: Question) -> bool:
    """Tell whether "the maximum value size" is asked of a name, and the last question had nothing of that kind."""
    spoken = [word for word in question.words if word.kind != "mark"]
    subject = last.subject()
    if (
        not (spoken[-1].kind == "aspect" or _says_measure(question))
        or any(thing.named for thing in question.things)
        or "of" in question.bare
    ):
        return False
    if "the" not in question.bare or subject is None or not subject.named:
        return False
    return stem(spoken[-1].low) not in {stem(word.low) for word in last.words}


def _says_measure(question: Question) -> bool:
    return not _MEASURES.isdisjoint(question.bare)


def _name_in(about: str) -> str:
    """Return the name that a thing begins with: Zephyrine of "Zephyrine transaction"; else the thing."""
    named = list(takewhile(lambda word: not word.islower(), about.split()))
    return " ".join(named) or about


def put_instead(last: Question, thing: Thing, new: str) -> Resolved:
    """Return the last question with something new, spelled so, in the place of what it is like."""
    if latin := _LATIN_IN_CHINESE.search(last.text):  # iPhone 15价格
        query = f"{last.text[: latin.start()]}{new}{last.text[latin.end() :]}"
        return Resolved(query, changed=True, carried=(query.replace(new, ""),))
    if not last.text.isascii() and _HAN.search(last.text):
        return Resolved(f"{new} {last.text}", changed=True, carried=(last.text,))
    subject = last.subject()
    if subject is None:
        return Resolved(with_added(last.text, new), changed=True)
    if _is_numbered(thing) and not any(word.text[:1].isdigit() for word in last.words):
        return Resolved(with_added(last.text, new), changed=True, carried=(last.text,))
    places = _replaced(thing, last, subject)
    if thing.article == "the" and not thing.named:
        places = _head_of(last, places)
    return _exchanged(last, places, new)


def _is_numbered(thing: Thing) -> bool:
    """Tell whether a thing is a number, or a part that has one: article 578. It takes the place of another only."""
    *before, number = thing.text.lower().split()
    return number.isdigit() and all(word in LEXICON["numbered"] for word in before)


def _head_of(last: Question, places: tuple[int, int]) -> tuple[int, int]:
    """Return the part of a thing that another part takes the place of: the surface of the sun, the core."""
    first, end = places
    of = next((at for at in range(first + 1, end) if last.words[at].low == "of"), None)
    return (first, of - 1) if of else places


def _replaced(new: Thing, last: Question, subject: Thing) -> tuple[int, int]:
    """Return which words of the last question the new thing replaces."""
    head, words = new.text.split()[0].lower(), last.words
    for at, (word, after) in enumerate(pairwise(words)):
        if word.low == head and after.text[:1].isdigit():  # Article 577, Model 3
            return at, at + 1
    if new.text.isdigit():
        numbers = [at for at, word in enumerate(words) if word.text.isdigit()]
        return (numbers[-1], numbers[-1]) if numbers else (subject.first, subject.last)
    if new.whole_name:
        names = [at for at, word in enumerate(words) if word.kind == "name"]
        if names:
            end = names[0]
            while end + 1 in names or (end + 2 in names and words[end + 1].low in {"of", "and", "the", "de"}):
                end += 1 if end + 1 in names else 2
            return names[0], end
    same_head = (thing for thing in last.things if stem(thing.text.split()[-1].lower()) in new.stems)
    alike = [thing for thing in reversed(last.things) if thing.named == new.named]
    objects = (thing for thing in alike if not _is_circumstance(last, thing))  # a laptop on a plane, a power bank
    old = next(same_head, None) or next(objects, None) or next(iter(alike), subject)
    return old.first, old.last


def _is_circumstance(question: Question, thing: Thing) -> bool:
    """Tell whether a thing only says where, when or with what."""
    before = thing.first - (2 if thing.article else 1)
    return before > 0 and question.words[before].low in PREPOSITIONS


def _exchanged(last: Question, places: tuple[int, int], new: str) -> Resolved:
    words, (first, end) = last.words, places
    start = words[first].start
    if new.split(maxsplit=1)[0].lower() in ARTICLES:
        if first and words[first - 1].low in ARTICLES:
            start = words[first - 1].start
        elif first:  # Tesla Model 3, the Model Y
            new = new.split(maxsplit=1)[-1]
    query = last.text[:start] + new + last.text[words[end].end :]
    kept = [word.text for word in words[:first] + words[end + 1 :] if word.kind not in {"stop", "mark"}]
    return Resolved(query, changed=True, carried=(" ".join(kept),) if kept else ())


def _other_circumstance(new: str, preposition: str, last: Question) -> Resolved:
    """Return the last question for another place or time: and in Germany? How about on Sundays?"""
    words = last.words
    same = next((at for at in range(len(words) - 1, 0, -1) if words[at].low == preposition), len(words))
    text = last.text[: words[same].start] if same < len(words) else last.text
    kept = [word.text for word in words[:same] if word.kind not in {"stop", "mark"}]
    end = "?" if last.text.endswith("?") else ""
    return Resolved(f"{text.rstrip('?.! ')} {new}{end}", changed=True, carried=(" ".join(kept),) if kept else ())


def _meant_by(pointer: str, talk: Conversation) -> Thing:
    kind = POINTERS[pointer]
    recent = list(reversed(talk.things))
    if kind == "pronoun_person" and (heard := _heard(talk)):
        return heard
    fitting: Iterator[Thing]
    if kind == "pronoun_person":
        recent = [thing for thing in recent if thing.person] or recent
        fitting = (thing for thing in recent if thing.whole_name)
    elif kind == "pronoun_place":
        fitting = (thing for thing in recent if thing.named)
    elif kind == "pronoun_many":
        fitting = (thing for thing in recent if thing.plural)
    elif kind == "pronoun_thing":
        fitting = (thing for thing in recent if not thing.plural)
    else:
        fitting = iter(recent)
    return next(fitting, recent[0])


def _heard(talk: Conversation) -> Thing | None:
    """Return whom the answer names, where the question was who."""
    asked = Question(talk.asked)
    if not talk.answer or not ("who" in asked.bare or any(word in LEXICON["person_aspect"] for word in asked.bare)):
        return None
    said = _SENTENCE_END.split(talk.answer.replace("*", ""), maxsplit=1)[0]
    known = frozenset().union(*(thing.stems for thing in asked.things))
    things = things_of(words_of(said), said)
    return next((thing for thing in things if thing.whole_name and not thing.stems & known), None)


def _two_compared(question: Question, talk: Conversation) -> str:
    """Return the last two things where "they" are compared: What do they have in common?"""
    two = talk.things[-2:]
    if len(two) > 1 and (all(thing.person for thing in two) or set(question.bare) & LEXICON["comparison"]):
        return f"{two[0].text} and {two[1].text}"
    return ""


def _pronouns(question: Question, talk: Conversation) -> Iterator[tuple[int, Thing]]:
    """Yield the first pronoun of each kind with what it means, each thing once."""
    pointers = [(at, POINTERS[question.words[at].low]) for at in pointers_in(question)]
    done: set[str] = set()
    for at, kind in pointers:
        meant = _meant_by(question.words[at].low, talk)
        nobody = kind == "pronoun_person" and meant in talk.things and not meant.person
        if nobody and any(other == "pronoun_thing" for _, other in pointers):
            continue  # When did he paint it? The painting is known, he is not.
        named = any(meant.stems <= thing.stems for thing in question.things)
        if kind not in done and meant.text not in done and not named:
            done |= {kind, meant.text}
            yield at, meant


def _pointing(question: Question, talk: Conversation) -> Resolved:
    """Put the topic in the place of the first pronoun of each kind."""
    pieces: list[str] = []
    carried: list[str] = []
    end = 0
    words = question.words
    for at, meant in _pronouns(question, talk):
        pointer = words[at]
        carried.append(meant.text)
        stop = pointer.end
        text = meant.text if POINTERS[pointer.low] == "pronoun_one" else f"{meant.article} {meant.text}".lstrip()
        if POINTERS[pointer.low] == "pronoun_many" and not meant.plural:
            text = _two_compared(question, talk) or (f"{meant.text}s" if meant.article in {"a", "an"} else text)
            carried[-1] = text
        if pointer.low in _POSSESSIVES:
            text += "'" if text.endswith("s") else "'s"
        elif pointer.low == "there":
            text = f"in {text}"
        elif pointer.low in {"this", "that", "these", "those"} and at + 1 < len(words):
            following = words[at + 1]
            if stem(following.low) in meant.stems:
                stop = following.end
        pieces += [question.text[end : pointer.start], text]
        end = stop
    if not carried:
        return Resolved(question.text)
    return Resolved("".join([*pieces, question.text[end:]]), changed=True, carried=tuple(carried))


def _ellipsis(question: Question, talk: Conversation) -> Resolved:
    short = short_for(question, talk)
    words, text = question.words, question.text
    if short:
        thing, known = short
        query = text[: words[thing.first].start] + known.text + text[words[thing.last].end :]
        return Resolved(query, changed=True, carried=(known.text,))
    thing = talk.things[-1]
    about = thing.text
    spoken = [word for word in words if word.kind != "mark"]
    if question.opens_with("versus"):
        return Resolved(f"{about} {text}", changed=True, carried=(about,))
    if len(spoken) == _HOW_HOT and spoken[0].low == "how" and spoken[1].kind in {"quality", "frame"}:
        be = "are" if thing.plural else "is"
        query = f"{text[: spoken[1].end]} {be} {thing.article or ''} {about}{text[spoken[1].end :]}"
        return Resolved(" ".join(query.split()), changed=True, carried=(about,))
    if spoken and all(word.kind == "time" for word in spoken):
        return Resolved(with_added(talk.asked, text.rstrip("?.! ")), changed=True, carried=(about,))
    does = {"do", "does", "did"} & set(question.bare)  # there "cost" is what a ticket does
    if spoken and spoken[-1].kind == "aspect" and not question.things and not does:
        end = spoken[-1].end
        the = "the " if thing.article == "the" else ""
        return Resolved(f"{text[:end]} of {the}{about}{text[end:]}", changed=True, carried=(about,))
    return Resolved(with_added(text, about), changed=True, carried=(about,))


def with_added(text: str, about: str) -> str:
    """Return a question with its topic behind it: What dishes are vegetarian, Ethiopian cuisine?"""
    bare = text.rstrip()
    asked = bare.rstrip("?.! ")
    return f"{asked}, {about}{bare[len(asked) :]}"
