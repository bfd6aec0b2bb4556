"""Laws that a text names: right before an article, as the whole text, or anywhere.

The law is the longest known name that ends where the reference begins. A name that ends there but is not known stays
unknown: 民法典婚姻家庭编司法解释一第25条 is never article 25 of the code, nor is 德国民法典第823条 ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.editions import CURRENT, Edition, edition_after, edition_before
from qiusuo.legal.reading.elsewhere import begins_elsewhere, elsewhere_after, elsewhere_before
from qiusuo.legal.reading.names import STATE, looks_like_law, name_key
from qiusuo.legal.reading.numbers import folded

FindLaw = Callable[[str], tuple[int, ...]]
"""Returns the ids of the laws that have exactly this name."""

MAX_NAME_CHARS = 80
_WINDOW = MAX_NAME_CHARS * 2
_MOST_NAMES = 40
_NO_BEGINNING = frozenset(' \t,、:。;《》〈〉()【】〔〕[]“”"')
_ENGLISH_ARTICLE = re.compile(r"\bart(?:icle|\.)?\s*(\d{1,4})\b", re.IGNORECASE)
_OTHER_QUOTES = str.maketrans("「」『』", "《》《》")
# What may stand between a law's name and its article.
_FILLER = re.compile(r"(?:\s|的|之|中|里|里面|规定的|:|,|》|〉|关于|从|自|\()+$")
_AFTER_QUOTES = re.compile(r"(?:\s|的|之|中|里|规定的|:|\()+$")
# 第三编, 第三编合同第二分编典型合同: with their titles.
_PART = re.compile(r"(?:(?:第[^第,。;、]{1,4}[编章节][^第,。;、\s]{0,10}\s*)+|编|总则|分则)\s*$")
_LONGEST_PART_NAME = 6  # 婚姻家庭编, 侵权责任编
_SENTENCE = re.compile(r"[。;!?\n\r]")
_ABBREVIATED = re.compile(r"(?:\(|[,，]\s*)以下简称[^()]{1,30}(?P<end>\))\s*$")
# Words and characters after which a name may begin: what they end cannot belong to it.
_LEAD_IN = re.compile(
    r"(?:关于|有关|违反|适用|符合|结合|引用|援引|触犯|查询|什么是|解释|一下|知道|了解|告诉我|咨询|说说|讲讲|规定|我国|中国|国家|内地|大陆|搜索|"
    r"以及|或者|你好|您好|[和与及或、,\s的在对把将由是按依据第(“\":.。;了于如为见照着过被吗呢吧啊说讲叫给找用到从看问查教])$"
)
_RELATIVE = re.compile(r"(?:(?<!基)本法|本条例|本规定|本解释|本办法|本决定|本条)$")
# Articles of these are nobody's law, or another's: 合同第三条, 公司章程中的第五条, GDPR第6条.
_PAPER = re.compile(
    r"(?:合同|合约|协议书?|协定|规章|规约|制度|章程|条款|保单|手册|守则|文件|公约|[告通]知书|承诺书|判决书?|遗嘱|[借欠]条|[A-Za-z]{2,})"
    r"(?:里面?|中|内|上)?(?:约定|规定|写)?[明着]?的?\s*$"
)
_DRAFT = re.compile(r"\(?(?:修[订正改])?(?:草案|征求意见稿|送审稿|建议稿)\)?$")
_HANGS_ON = re.compile(r"[里中的关有在规,，\s(]|$")
# Where a name ends that stands anywhere; what follows may make another law of it.
_NAME_END = re.compile(r"法典|法(?!典)|条例|修正案|规定|解释|办法")
_ANOTHER_LAW = re.compile(
    r"(?!(?:究竟|到底|具体)?(?:是|又|都)?(?:怎么|如何|怎样|咋|什么|哪|有|对))[^\s,。;、的中里]{0,12}?(?:条例|细则|解释|办法|规定|意见)|\(?(?:修[订正改])?草案|学(?![校生])"
)


class LawMention(StrEnum):
    """What a reference says about its law."""

    NAMED = "named"  # one or more known laws
    UNKNOWN = "unknown"  # a name that the index does not have
    SELF = "self"  # 本法, or nothing in the text of a law
    NONE = "none"  # nothing was said


@dataclass(frozen=True, slots=True)
class LawReference:
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


def as_question(text: str) -> str:
    """Return what somebody typed as it is read."""
    return _ENGLISH_ARTICLE.sub(r"第\1条", folded(text).translate(_OTHER_QUOTES))


def is_clause(before: str) -> bool:
    """Tell whether the article that follows is one of a contract or another paper."""
    return bool(_PAPER.search(before))


def law_named(text: str, find_law: FindLaw) -> LawReference | None:
    """Return the law that a text is the name of, with what it says of the edition; None if it is more or less.

    One of another jurisdiction is given as unknown.
    """
    text = as_question(text)
    named = law_before(text, find_law)
    whole = not text[: named.start].strip(" 《")
    elsewhere = named.mention is LawMention.UNKNOWN and begins_elsewhere(named.law_name)
    return named if whole and (named.mention is LawMention.NAMED or elsewhere) else None


def laws_in(text: str, find_law: FindLaw) -> list[LawReference]:
    """Return the known laws that a text names anywhere, in their order, each once."""
    text = as_question(text)
    found: dict[tuple[int, ...], LawReference] = {}
    for end in islice(_NAME_END.finditer(text), _MOST_NAMES):
        behind = text[end.end() : end.end() + _WINDOW].lstrip("》")
        if not _ANOTHER_LAW.match(behind):
            offset = max(0, end.end() - _WINDOW)
            named = law_before(text[offset : end.end()], find_law)
            if named.mention is LawMention.NAMED:
                found.setdefault(named.law_ids, replace(named, start=offset + named.start, end=end.end()))
    return list(found.values())


def law_for(number: LawReference, laws: list[LawReference], text: str) -> LawReference | None:
    """Return the only law of a text for a number that stands apart from it; None where the number is another's.

    请问第1062条在民法典中怎么规定的, 刑法里关于盗窃罪的第264条; but not GDPR第6条和个人信息保护法有什么不同.
    """
    if len(laws) != 1:
        return None
    (law,) = laws
    text = as_question(text)
    if law.end <= number.start:
        between = text[law.end : number.start].lstrip("》")
        return law if _HANGS_ON.match(between) else None
    head, edition = edition_before(_FILLER.sub("", text[: number.start]))
    if head and not _LEAD_IN.search(head):
        return None
    return replace(law, edition=edition) if law.edition == CURRENT else law  # 2018年第20条公司法


def law_before(before: str, find_law: FindLaw, *, inside_law: bool = False) -> LawReference:
    """Read the law whose name ends where ``before`` ends; ``start`` is where it begins, with the edition before it."""
    nothing = LawReference(ArticleNumber(0), LawMention.SELF if inside_law else LawMention.NONE)
    before = before[-_WINDOW:]
    sentence = _SENTENCE.split(before)[-1]
    offset = len(before) - len(sentence)
    short = _ABBREVIATED.search(sentence)
    if short:
        sentence = sentence[: short.start()] + (short["end"] if short[0][0] != "(" else "")
    sentence, where = elsewhere_after(sentence)
    found = _quoted_law(sentence, find_law, nothing)
    if found is None:
        bare = _FILLER.sub("", edition_after(sentence)[0])
        if _RELATIVE.search(bare):
            return replace(nothing, mention=LawMention.SELF)
        found = _bare_law(sentence, find_law, nothing)
        drafted = bool(_DRAFT.search(bare))
        if found is None and not inside_law and (drafted or (looks_like_law(bare) and not _PAPER.search(bare))):
            found = replace(nothing, mention=LawMention.UNKNOWN, law_name=_unknown_name(bare))
    if found is None:
        return nothing
    if where and found.mention is LawMention.NAMED:
        found = of_jurisdiction(found, where, find_law)
    return replace(found, start=offset + found.start)


def of_jurisdiction(law: LawReference, where: str, find_law: FindLaw) -> LawReference:
    """Return a known law as that of another jurisdiction, which is unknown unless it is ours: 基本法（香港）."""
    if where in law.law_name or STATE in law.law_name:
        return law
    name = where + law.law_name
    ids = find_law(name)
    return replace(law, mention=LawMention.NAMED if ids else LawMention.UNKNOWN, law_name=name, law_ids=ids)


def _quoted_law(sentence: str, find_law: FindLaw, nothing: LawReference) -> LawReference | None:
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
    where = elsewhere_before(head)
    ids = () if where else find_law(bare)
    if not ids:
        begin, said = (where[0], where[1] + name) if where else (start, name)
        return replace(nothing, mention=LawMention.UNKNOWN, law_name=said, start=begin)
    edition = next((said for said in (after, inner, ahead) if said != CURRENT), CURRENT)
    return replace(nothing, mention=LawMention.NAMED, law_name=name, law_ids=ids, edition=edition, start=len(head))


def _bare_law(sentence: str, find_law: FindLaw, nothing: LawReference) -> LawReference | None:
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
        if where := elsewhere_before(head):
            said = where[1] + candidate[start:]
            return replace(nothing, mention=LawMention.UNKNOWN, law_name=said, start=where[0])
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
    bare = _AFTER_QUOTES.sub("", tail)
    # (一) stands behind the bracket as often as inside.
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
