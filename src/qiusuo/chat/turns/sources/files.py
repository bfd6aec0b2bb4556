"""What the files of a conversation have on a question: passages, numbered as any source is, and whether they answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qiusuo.chat.events.turn import SEARCH_FILES, Stage
from qiusuo.chat.models.vendors import EXTRACTIVE
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.history import CHARS_PER_TOKEN, estimate_tokens
from qiusuo.chat.turns.sources.evidence import LEAST_CHARS, body
from qiusuo.citations.meaning.wording import is_chinese
from qiusuo.files import FileDetails, FileText
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.passages import ANSWERS_FROM, WEAK_BELOW, Passage, Text, coverage, pick, spread, words_covered
from qiusuo.text import truncate
from qiusuo.tools.render import file_text, numbered_sources
from qiusuo.words import Language
from qiusuo.words.script import simplified

ENGINE: Final = "files"
_SNIPPET: Final = 300
_KEPT_SHARE: Final = 0.25
# What merely touches a question has up to two thirds of its words, what answers it three quarters and more (28 made
# questions about two contracts and a report); with the web at hand the first is searched for besides.
_MOST_OF_ITS_WORDS: Final = 0.7
# A question about the whole gets more room than one for a fact.
_WHOLE_SHARE: Final = 3
# Sentences run on from one page to the next.
_OVER_THE_EDGE: Final = 300
_MOST_PARTS: Final = 12
_MOST_PARTS_OF_ALL: Final = 40

_TEXTS: Final = r"(?:合同|协议|报告|论文|手册|方案|文章|说明书|简历|发票)"
_TEXTS_IN_ENGLISH: Final = r"(?:contract|report|paper|text|letter|article|manual|agreement)"
_COUNT: Final = r"[一两二三四五六七八九十几\d]"
_SPEAKS_OF_FILES: Final = re.compile(
    rf"文件|文档|附件|材料|上传|[这该]{_COUNT}{{0,2}}[份篇](?!问题)|{_COUNT}[份篇]{_TEXTS}|全文|原文|文中|"
    rf"第\s*[\d一二三四五六七八九十百]+\s*页|(?:本|这些|这{_COUNT}?个|该)(?:文|{_TEXTS})|{_TEXTS}[里中上内]|"
    r"\b(?:files?|documents?|attachments?|attached|uploaded|pdf|docx|page \d+|"
    rf"this {_TEXTS_IN_ENGLISH}|(?:these|both)(?: \w+)? {_TEXTS_IN_ENGLISH}s|"
    rf"(?:in|of|to|by) the {_TEXTS_IN_ENGLISH})\b",
    re.IGNORECASE,
)
_OF_THE_WHOLE: Final = re.compile(
    r"总结|概括|概述|摘要|归纳|提炼|要点|大意|主要内容|讲(?:了|的是)?什么|说(?:了|的是)?什么|关于什么|"
    r"\b(?:summar(?:y|i[sz]e|i[sz]ing)|overview|main points?|key points?|outline|gist|"
    r"what (?:is|does) (?:this|the|it)\b.*\b(?:about|say))\b",
    re.IGNORECASE,
)
# A wish for a summary that names nothing else to sum up means the files.
_NAMES_NOTHING: Final = re.compile(
    rf"(?:请|麻烦|帮我|帮忙|给我|一下|[下的了是个都整各它]|全部|所有|什么|内容|{_TEXTS}|[\s？?！!。，,.]|"
    rf"\b(?:please|can|could|you|give|me|an?|the|of|it|all|short|brief|what|are|is|{_TEXTS_IN_ENGLISH}s?)\b)*",
    re.IGNORECASE,
)
_OF_THE_WEB: Final = re.compile(
    r"联网|网上|上网|搜索一下|最新|今天|目前|\b(?:online|on the web|search the web|latest|today|news|current(?:ly)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a file."""

    file: FileText
    index: int


@dataclass(frozen=True, slots=True)
class InFiles:
    """What files have on a question: their parts as sources, the passages of each, and whether these answer it."""

    numbers: list[int]
    items: list[SearchResultItem]
    passages: dict[int, list[str]]
    answers: bool


