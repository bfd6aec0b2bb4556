"""References to articles in questions and in the text of laws.

``第12条 民法典577条 第一百二十条之一 第二款 第（二）项 第一、四款 第十条至第十五条 《…〈…〉…》第三条 本法第五条``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.editions import CURRENT, edition_behind
from qiusuo.legal.reading.elsewhere import elsewhere_behind
from qiusuo.legal.reading.mentions import (
    MAX_NAME_CHARS,
    FindLaw,
    LawMention,
    LawReference,
    as_question,
    is_clause,
    law_before,
    of_jurisdiction,
)
from qiusuo.legal.reading.numbers import HAN, NUMBER, folded, number_of

__all__ = ["FindLaw", "LawMention", "LawReference", "find_references", "of_law", "values_of", "without_references"]

# Laws of ours that are about other countries: 反外国制裁法第4条 美国.
_ABOUT_OTHERS = re.compile("涉外|外国|对外|外商|国籍|出境|引渡|护照|领海|海警|国际|条约|出口|海关")
# Blanks give nothing back (*+): where several patterns in a row may take the same blank, the time grows without bound.
_TO = r"\s*+起?\s*+(?:至|到|-|–|—|~|～)\s*+"
_AND = r"\s*+(?:、|,\s*+还有|,|/|和|及|与|跟|或者|或|以及|还有)\s*+"
_MANY = rf"{NUMBER}(?:(?:{_AND}|{_TO})第?\s*+{NUMBER}){{0,50}}"
_ITEM = rf"\(?\s*+{NUMBER}\s*+\)?"
_ITEMS = rf"{_ITEM}(?:\s*+项?(?:{_AND}|{_TO}|(?<=\))(?=\())第?\s*+{_ITEM}){{0,50}}"
_PARAGRAPHS = rf"{NUMBER}(?:\s*+款?(?:{_AND}|{_TO})第?\s*+{NUMBER}){{0,50}}"
_INSERTED = rf"之\s*+{NUMBER}(?!\s*[款项条])"
_OF = r"\s*+(?:的|,|中的?)?\s*+第?\s*+"
_BRACKET = rf"\(\s*+(?:[{HAN}]{{1,3}}|\d{{1,2}})\s*+\)\s*+"
_BRACKETS = rf"(?:{_BRACKET}){{1,20}}(?!{_BRACKET})"
_COUNTED = "文|新规|重[点要]|理由|建议|要点|措施|意见|罪状|线索"
_ARTICLE = re.compile(
    # 条例, 条约, 条件, 条款 are words of their own; 条约定 and 条例外 are not. 三条理由 is a count.
    rf"(?P<mark>第)?\s*+(?P<numbers>{_MANY})\s*+"
    rf"(?:条(?!例(?![外如])|约(?![定束])|件)(?(mark)|(?!{_COUNTED}))(?!款(?!第))|之\s*+(?P<inner>{NUMBER})\s*+条)"
    rf"(?:\s*+(?P<inserted>{_INSERTED}(?:(?:{_AND}|{_TO}){_INSERTED}){{0,30}}))?"
    rf"(?:{_OF}(?P<paragraphs>{_PARAGRAPHS})\s*+款(?!项))?"
    rf"(?:{_OF}(?P<items>{_ITEMS})\s*+项(?!目)|\s*+(?P<brackets>{_BRACKETS})(?!\s*[款项]))?"
)
_RANGE = re.compile(rf"^{_TO}$")
_LINKED = re.compile(r"^(?:\s|、|,|和|及|与|或者|或|以及|的规定|规定|;|第)*$")
# A law's sentences stand for themselves, a question's belong together.
_LINKED_IN_QUESTIONS = re.compile(r"^(?:\s|、|,|/|和|及|与|跟|或者|或|以及|还有|的规定|规定|;|第|。|!|止)*$")
_SPLIT_TO = re.compile(_TO)
_SPLIT_AND = re.compile(_AND)
# Without 条, or with the law behind it: 民法典577是什么, 刑法133-1, 577条民法典; other names only as a whole question.
_BARE = re.compile(
    rf"(?<=[法典])(?P<gap>\s*[第§]?\s*)(?!\d{{4}}(?P<dash>[-./])\d{{1,2}}(?P=dash)\d)(?P<number>\d{{1,4}}(?:-\d{{1,2}})?(?:(?:{_AND}|{_TO})第?\d{{1,4}}){{0,50}})"
    rf"(?!(?:{_AND}|{_TO})第?\d)"
    r"(?!\s*[\d年月日元万亿号.%条款章节编个人天次版修])"
)
_BARE_WHOLE = re.compile(rf"^(?P<law>.*?[^\s第§\d{HAN}])\s*[第§]?\s*(?P<number>{_MANY}(?:\s*之\s*{NUMBER})?)$")
_LAW_LAST = re.compile(rf"^第?\s*(?P<number>{_MANY}\s*条(?:\s*之\s*{NUMBER})?)\s*[的,]?\s*(?P<law>\S+)$")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\s*条)")
# 违反劳动合同法两条规定: a count, where no 第 stands before it.
_COUNT = re.compile(r"[两一二三四五六七八九十]\s*条规定")
_YEARS = range(1949, 2100)
_DASHES = "-–—"
_MOST_INSERTED = 30
_MOST_IN_A_QUESTION = 200


def find_references(text: str, find_law: FindLaw, *, inside_law: bool = False) -> list[LawReference]:
    """Return the references in their order. ``inside_law``: in a law's own text a bare number means that law."""
    text = folded(text) if inside_law else _completed(as_question(text), find_law)
    linked = _LINKED if inside_law else _LINKED_IN_QUESTIONS
    found: list[LawReference] = []
    run = 0  # where the articles begin that share the law of the last one
    taken = 0  # up to where words have been read as its edition
    clause_end: int | None = None
    for match in islice(_ARTICLE.finditer(text), None if inside_law else _MOST_IN_A_QUESTION):
        previous = found[-1] if found else None
        between = text[previous.end : match.start()] if previous else ""
        numbers = _numbers(match)
        if clause_end is not None and linked.match(text[clause_end : match.start()]):
            clause_end = match.end()  # 合同第三条、第四条
            continue
        if previous and numbers and _RANGE.match(between) and previous.last is None:
            first, *rest = numbers
            low, high = sorted((previous.number, first[0]))
            found[-1] = replace(previous, number=low, last=high, end=match.end())
            numbers, base = rest, previous
        elif previous and linked.match(between):
            base = previous
        else:
            before = text[max(taken, match.start() - MAX_NAME_CHARS * 2) : match.start()]
            base = law_before(before, find_law, inside_law=inside_law)
            run = len(found)
            if _is_count(match, base, inside_law=inside_law):
                continue
            if not inside_law and base.mention is LawMention.NONE and is_clause(before):
                clause_end = match.end()
                continue
        found += _unreadable(match, base, inside_law=inside_law) if numbers is None else _expanded(match, numbers, base)
        if base.mention is LawMention.NAMED and not inside_law:
            law = _with_what_is_behind(base, text[match.end() : match.end() + MAX_NAME_CHARS], find_law)
            if law is not base:  # 公司法第3条、第4条（2018修正）
                taken = match.end() + law.end
                found[run:] = [of_law(one, law) for one in found[run:]]
                found[-1] = replace(found[-1], end=taken)
    return found


