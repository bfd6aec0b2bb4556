"""Servers in processes of their own, so that they do not share a core's time with those who measure."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(target: Any, *arguments: Any) -> Iterator[str]:
    """Run ``target(address, *arguments)``; give the address that it puts into the queue ``address``."""
    context = multiprocessing.get_context("spawn")
    address = context.Queue()
    process = context.Process(target=target, args=(address, *arguments), daemon=True)
    process.start()
    try:
        yield address.get(timeout=60)
    finally:
        process.terminate()
        process.join()
