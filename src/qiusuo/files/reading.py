"""Reads a file in a process of its own, with limits: a file that is made to break its reader breaks nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from typing import Any, Final

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError, FileError
from qiusuo.files.models import MAX_BYTES, MAX_CHARS, FileKind, FileText, Part
from qiusuo.files.names import checked_name
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

READ_SECONDS: Final = 30.0
MEMORY: Final = 1024**3
_ID_CHARS: Final = 16
# What a character may become in the JSON of the answer.
_LONGEST_LINE: Final = 12 * MAX_CHARS + 1024**2
_PACKAGES: Final = ("pypdfium2", "docx", "trafilatura")

Progress = Callable[[int, int], None]
"""Is told which page is being read, and how many there are."""


def missing_packages() -> list[str]:
    """Return the packages that reading files needs and that are not installed."""
    return [name for name in _PACKAGES if find_spec(name) is None]


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files, each within so many seconds and bytes of memory."""

    seconds: float = READ_SECONDS
    memory: int = MEMORY

    async def read(self, name: str, data: bytes, progress: Progress | None = None) -> FileText:
        """Return the text of a file.

        Raises:
            FileError: it cannot be read.
            ConfigurationError: what reads it is not installed.
        """
        name = checked_name(name)
        if missing := missing_packages():
            raise ConfigurationError(
                Fact("file.packages_missing", packages=missing), commands=[install_command("qiusuo[files]")]
            )
        if len(data) > MAX_BYTES:
            raise FileError(Fact("file.too_large", limit=MAX_BYTES // 1024**2))
        try:
            async with asyncio.timeout(self.seconds):
                answer = await self._answer(name, data, progress or (lambda _page, _pages: None))
        except TimeoutError:
            raise FileError(Fact("file.too_slow", name=name, seconds=round(self.seconds))) from None
        if "fault" in answer:
            raise FileError(Fact.from_dict(answer["fault"]))
        return FileText(
            sha256(data).hexdigest()[:_ID_CHARS],
            name,
            FileKind(answer["kind"]),
            len(data),
            [Part.from_dict(part) for part in answer["parts"]],
            answer["pages"],
            answer["cut"],
        )

    async def _answer(self, name: str, data: bytes, progress: Progress) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # no module of the folder that the server or the terminal happens to be in
            "-m",
            "qiusuo.files.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LONGEST_LINE,
            # No keys of the server are in reach of what a file may do there. Windows does not start without some.
            env=None if os.name == "nt" else {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # a terminal sends Ctrl-C to the whole group: who started it ends it
        )
        sending = asyncio.create_task(_send(process, self._order(name), data))
        try:
            answer = await _heard(process, progress)
        finally:
            sending.cancel()
            if process.returncode is None:
                process.kill()
            await asyncio.gather(sending, process.wait(), return_exceptions=True)
        if answer is None:
            logger.warning("the process that reads a file has ended with %s", process.returncode)
            raise FileError(Fact("file.too_complex", name=name))
        return answer

    def _order(self, name: str) -> bytes:
        order = {"name": name, "most": MAX_CHARS, "memory": self.memory, "seconds": max(1, round(self.seconds))}
        return json.dumps(order).encode() + b"\n"


async def _send(process: asyncio.subprocess.Process, order: bytes, data: bytes) -> None:
    pipe = process.stdin
    if pipe is None:
        return
    try:
        pipe.write(order + data)
        await pipe.drain()
    except (BrokenPipeError, ConnectionResetError):  # it has ended: what it said, or did not, tells more
        return
    finally:
        pipe.close()


async def _heard(process: asyncio.subprocess.Process, progress: Progress) -> dict[str, Any] | None:
    """Return what the process says at last; None where it ends without."""
    if process.stdout is None:
        return None
    try:
        async for line in process.stdout:
            said = json.loads(line)
            if not isinstance(said, dict):
                return None
            if "parts" in said or "fault" in said:
                return said
            progress(said["page"], said["pages"])
    except ValueError:  # longer than anything that it should say, or no JSON
        return None
    return None
