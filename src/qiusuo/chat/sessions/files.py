"""The files of conversations, as the store keeps them: their text, never the files themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from qiusuo.files import FileKind, FileText, about_file
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file in the list of a conversation: all of it but its text."""

    id: str
    name: str
    kind: FileKind
    size: int
    pages: int
    chars: int
    cut: bool
    added_at: str

    @property
    def about(self) -> Fact:
        """Its name with how long it is."""
        return about_file(self.name, self.pages, self.chars)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in its JSON shape."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind.value,
            "size": self.size,
            "pages": self.pages,
            "chars": self.chars,
            "cut": self.cut,
            "addedAt": self.added_at,
            "state": "ready",
        }


class FileStore(Protocol):
    """Keeps the files of conversations; they are deleted with these. Calls raise as those of ``SessionStore`` do."""

    async def check_room(self, owner: str, session: str) -> None:
        """See that one more file may be added.

        Raises:
            LimitReached: it may not.
        """

    async def add(self, owner: str, session: str, file: FileText) -> FileInfo:
        """Keep a file. One that is there already is the same file, whatever its name.

        Raises:
            LimitReached: as many are kept as may be.
        """

    async def list(self, owner: str, session: str) -> Sequence[FileInfo]:
        """Return the files of a conversation in the order in which they were added."""

    async def load(self, owner: str, session: str) -> Sequence[FileText]:
        """Return the files of a conversation with their text."""

    async def one(self, owner: str, session: str, file: str) -> FileText:
        """Return one file with its text; SessionNotFound is raised where there is none."""

    async def remove(self, owner: str, session: str, file: str) -> None:
        """Delete a file; SessionNotFound is raised where there is none."""
