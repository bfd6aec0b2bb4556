"""``/api/chat/sessions/…/files``: files that are added to a conversation, listed, shown and removed."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from qiusuo.chat.live.conversations import Conversations
from qiusuo.errors import FileError, SessionNotFound
from qiusuo.files import MAX_BYTES
from qiusuo.web.backend import Backend
from qiusuo.web.chat.requests import count_in, owner_of
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer
from qiusuo.words import Fact

NAME_HEADER: Final = "X-File-Name"
"""The name of the file, percent-encoded UTF-8; the body is the file itself."""


@dataclass(frozen=True, slots=True)
class FileRoutes:
    """The endpoints over the files of conversations."""

    backend: Backend
    conversations: Conversations

    async def add(self, request: Request) -> Response:
        """Take a file; the answer comes when it is read."""
        self.backend.check_open(request)
        owner, session = owner_of(request), request.path_params["session"]
        filing = self.conversations.filing
        # Before the file itself: nobody sends megabytes for nothing.
        name = await filing.check(owner, session, unquote(request.headers.get(NAME_HEADER, ""), errors="replace"))
        info = await filing.add(owner, session, name, await _body(request))
        return json_answer(info.to_dict(), HTTPStatus.CREATED, language=reader_language(request.scope))

    async def listed(self, request: Request) -> Response:
        """List the files of a conversation, those too that are being read."""
        owner, session = owner_of(request), request.path_params["session"]
        store = self.conversations.store
        ready = [info.to_dict() for info in await store.files.list(owner, session)]
        reading = [each.to_dict() for each in self.conversations.filing.underway(owner, session)]
        return json_answer({"files": ready + reading, "most": store.limits.files})

    async def remove(self, request: Request) -> Response:
        """Delete a file."""
        path = request.path_params
        await self.conversations.store.files.remove(owner_of(request), path["session"], path["file"])
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def text(self, request: Request) -> Response:
        """Return the text of a page; of a file without pages that of a part of it, counted from 1."""
        path, page = request.path_params, count_in(request.query_params, "page", 1)
        file = await self.conversations.store.files.one(owner_of(request), path["session"], path["file"])
        found = [part for index, part in enumerate(file.parts, 1) if (part.page or index) == page]
        if not found:
            raise SessionNotFound(Fact("file.no_such_page", name=file.name, page=page))
        return json_answer(
            {
                "name": file.name,
                "page": page,
                "pages": file.pages or len(file.parts),
                "heading": found[0].heading,
                "text": "\n".join(part.text for part in found),
            }
        )


async def _body(request: Request) -> bytes:
    """Return the file that comes in; one that grows too large is not heard out."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BYTES:
            raise FileError(Fact("file.too_large", limit=MAX_BYTES // 1024**2))
    return bytes(data)
