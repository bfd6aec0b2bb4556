"""Laws as Markdown: the LawRefBook style (date in the file's name, ``<!-- INFO END -->``) and the just-laws style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from qiusuo.legal.building.importers.articles import ARTICLE, HEADING, articles_of, breaks_off, items_of
from qiusuo.legal.building.importers.beside import TITLE_PAGE, kind_by_folder, listed, title_page
from qiusuo.legal.building.importers.case_pages import case_page
from qiusuo.legal.building.importers.lines import EXCERPT_CHARS, read_lines
from qiusuo.legal.models import ArticleDraft, CaseDocument, LawDocument, LawKind, RejectedRow
from qiusuo.legal.reading.dates import all_days, read_day
from qiusuo.legal.reading.names import STATE, kind_of, looks_like_law, name_key
from qiusuo.legal.reading.numbers import folded

MAX_LINE_BYTES = 1024 * 1024
_FILE_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_INFO_END = "<!-- INFO END -->"
_EFFECTIVE = re.compile(r"自\s*([^,，。;；]{8,14}?日)\s*起(?:施行|实施|生效)")
# A line of the preamble that is nothing but the day: 2005年8月11日 施行
_EFFECTIVE_LINE = re.compile(r"^(\S{8,14}日)\s*起?(?:施行|实施|生效)$")
_MADE = re.compile(r"通过|公布|修订|修正|发布|批准")
EXPIRED = "已废止或已修改"
"""How a version stands that its collection calls expired: it does not tell the one from the other."""
_COMMENT = re.compile(r"<!--.*?-->")
_RULE = "---"
_CODE = "民法典"
# A part of a law, not a law: 第二编 物权, 序言, 附则.
_PART = re.compile(r"^(?:第\s*\S{1,4}\s*(?:编|章|部分)|序\s*言|总\s*则|分\s*则|附\s*则|附\s*件)")
# Titles under which a split law keeps documents of their own.
_LAW_TITLE = re.compile(rf"^(?:{STATE}|全国人民代表大会|国务院|最高人民)")


def read_markdown(path: Path) -> Iterator[LawDocument | CaseDocument | RejectedRow]:
    """Read the law, the laws or the case of one file."""
    lines: list[str] = []
    for number, line in enumerate(read_lines(path, max_bytes=MAX_LINE_BYTES), 1):
        if line.text is None:
            yield RejectedRow(f"line {number}: {line.problem}", line.excerpt)
        else:
            lines.append(line.text)
    lines = _without_front_matter(lines)
    case = case_page(path, lines)
    if case is not None:
        yield case
        return
    found = False
    for part in _documents(path, lines):
        found = True
        yield part
    if not found:
        yield RejectedRow("no article (第…条) in this file", "\n".join(lines)[:EXCERPT_CHARS])


def is_law_page(path: Path) -> bool:
    """Tell whether a README is a law: some collections have a folder for each law, and its text there."""
    return any(isinstance(entry, LawDocument) for entry in read_markdown(path))


def _documents(path: Path, lines: list[str]) -> Iterator[LawDocument | RejectedRow]:
    sections = _laws_within(lines) if path.name != TITLE_PAGE else []
    if sections:
        for title, section in sections:
            law = _law(path, [f"# {title}", *section])
            if law is not None:
                yield law
        return
    law = _law(path, lines)
    if law is not None and title_page(path) is None and breaks_off(list(law.articles)):
        yield RejectedRow(
            f"the file breaks off within the first chapter, after {len(law.articles)} articles",
            "\n".join(lines)[:EXCERPT_CHARS],
        )
    elif law is not None:
        yield law


def _laws_within(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return the documents of a page that holds several, such as all amendments of a law, each under its title."""
    titles = [
        (place, heading[2])
        for place, line in enumerate(lines)
        if (heading := HEADING.match(line)) and heading[1] == "##" and _LAW_TITLE.match(heading[2])
    ]
    titles = [(place, title) for place, title in titles if looks_like_law(re.sub(r"[(（][^()（）]*[)）]$", "", title))]
    ends = (*(place for place, _ in titles[1:]), len(lines))
    return [(title, lines[place + 1 : end]) for (place, title), end in zip(titles, ends, strict=False)]


