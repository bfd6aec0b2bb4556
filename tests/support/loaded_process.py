"""The process that ``tests.support.own_program`` forks: loads the packages, then runs a command in each fork.

python -m tests.support.loaded_process FD
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import socket
import sys
import termios
import warnings
from typing import Any

# What the commands load when they run. One that is missing here is loaded by the forks, each for itself.
LOADED = (
    "anyio._backends._asyncio",
    "h2.connection",
    "httpcore",
    "langchain_core.messages.block_translators.langchain_v0",
    "langchain_core.tracers.context",
    "langchain_core.tracers.langchain",
    "langchain_openai",
    "openai.resources.chat",
    "qiusuo.chat.models.clients.openai_chat",
    "qiusuo.chat.models.tuned",
    "qiusuo.chat.stores.sql",
    "qiusuo.cli.app",
    "qiusuo.cli.chat.command",
    "qiusuo.cli.chat.plain",
    "qiusuo.cli.chat.talk",
    "qiusuo.cli.doctor",
    "qiusuo.cli.search",
    "qiusuo.cli.serving.command",
    "qiusuo.engines.baidu",
    "qiusuo.engines.bing",
    "qiusuo.engines.bing_web",
    "qiusuo.engines.bocha",
    "qiusuo.engines.ddgs",
    "qiusuo.engines.exa",
    "qiusuo.engines.google",
    "qiusuo.engines.perplexity",
    "qiusuo.engines.serpapi",
    "qiusuo.engines.zhipu",
    "qiusuo.legal.checks",
    "qiusuo.legal.engines.flk",
    "qiusuo.legal.index.background",
    "qiusuo.legal.recognising.asked",
    "qiusuo.legal.routes",
    "qiusuo.legal.tools",
    "qiusuo.usage.keeping",
    "qiusuo.web.chat.routes",
    "qiusuo.web.entrance.server",
    "qiusuo.web.mcp.routes",
    "qiusuo.web.openai.routes",
    "qiusuo.web.watching.usage",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
)


def next_order(asked: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for an order, and for the streams that come with it; the end of the test ends this process too."""
    length, streams, _flags, _address = socket.recv_fds(asked, 8, 3)
    if not length:
        sys.exit()
    size, words = int.from_bytes(length, "big"), b""
    while len(words) < size:
        words += asked.recv(size - len(words))
    return json.loads(words), streams


def fork_twice(asked: socket.socket) -> bool:
    """Tell in the grandchild that it is one; its parent ends at once, so that it becomes a child of the test."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with open(reading, "rb") as pipe:  # noqa: PTH123 - a descriptor
            number = pipe.read()
        os.waitpid(child, 0)
        asked.sendall(number)
        return False
    if grandchild := os.fork():
        os.write(writing, grandchild.to_bytes(8, "big"))
        os._exit(0)
    os.close(reading)
    os.close(writing)
    return True


def become(order: dict[str, Any], streams: list[int]) -> None:
    """Take over what the test has ordered, as a new process would find it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    if order["session"]:
        os.setsid()
    if order["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    if order["strict"]:
        warnings.simplefilter("error", ResourceWarning)
    sys.path[0] = order["folder"]
    sys.argv = ["-c", *order["arguments"][1:]] if order["code"] else ["qiusuo", *order["arguments"]]
    at_once = bool(order["environment"].get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, errors="surrogateescape", closefd=False)  # noqa: SIM115 - stays open
    sys.stdout = _written(1, "surrogateescape", line=os.isatty(1), at_once=at_once)
    sys.stderr = _written(2, "backslashreplace", line=True, at_once=at_once)


def _written(number: int, errors: str, *, line: bool, at_once: bool) -> io.TextIOWrapper:
    stream = open(number, "w", errors=errors, closefd=False)  # noqa: SIM115 - stays open
    stream.reconfigure(line_buffering=line, write_through=at_once)
    return stream


def main() -> None:
    """Load, and fork until the test ends. A fork leaves the loop and is from then on the command."""
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # it stays; the forks need not look through it
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        while True:
            order, streams = next_order(asked)
            if fork_twice(asked):
                break
            for stream in streams:
                os.close(stream)
    become(order, streams)
    if order["code"]:
        exec(order["arguments"][0], {"__name__": "__main__"})  # noqa: S102 - a program of the tests
    else:
        runpy.run_module("qiusuo", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
