"""Documents that amend a law: which law, which of its articles, and what of their text is the law's new text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qiusuo.legal.models import ArticleDraft, ArticleNumber, LawDocument
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.reading.references import FindLaw, LawMention, find_references

_DECISION = re.compile(r"关于修改(.+)的决定$")
_AMENDMENT = re.compile(r"^(.+?)修正案(?:[(（][^()（）]+[)）])?$")
_NAME = re.compile(r"[《〈]([^《》〈〉]+)[》〉]")
# The number that follows is one of the new text: 将第六条改为第八条, 增加一条，作为第五条.
_NEW_NUMBER = re.compile(r"(?:改为|作为|包括)\s*$")
# 在第六条后增加一条 leaves article 6 as it is.
_ONLY_A_PLACE = re.compile(r"\s*之?后增加[一二两三四五六七八九十\d]+[条章节]")
_QUOTES = '"“”'
_LINK = re.compile(r"^(?:\s|、|,|和|及|与)*$")

Span = tuple[ArticleNumber, ArticleNumber]


def amended_names(name: str) -> list[str]:
    """Return the laws that a document amends, by its own name; none for any other document."""
    decision = _DECISION.search(name)
    if decision:
        return _NAME.findall(decision[1])
    amendment = _AMENDMENT.match(name)
    return [amendment[1]] if amendment else []


def own_words(text: str) -> str:
    """Return the text without what it quotes; a quotation of several lines opens each of them and is closed once."""
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        for place, character in enumerate(line):
            if character == '"':
                inside = not inside or place == 0
            elif character in "“”":
                inside = character == "“"
            if not inside or character in _QUOTES:
                kept.append(character)
        kept.append("\n")
    return "".join(kept)


def amended_articles(text: str, law_id: int, find_law: FindLaw) -> Iterator[Span]:
    """Yield the articles of a law that an item of an amendment changes or inserts, each as a range."""
    words = folded(own_words(text))
    end, renumbered = 0, False
    for reference in find_references(words, find_law, inside_law=True):
        before = words[end : reference.start]
        renumbered = bool(_NEW_NUMBER.search(before)) or (renumbered and bool(_LINK.match(before)))
        end = reference.end
        ours = reference.mention is LawMention.SELF or reference.law_ids == (law_id,)
        # An inserted article (第一百二十条之一) keeps the number under which it is inserted.
        kept = not renumbered or reference.number.suffix
        if ours and kept and not _ONLY_A_PLACE.match(words, end):
            yield reference.number, reference.last or reference.number


def with_quoted_articles_rejoined(law: LawDocument) -> LawDocument:
    """Return an amendment in which articles that it quotes stand in the item that announces them.

    Some sources cut 增加五条，分别作为第一百二十三条至第一百二十七条 there and number the new articles among the items.
    """
    if not amended_names(law.name):
        return law
    items: list[ArticleDraft] = []
    for draft in law.articles:
        if items and _announces(items[-1], draft.number):
            text = f"{items[-1].text}\n{draft.label}　{draft.text}"
            items[-1] = replace(items[-1], text=text)
        else:
            items.append(draft)
    return replace(law, articles=tuple(items))


def _announces(item: ArticleDraft, number: ArticleNumber | None) -> bool:
    if number is None or item.number is None or number.number == item.number.number + 1:
        return False
    return any(
        reference.number <= number <= (reference.last or reference.number)
        for reference in find_references(own_words(item.text), lambda _name: (), inside_law=True)
    )