async def look_in_files(context: Context, *, beside_web: bool, or_nothing: bool = False) -> InFiles | None:
    """Look into the files of the conversation, and tell the reader what was found there.

    ``beside_web``: results of the web may share the room in the question; what hardly touches it is left out then.
    ``or_nothing``: so is what does not answer it.
    """
    ask, question = context.ask, context.query or context.ask.question
    if not ask.files or context.material.asks_nothing:
        return None
    said = simplified(ask.question)
    meant = _speaks_of(said, ask.files)
    whole = bool(_OF_THE_WHOLE.search(said)) and (meant or not beside_web)
    budget = _budget(context, whole=whole, shared=beside_web and not meant)
    began = time.perf_counter()
    chosen, covered = await asyncio.to_thread(_choose, question, _named(ask.question, ask.files), budget, whole=whole)
    foreign = all(is_chinese(_beginning(file)) != is_chinese(question) for file in ask.files)
    if not chosen or (beside_web and not meant and not foreign and covered < WEAK_BELOW):
        return None
    found_passages = [passage for _, passages in chosen for passage in passages]
    well = not beside_web or words_covered(question, found_passages) >= _MOST_OF_ITS_WORDS
    answers = meant or (covered >= ANSWERS_FROM and well and not _OF_THE_WEB.search(said))
    if or_nothing and not answers:
        return None
    found = _numbered(context, question, chosen, round((time.perf_counter() - began) * 1000))
    context.material.of_the_whole = whole
    context.material.found(numbered_sources(found[1], found[0], passages=found[2]))
    looked = InFiles(*found, answers)
    context.injected = min(estimate_tokens(told(context, looked)), context.settings.injection_tokens)
    return looked


def with_files(context: Context, found: InFiles | None, text: str) -> str:
    """Return a question with passages of files before it; which files there are is told in any case."""
    if not context.ask.files or context.material.asks_nothing:
        return text
    return f"{told(context, found)}\n\n{text}"


def told(context: Context, found: InFiles | None) -> str:
    """Return the files of the conversation and passages of them, as a model is shown them."""
    sources = numbered_sources(found.items, found.numbers, passages=found.passages) if found else []
    return file_text(sources, [file.about.text(context.language) for file in context.ask.files])


def numbered_parts(context: Context, query: str, chosen: Sequence[tuple[Place, Sequence[Passage]]], ms: int) -> InFiles:
    """Take parts of files as sources, and tell of the round that found them."""
    return InFiles(*_numbered(context, query, chosen, ms), answers=True)


def details_at(files: Sequence[FileText], address: str, text: str) -> FileDetails | None:
    """Return what is known of a part of a file by its address; None where the file is not there any more."""
    for file in files:
        for index, part in enumerate(file.parts):
            if file.address(index) == address:
                return FileDetails(file.id, file.name, part.page, part.heading, part.line, text)
    return None


def search_parts(question: str, files: Sequence[FileText], budget: int) -> list[tuple[Place, list[Passage]]]:
    """Return the parts of files that answer a question, each with its passages, in their order."""
    return _choose(question, files, budget, whole=bool(_OF_THE_WHOLE.search(simplified(question))))[0]


def _choose(
    question: str, files: Sequence[FileText], budget: int, *, whole: bool
) -> tuple[list[tuple[Place, list[Passage]]], float]:
    """Return parts with their passages, and how well these cover the question."""
    places = [Place(file, index) for file in files for index in range(len(file.parts))]
    texts = [Text(number, _title(place), place.file.parts[place.index].text) for number, place in enumerate(places)]
    if whole:
        found, most = spread(texts, budget), _MOST_PARTS_OF_ALL
    else:
        found, most = pick(question, texts, budget, ordered=False), _MOST_PARTS
        best = max((passage.score for passage in found), default=0.0)
        found = [passage for passage in found if passage.score >= _KEPT_SHARE * best]
        if not best:  # no word in common: most often another language
            found, most = spread(texts, budget), _MOST_PARTS_OF_ALL
    grouped: dict[int, list[Passage]] = {}
    for passage in found:
        if passage.number in grouped or len(grouped) < most:
            grouped.setdefault(passage.number, []).append(passage)
    covered = coverage(question, found) if not whole else 0.0
    return [(places[number], _in_order(grouped[number])) for number in sorted(grouped)], covered


