"""Finds the sentences of numbered sources that answer a question best. Deterministic, no model, Chinese and English.

Sentences are ranked by ``qiusuo.passages``. Of those that say the same one is quoted, with the numbers of all their
sources. A source whose details say how (an article of law) is quoted whole, with what has to be said of it. The order
of such stands, whatever else was found (pages, files of the conversation): the engine that has the texts knows better
than these few words which one answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.citations.meaning.wording import fold, is_chinese, terms
from qiusuo.details import Quotation
from qiusuo.files import FileDetails
from qiusuo.passages import ANSWERS_FROM, Text, coverage, pick, questions_in, ranked_sentences
from qiusuo.tools.render import NumberedSource, neutral
from qiusuo.words import Fact, Language

_T = TypeVar("_T")
MAX_QUOTES: Final = 5
_MOST_OF_ALL: Final = 10
_PER_SOURCE: Final = 2
_MAX_WHOLE: Final = 2
_MAX_CHARS: Final = 900
_MAX_WHOLE_CHARS: Final = 2000
_MAX_NAMED_CHARS: Final = 6000
_SHORTEST: Final = 5
_KEPT_SHARE: Final = 0.4
_ALIKE: Final = 0.7
_FIRST_SOURCES: Final = 3
_SHORT_WORD: Final = 2
_STOPS: Final = ("。", "！", "？", "；", ".", "!", "?", ";")

_WANTS_NUMBER: Final = re.compile(
    r"多少|多久|多长|多大|多高|几|何时|什么时候|哪年|哪天|日期|期限|"
    r"\b(?:how (?:many|much|long|old|far|big|tall)|when|date|year|price|cost)\b",
    re.IGNORECASE,
)
# What a page tells models to do is no information about anything.
_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions?|prompts?|rules)\b|\byou are now\b|\bsystem prompt\b|"
    r"(?:忽略|无视|忘记).{0,12}(?:指令|指示|提示词?|规则|要求)|你现在(?:是|扮演)|系统提示词",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"[0-9０-９]|[一二两三四五六七八九十百千万亿]+[个年月日天元倍成人次]")


@dataclass(slots=True)
class Quote:
    """A sentence and the sources that have it; ``remark`` is said of it and stands in no source."""

    text: str
    numbers: list[int]
    content: set[str] = field(repr=False)
    score: float = 0.0
    order: int = 0
    remark: str = ""

    @property
    def cited(self) -> str:
        """The sentence with its citations."""
        return f"{self.text} {''.join(f'[{number}]' for number in sorted(self.numbers))}{self.remark}"


@dataclass(frozen=True, slots=True)
class Quotable:
    """A source, with how it is quoted whole where it is."""

    source: NumberedSource
    whole: Quotation | None
    language: Language = Language.CHINESE

    @property
    def number(self) -> int:
        return self.source.number

    @property
    def related(self) -> bool:
        """Whether it is merely near what was asked for."""
        return self.source.details is not None and self.source.details.related

    @property
    def of_file(self) -> bool:
        """Whether it is a part of a file of the conversation."""
        return isinstance(self.source.details, FileDetails)

    @property
    def remark(self) -> str:
        """What has to be said of it where it is quoted whole."""
        return remark_of(self.whole, self.language) if self.whole is not None else ""

    @property
    def parts(self) -> list[str]:
        """What may be quoted of it, piece by piece."""
        if self.whole is not None:
            return [whole_words(self.whole)]
        if not self.source.text:
            return [self.source.title] if self.source.title else []
        return [sentence.text for sentence in split_sentences(self.source.text)]


def quotable(sources: Iterable[NumberedSource], language: Language) -> list[Quotable]:
    """Return sources with their own way of being quoted."""
    return [
        Quotable(source, source.details.quotation(language) if source.details else None, language) for source in sources
    ]


def best_quotes(
    question: str, sources: Sequence[Quotable], most: int = MAX_QUOTES, *, all_named: bool = False
) -> list[Quote]:
    """Return the sentences that answer best: what is quoted whole, then the best one and others in their order.

    ``all_named``: the question names the sources one by one, so that those that are quoted whole are all quoted.
    """
    aside = [source for source in sources if source.whole and source.related]
    if 0 < len(aside) < len(sources):
        rest = [source for source in sources if source not in aside]
        return [*best_quotes(question, aside, most), *best_quotes(question, rest, most, all_named=all_named)]
    candidates = list(_candidates(sources)) or list(_candidates(sources, shortest=1))
    entire = {source.number for source in sources if source.whole}
    texts = [quote for quote in candidates if quote.numbers[0] in entire]
    whole = _first_whole(question, sources, texts, all_named=all_named) if texts else []
    if len(texts) == len(candidates):
        return whole
    _score(question, candidates, sources)
    best = max(quote.score for quote in candidates)
    others = [quote for quote in candidates if quote.numbers[0] not in entire]
    ranked = sorted(others, key=lambda quote: (-quote.score, quote.order))
    if not best and not whole:
        # Nothing in common, most often for another language: what the engine put first, from its beginning.
        ranked = [quote for quote in candidates if _leads(quote, candidates)][:_FIRST_SOURCES]
    elif whole:
        ranked = [quote for quote in ranked if quote.score > 0 and quote.score >= _KEPT_SHARE * best]
    chosen = _chosen(ranked, most, whole, max(_PER_SOURCE, len(questions_in(question))))
    return whole + chosen[:1] + sorted(chosen[1:], key=lambda quote: quote.order)


def from_all_over(sources: Sequence[Quotable], most: int = _MOST_OF_ALL) -> list[Quote]:
    """Return sentences from all over the sources, in their order: for a summary, which only a model can write."""
    groups = [group for source in _evenly(sources, most) if (group := _statements(source))]
    share = max(most // max(len(groups), 1), 1)
    chosen: list[Quote] = []
    for quote in (quote for group in groups for quote in _evenly(group, share)):
        if not chosen or sum(len(each.text) for each in chosen) + len(quote.text) <= _MAX_WHOLE_CHARS:
            chosen.append(quote)
    return chosen


def _statements(source: Quotable) -> list[Quote]:
    """Return the sentences of a source without its headings, unless it has nothing else."""
    found = list(_candidates([source]))
    return [quote for quote in found if quote.text.endswith(_STOPS)] or found


def _evenly(things: Sequence[_T], most: int) -> list[_T]:
    """Return so many of these at even distances, the first among them."""
    count = min(most, len(things))
    return [things[at * len(things) // count] for at in range(count)]


def _first_whole(
    question: str, sources: Sequence[Quotable], candidates: Sequence[Quote], *, all_named: bool
) -> list[Quote]:
    """Return the texts to quote: all where the question names them, else the first two.

    What changes a text counts with it: nobody shall read the old one without the new one.
    """
    follows = {source.number for source in sources if source.whole and source.whole.follows}
    groups: list[list[Quote]] = []
    for quote in candidates:
        if groups and quote.numbers[0] in follows:
            groups[-1].append(quote)
        else:
            groups.append([quote])
    first, rest = groups[:1], groups[1:]
    if not all_named and _WANTS_NUMBER.search(question) and not any(_has_number(group) for group in first):
        rest.sort(key=lambda group: not _has_number(group))
    chosen = [quote for group in first for quote in group]
    room = _MAX_NAMED_CHARS if all_named else _MAX_WHOLE_CHARS
    for group in rest if all_named else rest[: _MAX_WHOLE - 1]:
        if sum(len(quote.text) for quote in [*chosen, *group]) <= room:
            chosen += group
    return chosen


def lead(question: str, sources: Sequence[Quotable]) -> Fact:
    """Return what is said before quotations: whether they answer the question, or are just about something near it.

    What is quoted whole was looked up by who knows its texts, and says itself where it is no answer. Words of another
    language cannot be compared: of a source in one, a name or number of the question has to be there.
    """
    if any(source.whole and not source.related for source in sources):
        return Fact("llm.lead")
    sources = [source for source in sources if not source.whole]
    if not sources:
        return Fact("llm.closest")
    own = is_chinese(question)
    alike = [source for source in sources if is_chinese(f"{source.source.title} {source.source.text}") == own]
    if _answered(question, alike) or all(_answered(part, alike) for part in questions_in(question)):
        return Fact("llm.lead")
    names = {word for word in terms(fold(question)) if word.isascii() and len(word) > _SHORT_WORD}
    foreign = (source.source for source in sources if source not in alike)
    if any(names & terms(fold(f"{each.title} {each.text}")) for each in foreign):
        return Fact("llm.lead")
    return Fact("llm.closest" if alike else "llm.other_language")


def _answered(question: str, sources: Sequence[Quotable]) -> bool:
    return coverage(question, pick(question, _texts(sources), _MAX_CHARS)) >= ANSWERS_FROM


def left_out(sources: Sequence[Quotable], quotes: Sequence[Quote]) -> int:
    """Return how many of the texts that a question names are not quoted: together they would be too long."""
    whole = {source.number for source in sources if source.whole}
    return len(whole - {number for quote in quotes for number in quote.numbers})


def _has_number(group: Sequence[Quote]) -> bool:
    return any(_DIGIT.search(quote.text) for quote in group)


def _candidates(sources: Sequence[Quotable], shortest: int = _SHORTEST) -> Iterator[Quote]:
    order = 0
    for source in sources:
        for part in source.parts:
            text = harmless(part)
            if not source.whole and gives_orders(text):
                continue
            if len(text) >= shortest or source.whole or part == source.source.title:
                yield Quote(text, [source.number], terms(fold(text)), order=order, remark=source.remark)
                order += 1


def remark_of(quotation: Quotation, language: Language) -> str:
    """Return what has to be said of something that is quoted whole; empty where there is nothing."""
    words = quotation.remark
    return Fact("llm.remark", words=harmless(words)).text(language) if words else ""


def whole_words(quotation: Quotation) -> str:
    """Return what is quoted whole in one line, under its name."""
    lines = [neutral(line) for line in quotation.text.split("\n")]
    text = ("" if is_chinese(quotation.text) else " ").join(lines)
    name = neutral(quotation.name)
    return text if not name or text.startswith(name) else f"{name}：{text}"


def gives_orders(text: str) -> bool:
    """Tell whether a sentence of a page tells models what to do."""
    return _ORDERS.search(text) is not None


def harmless(text: str) -> str:
    """Return a sentence in which no link, image or code of a page can stand, nor a number that looks like ours."""
    return " ".join(text.replace("[", "(").replace("]", ")").replace("`", "'").strip(" #>*-•|").split())


def _score(question: str, candidates: Sequence[Quote], sources: Sequence[Quotable]) -> None:
    """Give each sentence its rank among all of them; of two questions in one both are answered."""
    scores = _scores(question, sources)
    parts = questions_in(question)
    if len(parts) > 1:
        of_parts = [_scores(part, sources) for part in parts]
        best = {key: max(part.get(key, 0.0) for part in of_parts) for key in scores}
        # What answers one part best comes before what is second for another.
        scores = {key: score + best[key] + (best[key] >= 1) for key, score in scores.items()}
    whole = {source.number for source in sources if source.whole}
    for quote in candidates:
        number = quote.numbers[0]
        own = (score for (other, _), score in scores.items() if other == number)
        quote.score = max(own, default=0.0) if number in whole else scores.get((number, quote.text), 0.0)


def _scores(question: str, sources: Sequence[Quotable]) -> dict[tuple[int, str], float]:
    """Return the scores of sentences by their source and text, of which the best is 1."""
    scores: dict[tuple[int, str], float] = {}
    for number, sentence, score in ranked_sentences(question, _texts(sources)):
        key = (number, harmless(sentence))
        scores[key] = max(score, scores.get(key, 0.0))
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


def _texts(sources: Sequence[Quotable]) -> list[Text]:
    found = (source.source for source in sources)
    return [Text(each.number, each.title, each.text or each.title, each.date) for each in found]


def _leads(quote: Quote, candidates: Sequence[Quote]) -> bool:
    first = next(other for other in candidates if other.numbers[0] == quote.numbers[0])
    return first is quote


def _chosen(ranked: Sequence[Quote], most: int, above: Sequence[Quote], per_source: int) -> list[Quote]:
    """Return the first of these sentences that say more than one another and than what stands above them."""
    chosen: list[Quote] = []
    used: Counter[int] = Counter()
    size = 0
    for quote in ranked:
        if chosen and quote.score < _KEPT_SHARE * chosen[0].score:
            break
        twin = next((other for other in (*above, *chosen) if _alike(quote, other)), None)
        number = quote.numbers[0]
        if twin is not None:
            if number not in twin.numbers:
                twin.numbers.append(number)
            continue
        full = used[number] >= per_source or len(above) + len(chosen) >= most
        if full or (chosen and size + len(quote.text) > _MAX_CHARS):
            continue
        chosen.append(quote)
        used[number] += 1
        size += len(quote.text)
    return chosen


def _alike(one: Quote, other: Quote) -> bool:
    """Tell whether two sentences say the same; with other numbers in them they do not."""
    figures = {term for term in one.content if term[0] == "#"}, {term for term in other.content if term[0] == "#"}
    smaller = min(len(one.content), len(other.content))
    if figures[0] != figures[1] or not smaller:
        return one.text == other.text
    return len(one.content & other.content) / len(one.content | other.content) >= _ALIKE
