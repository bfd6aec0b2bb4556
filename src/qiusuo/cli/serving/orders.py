"""What a supervisor tells a worker when it starts it, and the few words that they exchange later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

RETIRE: Final = b"R"
"""To a worker: take no new request, finish those that run, then end."""
TELL: Final = b"T"
"""To a worker: people know where the server is, so tell them what is wrong with it."""
FORCE: Final = b"F"
"""To a worker: end at once."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a worker is to serve; nothing of it is secret, since everybody on a machine sees the words of a command."""

    listener: int
    control: int
    arguments: dict[str, Any]
    """What the command line has said; it wins over environment and file."""
    url: str
    count: int
    folder: str
    """The server's own folder: of the store that is shared, and of what workers count."""
    store: str | None
    access_log: bool
    verbose: bool
    notices: bool
    work: bool

    @property
    def is_quiet(self) -> bool:
        """Whether another worker has told already what there is to tell of a start."""
        return not self.notices

    def to_text(self) -> str:
        """Return it as a word of a command line."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Self:
        """Read it back."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says of its start: that it serves, or why it never will."""

    refused: tuple[str, ...] = ()
    code: int = 0

    def to_line(self) -> bytes:
        """Return it as a line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Report | None:
        """Read it back; None where a worker ended before it had said anything."""
        if not line.endswith(b"\n"):
            return None
        said = json.loads(line)
        return cls(tuple(said["refused"]), int(said["code"]))
