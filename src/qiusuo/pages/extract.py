"""From a decoded document to what a reader wants of it: text, title, date, language, links. Pure, CPU-bound.

HTML goes through trafilatura, which is imported on the first page (a quarter of a second). Its time grows with the
number of elements, so only the beginning of a huge page is read.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import islice
from typing import Any, Final

import orjson
from lxml import etree
from lxml.html import HtmlElement

from qiusuo.models import domain_of
from qiusuo.pages.markup import (
    MAX_DOCUMENT_CHARS,
    MAX_SCANNED_LINKS,
    absolute,
    bounded,
    declared_author,
    declared_language,
    document_title,
    drop_hidden,
    links_of,
    one_line,
    parse_html,
    parse_xml,
    tidy,
    unique,
    visible_text,
)
from qiusuo.pages.models import PageLink
from qiusuo.text import primary_language

logger = logging.getLogger(__name__)

MAX_LINKS: Final = 100
MAX_ELEMENTS: Final = 20_000
MAX_LINE: Final = 2000

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_JSON: Final = frozenset({"application/json", "application/ld+json", "text/json"})
_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})

_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_BARE_URL = re.compile(r"""(?:\[([^\[\]\n]{0,200})\]\()?(https?://[^\s<>"'()\[\]{}|\\^`、，。；）】」]+)""")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LANGUAGE_SAMPLE: Final = 4000
_DATE_SAMPLE: Final = 20_000
# "发布时间：2024年3月1日" and the like, which the date finder does not read.
_LABELLED_DATE = re.compile(
    r"(?:发布|发表|发稿|更新|印发|公布|日期|时间)[^\d\n]{0,12}((?:19|20)\d\d)\s*[年./-]\s*(\d{1,2})\s*[月./-]\s*(\d{1,2})"
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found in a document. ``cut`` says that it was too large to be read to its end."""

    text: str = ""
    title: str = ""
    published_at: str | None = None
    language: str | None = None
    author: str | None = None
    site_name: str | None = None
    links: tuple[PageLink, ...] = ()
    cut: bool = False


def extract(
    document: str, content_type: str, url: str, *, max_links: int = MAX_LINKS, most: int = MAX_DOCUMENT_CHARS
) -> Extracted:
    """Read ``document``, which came from ``url`` (links are made absolute against it).

    Of HTML ``most`` characters are taken apart, scripts not counted.
    """
    if content_type in _HTML or (content_type.endswith("xml") and "<html" in document[:1000].lower()):
        found = _from_html(document, url, max_links, most)
    elif content_type in _JSON or content_type.endswith("+json"):
        found = Extracted(text=_readable_json(document))
    elif content_type.endswith("xml"):
        found = _from_xml(document, url, max_links)
    else:
        heading = _MARKDOWN_TITLE.search(document) if content_type in _MARKDOWN else None
        title = one_line(heading[1], 300) if heading else ""
        found = Extracted(text=document, title=title, links=_written_links(document, url, max_links))
    text = tidy(found.text)
    return replace(found, text=text, language=_language(found.language, text))


def _from_html(document: str, url: str, max_links: int, most: int) -> Extracted:
    document, cut = bounded(document, most)
    tree = parse_html(document)
    if tree is None:
        return Extracted()
    language = declared_language(tree)
    links = links_of(tree, url, max_links)
    drop_hidden(tree)
    found = _facts(tree, url)
    return replace(
        found,
        text=_main_text(tree, url) or visible_text(tree),
        cut=cut,
        title=found.title or document_title(tree),
        # The line with the date is often no part of the main text.
        published_at=found.published_at or _labelled_date(visible_text(tree)),
        author=found.author or declared_author(tree) or None,
        language=language,
        links=links,
    )


def _main_text(tree: HtmlElement, url: str) -> str:
    """Return the main text as Markdown, empty where none is found."""
    library = _extraction_library()
    try:
        text = library.extract(tree, url=url, output_format="markdown", include_comments=False)
    except Exception as error:  # noqa: BLE001 - broken markup can fail anywhere in there; plain text is still to be had
        logger.info("No main text found in a page: %s", type(error).__name__)
        return ""
    return text or ""


def _facts(tree: HtmlElement, url: str) -> Extracted:
    """Return what the page says of itself."""
    library = _extraction_library()
    try:
        # The extensive search finds a date in nearly every page, and too often a wrong one.
        found = library.extract_metadata(tree, default_url=url, extensive=False)
    except Exception as error:  # noqa: BLE001 - as above
        logger.info("No metadata found in a page: %s", type(error).__name__)
        return Extracted()
    site_name, host = one_line(found.sitename, 100), domain_of(url)
    return Extracted(
        title=one_line(found.title, 300),
        published_at=found.date or None,
        author=one_line(found.author, 200) or None,
        site_name=None if site_name == host else site_name or None,  # the library falls back to the host
    )


@cache
def _extraction_library() -> Any:
    import trafilatura  # noqa: PLC0415 - a quarter of a second that only readers of pages should pay

    # It reports every odd page as an error; without a handler of ours these would be printed on stderr.
    for name in ("trafilatura", "htmldate", "justext", "courlan"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    return trafilatura


def _labelled_date(text: str) -> str | None:
    found = _LABELLED_DATE.search(text[:_DATE_SAMPLE])
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return None


def _from_xml(document: str, url: str, max_links: int) -> Extracted:
    """Read a feed or another XML file: one line for each element that has text of its own."""
    root = parse_xml(document)
    if root is None:
        return Extracted(text=document)
    title, lines, links = "", [], []
    for element in islice(root.iter(etree.Element), MAX_ELEMENTS):
        text = one_line(element.text, MAX_LINE)
        name = etree.QName(element).localname
        if name == "link":
            target = absolute(element.get("href") or text, url)
            if target is not None:
                links.append(PageLink(target))
        if name == "title" and not title:
            title = text
        if text:
            lines.append(text)
    return Extracted(text="\n".join(lines), title=one_line(title, 300), links=unique(links, url, max_links))


def _readable_json(document: str) -> str:
    """Lay JSON out with its escapes resolved; what is no JSON stays as it is."""
    try:
        return orjson.dumps(orjson.loads(document), option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, TypeError):
        return document


def _written_links(text: str, url: str, limit: int) -> tuple[PageLink, ...]:
    found = (
        PageLink(target, one_line(match[1], 120))
        for match in islice(_BARE_URL.finditer(text), MAX_SCANNED_LINKS)
        if (target := absolute(match[2].rstrip(".,;:!?"), url)) is not None
    )
    return unique(found, url, limit)


def _language(declared: str | None, text: str) -> str | None:
    """Return the language: the declared one, unless the script of the text shows that it is wrong."""
    sample = text[:_LANGUAGE_SAMPLE]
    letters = sum(character.isalpha() for character in sample) or 1
    written: str | None = None
    if len(_KANA.findall(sample)) / letters > 0.1:  # noqa: PLR2004 - Japanese has more than a few kana
        written = "ja"
    elif len(_HANGUL.findall(sample)) / letters > 0.3:  # noqa: PLR2004
        written = "ko"
    elif len(_HAN.findall(sample)) / letters > 0.3:  # noqa: PLR2004
        written = "zh"
    return declared if written is None or primary_language(declared) == written else written