def _law(path: Path, lines: list[str]) -> LawDocument | None:
    title, preamble, body = _split(lines)
    dated = _FILE_DATE.search(path.stem)
    name, part = _name_and_part(title or _FILE_DATE.sub("", path.stem), path)
    page = title_page(path) if not part and _PART.match(name) else None
    if page is not None:
        name, part, preamble = page.name, name, [*page.lines]
        body = [line for line in body if not line.startswith("# ")]  # the part's own title
    articles: list[ArticleDraft] = articles_of(body, (part,) if part else ())
    known = listed(path, name, dated[1] if dated else "")
    # The index of a collection may be older than the text: what tells of a later change is believed.
    published = dated[1] if dated else max(known.published if known else "", _last_made(preamble))
    if not articles and page is not None:
        text = [line for line in lines if not HEADING.match(line)]
        articles = [replace(draft, label=part) for draft in items_of(text) if draft.number is None]
    elif not articles and not part and (published or _INFO_END in map(str.strip, lines)) and _is_named_so(name):
        articles = items_of(body)
    if not articles:
        return None
    effective = _stated_day(preamble, articles[-1].text)
    return LawDocument(
        name=name,
        articles=tuple(articles),
        kind=_kind(name, path),
        department=path.parent.name,
        published=published,
        effective=effective if effective >= published or not known else known.effective,
        stated_status=EXPIRED if known and known.expired else "",
    )


def _is_named_so(name: str) -> bool:
    """Tell a law without articles from any other text."""
    bare = re.sub(r"[(（](?:试行|暂行)[)）]$", "", name)
    return looks_like_law(bare) or bare.endswith(("方案", "命令", "标准", "准则", "通则"))


def _kind(name: str, path: Path) -> LawKind:
    by_name, by_folder = kind_of(name), kind_by_folder(path)
    return by_folder if by_folder and by_name in {LawKind.OTHER, LawKind.REGULATION, LawKind.STATUTE} else by_name


def _split(lines: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the title, what stands before the law itself, and the law."""
    title = next((match[2] for line in lines if (match := HEADING.match(line)) and match[1] == "#"), "")
    title = _COMMENT.sub("", title).strip()
    marked = next((place for place, line in enumerate(lines) if line.strip() == _INFO_END), None)
    if marked is not None:
        return title, lines[:marked], lines[marked + 1 :]
    first = next((place for place, line in enumerate(lines) if ARTICLE.match(folded(line))), None)
    if first is not None:
        return title, lines[:first], lines
    made = [place for place, line in enumerate(lines) if _MADE.search(line) and all_days(line)]
    if not made:
        return title, lines, []
    # Of a text without articles, the lines that tell who made it and when come first.
    following = range(made[0], len(lines))
    end = next((place for place in following if lines[place].strip() and place not in made), len(lines))
    return title, lines[:end], lines[end:]


def _without_front_matter(lines: list[str]) -> list[str]:
    """Return a page without what a site's generator is told in its first lines, between two rules."""
    if not lines or lines[0].strip() != _RULE:
        return lines
    end = next((place for place, line in enumerate(lines[1:], 1) if line.strip() == _RULE), 0)
    return lines[end + 1 :] if end else lines


def _stated_day(preamble: list[str], closing: str) -> str:
    """Return when a version takes effect, as far as the file says it."""
    days = [day for text in (*preamble, closing) for day in _EFFECTIVE.findall(folded(text))]
    days += [match[1] for line in preamble if (match := _EFFECTIVE_LINE.match(folded(line).strip()))]
    return max((read_day(day) for day in days), default="")


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


def _last_made(preamble: list[str]) -> str:
    days = [day for line in preamble if _MADE.search(line) for day in all_days(line)]
    return max(days, default="")
