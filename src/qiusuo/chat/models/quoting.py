"""Finds the sentences of numbered sources that answer a question best. Deterministic, no model, Chinese and English.

Sentences are ranked as BM25 ranks documents: rare words of the question count most, long sentences least. Of sentences
that say the same one is quoted, with the numbers of all their sources. An article of law is quoted whole, with what is
said of its standing. Where all sources are laws their order stands: the legal index knows better than these few words
which one answers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from qiusuo.citations.meaning.sentences import split_sentences
from qiusuo.citations.meaning.wording import fold, is_chinese, terms
from qiusuo.legal.answers.results import is_news
from qiusuo.legal.recognising.asked import names_articles

MAX_QUOTES: Final = 5
_PER_SOURCE: Final = 2
_MAX_ARTICLES: Final = 2
_MAX_CHARS: Final = 900
_MAX_LAW_CHARS: Final = 2000
_MAX_NAMED_CHARS: Final = 6000
_SHORTEST: Final = 8
_K1: Final = 1.2
_B: Final = 0.6
# What stands in the title is true of every sentence below it, so it counts less.
_TITLE_WEIGHT: Final = 0.35
_RANK_WEIGHT: Final = 0.04
_KEPT_SHARE: Final = 0.4
_ALIKE: Final = 0.7
_CUT_OFF: Final = 0.6
_NUMBER_BONUS: Final = 2.0
_FIRST_SOURCES: Final = 3

_ENTRY: Final = re.compile(r"^\[(\d{1,4})\] (.*)$")
_FENCE: Final = re.compile(r"^--- 网页内容(?:开始|结束)")
_ADDRESS: Final = re.compile(r"^[a-z][a-z0-9+.-]*:\S+$", re.IGNORECASE)
_ASIDE: Final = re.compile(r"^(?:说明|引用(?:（[^（）]{1,20}）)?)：")
_NOTE: Final = re.compile(r"^注意：(.+)")
_ARTICLE: Final = re.compile(r"(?:第\s*(?=[^条]{1,12}条)|条目)[零〇一二两三四五六七八九十百千0-9]+")
_REMARK: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
# How the titles of the legal index end; what is in force need not be said in a quotation.
_STANDING: Final = re.compile(r"\s*[(（](现行有效|已修改|已废止|尚未生效)[^()（）]*[)）]\s*$")
_IN_FORCE: Final = "现行有效"
_AMENDMENT: Final = re.compile(r"修正案[^《》]{0,20}条")
_QUESTION_WORDS: Final = re.compile(
    r"什么时候|什么|怎么样|怎么|怎样|如何|为什么|为何|哪些|哪个|哪里|哪年|哪|多少|多久|多长|多大|几时|几个|几|是否|是不是|能不能|有没有|"
    r"谁|何时|何地|请问|请|吗|呢|么|最新|目前|现在"
)
_WANTS_NUMBER: Final = re.compile(
    r"多少|多久|多长|多大|多高|几|何时|什么时候|哪年|哪天|日期|期限|"
    r"\b(?:how (?:many|much|long|old|far|big|tall)|when|date|year|price|cost)\b",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"[0-9０-９]|[一二两三四五六七八九十百千万亿]+[个年月日天元倍成人次]")
# Words that answers have where questions have others.
_RELATED: Final = (
    (re.compile(r"\b(?:how )?(?:tall|high)\b", re.IGNORECASE), "height elevation meters"),
    (re.compile(r"\bhow (?:far|long)\b", re.IGNORECASE), "distance length duration"),
    (re.compile(r"\bhow old\b", re.IGNORECASE), "age born founded"),
    (re.compile(r"\bhow much\b", re.IGNORECASE), "price cost"),
    (re.compile(r"\bwhen\b", re.IGNORECASE), "date released"),
    (re.compile(r"\bwhere\b", re.IGNORECASE), "located"),
    (re.compile(r"\bwho (?:won|wins)\b", re.IGNORECASE), "awarded winner"),
    (re.compile("多高"), "高度 海拔"),
    (re.compile("多少钱|多贵"), "价格 售价 费用"),
    (re.compile("多久|多长时间"), "期限 时间"),
    (re.compile("哪里|在哪"), "位于 地点"),
    (re.compile("什么时候|何时|哪年|哪天"), "日期 时间"),
    (re.compile("谁.{0,4}(?:获|得|拿|赢)"), "获得 获奖 得主"),
)


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A source as the prompt lists it."""

    number: int
    title: str
    text: str
    notes: tuple[str, ...] = ()
    """What a tool has to say about it."""

    @property
    def is_article(self) -> bool:
        """Whether it is an article of a law, which must not be cut."""
        return bool(_ARTICLE.search(self.title) or _ARTICLE.match(self.text))

    @property
    def is_law(self) -> bool:
        """Whether it is an article or a law of the legal index, or looks like an article."""
        return self.is_article or bool(_STANDING.search(self.title))

    @property
    def quoted_name(self) -> str:
        """Its title as a quotation begins: a law that is not simply in force says so."""
        standing = _STANDING.search(self.title)
        whole = not self.is_article or (standing is not None and standing[1] != _IN_FORCE)
        return self.title if standing and whole else _REMARK.sub("", self.title)


