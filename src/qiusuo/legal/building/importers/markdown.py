"""Laws as Markdown: the LawRefBook style (date in the file's name, ``<!-- INFO END -->``) and the just-laws style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from qiusuo.legal.building.importers.lines import EXCERPT_CHARS, read_lines
from qiusuo.legal.models import ArticleDraft, LawDocument, RejectedRow
from qiusuo.legal.reading.dates import all_days, read_day
from qiusuo.legal.reading.names import kind_of, name_key
from qiusuo.legal.reading.numbers import NUMBER, folded, read_label

MAX_LINE_BYTES = 1024 * 1024
_FILE_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_ARTICLE = re.compile(
    rf"^\s*(?:\*\*|__)?\s*(第\s*{NUMBER}\s*条(?:\s*之\s*{NUMBER})?)\s*(?:\*\*|__)?(?:[\s\u3000:：]+|$)(.*)$"
)
_HEADING = re.compile(r"^(#{1,6})\s*(.+?)\s*#*$")
_RANK = re.compile(rf"^第\s*{NUMBER}\s*(分编|编|章|节)")
_RANKS = ("编", "分编", "章", "节")
_INFO_END = "<!-- INFO END -->"
_EFFECTIVE = re.compile(r"自\s*([^,，。;；]{8,14}?日)\s*起(?:施行|实施|生效)")
_MADE = re.compile(r"通过|公布|修订|修正|发布")
_CODE = "民法典"


def read_markdown(path: Path) -> Iterator[LawDocument | RejectedRow]:
    """Read the law of one file."""
    lines: list[str] = []
    for number, line in enumerate(read_lines(path, max_bytes=MAX_LINE_BYTES), 1):
        if line.text is None:
            yield RejectedRow(f"line {number}: {line.problem}", line.excerpt)
        else:
            lines.append(line.text)
    law = _law(path, lines)
    if law is None:
        yield RejectedRow("no article (第…条) in this file", "\n".join(lines)[:EXCERPT_CHARS])
    else:
        yield law


def _law(path: Path, lines: list[str]) -> LawDocument | None:
    title, preamble, body = _split(lines)
    dated = _FILE_DATE.search(path.stem)
    name, part = _name_and_part(title or _FILE_DATE.sub("", path.stem), path)
    articles = _articles(body, (part,) if part else ())
    if not articles:
        return None
    published = dated[1] if dated else _last_made(preamble)
    stated = [day for text in (*preamble, articles[-1].text) for day in _EFFECTIVE.findall(folded(text))]
    effective = max((read_day(day) for day in stated), default="")
    return LawDocument(
        name=name, articles=tuple(articles), kind=kind_of(name), department=path.parent.name, published=published,
        effective=effective,
    )  # fmt: skip


def _split(lines: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the title, what stands before the law itself, and the law."""
    title = next((match[2] for line in lines if (match := _HEADING.match(line)) and match[1] == "#"), "")
    marked = next((place for place, line in enumerate(lines) if line.strip() == _INFO_END), None)
    if marked is not None:
        return title, lines[:marked], lines[marked + 1 :]
    first = next((place for place, line in enumerate(lines) if _ARTICLE.match(folded(line))), len(lines))
    return title, lines[:first], lines


def _name_and_part(title: str, path: Path) -> tuple[str, str]:
    """Return a law's name and, for a code that is split over files, the part that this file holds."""
    title = " ".join(re.sub(r"[*_`]", "", title).split())
    key = name_key(title)
    in_code_folder = name_key(path.parent.name) == _CODE
    if key != _CODE and (
        re.fullmatch(rf"{_CODE}(?:第.{{1,3}}编)?.{{2,8}}", key) or (in_code_folder and _CODE not in key)
    ):
        rest = re.sub(rf"^.*{_CODE}\s*", "", title) if _CODE in title else title
        if "解释" not in rest and "规定" not in rest:
            return f"中华人民共和国{_CODE}", rest.strip(" -—·") or path.stem
    return title, ""


def _articles(lines: list[str], outer: tuple[str, ...]) -> list[ArticleDraft]:
    found: list[ArticleDraft] = []
    ranks: dict[str, str] = {}
    text: list[str] = []
    label = ""

    def close() -> None:
        if label:
            headings = (*outer, *(ranks[rank] for rank in _RANKS if rank in ranks))
            found.append(ArticleDraft(label, "\n".join(text).strip(), read_label(label), headings))

    for line in lines:
        plain = line.replace("\u3000", " ").strip()
        heading = _HEADING.match(plain)
        ranked = _RANK.match(folded(heading[2])) if heading else None
        article = None if heading else _ARTICLE.match(folded(plain))
        if heading or article:
            close()
            label, text = "", []
        if ranked and heading:
            rank = ranked[1]
            ranks = {known: title for known, title in ranks.items() if _RANKS.index(known) < _RANKS.index(rank)}
            ranks[rank] = " ".join(heading[2].split())
        elif article:
            # The folded text only finds the article; what is kept is the law's own writing.
            label = "".join(article[1].split())
            kept = re.sub(
                r"^\s*(?:\*\*|__)?\s*第[^条]{1,12}条(?:\s*之\s*[^\s*_]{1,3}?)?\s*(?:\*\*|__)?[\s:：]*", "", plain
            )
            text = [kept] if kept else []
        elif label and plain and not plain.startswith("<!--"):
            text.append(plain)
    close()
    return found


def _last_made(preamble: list[str]) -> str:
    days = [day for line in preamble if _MADE.search(line) for day in all_days(line)]
    return max(days, default="")