def _numbered(
    context: Context, query: str, chosen: Sequence[tuple[Place, Sequence[Passage]]], ms: int
) -> tuple[list[int], list[SearchResultItem], dict[int, list[str]]]:
    journal = context.journal
    number = journal.begin_round(SEARCH_FILES, query)
    journal.status(Stage.READING)
    words = [[body(passage) for passage in passages] for _, passages in chosen]
    items = [_item(place, each, context.language) for (place, _), each in zip(chosen, words, strict=True)]
    numbers = context.sources.add(query, items)
    for own, (place, _) in zip(numbers, chosen, strict=True):
        context.pages[own] = _with_edges(place)
    journal.end_round(number, SEARCH_FILES, SearchResponse(query, tuple(items), ENGINE, search_time=ms), numbers)
    return numbers, items, dict(zip(numbers, words, strict=True))


def _item(place: Place, words: Sequence[str], language: Language) -> SearchResultItem:
    file, part = place.file, place.file.parts[place.index]
    details = FileDetails(file.id, file.name, part.page, part.heading, part.line, "\n…\n".join(words))
    title, snippet = file.place(place.index).text(language), truncate(" ".join(" ".join(words).split()), _SNIPPET)
    return SearchResultItem(title, file.address(place.index), snippet, engines=(ENGINE,), details=details)


def _with_edges(place: Place) -> str:
    """Return a part with what runs over its edges: a sentence that stands on two pages is cited to one of them."""
    parts, index = place.file.parts, place.index
    before = parts[index - 1].text[-_OVER_THE_EDGE:] if index else ""
    behind = parts[index + 1].text[:_OVER_THE_EDGE] if index + 1 < len(parts) else ""
    return "\n".join(filter(None, (before, parts[index].text, behind)))


def _in_order(passages: Iterable[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda passage: passage.start)


def _title(place: Place) -> str:
    return f"{place.file.name} {place.file.parts[place.index].heading}".strip()


def _beginning(file: FileText) -> str:
    return file.parts[0].text if file.parts else ""


def _speaks_of(question: str, files: Sequence[FileText]) -> bool:
    """Tell whether a question is about the files, by its words or by the name of one."""
    if _SPEAKS_OF_FILES.search(question) or _by_name(question, files):
        return True
    rest, sums_up = _OF_THE_WHOLE.subn(" ", question)
    return bool(sums_up) and _NAMES_NOTHING.fullmatch(rest) is not None


def _named(question: str, files: Sequence[FileText]) -> Sequence[FileText]:
    """Return the files that a question names; all where it names none."""
    return _by_name(question, files) or files


def _by_name(question: str, files: Sequence[FileText]) -> list[FileText]:
    said = simplified(question).casefold()
    stems = ((file, simplified(file.name.rpartition(".")[0]).casefold()) for file in files)
    return [file for file, stem in stems if len(stem) > 1 and stem in said]


def _budget(context: Context, *, whole: bool, shared: bool) -> int:
    """Return the characters that passages may have."""
    if context.model.info.kind == EXTRACTIVE:
        return 4 * LEAST_CHARS
    fixed = context.fixed_tokens(prompts.chat_system(context.language), context.ask.question)
    tokens = context.injection_budget(fixed)
    if whole:
        tokens = min(_WHOLE_SHARE * tokens, context.results_budget(fixed))
    chinese = sum(is_chinese(_beginning(file)) for file in context.ask.files) * 2 >= len(context.ask.files)
    tokens //= 2 if shared else 1
    return max(LEAST_CHARS, tokens if chinese else CHARS_PER_TOKEN * tokens)
