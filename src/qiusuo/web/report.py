"""Answers and conversations as documents, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from qiusuo.chat.documents import POLICY, html_conversation, html_report, markdown_conversation, markdown_report
from qiusuo.chat.events import TurnRecord
from qiusuo.errors import InvalidQuery
from qiusuo.web.language import language_headers
from qiusuo.words import Fact, Language

KINDS: Final = ("md", "html", "json")
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"


def report_answer(record: TurnRecord, kind: str) -> Response:
    """Return an answer as a document of a kind, ``md`` or ``html``.

    Raises:
        InvalidQuery: there is no such kind.
    """
    language = Language(record.language)
    if kind == "md":
        return _answer(markdown_report(record, language), kind, language, "report")
    if kind == "html":
        return _answer(html_report(record, language), kind, language, "report")
    raise _no_such_kind()


def conversation_answer(title: str, turns: Sequence[TurnRecord], kind: str, language: Language) -> Response:
    """Return a conversation as a document of a kind, ``md`` or ``html``.

    Raises:
        InvalidQuery: there is no such kind.
    """
    if kind == "md":
        return _answer(markdown_conversation(title, turns, language), kind, language, "conversation")
    if kind == "html":
        return _answer(html_conversation(title, turns, language), kind, language, "conversation")
    raise _no_such_kind()


def _no_such_kind() -> InvalidQuery:
    return InvalidQuery(Fact("web.report_kind", kinds=list(KINDS)))


def _answer(text: str, kind: str, language: Language, name: str) -> Response:
    headers = dict(language_headers(language)) | {"Cache-Control": "no-store"}
    if kind == "md":
        headers |= {"Content-Disposition": f'attachment; filename="{name}.md"'}
        return Response(text, media_type=_MARKDOWN, headers=headers)
    return Response(text, media_type=_HTML, headers=headers | {"Content-Security-Policy": POLICY})
