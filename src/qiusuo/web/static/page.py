"""The chat page: its files, read and compressed once, with the headers that keep it to itself.

All addresses of the files carry a digest of all of them, so browsers keep them for good and never mix two versions;
only the page at ``/`` is asked for anew each time.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.web.errors import Refusal
from qiusuo.web.openai.errors import refused
from qiusuo.web.static.words import ROOMS, WORDS, first_words, words_modules
from qiusuo.words import Fact

FOLDER: Final = Path(__file__).with_name("page")
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
KINDS: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}
ALSO: Final = {"usage": "board"}
"""Further addresses of pages beside the chat page: the board shows a person's own figures there."""
_PARTS: Final = frozenset({KINDS[".js"], KINDS[".css"]})
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"
_NOT_KEPT: Final = "no-store"
_OWN_WISH: Final = b' data-asks="own"'
"""What the page with a question in its address is marked with where the reader brought that question."""
# Have no imports of their own to wait for, or are no code.
_NOT_PRELOADED: Final = frozenset({"early.js", "main.js", "types.js"})
# Comments that stand on lines of their own; the lines stay, so that browsers name the right ones.
_COMMENT: Final = re.compile(rb"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*$", re.DOTALL | re.MULTILINE)
_ABSOLUTE: Final = re.compile(r' (?:src|href)="(?=/(?!/))')
_LOCAL: Final = re.compile(r'( (?:src|href)=")(?=[\w./-]*[\w-]+\.\w+")(?!/)')


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    body: bytes
    compressed: bytes
    kind: str
    etag: str

    @classmethod
    def of(cls, body: bytes, kind: str) -> StaticFile:
        """Prepare a file."""
        return cls(body, gzip.compress(body, 9, mtime=0), kind, f'"{sha256(body).hexdigest()[:20]}"')

    def answer(self, request: Request, *, keep: str = _ASK_AGAIN) -> Response:
        """Return the file, or the news that the browser has it already."""
        headers = {"Cache-Control": keep, "ETag": self.etag, "Vary": "Accept-Encoding"}
        if self.kind not in _PARTS:  # what is shown by itself
            headers |= {"Content-Security-Policy": CONTENT_POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.kind)
        return Response(self.body, headers=headers, media_type=self.kind)


@dataclass(frozen=True, slots=True)
class PageFiles:
    """All files of the pages; ``root`` is the address under which they are, without the prefix of a proxy.

    ``index`` is the chat page, ``asking`` the same with leave to ask at once what its address says; ``others`` are
    those beside it, by the room that each one's modules are in.
    """

    root: str
    files: dict[str, StaticFile]
    index: StaticFile
    asking: StaticFile
    others: dict[str, StaticFile]


def page_files(prefix: str = "") -> PageFiles:
    """Return the page as it is shown under a prefix."""
    return _read_page(prefix)


def prefix_of(request: Request) -> str:
    """Return the path under which a proxy shows the server; the guard has found it out."""
    return str(request.scope.get("root_path", ""))


def under(prefix: str, markup: str) -> str:
    """Return markup whose own addresses begin with a prefix."""
    return _ABSOLUTE.sub(rf"\g<0>{prefix}", markup) if prefix else markup


@cache
def _read_page(prefix: str) -> PageFiles:
    found = {
        path.relative_to(FOLDER).as_posix(): _without_comments(path.read_bytes())
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }
    found |= words_modules()
    whole = sha256()
    for name, body in found.items():
        whole.update(name.encode() + b"\0" + sha256(body).digest())
    root = f"/page/{whole.hexdigest()[:12]}/"
    modules = [name for name in found if name.endswith(".js") and Path(name).name not in _NOT_PRELOADED]
    # Words are loaded in one language, as early as early.js knows which.
    modules = [name for name in modules if Path(name).parent.name != WORDS]
    own = [name for name in modules if name.partition("/")[0] not in ROOMS]
    beside = {room: [name for name in modules if name.startswith(f"{room}/")] for room in ROOMS}
    index = _markup("index.html", root, own, prefix)
    return PageFiles(
        root,
        {name: StaticFile.of(body, KINDS[Path(name).suffix]) for name, body in found.items()},
        index,
        StaticFile.of(index.body.replace(b"<html", b"<html" + _OWN_WISH, 1), index.kind),
        {
            room: _markup(f"{room}.html", root, names, prefix)
            for room, names in beside.items()
            if (FOLDER / f"{room}.html").is_file()
        },
    )


def _markup(file: str, root: str, modules: Sequence[str], prefix: str) -> StaticFile:
    preloads = "\n    ".join(f'<link rel="modulepreload" href="{root}{name}" />' for name in modules)
    markup = (FOLDER / file).read_text(encoding="utf-8")
    markup = _LOCAL.sub(rf"\g<1>{root}", markup).replace("<!-- modules -->", preloads)
    for place, words in first_words().items():
        markup = markup.replace(f"<!-- {place} -->", words)
    if prefix:
        markup = under(prefix, markup).replace("<html", f'<html data-root="{prefix}"', 1)
    return StaticFile.of(markup.encode(), "text/html; charset=utf-8")


def _without_comments(body: bytes) -> bytes:
    """Return code without what only its readers need: a tenth of the page's weight."""
    return _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), body)


async def chat_page(request: Request) -> Response:
    """Return the page."""
    return page_files(prefix_of(request)).index.answer(request)


async def asked_page(request: Request, *, own_wish: bool) -> Response:
    """Return the page for an address with a question; it asks at once only where that is the reader's own wish."""
    pages = page_files(prefix_of(request))
    answer = (pages.asking if own_wish else pages.index).answer(request, keep=_NOT_KEPT)
    answer.headers["Vary"] = "Accept-Encoding, Accept, Sec-Fetch-Site"
    return answer


async def page_file(request: Request) -> Response:
    """Return a file of the page: only those that are known, under the current version's address."""
    pages = page_files()
    # Looked up in a table, so that it leads nowhere else whatever it says.
    found = pages.files.get(request.scope["path"].removeprefix(pages.root))
    if found is None:
        return refused(Refusal(HTTPStatus.NOT_FOUND, Fact("web.no_such_file")), request.scope)
    return found.answer(request, keep=_FOR_GOOD)


def page_routes() -> list[Route]:
    """Return the routes of the pages beside the chat page, and of all their files."""
    rooms = {room: room for room in page_files().others} | ALSO
    beside = [Route(f"/{path}", _page(room), methods=["GET"]) for path, room in rooms.items()]
    return [*beside, Route("/page/{version}/{name:path}", page_file, methods=["GET"])]


def _page(room: str) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:
        return page_files(prefix_of(request)).others[room].answer(request)

    return page
