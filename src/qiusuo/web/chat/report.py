"""Answers and conversations as documents, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from qiusuo.chat.events.turn import TurnRecord
from qiusuo.chat.portable.documents import (
    POLICY,
    html_conversation,
    html_report,
    markdown_conversation,
    markdown_report,
)
from qiusuo.errors import InvalidQuery
from qiusuo.web.language import language_headers
from qiusuo.words import Fact, Language

KINDS: Final = ("md", "html", "json")
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"
# What some system takes for something else, and what nobody sees.
_NOT_IN_A_NAME: Final = re.compile(
    r'[\x00-\x1f\x7f-\x9f\\/:*?"<>|\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff]'
)
_LONGEST_NAME: Final = 60


def report_answer(record: TurnRecord, kind: str) -> Response:
    """Return an answer as a document of a kind, ``md`` or ``html``.

    Raises:
        InvalidQuery: there is no such kind.
    """
    language = Language(record.language)
    if kind == "md":
        return _answer(markdown_report(record, language), kind, language, file_name("report", record.question, kind))
    if kind == "html":
        return _answer(html_report(record, language), kind, language, file_name("report", record.question, kind))
    raise _no_such_kind()


def conversation_answer(title: str, turns: Sequence[TurnRecord], kind: str, language: Language) -> Response:
    """Return a conversation as a document of a kind, ``md`` or ``html``.

    Raises:
        InvalidQuery: there is no such kind.
    """
    if kind == "md":
        return _answer(
            markdown_conversation(title, turns, language), kind, language, file_name("conversation", title, kind)
        )
    if kind == "html":
        return _answer(
            html_conversation(title, turns, language), kind, language, file_name("conversation", title, kind)
        )
    raise _no_such_kind()


def _no_such_kind() -> InvalidQuery:
    return InvalidQuery(Fact("web.report_kind", kinds=list(KINDS)))


def file_name(plain: str, about: str, kind: str) -> str:
    """Return what a file is called, for a header: after what it is about, ``plain`` for who cannot read that."""
    name = " ".join(_NOT_IN_A_NAME.sub(" ", about).split())[:_LONGEST_NAME].strip(" .") or plain
    return f"filename=\"{plain}.{kind}\"; filename*=UTF-8''{quote(f'{name}.{kind}', safe='')}"


def _answer(text: str, kind: str, language: Language, name: str) -> Response:
    headers = dict(language_headers(language)) | {"Cache-Control": "no-store"}
    headers["Content-Disposition"] = f"{'attachment' if kind == 'md' else 'inline'}; {name}"
    if kind == "md":
        return Response(text, media_type=_MARKDOWN, headers=headers)
    return Response(text, media_type=_HTML, headers=headers | {"Content-Security-Policy": POLICY})
