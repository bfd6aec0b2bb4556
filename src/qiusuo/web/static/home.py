"""The root: the chat page, the way for programs that were made for SearXNG, and how browsers learn to ask here."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.drop_in.searxng import query_redirect
from qiusuo.web.entrance.sites import asks_page
from qiusuo.web.language import language_tag
from qiusuo.web.static.page import asked_page, chat_page, page_files, prefix_of
from qiusuo.words import Fact, Language

OPENSEARCH: Final = "/opensearch.xml"
_DESCRIPTION: Final = "application/opensearchdescription+xml"
_NAME_CHARS: Final = 16  # and no markup, as OpenSearch 1.1 says


async def home(request: Request) -> Response:
    """Show the chat page, which asks what the address says; pass queries of programs on, as a SearXNG does."""
    if asks_page(request.scope):
        return await asked_page(request, own_wish=request.scope.get("state", {}).get("own_wish", False))
    return await query_redirect(request) or await chat_page(request)


async def opensearch(request: Request) -> Response:
    """Tell browsers how to ask here: https://github.com/dewitt/opensearch, version 1.1, draft 6."""
    root = f"{request.url.scheme}://{request.url.netloc}{prefix_of(request)}"
    return Response(
        opensearch_description(root), media_type=_DESCRIPTION, headers={"Cache-Control": "no-cache", "Vary": "Host"}
    )


def opensearch_description(root: str) -> str:
    """Return the description for a server that is called by this address."""
    at = escape(root)
    name = " ".join(Fact("page.app").text(language) for language in (Language.CHINESE, Language.ENGLISH))[:_NAME_CHARS]
    about = " ".join(Fact("web.opensearch").text(language) for language in (Language.CHINESE, Language.ENGLISH))
    languages = "\n".join(f"  <Language>{language_tag(language)}</Language>" for language in Language)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        f"  <ShortName>{escape(name)}</ShortName>\n  <Description>{escape(about)}</Description>\n"
        f'  <Image height="16" width="16" type="image/svg+xml">{at}{page_files().root}icon.svg</Image>\n'
        f'  <Url type="text/html" method="get" template="{at}/?q={{searchTerms}}"/>\n'
        f'  <Url type="{_DESCRIPTION}" rel="self" template="{at}{OPENSEARCH}"/>\n'
        f"{languages}\n  <InputEncoding>UTF-8</InputEncoding>\n  <OutputEncoding>UTF-8</OutputEncoding>\n"
        "</OpenSearchDescription>\n"
    )


def home_routes() -> list[Route]:
    """Return the routes of the root."""
    return [Route("/", home, methods=["GET", "POST"]), Route(OPENSEARCH, opensearch, methods=["GET"])]
