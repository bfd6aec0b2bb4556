"""One page for one reader: fetch under guard, decode, extract."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Final, Protocol, Self

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError, InvalidQuery, PageTimeout
from qiusuo.http.guard import FetchPolicy
from qiusuo.http.pages import PageClient, RawPage, Resolve
from qiusuo.models import domain_of
from qiusuo.pages.models import Page
from qiusuo.text import truncate
from qiusuo.tracing import span
from qiusuo.words import Fact

MAX_CHARS: Final = 20_000
MAX_LINKS: Final = 100
EXTRACTION_TIMEOUT: Final = 10.0
EXTRACTION_THREADS: Final = 4
QUICK_THREADS: Final = 2
# Characters of HTML that are taken apart: all that a page may have, or what takes a third of a second.
_ALL: Final = 3_000_000
_QUICK: Final = 500_000
_PARSERS: Final = ("lxml", "trafilatura", "charset_normalizer")


class Access(Protocol):
    """The settings that say what may be read."""

    @property
    def read_private(self) -> tuple[str, ...]:
        """Places that are not public and may be read."""

    @property
    def read_proxy(self) -> bool:
        """Whether pages are read through the proxy of the environment."""


def can_read() -> bool:
    """Tell whether what takes pages apart is installed."""
    return all(find_spec(package) is not None for package in _PARSERS)


class PageReader:
    """Reads pages; safe to share between tasks and event loops. Close it, or use it as async context manager.

    ``policy`` says what may be fetched (public pages, by default); ``resolve`` and ``tls`` are passed on to
    :class:`~qiusuo.http.pages.PageClient`.
    """

    def __init__(
        self,
        policy: FetchPolicy | None = None,
        *,
        max_links: int = MAX_LINKS,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._client = PageClient(policy, resolve=resolve, tls=tls)
        self._max_links = max_links
        # Threads of its own: name look-ups share the loop's, and one slow page must not hold them up.
        self._threads = ThreadPoolExecutor(EXTRACTION_THREADS, thread_name_prefix="qiusuo-page")
        # Many pages at once before an answer: two at a time take no longer than all together, and half the memory.
        self._quick_threads = ThreadPoolExecutor(QUICK_THREADS, thread_name_prefix="qiusuo-quick-page")

    @classmethod
    def from_settings(cls, settings: Access) -> Self:
        """Return a reader of public pages and of those that the settings open."""
        return cls(FetchPolicy.opened_to(settings.read_private, use_env_proxy=settings.read_proxy))

    @property
    def policy(self) -> FetchPolicy:
        """What may be fetched."""
        return self._client.policy

    async def read(self, url: str, *, max_chars: int = MAX_CHARS, quick: bool = False) -> Page:
        """Read a page; ``max_chars`` limits its text. ``quick``: of a huge page only the beginning is taken apart.

        Raises a :class:`~qiusuo.errors.PageError` that says why the page cannot be read and what to do.
        """
        if max_chars < 1:
            raise InvalidQuery(Fact("page_read.max_chars"))
        with span("page", host=domain_of(url)) as told:
            page = await self._read(url, max_chars, quick=quick)
            told.note(characters=len(page.text))
            return page

    async def _read(self, url: str, max_chars: int, *, quick: bool) -> Page:
        raw = await self._client.fetch(url)
        fetched_at = datetime.now(UTC)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(EXTRACTION_TIMEOUT):
                return await loop.run_in_executor(
                    self._quick_threads if quick else self._threads,
                    _page,
                    url,
                    raw,
                    fetched_at,
                    max_chars,
                    self._max_links,
                    _QUICK if quick else _ALL,
                )
        except TimeoutError:
            late = Fact("page_read.not_taken_apart", host=domain_of(raw.final_url), seconds=EXTRACTION_TIMEOUT)
            raise PageTimeout(late, fix=Fact("page_read.other_source")) from None

    async def aclose(self) -> None:
        """Let go of the threads; pages that wait for one are dropped."""
        for threads in (self._threads, self._quick_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()


def _page(url: str, raw: RawPage, fetched_at: datetime, max_chars: int, max_links: int, most: int) -> Page:  # noqa: PLR0917 - by position, as a thread is given it
    # Parsers are loaded with the first page, in its thread.
    try:
        from qiusuo.pages.charset import decode  # noqa: PLC0415 - see above
        from qiusuo.pages.extract import extract  # noqa: PLC0415 - see above
    except ImportError as error:
        missing = Fact("page_read.not_installed", package=error.name or "")
        raise ConfigurationError(
            missing, fix=Fact("page_read.install"), commands=(install_command("qiusuo[pages]"),)
        ) from None

    document, _ = decode(raw.body, raw.charset)
    found = extract(document, raw.content_type, raw.final_url, max_links=max_links, most=most)
    return Page(
        url=url,
        final_url=raw.final_url,
        title=found.title,
        text=truncate(found.text, max_chars),
        fetched_at=fetched_at.isoformat(timespec="seconds"),
        content_type=raw.content_type,
        published_at=found.published_at,
        language=found.language,
        author=found.author,
        site_name=found.site_name,
        links=found.links,
        truncated=found.cut or len(found.text) > max_chars,
        notes=tuple(_notes(raw, found.text)),
        storable=raw.storable,
    )


def _notes(raw: RawPage, text: str) -> list[Fact]:
    notes: list[Fact] = []
    if raw.downgraded:
        notes.append(Fact("page_read.downgraded"))
    if not text:
        notes.append(Fact("page_read.no_text"))
    return notes
