"""What is asked of 国家法律法规数据库 to copy laws from it: the list of titles, and the text of each as a document.

As for the engine ``flk``, all of it comes from public programs that use it and was not tried live.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from qiusuo.engines.base import field_of
from qiusuo.errors import BadResponse, EngineError, PageError, RateLimited, SearchTimeout, Unavailable
from qiusuo.http import Endpoint, HttpClient, Reply
from qiusuo.http.guard import DEFAULT_PORTS, FetchPolicy
from qiusuo.http.pages import PageClient
from qiusuo.http.statuses import error_detail, error_for_status
from qiusuo.text import clean
from qiusuo.words import Fact

PAGE_SIZE: Final = 100
PACE: Final = 1.5
"""Seconds between two requests."""
WAITS: Final = (15.0, 60.0, 180.0, 600.0)
"""Seconds to wait after a failure that may pass, one after the other; then it is given up until the next time."""
_MAX_WAIT: Final = 1800.0
_MAX_DOCUMENT_BYTES: Final = 32 * 1024**2
_DOCUMENT_KINDS: Final = frozenset(
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/octet-stream",
     "application/zip", "application/msword", "binary/octet-stream", "application/x-zip-compressed"}
)  # fmt: skip
_TITLES, _FUZZY, _OK = 1, 2, 200
_PASSING: Final = (RateLimited, SearchTimeout, Unavailable, BadResponse)

logger = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Row:
    """One law of the list."""

    id: str
    title: str
    kind: str
    issuer: str
    published: str
    effective: str
    status: str


class FlkWire:
    """Asks one after the other, never faster than the pace; waits and tries again where that may help."""

    def __init__(self, base_url: str, *, named: bool, sleep: Sleep = asyncio.sleep) -> None:
        self._client = HttpClient()
        self._endpoint = Endpoint(self._client, "flk", base_url)
        parts = urlsplit(base_url)
        ports = {parts.port or DEFAULT_PORTS.get(parts.scheme, 443)} if named else set[int]()
        self._pages = PageClient(
            FetchPolicy(
                allowed_ports=frozenset({80, 443} | ports),
                allow_private=(parts.hostname,) if named and parts.hostname else (),
                max_bytes=_MAX_DOCUMENT_BYTES,
                timeout=120.0,
                content_types=_DOCUMENT_KINDS,
                use_env_proxy=True,
            )
        )
        self._sleep = sleep
        self._reached = False

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def listed(self, page: int, since: str, until: str) -> tuple[int, list[Row]]:
        """Return how many laws there are, and those of one page."""
        body = {
            "searchContent": "",
            "searchRange": _TITLES,
            "searchType": _FUZZY,
            "sxx": [],
            "gbrq": [since, until] if since else [],
            "sxrq": [],
            "gbrqYear": [],
            "flfgCodeId": [],
            "zdjgCodeId": [],
            "orderByParam": {"order": "-1", "sort": ""},
            "pageNum": page,
            "pageSize": PAGE_SIZE,
        }
        data = await self._patiently(lambda: self._endpoint.post("/law-search/search/list", body))
        rows = field_of(data, "rows")
        total = data.get("total")
        if not isinstance(rows, list) or not isinstance(total, int):
            raise BadResponse(Fact("http.not_json", host=self._endpoint.host), engine="flk")
        return total, [row for entry in rows if (row := _row(entry)) is not None]

    async def document(self, row_id: str) -> bytes | None:
        """Return the document of a law; None where the database has none."""
        params = {"format": "docx", "bbbs": row_id, "fileId": ""}
        data = await self._patiently(lambda: self._endpoint.get("/law-search/download/pc", params))
        found = data.get("data")
        address = found.get("url") if isinstance(found, dict) else None
        if not isinstance(address, str) or not address:
            return None
        pieces: list[bytes] = []
        await self._patiently(lambda: self._pages.download(address, lambda piece, _whole: pieces.append(piece)))
        return b"".join(pieces)

    async def _patiently(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        for wait in (*WAITS, None):
            await self._sleep(PACE)
            try:
                answer = self._accepted(await ask())
            except (EngineError, PageError) as error:
                passing = isinstance(error, _PASSING) or (isinstance(error, PageError) and error.retry_after)
                # Who cannot be reached at all from here will not be in a quarter of an hour.
                absent = not self._reached and isinstance(error, Unavailable) and error.status is None
                if wait is None or not passing or absent:
                    raise
                seconds = min(max(error.retry_after or 0.0, wait), _MAX_WAIT)
                logger.warning("%s did not answer and is asked again in %d s: %s", self._endpoint.host, seconds, error)
                await self._sleep(seconds)
            else:
                self._reached = True
                return answer
        raise AssertionError("unreachable")

    def _accepted(self, data: Any) -> Any:
        """Return an answer, or raise the error that came with HTTP 200."""
        code = data.get("code") if isinstance(data, dict) else None
        if code in (None, _OK, str(_OK)):
            return data
        status = int(code) if str(code).isdecimal() else 400
        raise error_for_status(
            Reply(status, {}, b""), self._endpoint.scrub(error_detail(data)), "flk", self._endpoint.host
        )


def _row(entry: Any) -> Row | None:
    if not isinstance(entry, dict) or not entry.get("bbbs") or not entry.get("title"):
        return None
    said = {name: str(entry.get(name) or "").strip() for name in ("flxz", "zdjgName", "gbrq", "sxrq", "sxx")}
    return Row(
        str(entry["bbbs"]),
        clean(entry["title"]),
        said["flxz"],
        said["zdjgName"],
        said["gbrq"][:10],
        said["sxrq"][:10],
        said["sxx"],
    )
