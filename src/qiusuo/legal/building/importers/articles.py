"""The articles of a law's text: numbered ones, the items of a decision (一、二、), or the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qiusuo.legal.models import ArticleDraft
from qiusuo.legal.reading.numbers import NUMBER, folded, han_of, number_of, read_label

HEADING = re.compile(r"^(#{1,6})\s*(.+?)\s*#*$")
# 笫 is typed for 第 now and then.
_LABEL = rf"[第笫]\s*{NUMBER}\s*条(?:\s*之\s*{NUMBER})?"
ARTICLE = re.compile(rf"^\s*(?:\*\*|__)?\s*({_LABEL})\s*(?:\*\*|__)?(?:[\s:：]+|$)(.*)$")
# Without a blank it may as well be a reference: 第三条规定的…
_TIGHT = re.compile(rf"^\s*([第笫]\s*({NUMBER})\s*条)(?![\s第的规所、,和至到及与或之款项中除])(\S.*)$")
# Several articles in one line: a sentence has ended, and the next number follows.
_INSIDE = re.compile(rf"(?<=[。;；:：”」）)])\s+(?=[第笫]\s*({NUMBER})\s*条\s)")
_KEPT = re.compile(r"^\s*(?:\*\*|__)?\s*[第笫][^条]{1,12}条(?:\s*之\s*[^\s*_]{1,3}?(?=[\s*_]))?\s*(?:\*\*|__)?[\s:：]*")
_ITEM = re.compile(r"^\s*(?:\*\*|__)?\s*([一二三四五六七八九十]{1,4})、\s*(.*?)\s*(?:\*\*|__)?$")
_DIGIT_ITEM = re.compile(r"^\s*(\d{1,3})[.．、]\s*(\D.*)$")
MIN_DIGIT_ITEMS = 10
_RANK = re.compile(rf"^第\s*{NUMBER}\s*(分编|编|章|节)")
_RANKS = ("编", "分编", "章", "节")
_FIRST_CHAPTER = re.compile(r"^第\s*[一1]\s*章")
_CLOSING = re.compile(r"施行|生效|废止|附则")
_BREAK = "<!--"
WHOLE = "全文"
MIN_WHOLE_CHARS = 20
# A longer text has rather lost the headings of its other chapters.
MAX_BROKEN_OFF = 20


def articles_of(lines: list[str], outer: tuple[str, ...]) -> list[ArticleDraft]:
    """Return the articles of a text under their headings; ``outer`` are headings that stand above all of it."""
    found: list[ArticleDraft] = []
    ranks: dict[str, str] = {}
    text: list[str] = []
    label = ""

    def close() -> None:
        if label:
            headings = (*outer, *(ranks[rank] for rank in _RANKS if rank in ranks))
            found.append(ArticleDraft(label, "\n".join(text).strip(), read_label(label), headings))

    for plain in _single(lines):
        heading = HEADING.match(plain)
        ranked = _RANK.match(folded(heading[2])) if heading else None
        known = None if heading else _label_in(plain, label)
        if heading or known:
            close()
            label, text = "", []
        if ranked and heading:
            rank = ranked[1]
            ranks = {known: title for known, title in ranks.items() if _RANKS.index(known) < _RANKS.index(rank)}
            ranks[rank] = " ".join(heading[2].split())
        elif known:
            # The folded text only finds the article; what is kept is the law's own writing.
            label = known
            kept = _KEPT.sub("", plain)
            text = [kept] if kept else []
        elif label and plain and not plain.startswith(_BREAK):
            text.append(plain)
    close()
    return found


def items_of(lines: list[str]) -> list[ArticleDraft]:
    """Return what a document without articles says: the items that it counts (1. or 一、), else its whole text."""
    plain = [line for line in map(_plain, lines) if line and not line.startswith(_BREAK)]
    texts = [heading[2] if (heading := HEADING.match(line)) else line for line in plain]
    # Where both are counted, 一、 is a heading and 1. what is quoted as an article.
    for pattern, label, least in ((_DIGIT_ITEM, "第{}条", MIN_DIGIT_ITEMS), (_ITEM, "条目{}", 2)):
        items = _counted(texts, pattern)
        if len(items) >= least:
            labels = [label.format(han_of(number)) for number, _ in enumerate(items, 1)]
            return [
                ArticleDraft(name, body, read_label(name)) for name, body in zip(labels, items, strict=True) if body
            ]
    whole = "\n".join(texts).strip()
    return [ArticleDraft(WHOLE, whole, None)] if len(whole) >= MIN_WHOLE_CHARS else []


def _counted(texts: list[str], pattern: re.Pattern[str]) -> list[str]:
    items: list[list[str]] = []
    for text in texts:
        item = pattern.match(text)
        if item and number_of(item[1]) == len(items) + 1:
            items.append([item[2]] if item[2] else [])
        elif items:
            items[-1].append(text)
    return ["\n".join(body).strip() for body in items]


def breaks_off(articles: list[ArticleDraft]) -> bool:
    """Tell whether a text ends within its first chapter: whoever made the file has lost the rest."""
    chapters = {heading for draft in articles for heading in draft.headings if _RANK.match(folded(heading))}
    first = bool(chapters) and all(_FIRST_CHAPTER.match(folded(chapter)) for chapter in chapters)
    return first and len(articles) <= MAX_BROKEN_OFF and not _CLOSING.search(articles[-1].text)


def _single(lines: list[str]) -> Iterator[str]:
    """Yield the lines, those with several articles cut before each of them."""
    last = 0
    for line in map(_plain, lines):
        begun = ARTICLE.match(folded(line))
        if begun is None:
            yield line
            continue
        label = read_label(begun[1].replace("笫", "第"))
        last = label.number if label else last
        start = 0
        for cut in _INSIDE.finditer(line):
            if number_of(folded(cut[1])) == last + 1:
                yield line[start : cut.start()]
                start, last = cut.end(), last + 1
        yield line[start:]


def _label_in(plain: str, before: str) -> str:
    """Return the label of the article that begins in a line; a badly set one is told by the number before it."""
    text = folded(plain)
    article = ARTICLE.match(text)
    if article:
        return "".join(article[1].split()).replace("笫", "第")
    tight, previous = _TIGHT.match(text), read_label(before) if before else None
    if tight and previous and number_of(tight[2]) == previous.number + 1:
        return "".join(tight[1].split()).replace("笫", "第")
    return ""


def _plain(line: str) -> str:
    return line.replace("\u3000", " ").strip()