@dataclass(slots=True)
class Quote:
    """A sentence and the sources that have it."""

    text: str
    numbers: list[int]
    content: set[str] = field(repr=False)
    score: float = 0.0
    order: int = 0

    @property
    def cited(self) -> str:
        """The sentence with its citations."""
        return f"{self.text} {''.join(f'[{number}]' for number in self.numbers)}"


def read_sources(text: str) -> list[NumberedSource]:
    """Read the numbered sources of a prompt or of what a tool has returned, as :mod:`qiusuo.tools.render` writes."""
    found: list[NumberedSource] = []
    number, title, lines, notes = 0, "", list[str](), list[str]()
    inside = False

    def end() -> None:
        if number:
            found.append(NumberedSource(number, title, "\n".join(lines), tuple(notes)))

    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence:
            end()
            number, inside = 0, "开始" in line[:12]
        elif inside and (entry := _ENTRY.match(line)):
            end()
            number, title, lines, notes = int(entry[1]), entry[2].strip(), [], []
        elif number and inside and line.startswith("    "):
            body = line.strip()
            if note := _NOTE.match(body):
                notes.append(note[1])
            elif body and not _ADDRESS.match(body) and not _ASIDE.match(body):
                lines.append(body)
    end()
    return found


def best_quotes(question: str, sources: Sequence[NumberedSource], most: int = MAX_QUOTES) -> list[Quote]:
    """Return the sentences that answer best, the best one first, the others in the order of their sources."""
    candidates = list(_candidates(sources)) or list(_candidates(sources, shortest=1))
    if sources and all(source.is_law for source in sources):
        return _first_laws(question, sources, candidates)
    related = " ".join(words for asked, words in _RELATED if asked.search(question))
    wanted = terms(fold(f"{_QUESTION_WORDS.sub(' ', question)} {related}"))
    _rank(candidates, wanted, sources, numbers=bool(_WANTS_NUMBER.search(question)))
    ranked = sorted(candidates, key=lambda quote: (-quote.score, quote.order))
    if not ranked or ranked[0].score <= 0:
        # Nothing in common, most often for another language: what the engine put first, from its beginning.
        ranked = [quote for quote in candidates if _leads(quote, candidates)][:_FIRST_SOURCES]
    chosen = _chosen(ranked, sources, most)
    return chosen[:1] + sorted(chosen[1:], key=lambda quote: quote.order)


def _first_laws(question: str, sources: Sequence[NumberedSource], candidates: Sequence[Quote]) -> list[Quote]:
    """Return the articles to quote: all where the question names articles, else the first two.

    What amends an article counts with it: nobody shall read the old text without the new one.
    """
    named = names_articles(question)
    by_number = {source.number: source for source in sources}
    groups: list[list[Quote]] = []
    for quote in candidates:
        before = by_number[groups[-1][0].numbers[0]] if groups else None
        if before and "（已修改" in before.title and _AMENDMENT.search(by_number[quote.numbers[0]].title):
            groups[-1].append(quote)
        else:
            groups.append([quote])
    first, rest = groups[:1], groups[1:]
    if not named and _WANTS_NUMBER.search(question) and not any(_has_number(group) for group in first):
        rest.sort(key=lambda group: not _has_number(group))
    chosen = [quote for group in first for quote in group]
    room = _MAX_NAMED_CHARS if named else _MAX_LAW_CHARS
    for group in rest if named else rest[: _MAX_ARTICLES - 1]:
        if sum(len(quote.text) for quote in [*chosen, *group]) <= room:
            chosen += group
    return chosen


