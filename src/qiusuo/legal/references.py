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

from qiusuo.legal.editions import CURRENT, Edition, edition_after, edition_before
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.names import looks_like_law, name_key
from qiusuo.legal.numbers import HAN, NUMBER, folded, number_of

FindLaw = Callable[[str], tuple[int, ...]]
"""Returns the ids of the laws that have exactly this name."""

MAX_NAME_CHARS = 80
_TO = r"\s*起?\s*(?:至|到|-|–|—|~|～)\s*"
_AND = r"\s*(?:、|,\s*还有|,|/|和|及|与|跟|或者|或|以及|还有)\s*"
_MANY = rf"{NUMBER}(?:(?:{_AND}|{_TO})第?\s*{NUMBER}){{0,50}}"
_ITEM = rf"\(?\s*{NUMBER}\s*\)?"
_ITEMS = rf"{_ITEM}(?:\s*项?(?:{_AND}|{_TO}|(?<=\))(?=\())第?\s*{_ITEM})*"
_PARAGRAPHS = rf"{NUMBER}(?:\s*款?(?:{_AND}|{_TO})第?\s*{NUMBER})*"
_INSERTED = rf"之\s*{NUMBER}(?!\s*[款项条])"
_OF = r"\s*(?:的|,|中的?)?\s*第?\s*"
_ARTICLE = re.compile(
    # 条例, 条约, 条件, 条款 are words of their own; 条约定 and 条例外 are not.
    rf"(?P<mark>第)?\s*(?P<numbers>{_MANY})\s*"
    rf"(?:条(?!例(?![外如])|约(?![定束])|件)(?(mark)|(?!文))(?!款(?!第))|之\s*(?P<inner>{NUMBER})\s*条)"
    rf"(?:\s*(?P<inserted>{_INSERTED}(?:(?:{_AND}|{_TO}){_INSERTED})*))?"
    rf"(?:{_OF}(?P<paragraphs>{_PARAGRAPHS})\s*款(?!项))?"
    rf"(?:{_OF}(?P<items>{_ITEMS})\s*项(?!目)|\s*(?P<bracket>\(\s*(?:[{HAN}]{{1,3}}|\d{{1,2}})\s*\))(?!\s*[款项]))?"
)
_RANGE = re.compile(rf"^{_TO}$")
_LINKED = re.compile(r"^(?:\s|、|,|和|及|与|或者|或|以及|的规定|规定|;|第)*$")
# A law's sentences stand for themselves, a question's belong together.
_LINKED_IN_QUESTIONS = re.compile(r"^(?:\s|、|,|/|和|及|与|跟|或者|或|以及|还有|的规定|规定|;|第|。|!|止)*$")
_SPLIT_TO = re.compile(_TO)
_SPLIT_AND = re.compile(_AND)
# A whole question without 条, or with the law behind it: 民法典577, 刑法133-1, 577条民法典.
_BARE = re.compile(rf"^(?P<law>.*?[^\s第§\d{HAN}])\s*[第§]?\s*(?P<number>{_MANY}(?:\s*之\s*{NUMBER})?)$")
_LAW_LAST = re.compile(rf"^(?P<number>{_MANY}\s*条(?:\s*之\s*{NUMBER})?)\s*[的,]?\s*(?P<law>\S+)$")
_NO_BEGINNING = frozenset(' \t,、:。;《》〈〉()“”"')
_OTHER_QUOTES = str.maketrans("「」『』", "《》《》")
_YEARS = range(1949, 2100)
_DASHES = "-–—"
_MOST_INSERTED = 30
# What may stand between a law's name and its article.
_FILLER = re.compile(r"(?:\s|的|之|中|里|里的|中的|规定的|:|,|》|〉|关于|从|自)+$")
_PART = re.compile(r"(?:第[^第,。;、]{1,6}[编章节]|编|总则|分则)\s*$")
_LONGEST_PART_NAME = 6  # 婚姻家庭编, 侵权责任编
_SENTENCE = re.compile(r"[。;!?\n\r]")
# Words after which a name may begin.
_LEAD_IN = re.compile(
    r"(?:关于|有关|根据|依据|依照|按照|违反|适用|符合|参照|结合|对照|引用|援引|触犯|查询|查一下|查|看看|看|问|请问|什么是|解释|一下|知道|了解|告诉我|请教|咨询|"
    r"说说|讲讲|规定在|我国|中国|国家|现行|以及|或者|和|与|及|或|、|,|\s|的|在|对|把|将|由|是|按|依|据|第|\(|“|\"|:|\.|。|;)$"
)
_RELATIVE = re.compile(r"(?P<self>(?<!基)本法|本条例|本规定|本解释|本办法|本决定|本条)$")
# Articles of these are nobody's law: 合同第三条, 公司章程第五条.
_PAPER = re.compile(
    r"(?:合同|合约|协议书?|规章|制度|章程|条款|保单|手册|公约|[告通]知书|承诺书|判决书?|遗嘱|[借欠]条)$"
)
_ELSEWHERE = re.compile(
    r"(?:美国|英国|法国|德国|日本|韩国|欧盟|俄罗斯|俄国|苏联|加拿大|澳大利亚|新加坡|马来西亚|印度|印尼|越南|泰国|意大利|西班牙|瑞士|荷兰|巴西|"
    r"中华民国|民国|台湾(?:地区)?|香港|澳门)的?$"
)
# Where a name ends that stands anywhere; what follows may make another law of it.
_NAME_END = re.compile(r"法典|法(?!典)|条例|修正案|规定|解释|办法")
_ANOTHER_LAW = re.compile(r"^[^\s,。;、的中里]{0,12}?(?:条例|细则|解释|办法|规定|意见)")


