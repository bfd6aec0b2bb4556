"""What an error of a provider's package tells, read without knowing the package: status, codes, words, headers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from qiusuo.http import parse_retry_after
from qiusuo.text import clean, truncate

OK: Final = 200
_QUOTED_CHARS: Final = 240
_DEEPEST_CAUSE: Final = 6
_SECRET: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|pplx|tvly|AIza|key|hf)[-_][\w*.…-]{6,}|AIza[\w-]{10,}|\bBearer\s+\S+|//[^/\s@]+@"
    r"|(?<=key=)[^\s&\"']+|(?<=key: )\S+|\b[A-Za-z0-9_-]{40,}\b",
    re.IGNORECASE,
)
_GOOGLE_DELAY: Final = re.compile(r"retry(?:Delay\W+| in )(\d+(?:\.\d+)?) ?s", re.IGNORECASE)
# Errors that come inside a stream have no status of their own, or that of the stream.
_STATUS_OF_TYPE: Final[Mapping[str, int]] = {
    "authentication_error": 401, "invalid_api_key": 401, "permission_error": 403, "billing_error": 402,
    "insufficient_quota": 429, "rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429,
    "not_found_error": 404, "model_not_found": 404, "invalid_request_error": 400, "timeout_error": 504,
    "api_error": 500, "server_error": 500, "internal_error": 500, "overloaded_error": 529, "overloaded": 529,
    "unavailable": 503,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """What an error of any package tells."""

    status: int | None
    codes: frozenset[str]
    words: str
    headers: Mapping[str, str]
    names: frozenset[str]
    causes: frozenset[str]

    @property
    def wait(self) -> float | None:
        """Seconds after which the provider may be asked again, where it tells."""
        milliseconds = self.headers.get("retry-after-ms", "")
        if milliseconds.replace(".", "", 1).isdigit():
            return float(milliseconds) / 1000
        found = _GOOGLE_DELAY.search(self.words)
        return parse_retry_after(self.headers.get("retry-after")) or (float(found[1]) if found else None)


def facts_of(error: Exception) -> Facts:
    """Read an error and what caused it."""
    statuses: list[int] = []
    codes: set[str] = set()
    words: list[str] = []
    headers: Mapping[str, str] = {}
    for each in _chain(error):
        if _is_about_reading(each):
            continue
        response = getattr(each, "response", None)
        told = (getattr(each, "status_code", None), getattr(each, "code", None), getattr(response, "status_code", None))
        statuses.extend(value for value in told if isinstance(value, int) and 100 <= value < 600)  # noqa: PLR2004 - HTTP
        headers = headers or getattr(response, "headers", None) or {}
        codes.update(_codes(each))
        words.append(str(getattr(each, "message", None) or each))
    # The most general of them, "invalid request", comes last.
    implied = sorted((_STATUS_OF_TYPE[code] for code in codes if code in _STATUS_OF_TYPE), reverse=True)
    numbers = [int(code) for code in codes if re.fullmatch("[45][0-9]{2}", code)]
    real = [status for status in statuses if status != OK]
    names = frozenset(kind.__name__ for kind in type(error).__mro__)
    causes = frozenset(kind.__name__ for each in _chain(error) for kind in type(each).__mro__)
    status = next(iter(real + numbers + implied + statuses), None)
    return Facts(status, frozenset(codes), " ".join(dict.fromkeys(words)), headers, names, causes)


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(_DEEPEST_CAUSE):
        if current is None:
            return
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _is_about_reading(error: BaseException) -> bool:
    """Tell whether an error is aiohttp's with an answer that it cannot read: its code is not the server's."""
    return any(kind.__name__ == "HttpProcessingError" for kind in type(error).__mro__)


def _codes(error: BaseException) -> Iterator[str]:
    """Yield the codes of an error in lower case, from its attributes and from the body it carries."""
    body = getattr(error, "body", None) or getattr(error, "details", None)
    inner = body.get("error") if isinstance(body, dict) else None
    for place in (vars(error), body, inner):
        if not isinstance(place, dict):
            continue
        for key in ("code", "type", "status"):
            value = place.get(key)
            if isinstance(value, str | int) and value != "":
                yield str(value).lower()


def quoted(text: str) -> str:
    """Return a provider's words as one short line without anything that may be a key."""
    found = re.search(r"['\"]message['\"]: (\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')", text)
    if found:
        try:
            text = json.loads(found[1]) if found[1][0] == '"' else found[1][1:-1]
        except ValueError:
            text = found[1][1:-1]
    return truncate(clean(_SECRET.sub("***", text)), _QUOTED_CHARS)
