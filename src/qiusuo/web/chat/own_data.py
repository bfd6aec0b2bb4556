"""``/api/chat``: everything that is kept about the person who asks, to take along or to delete."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from qiusuo.chat.live.conversations import Conversations
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.data.export import export_owner
from qiusuo.data.forgetting import forget, leave_no_trace
from qiusuo.errors import InvalidQuery, SearchError
from qiusuo.people.store import Author
from qiusuo.web.backend import Backend
from qiusuo.web.chat.report import file_name
from qiusuo.web.chat.requests import answered, owner_of
from qiusuo.web.route import json_answer, read_body, user_of
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

CHUNK: Final = 256 * 1024
IN_MEMORY: Final = 4 * 1024 * 1024
"""An export that is larger is written to a file without a name, which goes with the answer."""


class Confirmation(BaseModel):
    """That everything is really to be deleted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    confirm: bool = False


@dataclass(frozen=True, slots=True)
class OwnDataRoutes:
    """The endpoints over what one server keeps about a person."""

    backend: Backend
    conversations: Conversations

    def routes(self) -> list[Route]:
        """Return the routes; none over a store of somebody else's."""
        if not isinstance(self.conversations.store, SqlSessionStore):
            return []
        return [
            Route("/api/chat/export", answered(self.export), methods=["GET"]),
            Route("/api/chat/forget", answered(self.forget), methods=["POST"]),
        ]

    @property
    def _store(self) -> SqlSessionStore:
        assert isinstance(self.conversations.store, SqlSessionStore)  # noqa: S101 - else there are no routes
        return self.conversations.store

    async def export(self, request: Request) -> Response:
        """Return all of one's conversations, files, links, feedback and figures as a ZIP file."""
        owner = owner_of(request)
        await self._count()
        out = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed with the answer
        try:
            await export_owner(self._store, owner, out)
        except BaseException:
            out.close()
            raise
        headers = {
            "Content-Disposition": f"attachment; {file_name('qiusuo', f'qiusuo {owner}', 'zip')}",
            "Content-Length": str(out.tell()),
            "Cache-Control": "no-store",
        }
        out.seek(0)
        return StreamingResponse(_pieces(out), media_type="application/zip", headers=headers)

    async def forget(self, request: Request) -> Response:
        """Delete what is kept about oneself, but not what the operator has set; the answer tells what it was."""
        body = await read_body(request, Confirmation) if await request.body() else Confirmation()
        if not body.confirm:
            raise InvalidQuery(Fact("data.confirm"))
        owner = owner_of(request)
        await self.conversations.stop_all(owner)
        await self._count()
        client = request.scope.get("client")
        by = Author(user_of(request) or "", client[0] if client else "", self.backend.audit.days() > 0)
        done = await forget(self._store.database, owner, by, whole=False)
        clean = await leave_no_trace(self._store.database, in_use=True)
        return json_answer(done.shape(clean=clean))

    async def _count(self) -> None:
        """Write down what was counted of the last seconds."""
        keeper = self.backend.parts.get("usage")
        if keeper is not None and keeper.counts:
            with suppress(SearchError):  # what follows needs the database too, and tells
                await keeper.flush()


async def _pieces(out: IO[bytes]) -> AsyncIterator[bytes]:
    try:
        while piece := await asyncio.to_thread(out.read, CHUNK):
            yield piece
    finally:
        out.close()