def of_law(reference: LawReference, law: LawReference) -> LawReference:
    """Return a reference as one to the law of another."""
    return replace(
        reference,
        mention=law.mention,
        law_name=law.law_name,
        law_ids=law.law_ids,
        edition=law.edition,
        certain=law.certain,
    )


def _with_what_is_behind(law: LawReference, words: str, find_law: FindLaw) -> LawReference:
    """Return a known law with the edition or the jurisdiction that the words say, ``end`` being the end of these."""
    where = elsewhere_behind(words)
    if where and not _ABOUT_OTHERS.search(law.law_name):
        law = of_jurisdiction(replace(law, end=0), where, find_law)
    edition, end = edition_behind(words) if law.edition == CURRENT else (CURRENT, 0)
    return replace(law, edition=edition, end=end) if edition != CURRENT else law


def without_references(text: str) -> str:
    """Return a question without what looks like the numbers of articles."""
    return _ARTICLE.sub("", as_question(text))


def _is_count(match: re.Match[str], base: LawReference, *, inside_law: bool) -> bool:
    """Tell whether what looks like an article is a count: 三条理由, 前两条."""
    if match["mark"]:
        return False
    bare = base.mention is LawMention.NONE or (inside_law and base.mention is LawMention.SELF)
    return bare or bool(_COUNT.match(match.string, match.start()))


