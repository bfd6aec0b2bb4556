"""The documentation under ``/docs``: the Markdown files that come with the package, as plain pages of our own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.language import language_tag, reader_language
from qiusuo.web.static.page import StaticFile, page_files, prefix_of, under
from qiusuo.words import Fact, Language

_HERE: Final = Path(__file__)
# In an installed package in the folder above, in the repository at its root.
FOLDERS: Final = (_HERE.parents[1] / "docs", _HERE.parents[4] / "docs")
FIRST: Final = (
    "usage", "deployment", "scaling", "people", "sign-in", "data", "board", "troubleshooting", "settings", "models",
    "configuration", "engines", "tools", "chat", "chat-api", "files", "research", "sharing", "native-search",
    "openai-api", "clients", "followups", "reading", "passages", "citations", "legal", "google", "plugins", "api",
    "cli",
)  # fmt: skip
API: Final = "api"
_CHINESE: Final = ".zh-CN"
_HTML: Final = "text/html; charset=utf-8"
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,40}")
_ANCHOR: Final = re.compile(r'<a id="([\w.-]+)"></a>')
_COMMENT: Final = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)
_OTHER_PAGE: Final = re.compile(r"([a-z][a-z0-9-]*)(\.zh-CN)?\.md(#.*)?")


def docs_folder() -> Path | None:
    """Return where the documentation is; None where it was not installed."""
    return next((folder for folder in FOLDERS if (folder / "usage.md").is_file()), None)


def doc_names(folder: Path) -> list[str]:
    """Return the pages that there are, the ones for users first."""
    found = {path.name.partition(".")[0] for path in folder.glob("*.md")} | {API}
    found = {name for name in found if _NAME.fullmatch(name)}
    return [*(name for name in FIRST if name in found), *sorted(found.difference(FIRST))]


async def docs_page(request: Request) -> Response:
    """Show a page of the documentation, in Chinese where the reader reads it."""
    language = reader_language(request.scope)
    name = request.path_params.get("name", "")
    folder = docs_folder()
    if folder is None:
        body, status, written = _absent(language), HTTPStatus.NOT_FOUND, language
    elif name == API:
        body, status, written = _api(request.app.openapi(), language), HTTPStatus.OK, language
    else:
        text, written = _read(folder, name or "usage", language)
        body = _render(text) if text else f"<h1>{Fact('docs.no_page').text(language)}</h1>"
        status = HTTPStatus.OK if text else HTTPStatus.NOT_FOUND
    whole = under(prefix_of(request), _frame(body, _menu(folder, name or "usage", language), language, written))
    answer = StaticFile.of(whole.encode(), _HTML).answer(request)
    answer.headers["Content-Language"] = language_tag(language)
    answer.headers["Vary"] = "Accept-Encoding, Accept-Language"
    if status is not HTTPStatus.OK:
        answer.status_code = status
    return answer


def docs_routes() -> list[Route]:
    """Return the routes of the documentation."""
    return [Route("/docs", docs_page, methods=["GET"]), Route("/docs/{name}", docs_page, methods=["GET"])]


def _read(folder: Path, name: str, language: Language) -> tuple[str, Language]:
    """Return a page, and the language that it is written in: not all are there in Chinese."""
    if name not in doc_names(folder):
        return "", language
    chosen, written = folder / f"{name}{_CHINESE}.md", language.written
    if not language.is_chinese or not chosen.is_file():
        chosen, written = folder / f"{name}.md", Language.ENGLISH
    return (chosen.read_text(encoding="utf-8"), written) if chosen.is_file() else ("", language)


@lru_cache(maxsize=64)
def _render(text: str) -> str:
    """Return Markdown as HTML, of which it may contain none itself."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(_COMMENT.sub("", text))
    _name_headings(tokens)
    for token in tokens:
        if token.type in {"table_open", "fence", "code_block"}:
            token.attrSet("tabindex", "0")  # it may have to be scrolled
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs = dict(_link(str(child.attrGet("href") or "")))
            elif child.type == "image":
                child.type, child.tag, child.attrs = "text", "", {}
    return str(parser.renderer.render(tokens, parser.options, {}))


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give headings the names that links use: those written before them, and the ones made of their words."""
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        named = _ANCHOR.search(inline.content)
        words = _ANCHOR.sub("", inline.content)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        again = seen[slug] = seen.get(slug, -1) + 1
        opening.attrSet("id", named[1] if named else f"{slug}-{again}" if again else slug)
        if named and inline.children:
            _drop_anchor(inline.children)


def _drop_anchor(children: list[Token]) -> None:
    for child in children:
        child.content = _ANCHOR.sub("", child.content)


def _link(target: str) -> dict[str, str | int | float]:
    if target.startswith(("http://", "https://")):
        return {"href": target, "target": "_blank", "rel": "noopener noreferrer"}
    if target.startswith("#"):
        return {"href": target}
    page = _OTHER_PAGE.fullmatch(target)
    if page:
        return {"href": f"/docs/{page[1]}{'?lang=zh' if page[2] else ''}{page[3] or ''}"}
    return {}  # leads out of the documentation: to files that are not here


def _menu(folder: Path | None, current: str, language: Language) -> str:
    lines = [f'<a class="home" href="/">{escape(Fact("docs.back").text(language))}</a>']
    for name in doc_names(folder) if folder else ():
        mark = ' aria-current="page"' if name == current else ""
        title = _title(_read(folder, name, language)[0]) if folder else name
        text = Fact("docs.api").text(language) if name == API else title
        lines.append(f'<a href="/docs/{name}?lang={language}"{mark}>{escape(text or name)}</a>')
    other = Language.ENGLISH if language.is_chinese else Language.CHINESE
    words = Fact("docs.language").text(other)
    lines.append(f'<a class="language" href="?lang={other}" lang="{other}">{words}</a>')
    return f'<nav aria-label="{escape(Fact("docs.title").text(language))}">{"".join(lines)}</nav>'


def _title(text: str) -> str:
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    return heading[1].replace("`", "") if heading else ""


def _frame(body: str, menu: str, language: Language, written: Language) -> str:
    root = page_files().root
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else ""
    return (
        f'<!doctype html><html lang="{language_tag(language)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · {escape(Fact('docs.title').text(language))}</title>"
        f'<link rel="icon" href="{root}icon.svg" type="image/svg+xml">'
        f'<link rel="stylesheet" href="{root}style.css"><link rel="stylesheet" href="{root}docs.css">'
        f'<script src="{root}early.js"></script></head>'
        f'<body><div class="docs">{menu}<main lang="{written.tag}">{body}</main></div></body></html>'
    )


def _absent(language: Language) -> str:
    return f"<h1>{Fact('docs.absent').text(language)}</h1><p>pip install 'qiusuo[all]' · <code>qiusuo doctor</code></p>"


def _api(document: dict[str, Any], language: Language) -> str:
    rows = [
        f"<tr><td>{escape(method.upper())}</td><td><code>{escape(path)}</code></td>"
        f"<td>{escape(str(operation.get('description') or operation.get('summary') or ''))}</td></tr>"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return (
        f"<h1>{Fact('docs.api').text(language)}</h1>"
        f'<p>{Fact("docs.whole").text(language)}: <a href="/openapi.json">/openapi.json</a></p>'
        '<div class="table" tabindex="0"><table><thead><tr><th>HTTP</th><th>URL</th>'
        f"<th>{Fact('docs.about').text(language)}</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
