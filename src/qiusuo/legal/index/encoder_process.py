"""The sentence encoder in a process of its own.

Encoding thousands of articles in the server would hold up its answers. The process takes texts and gives vectors, one
batch after the other, and ends when whoever started it does, however that ends: its input is closed then.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

from qiusuo.legal.index.semantic import Encoder, packed

_LENGTH = struct.Struct("<I")
_NICENESS = 10


class EncoderProcess:
    """One such process; used by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "qiusuo.legal.index.encoder_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a terminal sends Ctrl-C to the whole group: who started it ends it
        )

    def encode(self, texts: list[str]) -> bytes:
        """Return the vectors as bytes, one after the other.

        Raises:
            OSError: the process has ended.
        """
        with self._lock:
            asked, answer = self._process.stdin, self._process.stdout
            if asked is None or answer is None:
                raise BrokenPipeError
            _send(asked, json.dumps(texts).encode())
            received = _receive(answer)
        if received is None:
            raise BrokenPipeError
        return received

    def close(self) -> None:
        """End the process, also in the middle of a batch."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


def main() -> None:
    """Encode what comes in until nothing more can come."""
    # Set before numpy is loaded: the processes share the cores, each has one.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    encoder = Encoder()
    while (asked := _receive(sys.stdin.buffer)) is not None:
        _send(sys.stdout.buffer, packed(encoder.encode(json.loads(asked))))


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(_LENGTH.pack(len(content)) + content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content: bytes = pipe.read(length)
    return content if len(content) == length else None


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