def _completed(text: str, find_law: FindLaw) -> str:
    """Write a law and a number as a reference: 民法典577 is 民法典第577条."""
    text = _THOUSANDS.sub("", text)
    if find_law(text):
        return text

    def means_article(law: str, number: str, *, marked: bool = False) -> bool:
        named = law_before(law, find_law)
        is_year = not marked and number.isdecimal() and int(number) in _YEARS
        return named.mention is LawMention.NAMED and named.certain and not is_year

    def written_out(match: re.Match[str]) -> str:
        number, marked = match["number"], bool(match["gap"].strip())
        return f"第{number}条" if means_article(text[: match.start()], number, marked=marked) else match[0]

    text = _BARE.sub(written_out, text)
    match = _BARE_WHOLE.match(text)
    if match and means_article(match["law"], match["number"]):
        return f"{match['law']}第{match['number']}条"
    match = _LAW_LAST.match(text.strip("《》"))
    return f"{match['law']}第{match['number']}" if match and find_law(match["law"]) else text


def _expanded(
    match: re.Match[str], numbers: list[tuple[ArticleNumber, ArticleNumber | None]], base: LawReference
) -> Iterator[LawReference]:
    paragraphs = values_of(match["paragraphs"] or "")
    items = values_of(match["items"] or match["brackets"] or "")
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


def _unreadable(match: re.Match[str], base: LawReference, *, inside_law: bool) -> Iterator[LawReference]:
    """Give a number that is none as it was written, where a question surely means an article."""
    if not inside_law and (match["mark"] or base.mention in {LawMention.NAMED, LawMention.UNKNOWN}):
        yield replace(base, unreadable=match[0].strip(), start=match.start(), end=match.end())


def _numbers(match: re.Match[str]) -> list[tuple[ArticleNumber, ArticleNumber | None]] | None:
    """Return the articles, each with the end of its range; None where a number cannot be read."""
    pairs: list[tuple[ArticleNumber, ArticleNumber | None]] = []
    for part in _SPLIT_AND.split(match["numbers"]):
        ends = [number_of(end.strip().removeprefix("第")) for end in _SPLIT_TO.split(part)]
        first, last = ends[0], ends[-1]
        if first is None or last is None:
            return None
        if len(ends) == 1:
            pairs.append((ArticleNumber(first), None))
        elif last < first and last <= _MOST_INSERTED and any(dash in part for dash in _DASHES):
            pairs.append((ArticleNumber(first, last), None))  # 刑法133-1
        else:
            pairs.append((ArticleNumber(min(first, last)), ArticleNumber(max(first, last))))
    return _with_inserted(pairs, match["inserted"] or match["inner"] or "")


def _with_inserted(
    pairs: list[tuple[ArticleNumber, ArticleNumber | None]], inserted: str
) -> list[tuple[ArticleNumber, ArticleNumber | None]]:
    """Give the last article its 之一, or its several: 之一、之三, 之一至之六."""
    first, last = pairs[-1]
    number = (last or first).number
    for place, part in enumerate(_SPLIT_AND.split(inserted) if inserted else ()):
        ends = [ArticleNumber(number, number_of(end.strip().removeprefix("之")) or 0) for end in _SPLIT_TO.split(part)]
        if place:
            pairs.append((ends[0], ends[-1] if len(ends) > 1 else None))
        elif last is not None:
            pairs[-1] = (first, ends[-1])
        else:
            pairs[-1] = (ends[0], ends[-1] if len(ends) > 1 else None)
    return pairs


def values_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as 一、四 or （二）至（四）."""
    values: list[int] = []
    for part in _SPLIT_AND.split(re.sub(r"[()第款项\s]", "", re.sub(r"\)\s*\(", "、", text))):
        ends = [number_of(end) for end in _SPLIT_TO.split(part)]
        if ends and ends[0] is not None and ends[-1] is not None:
            values += range(ends[0], min(ends[-1], ends[0] + 50) + 1)
    return tuple(dict.fromkeys(values))
