"""``qiusuo serve``."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import socket
import ssl
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.markup import escape

from qiusuo.cli.exits import Exit, advice_lines, error_lines, exit_code
from qiusuo.cli.listening import listen_on_unix, remover_of, tls_context
from qiusuo.cli.words import words_for_terminal
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.doctor import startup_notices
from qiusuo.doctor.findings import anchor
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.logs import log_for_machines
from qiusuo.words import Fact, sentences

if TYPE_CHECKING:
    from qiusuo.web.app import QiusuoApp
    from qiusuo.web.entrance.server import Server

BACKLOG: Final = 2048
WORK_SECONDS: Final = 15.0
_UNIX: Final = "unix:"
_GC_THRESHOLDS: Final = (10_000, 10, 10)


def run_serve(
    *,
    host: str | None,
    port: int | None,
    allow_open: bool,
    access_log: bool,
    uds: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    root_path: str | None = None,
) -> Exit:
    """Serve until told to stop; return the exit code."""
    words = words_for_terminal()
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    files = {"uds": uds, "tls_cert": tls_cert, "tls_key": tls_key, "root_path": root_path}
    given: dict[str, Any] = {"host": host, "port": port, "allow_open": allow_open or None, **files}
    try:
        settings = Settings.load(**{name: value for name, value in given.items() if value is not None})
        log_for_machines(as_json=settings.log == "json", queries=settings.log_queries)
        tls = tls_context(settings)
        with listen(settings) as listener:
            app, url = _build_app(settings), _url(settings, listener)
            err.print(escape(words("serving", url=url)))
            server = _server(app, access_log=access_log, tls=tls, uds=settings.uds)
            _run(app, server, listener, err, url=url)
    except ConfigurationError as error:
        for line in error_lines(error, words):
            err.print(escape(line))
        return exit_code(error)
    return Exit.OK


def listen(settings: Settings) -> socket.socket:
    """Return a listening socket.

    Raises:
        ConfigurationError: the address is no one's, is taken, or would open the server to everybody.
    """
    if settings.uds:
        return listen_on_unix(Path(settings.uds).expanduser(), int(settings.uds_mode, 8), BACKLOG)
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ConfigurationError(Fact("cli.no_address", host=repr(host))) from None
    # localhost is two addresses; clients that know one of them only know IPv4.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    if not (settings.tokens or settings.allow_open) and not all(_loops_back(entry[4]) for entry in found):
        _want_people(settings, host)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows the option would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _bind_problem(error, host, port) from None
    return listener


def _want_people(settings: Settings, host: str) -> None:
    """Refuse to listen beyond this machine unless somebody has a token of the database."""
    from qiusuo.cli.people import has_people  # noqa: PLC0415 - loaded when used

    try:
        found = has_people(settings)
    except ConfigurationError:  # nor can there be any
        found = False
    except SearchError as error:
        raise ConfigurationError(Fact("cli.people_unknown", host=host, reason=error.told)) from None
    if not found:
        raise ConfigurationError(Fact("cli.open_to_all", host=host))


def _build_app(settings: Settings) -> QiusuoApp:
    try:
        import httptools  # noqa: F401, PLC0415 - needs the extra
        import uvicorn  # noqa: F401, PLC0415 - the same

        from qiusuo.web.app import create_app  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        missing = Fact("cli.no_server", package=error.name or "")
        raise ConfigurationError(missing, commands=(install_command("qiusuo[server]"),)) from None
    return create_app(settings=settings)


def _server(app: QiusuoApp, *, access_log: bool, tls: ssl.SSLContext | None, uds: str | None) -> Server:
    from qiusuo.web.entrance.server import Server  # noqa: PLC0415 - loaded when used

    stopped = remover_of(Path(uds).expanduser()) if uds else None
    return Server(app, access_log=access_log, tls=tls, when_stopped=stopped)


def _run(app: QiusuoApp, server: Server, listener: socket.socket, err: Console, *, url: str) -> None:
    async def serve() -> None:
        # Beside the start: nobody waits for a server because a SearXNG is slow to answer.
        telling = [asyncio.create_task(_show_notices(app, err, url)), asyncio.create_task(_show_work(app, err))]
        try:
            await server.serve(sockets=[listener])
        finally:
            for task in telling:
                task.cancel()

    # Of what is loaded by now nothing becomes garbage. Looking for it every 700 objects took a third of the time of a
    # busy server (make bench: a server under load).
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.freeze()
    # The server stops in order on the first signal and passes it on when it is done.
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(serve())


async def _show_notices(app: QiusuoApp, err: Console, url: str) -> None:
    language = words_for_terminal().language
    for finding in await startup_notices(app.backend.settings, app.backend.service):
        told = finding.wording(language)
        advice = (f"  {line}" for line in advice_lines(told.fix, finding.commands))
        page = "" if url.startswith(_UNIX) else url  # no browser opens a socket
        guide = f"  {page}/docs/troubleshooting?lang={language.value}#{anchor(finding.code)}"
        for line in (sentences(language, told.what, told.why), *advice, guide):
            err.print(escape(line))


async def _show_work(app: QiusuoApp, err: Console) -> None:
    """Tell from time to time how far the work in the background is."""
    language, last = words_for_terminal().language, ""
    while True:
        await asyncio.sleep(WORK_SECONDS)
        told = "; ".join(fact.text(language) for work in app.beside if (fact := work.status()))
        if told and told != last:
            err.print(escape(told))
        last = told


def _loops_back(address: Any) -> bool:
    return ip_address(str(address[0]).partition("%")[0]).is_loopback


def _bind_problem(error: OSError, host: str, port: int) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(Fact("cli.port_in_use", port=port, host=host, other=port + 1))
    if error.errno == errno.EACCES:
        return ConfigurationError(Fact("cli.port_forbidden", port=port))
    return ConfigurationError(Fact("cli.listen_failed", port=port, host=host, words=error.strerror or ""))


def _url(settings: Settings, listener: socket.socket) -> str:
    if settings.uds:
        return f"{_UNIX}{settings.uds}"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.tls_cert else 'http'}://{host}:{listener.getsockname()[1]}{settings.root_path}"
