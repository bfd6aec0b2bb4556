"""References to articles in questions and in the text of laws.

``第12条 民法典577条 第一百二十条之一 第二款 第（二）项 第一、四款 第十条至第十五条 《…〈…〉…》第三条 本法第五条``.
The law is the longest known name that ends where the reference begins. A name that ends there but is not known stays
unknown: 民法典婚姻家庭编司法解释一第25条 is never article 25 of the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.names import looks_like_law, year_tag
from qiusuo.legal.numbers import NUMBER, folded, number_of

FindLaw = Callable[[str], tuple[int, ...]]
"""Returns the ids of the laws that have exactly this name."""

MAX_NAME_CHARS = 80
_TO = r"\s*(?:至|到|-|–|—|~|～)\s*"
_AND = r"\s*(?:、|,|和|及|与|或者|或)\s*"
_MANY = rf"{NUMBER}(?:(?:{_AND}|{_TO})第?\s*{NUMBER})*"
_ITEM = rf"\(?\s*{NUMBER}\s*\)?"
_ITEMS = rf"{_ITEM}(?:\s*项?(?:{_AND}|{_TO})第?\s*{_ITEM})*"
_PARAGRAPHS = rf"{NUMBER}(?:\s*款?(?:{_AND}|{_TO})第?\s*{NUMBER})*"
# 条例, 条约, 条件, 条款 are words of their own.
_ARTICLE = re.compile(
    rf"(?P<mark>第)?\s*(?P<numbers>{_MANY})\s*(?:条(?![例约件文])(?!款(?!第))|之\s*(?P<inner>{NUMBER})\s*条)"
    rf"(?:\s*之\s*(?P<suffix>{NUMBER})(?!\s*[款项条]))?"
    rf"(?:\s*第\s*(?P<paragraphs>{_PARAGRAPHS})\s*款)?"
    rf"(?:\s*第?\s*(?P<items>{_ITEMS})\s*项)?"
)
_RANGE = re.compile(rf"^{_TO}$")
_LINKED = re.compile(r"^(?:\s|、|,|和|及|与|或者|或|以及|的规定|规定|;|第)*$")
_SPLIT_TO = re.compile(_TO)
_SPLIT_AND = re.compile(_AND)
# What may stand between a law's name and its article.
_FILLER = re.compile(r"(?:\s|的|之|中|里|里的|中的|规定的|:|,|》|〉|关于)+$")
_PART = re.compile(r"(?:第[^第,。;、]{1,6}[编章节]|编)\s*$")
_LONGEST_PART_NAME = 6  # 婚姻家庭编, 侵权责任编
_SENTENCE = re.compile(r"[。;!?\n\r]")
# Words after which a name may begin.
_LEAD_IN = re.compile(
    r"(?:根据|依据|依照|按照|违反|适用|符合|参照|结合|对照|引用|援引|触犯|查询|查一下|查|看看|看|问|请问|什么是|解释|规定在|我国|中国|现行|新|旧|原|"
    r"以及|或者|和|与|及|或|、|,|\s|的|在|对|把|将|由|是|按|依|据|第|\(|“|\"|:|\.|。|;)$"
)
_RELATIVE = re.compile(r"(?P<self>(?<!基)本法|本条例|本规定|本解释|本办法|本决定|本条)$")


class LawMention(StrEnum):
    """What a reference says about its law."""

    NAMED = "named"  # one or more known laws
    UNKNOWN = "unknown"  # a name that the index does not have
    SELF = "self"  # 本法, or nothing in the text of a law
    NONE = "none"  # nothing was said


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference. ``last`` is the end of a range; ``law_ids`` has several entries where a name is ambiguous.

    ``certain`` is False where words stand before the name that may belong to it.
    """

    number: ArticleNumber
    mention: LawMention
    law_name: str = ""
    law_ids: tuple[int, ...] = ()
    year: int | None = None
    last: ArticleNumber | None = None
    paragraphs: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    certain: bool = True
    start: int = 0
    end: int = 0


def find_references(text: str, find_law: FindLaw, *, inside_law: bool = False) -> list[Reference]:
    """Return the references in their order. ``inside_law``: in a law's own text a bare number means that law."""
    text = folded(text)
    found: list[Reference] = []
    for match in _ARTICLE.finditer(text):
        previous = found[-1] if found else None
        between = text[previous.end : match.start()] if previous else ""
        numbers = _numbers(match)
        if not numbers:
            continue
        if previous and match["mark"] and _RANGE.match(between) and previous.last is None:
            first, *rest = numbers
            found[-1] = replace(previous, last=first[0], end=match.end())
            numbers, base = rest, previous
        elif previous and _LINKED.match(between):
            base = previous
        else:
            before = text[max(0, match.start() - MAX_NAME_CHARS * 2) : match.start()]
            base = _law_before(before, find_law, inside_law=inside_law)
            bare = base.mention is LawMention.NONE or (inside_law and base.mention is LawMention.SELF)
            if bare and not match["mark"]:
                continue  # 三条理由, 前两条: a count, no article
        found += _expanded(match, numbers, base)
    return found


