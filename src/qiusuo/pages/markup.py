"""Work on parsed markup: hidden parts, links, language, plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from qiusuo.http.guard import MAX_URL_LENGTH
from qiusuo.pages.models import PageLink
from qiusuo.text import clean

MAX_SCANNED_LINKS: Final = 5000
MAX_TAGS: Final = 40_000
MAX_DOCUMENT_CHARS: Final = 3_000_000

# Controls, direction marks and other invisible characters, among them the "tags" that can carry a hidden message.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile(r"\r\n?|[\u0085\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n{3,}")
_TAG_START = re.compile("<")
_CODE_START = re.compile(r"<(script|style)\b([^>]{0,500})", re.IGNORECASE)
_CODE_END = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:px|pt|r?em|%)?\s*(?:;|!|$)",
    re.IGNORECASE,
)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_TAG_CASES: Final = {2: str.upper, 4: str.title}  # zh-CN, zh-Hans
_SILENT: Final = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "head", "object", "select"})
_BLOCKS: Final = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure"}
    | {"footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre"}
    | {"section", "table", "tr", "ul"}
)
_CONTENT_TAGS: Final = frozenset({"main", "article"})
_FRAME_TAGS: Final = frozenset({"nav", "header", "footer", "aside"})
# The body of a WeChat article.
_CONTENT_IDS: Final = frozenset({"js_content"})


def tidy(text: str) -> str:
    """Take out control and invisible characters, trailing blanks and surplus blank lines."""
    lines = visible(_LINE_END.sub("\n", text)).split("\n")
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")


def visible(text: str) -> str:
    """Take out the characters that nobody sees."""
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def one_line(text: object, limit: int) -> str:
    """Make plain text of one line: a title, a name."""
    return clean(visible(text), limit) if isinstance(text, str) else ""


def bounded(document: str, most: int = MAX_DOCUMENT_CHARS) -> tuple[str, bool]:
    """Return the part of an HTML document that is small enough to be taken apart, and whether something was cut off.

    Time and memory go with the number of tags. Scripts and styles go first, as they are half of many pages; facts for
    machines (JSON-LD) stay.
    """
    document = "".join(_without_code(document))
    last = next(islice(_TAG_START.finditer(document), MAX_TAGS, None), None)
    end = min(last.start() if last else len(document), most)
    return document[:end], end < len(document)


def parse_html(document: str) -> HtmlElement | None:
    """Parse HTML in whatever state; None where there is nothing."""
    # Bytes with a fixed encoding: what the document says of its own encoding has been dealt with.
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    try:
        return document_fromstring(visible(document).encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError):
        return None


def parse_xml(document: str) -> etree._Element | None:
    """Parse XML without reading anything from outside; None where it is too broken."""
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True
    )
    try:
        root: etree._Element | None = etree.fromstring(visible(document).encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    return root


def drop_hidden(tree: HtmlElement) -> None:
    """Take out what a visitor cannot see.

    An element that holds most of the page's text is shown instead: such pages (WeChat's articles) are hidden until a
    script has run.
    """
    total = _text_length(tree)
    doomed: list[HtmlElement] = []
    walk = etree.iterwalk(tree, events=("start",))
    for _event, element in walk:
        if element.tag in {"html", "body"} or not _is_hidden(element):
            continue
        if _text_length(element) * 2 > total:
            element.attrib.pop("style", None)
            element.attrib.pop("hidden", None)
        else:
            doomed.append(element)
            walk.skip_subtree()
    for element in doomed:
        element.drop_tree()


def visible_text(tree: etree._Element) -> str:
    """Return the text of a tree with one line for each block."""
    return "\n".join(line for line in _lines(tree) if line)


def document_title(tree: HtmlElement) -> str:
    """Return the text of ``<title>``, else of the first heading."""
    for path in (".//title", ".//h1"):
        element = tree.find(path)
        if element is not None:
            title = one_line("".join(element.itertext()), 300)
            if title:
                return title
    return ""


def declared_language(tree: HtmlElement) -> str | None:
    """Return the language tag that the page gives itself, such as ``zh-CN``."""
    candidates = [tree.get("lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"), tree.get("xml:lang")]
    candidates += [
        meta.get("content")
        for meta in tree.iterfind(".//meta")
        if (meta.get("http-equiv") or "").lower() == "content-language" or meta.get("property") == "og:locale"
    ]
    for candidate in candidates:
        found = _LANGUAGE_TAG.fullmatch((candidate or "").strip())
        if found:
            language, *rest = found[0].replace("_", "-").split("-")
            return "-".join([language.lower(), *(_TAG_CASES.get(len(part), str)(part) for part in rest)])
    return None


def declared_author(tree: HtmlElement) -> str:
    """Return the author that the page's head names, if any."""
    for meta in tree.iterfind(".//meta[@name]"):
        if meta.get("name", "").lower() == "author":
            return one_line(meta.get("content"), 200)
    return ""