class LawMention(StrEnum):
    """What a reference says about its law."""

    NAMED = "named"  # one or more known laws
    UNKNOWN = "unknown"  # a name that the index does not have
    SELF = "self"  # 本法, or nothing in the text of a law
    NONE = "none"  # nothing was said


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference. ``last`` is the end of a range; ``law_ids`` has several entries where a name is ambiguous.

    ``certain`` is False where words stand before the name that may belong to it. ``unreadable`` is a number that
    is none, as it was written.
    """

    number: ArticleNumber
    mention: LawMention
    law_name: str = ""
    law_ids: tuple[int, ...] = ()
    edition: Edition = CURRENT
    last: ArticleNumber | None = None
    paragraphs: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    certain: bool = True
    unreadable: str = ""
    start: int = 0
    end: int = 0


def find_references(text: str, find_law: FindLaw, *, inside_law: bool = False) -> list[Reference]:
    """Return the references in their order. ``inside_law``: in a law's own text a bare number means that law."""
    text = folded(text) if inside_law else _completed(_question(text), find_law)
    linked = _LINKED if inside_law else _LINKED_IN_QUESTIONS
    found: list[Reference] = []
    for match in _ARTICLE.finditer(text):
        previous = found[-1] if found else None
        between = text[previous.end : match.start()] if previous else ""
        numbers = _numbers(match)
        if previous and numbers and _RANGE.match(between) and previous.last is None:
            first, *rest = numbers
            low, high = sorted((previous.number, first[0]))
            found[-1] = replace(previous, number=low, last=high, end=match.end())
            numbers, base = rest, previous
        elif previous and linked.match(between):
            base = previous
        else:
            before = text[max(0, match.start() - MAX_NAME_CHARS * 2) : match.start()]
            base = _law_before(before, find_law, inside_law=inside_law)
            bare = base.mention is LawMention.NONE or (inside_law and base.mention is LawMention.SELF)
            if bare and (not match["mark"] or (not inside_law and _PAPER.search(before))):
                continue  # 三条理由, 前两条: a count, no article
        if numbers is not None:
            found += _expanded(match, numbers, base)
        elif not inside_law and base.mention in {LawMention.NAMED, LawMention.UNKNOWN}:
            found.append(replace(base, unreadable=match[0].strip(), start=match.start(), end=match.end()))
    return found


def law_named(text: str, find_law: FindLaw) -> Reference | None:
    """Return the law that a text is the name of, with what it says of the edition; None if it is more or less."""
    text = _question(text)
    named = _law_before(text, find_law, inside_law=False)
    return named if named.mention is LawMention.NAMED and not text[: named.start].strip(" 《") else None


def laws_in(text: str, find_law: FindLaw) -> list[Reference]:
    """Return the known laws that a text names anywhere, in their order, each once."""
    text = _question(text)
    found: dict[tuple[int, ...], Reference] = {}
    for end in _NAME_END.finditer(text):
        if not _ANOTHER_LAW.match(text[end.end() :].lstrip("》")):
            named = _law_before(text[: end.end()], find_law, inside_law=False)
            if named.mention is LawMention.NAMED:
                found.setdefault(named.law_ids, replace(named, end=end.end()))
    return list(found.values())


def _question(text: str) -> str:
    return folded(text).translate(_OTHER_QUOTES)


def _completed(text: str, find_law: FindLaw) -> str:
    """Write a question that is only a law and a number as a reference: 民法典577 is 民法典第577条."""
    if find_law(text):
        return text
    match = _BARE.match(text)
    if match:
        named = _law_before(match["law"], find_law, inside_law=False)
        year = match["number"].isdecimal() and int(match["number"][:6]) in _YEARS
        if named.mention is LawMention.NAMED and named.certain and not year:
            return f"{match['law']}第{match['number']}条"
    match = _LAW_LAST.match(text)
    return f"{match['law']}第{match['number']}" if match and find_law(match["law"]) else text