def _expanded(
    match: re.Match[str], numbers: list[tuple[ArticleNumber, ArticleNumber | None]], base: Reference
) -> Iterator[Reference]:
    paragraphs, items = values_of(match["paragraphs"] or ""), values_of(match["items"] or "")
    for place, (number, last) in enumerate(numbers):
        final = place == len(numbers) - 1
        yield replace(
            base,
            number=number,
            last=last,
            paragraphs=paragraphs if final else (),
            items=items if final else (),
            start=match.start(),
            end=match.end(),
        )


def _numbers(match: re.Match[str]) -> list[tuple[ArticleNumber, ArticleNumber | None]]:
    suffix = number_of(match["suffix"] or match["inner"] or "") or 0
    pairs: list[tuple[ArticleNumber, ArticleNumber | None]] = []
    parts = [part.strip().removeprefix("第").strip() for part in _SPLIT_AND.split(match["numbers"])]
    for place, part in enumerate(parts):
        ends = [number_of(end.removeprefix("第")) for end in _SPLIT_TO.split(part)]
        if any(end is None for end in ends):
            return []
        own = suffix if place == len(parts) - 1 else 0
        first, last = ends[0] or 0, ends[-1] or 0
        if len(ends) == 1:
            pairs.append((ArticleNumber(first, own), None))
        else:
            pairs.append((ArticleNumber(first), ArticleNumber(last, own)))
    return pairs


def values_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as 一、四 or （二）至（四）."""
    values: list[int] = []
    for part in _SPLIT_AND.split(re.sub(r"[()第款项\s]", "", text)):
        ends = [number_of(end) for end in _SPLIT_TO.split(part)]
        if ends and ends[0] is not None and ends[-1] is not None:
            values += range(ends[0], min(ends[-1], ends[0] + 50) + 1)
    return tuple(dict.fromkeys(values))


def _law_before(before: str, find_law: FindLaw, *, inside_law: bool) -> Reference:
    """Read the law whose name ends where ``before`` ends."""
    nothing = Reference(ArticleNumber(0), LawMention.SELF if inside_law else LawMention.NONE)
    year: int | None = None
    tail = _SENTENCE.split(before)[-1]
    tail = re.sub(r"\(以下简称[^)]{1,30}\)\s*$", "", tail)
    tag = re.search(r"\([^()]{4,16}\)\s*(?:》\s*)?$", tail)
    if tag and year_tag(tag[0]) is not None:
        year = year_tag(tag[0])
        tail = tail[: tag.start()] + ("》" if "》" in tag[0] else "")
    quoted = _quoted_at_end(tail)
    if quoted is not None:
        return _named(quoted, find_law, nothing, year=year or year_tag(quoted), certain=True)
    bare = _FILLER.sub("", tail)
    if _RELATIVE.search(bare):
        return replace(nothing, mention=LawMention.SELF)
    for candidate in _without_parts(bare):
        known = _longest_known(candidate, find_law)
        if known is not None:
            start, ids = known
            certain = start == 0 or bool(_LEAD_IN.search(candidate[:start]))
            return replace(
                nothing, mention=LawMention.NAMED, law_name=candidate[start:], law_ids=ids, year=year, certain=certain
            )
    if not inside_law and looks_like_law(bare):
        return replace(nothing, mention=LawMention.UNKNOWN, law_name=_unknown_name(bare), year=year)
    return nothing


def _without_parts(text: str) -> Iterator[str]:
    """Yield the text, then without the part of the code that it ends with: 民法典 of 民法典合同编."""
    yield text
    cut = _PART.sub("", text)
    if cut != text:
        yield from (cut[: len(cut) - length] for length in range(_LONGEST_PART_NAME + 1))


def _named(name: str, find_law: FindLaw, nothing: Reference, *, year: int | None, certain: bool) -> Reference:
    ids = find_law(name)
    mention = LawMention.NAMED if ids else LawMention.UNKNOWN
    return replace(nothing, mention=mention, law_name=name, law_ids=ids, year=year, certain=certain)


def _quoted_at_end(tail: str) -> str | None:
    """Return the name in 《》 at the end of ``tail``; inner 〈〉 or 《》 belong to it."""
    bare = re.sub(r"(?:\s|的|中|里|之|规定的|:)+$", "", tail)
    # (一) and (2018修正) stand behind the bracket as often as inside.
    number = re.search(r"》\s*(\([一二三四五六七八九十\d]{1,3}\))$", bare)
    if number:
        bare = bare[: number.start() + 1]
    if not bare.endswith("》"):
        return None
    depth = 0
    for place in range(len(bare) - 1, -1, -1):
        depth += {"》": 1, "《": -1}.get(bare[place], 0)
        if depth == 0:
            return bare[place + 1 : -1] + (number[1] if number else "")
    return None


def _longest_known(text: str, find_law: FindLaw) -> tuple[int, tuple[int, ...]] | None:
    """Return where the longest known name that ends ``text`` begins, and its laws."""
    start = max(0, len(text) - MAX_NAME_CHARS)
    for place in range(start, len(text) - 1):
        if text[place] in " \t":
            continue
        ids = find_law(text[place:])
        if ids:
            return place, ids
    return None


def _unknown_name(text: str) -> str:
    """Cut the words before an unknown name off, as far as they can be told."""
    opened = text.rfind("《")
    piece = re.split(r"[,:、\s]|根据|依据|依照|按照|违反|请问|查询", text[opened + 1 :] if opened >= 0 else text)[-1]
    return piece.strip("》《 ")
