"""In which language somebody is answered: the one of ``?lang=``, else of ``Accept-Language``, else English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from qiusuo.words import Language, language_of

PARAMETER: Final = "lang"
_ACCEPTED: Final = b"accept-language"
_HEADERS: Final[Mapping[Language, Mapping[str, str]]] = {
    language: {"Content-Language": language.tag, "Vary": "Accept-Language"} for language in Language
}


def reader_language(scope: Mapping[str, Any]) -> Language:
    """Return the language for whoever sent a request (an ASGI scope, or as much of one as has been read)."""
    return wished_language(scope) or Language.ENGLISH


def wished_language(scope: Mapping[str, Any]) -> Language | None:
    """Return the language that a request asks for; None where it asks for none of ours."""
    query: bytes = scope.get("query_string", b"")
    # Most requests have no query, and searches over HTTP are meant to cost little.
    named = parse_qs(query.decode("latin-1")).get(PARAMETER) if b"lang" in query else None
    return _known(named[-1] if named else "") or _known(_accepted(scope.get("headers") or ()))


def language_headers(language: Language) -> Mapping[str, str]:
    """Return the headers of an answer in a language."""
    return _HEADERS[language]


def language_tag(language: Language) -> str:
    """Return the language's tag as HTML and HTTP write it."""
    return language.tag


def _accepted(headers: Iterable[tuple[bytes, bytes]]) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == _ACCEPTED), "")


def _known(wish: str) -> Language | None:
    """Return one of our languages, None where the wish is for another or for any."""
    found = {language_of(wish, otherwise) for otherwise in Language} if wish else set()
    return found.pop() if len(found) == 1 else None
