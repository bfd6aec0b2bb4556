"""Adding files to conversations: read in processes of their own, a few at a time, then kept with the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from qiusuo.chat.sessions.files import FileInfo
from qiusuo.chat.sessions.session import SessionStore
from qiusuo.errors import ServerBusy
from qiusuo.files import PER_MESSAGE, FileReader, checked_name
from qiusuo.words import Fact

AT_ONCE: Final = 2
"""Files that are read side by side: each takes a core."""
MOST_WAITING: Final = 10


@dataclass(slots=True)
class Underway:
    """A file that is being read; ``page`` of ``pages`` as far as that is known."""

    owner: str
    session: str
    name: str
    page: int = 0
    pages: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it in the JSON shape of the list of files."""
        return {"name": self.name, "page": self.page, "pages": self.pages, "state": "reading"}


class Filing:
    """Takes files for the conversations of a store. Belongs to one event loop."""

    def __init__(self, store: SessionStore, reader: FileReader | None = None) -> None:
        self._store = store
        self._reader = reader or FileReader()
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._underway: dict[int, Underway] = {}
        self._numbers = count()

    async def check(self, owner: str, session: str, name: str) -> str:
        """See that a file of this name may be added; return the name as it is kept.

        Raises:
            SearchError: it may not, or there is no such conversation.
        """
        name = checked_name(name)
        mine = sum(each.owner == owner for each in self._underway.values())
        if mine >= PER_MESSAGE or len(self._underway) >= MOST_WAITING:
            raise ServerBusy(Fact("file.busy"))
        await self._store.files.check_room(owner, session)
        return name

    async def add(
        self, owner: str, session: str, name: str, data: bytes, progress: Callable[[Underway], None] | None = None
    ) -> FileInfo:
        """Read a file and keep it.

        Raises:
            SearchError: it cannot be read, or there is no room for it.
        """
        name = await self.check(owner, session, name)
        number, mine = next(self._numbers), Underway(owner, session, name)

        def reached(page: int, pages: int) -> None:
            mine.page, mine.pages = page + 1, pages
            if progress is not None:
                progress(mine)

        self._underway[number] = mine
        try:
            async with self._turn:
                file = await self._reader.read(name, data, reached)
        finally:
            del self._underway[number]
        return await self._store.files.add(owner, session, file)

    def underway(self, owner: str, session: str) -> Sequence[Underway]:
        """Return the files of a conversation that are being read."""
        return [each for each in self._underway.values() if (each.owner, each.session) == (owner, session)]
