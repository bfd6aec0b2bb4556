"""A process that answers requests: the only one of a server, or one of its workers."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.console import Console

from qiusuo.cli.exits import advice_lines
from qiusuo.cli.serving.telling import say
from qiusuo.cli.words import words_for_terminal
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.doctor import startup_notices
from qiusuo.doctor.findings import anchor
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact, sentences

if TYPE_CHECKING:
    from qiusuo.web.app import QiusuoApp
    from qiusuo.web.entrance.server import Server

WORK_SECONDS: Final = 15.0
UNIX: Final = "unix:"
_GC_THRESHOLDS: Final = (10_000, 10, 10)


@dataclass(frozen=True, slots=True)
class Telling:
    """What of the server's state this process tells at the terminal: of several workers one does."""

    url: str
    notices: bool = True
    work: bool = True
    begin: asyncio.Event | None = None
    """Where somebody else says that the server listens: notices come after that."""


def build_app(settings: Settings, metrics_folder: str | None = None) -> QiusuoApp:
    """Return the app.

    Raises:
        ConfigurationError: a package is missing, or the settings cannot be used.
    """
    try:
        import httptools  # noqa: F401, PLC0415 - needs the extra
        import uvicorn  # noqa: F401, PLC0415 - the same

        from qiusuo.web.app import create_app  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        missing = Fact("cli.no_server", package=error.name or "")
        raise ConfigurationError(missing, commands=(install_command("qiusuo[server]"),)) from None
    return create_app(settings=settings, metrics_folder=metrics_folder)


def answer(
    server: Server,
    listener: socket.socket,
    err: Console,
    telling: Telling,
    when_running: Callable[[asyncio.AbstractEventLoop], None],
) -> None:
    """Serve until told to stop; ``when_running`` is called as soon as there is a loop."""

    async def serve() -> None:
        when_running(asyncio.get_running_loop())
        # Beside the start: nobody waits for a server because a SearXNG is slow to answer.
        app = server.app
        works = [_show_notices(app, err, telling)] if telling.notices else []
        works += [_show_work(app, err)] if telling.work else []
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await server.serve(sockets=[listener])
        finally:
            for task in tasks:
                task.cancel()

    # Of what is loaded by now nothing becomes garbage. Looking for it every 700 objects took a third of the time of a
    # busy server (make bench: a server under load).
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.freeze()
    # The server stops in order on the first signal and passes it on when it is done.
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(serve())


def reload_on_hang_up(loop: asyncio.AbstractEventLoop, reload: Callable[[], None], stop: Callable[[], None]) -> None:
    """Call ``reload`` on SIGHUP, and ``stop`` where it comes because the terminal was closed."""
    number = getattr(signal, "SIGHUP", None)
    if number is None or signal.getsignal(number) is signal.SIG_IGN:  # Windows; or nohup, which means it
        return
    had_terminal = _has_terminal()

    def heard() -> None:
        if had_terminal and not _has_terminal():
            stop()
        else:
            reload()

    loop.add_signal_handler(number, heard)


def _has_terminal() -> bool:
    try:
        with open("/dev/tty", "rb"):  # noqa: PTH123 - nothing is read: whether it opens is the answer
            return True
    except OSError:
        return False


async def _show_notices(app: QiusuoApp, err: Console, telling: Telling) -> None:
    if telling.begin is not None:
        await telling.begin.wait()
    url = telling.url
    language = words_for_terminal().language
    for finding in await startup_notices(app.backend.settings, app.backend.service):
        told = finding.wording(language)
        advice = (f"  {line}" for line in advice_lines(told.fix, finding.commands))
        page = "" if url.startswith(UNIX) else url  # no browser opens a socket
        guide = f"  {page}/docs/troubleshooting?lang={language.value}#{anchor(finding.code)}"
        say(err, sentences(language, told.what, told.why), *advice, guide)


async def _show_work(app: QiusuoApp, err: Console) -> None:
    """Tell from time to time how far the work in the background is."""
    language, last = words_for_terminal().language, ""
    while True:
        await asyncio.sleep(WORK_SECONDS)
        told = "; ".join(fact.text(language) for work in app.beside if (fact := work.status()))
        if told and told != last:
            say(err, told)
        last = told