def links_of(tree: HtmlElement, url: str, limit: int) -> tuple[PageLink, ...]:
    """Return the links of a page, those of its content before those of its frame."""
    base = tree.find(".//base[@href]")
    if base is not None:
        url = absolute(base.get("href"), url) or url
    ranked: list[tuple[int, PageLink]] = []
    for anchor in islice(tree.iterfind(".//a[@href]"), MAX_SCANNED_LINKS):
        target = absolute(anchor.get("href"), url)
        if target is not None:
            ranked.append((_distance(anchor), PageLink(target, one_line("".join(anchor.itertext()), 120))))
    ranked.sort(key=lambda entry: entry[0])
    return unique((link for _, link in ranked), url, limit)


def unique(links: Iterable[PageLink], url: str, limit: int) -> tuple[PageLink, ...]:
    """Return the first ``limit`` links that lead to different pages, none to the page itself."""
    kept: dict[str, PageLink] = {}
    own = urldefrag(url).url
    for link in links:
        if link.url == own:
            continue
        known = kept.get(link.url)
        # A picture and a headline often share a target; the words are worth more.
        if known is None or (link.text and not known.text):
            kept[link.url] = link
        if len(kept) >= limit and all(entry.text for entry in kept.values()):
            break
    return tuple(islice(kept.values(), limit))


def absolute(href: str | None, base: str) -> str | None:
    """Return where a link leads, without fragment; None unless it is a usable http(s) address."""
    if not href or len(href) > MAX_URL_LENGTH:
        return None
    try:
        target = urldefrag(urljoin(base, visible(href).strip())).url
        parts = urlsplit(target)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        return None
    return target if usable and len(target) <= MAX_URL_LENGTH and " " not in target else None


def _without_code(document: str) -> Iterator[str]:
    # By hand and not with one pattern: each search goes on where the last one ended, so that time stays linear.
    position = 0
    while start := _CODE_START.search(document, position):
        end = _CODE_END[start[1].lower()].search(document, start.end())
        after = end.start() if end else len(document)
        if "json" in start[2].lower():
            yield document[position:after]
        else:
            yield document[position : start.start()]
            # The closing tag stays; the parser passes over one that closes nothing.
        position = after
    yield document[position:]


def _is_hidden(element: HtmlElement) -> bool:
    return element.get("hidden") is not None or bool(_HIDING_STYLE.search(element.get("style") or ""))


def _text_length(element: etree._Element) -> int:
    return sum(len(text) for text in _own_texts(element))


def _own_texts(element: etree._Element) -> Iterator[str]:
    """Yield what would be shown: scripts and styles are no text."""
    walk = etree.iterwalk(element, events=("start",))
    for _event, node in walk:
        if node.tag in _SILENT:
            walk.skip_subtree()
        elif node.text:
            yield node.text.strip()
        if node.tail and node is not element:
            yield node.tail.strip()


def _lines(tree: etree._Element) -> Iterator[str]:
    pieces: list[str] = []
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, node in walk:
        tag = node.tag if isinstance(node.tag, str) else ""
        if tag in _BLOCKS and pieces:
            yield " ".join("".join(pieces).split())
            pieces = []
        if event == "start":
            if tag in _SILENT:
                walk.skip_subtree()
            elif node.text:
                pieces.append(node.text)
            if tag in {"td", "th"}:
                pieces.append(" ")
        elif node.tail and node is not tree:
            pieces.append(node.tail)
    yield " ".join("".join(pieces).split())


def _distance(anchor: HtmlElement) -> int:
    """Rank a link: 0 in the content, 1 anywhere, 2 in the frame around it."""
    rank = 1
    for ancestor in anchor.iterancestors():
        if ancestor.tag in _FRAME_TAGS or ancestor.get("role") in {"navigation", "banner", "contentinfo"}:
            return 2
        if ancestor.tag in _CONTENT_TAGS or ancestor.get("role") == "main" or ancestor.get("id") in _CONTENT_IDS:
            rank = 0
    return rank