def articles_left_out(question: str, sources: Sequence[NumberedSource], quotes: Sequence[Quote]) -> int:
    """Return how many of the articles that a question names are not quoted: together they would be too long."""
    if not names_articles(question) or not all(source.is_law for source in sources):
        return 0
    return len(sources) - len({number for quote in quotes for number in quote.numbers})


def _has_number(group: Sequence[Quote]) -> bool:
    return any(_DIGIT.search(quote.text) for quote in group)


def _candidates(sources: Sequence[NumberedSource], shortest: int = _SHORTEST) -> Iterator[Quote]:
    order = 0
    for source in sources:
        for part in _parts(source):
            text = _harmless(part)
            if len(text) >= shortest or source.is_law or part == source.title:
                yield Quote(text, [source.number], terms(fold(text)), order=order)
                order += 1


def _parts(source: NumberedSource) -> list[str]:
    if not source.text:
        return [source.title] if source.title else []
    if not source.is_law:
        return [sentence.text for sentence in split_sentences(source.text)]
    whole = source.text.replace("\n", "" if is_chinese(source.text) else " ")
    notes = "".join(note for note in source.notes if is_news(note))
    whole += f"（检索注：{notes}）" if notes else ""
    name = source.quoted_name
    return [whole if not name or whole.startswith(name) else f"{name}：{whole}"]


def _harmless(text: str) -> str:
    """Return a sentence in which no link, image or code of a page can stand, nor a number that looks like ours."""
    return " ".join(text.replace("[", "(").replace("]", ")").replace("`", "'").strip(" #>*-•|").split())


def _rank(candidates: Sequence[Quote], wanted: set[str], sources: Sequence[NumberedSource], *, numbers: bool) -> None:
    frequency = Counter(term for quote in candidates for term in quote.content & wanted)
    titles = {source.number: terms(fold(source.title)) & wanted for source in sources}
    places = {source.number: place for place, source in enumerate(sources)}
    total = len(candidates)
    rarity = {
        term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
        for term in wanted
    }  # fmt: skip
    average = sum(len(quote.content) for quote in candidates) / total if total else 1.0
    for quote in candidates:
        number = quote.numbers[0]
        length = 1 - _B + _B * len(quote.content) / (average or 1)
        own = sum(rarity[term] for term in quote.content & wanted) * (_K1 + 1) / (1 + _K1 * length)
        above = sum(rarity[term] for term in titles[number] - quote.content)
        told = numbers and bool(_DIGIT.search(quote.text))
        # "Its height is 8,848 m" names its subject in the title alone.
        quote.score = (own + _TITLE_WEIGHT * above) if own or told else 0.0
        quote.score /= 1 + _RANK_WEIGHT * places[number]
        if quote.text.endswith(("…", "...")):
            quote.score *= _CUT_OFF
        if told:
            quote.score *= _NUMBER_BONUS


def _leads(quote: Quote, candidates: Sequence[Quote]) -> bool:
    first = next(other for other in candidates if other.numbers[0] == quote.numbers[0])
    return first is quote


def _chosen(ranked: Sequence[Quote], sources: Sequence[NumberedSource], most: int) -> list[Quote]:
    articles = {source.number for source in sources if source.is_article}
    chosen: list[Quote] = []
    used: Counter[int] = Counter()
    size = 0
    for quote in ranked:
        if chosen and quote.score < _KEPT_SHARE * chosen[0].score:
            break
        twin = next((other for other in chosen if _alike(quote, other)), None)
        number = quote.numbers[0]
        if twin is not None:
            if number not in twin.numbers:
                twin.numbers.append(number)
            continue
        law = number in articles
        full = used[number] >= (1 if law else _PER_SOURCE) or (law and sum(used[n] for n in articles) >= _MAX_ARTICLES)
        if full or len(chosen) >= most or (chosen and size + len(quote.text) > _MAX_CHARS):
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