def _expanded(
    match: re.Match[str], numbers: list[tuple[ArticleNumber, ArticleNumber | None]], base: Reference
) -> Iterator[Reference]:
    paragraphs = values_of(match["paragraphs"] or "")
    items = values_of(match["items"] or match["bracket"] or "")
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
    for part in _SPLIT_AND.split(re.sub(r"[()第款项\s]", "", text.replace(")(", "、"))):
        ends = [number_of(end) for end in _SPLIT_TO.split(part)]
        if ends and ends[0] is not None and ends[-1] is not None:
            values += range(ends[0], min(ends[-1], ends[0] + 50) + 1)
    return tuple(dict.fromkeys(values))


def _law_before(before: str, find_law: FindLaw, *, inside_law: bool) -> Reference:
    """Read the law whose name ends where ``before`` ends; ``start`` is where it begins, with the edition before it."""
    nothing = Reference(ArticleNumber(0), LawMention.SELF if inside_law else LawMention.NONE)
    sentence = _SENTENCE.split(before)[-1]
    offset = len(before) - len(sentence)
    sentence = re.sub(r"\(以下简称[^)]{1,30}\)\s*$", "", sentence)
    found = _quoted_law(sentence, find_law, nothing)
    if found is None:
        bare = _FILLER.sub("", edition_after(sentence)[0])
        if _RELATIVE.search(bare):
            return replace(nothing, mention=LawMention.SELF)
        found = _bare_law(sentence, find_law, nothing)
        if found is None and not inside_law and looks_like_law(bare) and not _PAPER.search(bare):
            found = replace(nothing, mention=LawMention.UNKNOWN, law_name=_unknown_name(bare))
    return replace(found, start=offset + found.start) if found else nothing


def _quoted_law(sentence: str, find_law: FindLaw, nothing: Reference) -> Reference | None:
    """Read the law in 《》 at the end of a sentence, whether there is one of that name or not."""
    tail, after = edition_after(sentence)
    quoted = _quoted_at_end(sentence) or _quoted_at_end(tail)
    if quoted is None:
        return None
    start, name = quoted
    bare, inner = edition_after(name)
    if name_key(name) != name_key(bare) and find_law(name):
        bare, inner, after = name, CURRENT, CURRENT  # 宪法修正案(1988年): the year belongs to the name
    head, ahead = edition_before(sentence[:start])
    ids = () if _ELSEWHERE.search(head) else find_law(bare)
    if not ids:
        return replace(nothing, mention=LawMention.UNKNOWN, law_name=name, start=start)
    edition = next((said for said in (after, inner, ahead) if said != CURRENT), CURRENT)
    return replace(nothing, mention=LawMention.NAMED, law_name=name, law_ids=ids, edition=edition, start=len(head))


def _bare_law(sentence: str, find_law: FindLaw, nothing: Reference) -> Reference | None:
    """Read the known law at the end of a sentence."""
    tail, after = edition_after(sentence)
    whole, bare = _FILLER.sub("", sentence), _FILLER.sub("", tail)
    candidates = [(part, after) for part in _without_parts(bare)]
    if name_key(whole) != name_key(bare):
        candidates.insert(0, (whole, CURRENT))
    for candidate, edition in candidates:
        known = _longest_known(candidate, find_law)
        if known is None:
            continue
        start, ids = known
        head, ahead = edition_before(candidate[:start])
        if _ELSEWHERE.search(head):
            return None
        certain = not head or bool(_LEAD_IN.search(head))
        return replace(
            nothing,
            mention=LawMention.NAMED,
            law_name=candidate[start:] if certain else _unknown_name(candidate),
            law_ids=ids,
            edition=ahead if edition == CURRENT else edition,
            certain=certain,
            start=len(head),
        )
    return None


def _without_parts(text: str) -> Iterator[str]:
    """Yield the text, then without the part of the code that it ends with: 民法典 of 民法典合同编."""
    yield text
    cut = _PART.sub("", text)
    if cut != text:
        yield from (cut[: len(cut) - length] for length in range(_LONGEST_PART_NAME + 1))


def _quoted_at_end(tail: str) -> tuple[int, str] | None:
    """Return where the name in 《》 at the end of ``tail`` begins, and the name; inner 〈〉 or 《》 belong to it."""
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
            return place, bare[place + 1 : -1] + (number[1] if number else "")
    return None


def _longest_known(text: str, find_law: FindLaw) -> tuple[int, tuple[int, ...]] | None:
    """Return where the longest known name that ends ``text`` begins, and its laws."""
    start = max(0, len(text) - MAX_NAME_CHARS)
    for place in range(start, len(text) - 1):
        if text[place] in _NO_BEGINNING:
            continue
        ids = find_law(text[place:])
        if ids:
            return place, ids
    return None


def _unknown_name(text: str) -> str:
    """Cut the words before an unknown name off, as far as they can be told."""
    opened = text.rfind("《")
    piece = re.split(r"[,:、\s]|根据|依据|依照|按照|违反|请问|查询", text[opened + 1 :] if opened >= 0 else text)[-1]
    return re.sub(r"[《》\s]", "", piece)
