"""What makes the page one that can be installed: its manifest, and the worker that says when the server is away.

The worker keeps nothing: the page that it shows is a part of it, so there is nothing to renew but itself.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.language import language_headers, reader_language
from qiusuo.web.static.page import page_files, prefix_of
from qiusuo.words import Fact, Language

MANIFEST: Final = "/manifest.webmanifest"
WORKER: Final = "/offline.js"
THEME: Final = "#1b5fd1"
_ICONS: Final = (("icon-192.png", "192x192", "any"), ("icon-512.png", "512x512", "any"))
_MASKABLE: Final = ("icon-maskable-512.png", "512x512", "maskable")
_SHELL_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


async def manifest(request: Request) -> Response:
    """Describe the page as a program to install, in the reader's language."""
    language = reader_language(request.scope)
    body = json.dumps(_manifest(language, prefix_of(request)), ensure_ascii=False)
    headers = {"Cache-Control": "no-cache", **language_headers(language)}
    return Response(body, media_type="application/manifest+json", headers=headers)


async def worker(request: Request) -> Response:  # noqa: ARG001 - the same for all
    """Return the worker; browsers look for a newer one with each visit."""
    # It fetches pages of ours and does nothing else.
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'none'; connect-src 'self'"}
    return Response(_worker(), media_type="text/javascript; charset=utf-8", headers=headers)


def install_routes() -> list[Route]:
    """Return the routes."""
    return [Route(MANIFEST, manifest, methods=["GET"]), Route(WORKER, worker, methods=["GET"])]


def _manifest(language: Language, prefix: str) -> dict[str, Any]:
    root = prefix + page_files(prefix).root
    names = {each: Fact("page.app").text(each) for each in Language}
    about = {each: Fact("page.tagline").text(each) for each in Language}
    return {
        "id": f"{prefix}/",
        "name": names[language],
        "short_name": names[language],
        "description": about[language],
        "name_localized": {each.tag: name for each, name in names.items()},
        "short_name_localized": {each.tag: name for each, name in names.items()},
        "description_localized": {each.tag: words for each, words in about.items()},
        "lang": language.tag,
        "dir": "ltr",
        "start_url": f"{prefix}/",
        "scope": f"{prefix}/",
        "display": "standalone",
        "theme_color": THEME,
        "background_color": "#ffffff",
        "icons": [
            {"src": f"{root}icon.svg", "sizes": "any", "type": "image/svg+xml"},
            *(
                {"src": root + file, "sizes": sizes, "type": "image/png", "purpose": purpose}
                for file, sizes, purpose in (*_ICONS, _MASKABLE)
            ),
        ],
    }


@cache
def _worker() -> str:
    shells = {language.value: _shell(language) for language in Language}
    head = f"const SHELLS = {json.dumps(shells, ensure_ascii=False)};\nconst POLICY = {json.dumps(_SHELL_POLICY)};\n"
    return head + Path(__file__).with_name("offline.js").read_text(encoding="utf-8")


def _shell(language: Language) -> str:
    """Return the page for when the server does not answer. It has no script and loads nothing."""
    name, what, fix, again = (
        escape(Fact(code).text(language))
        for code in ("page.app", "web.offline", "web.offline_hint", "web.offline_again")
    )
    return (
        f'<!doctype html><html lang="{language.tag}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{name}</title>'
        "<style>body{margin:15vh auto;max-width:30rem;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;"
        "text-align:center}</style></head>"
        f'<body><main><h1>{name}</h1><p>{what}</p><p>{fix}</p><p><a href="">{again}</a></p></main></body></html>'
    )
