"""The page on which a browser is told why a sign-in came to nothing."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from qiusuo.errors import SearchError
from qiusuo.web.language import language_headers, language_tag, reader_language
from qiusuo.web.static.page import page_files, prefix_of, under
from qiusuo.words import Fact

_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"


def failure_page(request: Request, error: SearchError, status: HTTPStatus, back: str = "/") -> Response:
    """Return the page: what is so, what to do, and the way to another go."""
    language = reader_language(request.scope)
    words, root = error.wording(language), page_files().root
    title = escape(Fact("signin.failed_title").text(language))
    again, home = (escape(Fact(f"signin.{code}").text(language)) for code in ("again", "to_page"))
    markup = (
        f'<!doctype html><html lang="{language_tag(language)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>'
        f'<link rel="icon" href="{root}icon.svg" type="image/svg+xml">'
        f'<link rel="stylesheet" href="{root}style.css"><link rel="stylesheet" href="{root}docs.css"></head>'
        f'<body><div class="docs"><main data-code="{escape(error.fact.code)}"><h1>{title}</h1>'
        f"<p>{escape(words.what)}</p><p>{escape(words.fix)}</p>"
        f'<p><a href="/signin?return={quote(back, safe="")}">{again}</a> · <a href="/">{home}</a></p>'
        "</main></div></body></html>"
    )
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": _POLICY,
        **language_headers(language),
    }
    return Response(under(prefix_of(request), markup), status, headers, media_type="text/html")
