"""``qiusuo serve``."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.serving.answering import UNIX, Telling, answer, build_app, reload_on_hang_up
from qiusuo.cli.serving.listening import (
    given_socket,
    listen_on_unix,
    number_of_given_socket,
    place_of,
    remover_of,
    show_from_now_on,
    tls_context,
)
from qiusuo.cli.serving.supervisor import Plan, Supervisor
from qiusuo.cli.serving.telling import say
from qiusuo.cli.words import words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.logs import log_for_machines
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.web.app import QiusuoApp
    from qiusuo.web.entrance.server import Server

BACKLOG: Final = 2048
_NEAR: Final = 100
_LAST_PORT: Final = 65535


def run_serve(
    *,
    host: str | None,
    port: int | None,
    allow_open: bool,
    access_log: bool,
    workers: str | None = None,
    uds: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    root_path: str | None = None,
    fd: int | None = None,
) -> int:
    """Serve until told to stop; return the exit code."""
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    files = {"uds": uds, "tls_cert": tls_cert, "tls_key": tls_key, "root_path": root_path}
    given: dict[str, Any] = {"host": host, "port": port, "allow_open": allow_open or None, "workers": workers, **files}
    arguments = {name: value for name, value in given.items() if value is not None}
    number = fd if fd is not None else number_of_given_socket()
    try:
        if number is None:
            return _serve(arguments, None, err, access_log=access_log)
        with given_socket(number) as listener:
            return _serve({**arguments, **place_of(listener)}, listener, err, access_log=access_log)
    except ConfigurationError as error:
        _complain(err, error)
        return exit_code(error)


def _serve(arguments: dict[str, Any], given: socket.socket | None, err: Console, *, access_log: bool) -> int:
    settings = Settings.load(**arguments)
    log_for_machines(as_json=settings.log == "json", queries=settings.log_queries)
    tls = tls_context(settings)
    own_path = settings.uds if given is None else None
    with listen(settings, given) as listener:
        if settings.worker_count > 1:
            return _supervise(settings, listener, err, access_log=access_log, own_path=own_path)
        app, url = build_app(settings), _url(settings, listener)
        say(err, words_for_terminal()("serving", url=url))
        server = _server(app, err, access_log=access_log, tls=tls, uds=own_path)
        answer(server, listener, err, Telling(url), lambda loop: _obey_hang_up(loop, app, tls, err))
    return Exit.OK


def _server(app: QiusuoApp, err: Console, *, access_log: bool, tls: ssl.SSLContext | None, uds: str | None) -> Server:
    from qiusuo.web.entrance.server import Server  # noqa: PLC0415 - loaded when used

    remove = remover_of(Path(uds).expanduser()) if uds else None

    def stopped() -> None:
        if remove is not None:
            remove()
        say(err, words_for_terminal()("stopped"))

    return Server(app, access_log=access_log, tls=tls, when_stopped=stopped)


def _obey_hang_up(loop: asyncio.AbstractEventLoop, app: QiusuoApp, tls: ssl.SSLContext | None, err: Console) -> None:
    """Read settings and certificate anew on SIGHUP; of a closed terminal it ends the server as SIGTERM does."""
    reading: set[asyncio.Task[None]] = set()

    async def read_again() -> None:
        await app.backend.live.read_again()
        if app.backend.live.problem is None:
            say(err, words_for_terminal()("reloaded"))
        if tls is None:
            return
        try:
            renewed = await asyncio.to_thread(tls_context, app.backend.live.settings)
        except ConfigurationError as error:
            _complain(err, error, words_for_terminal()("certificate_refused"))
            return
        if renewed is not None:
            show_from_now_on(tls, renewed)

    def begin() -> None:
        task = loop.create_task(read_again())
        reading.add(task)
        task.add_done_callback(reading.discard)

    reload_on_hang_up(loop, begin, lambda: signal.raise_signal(signal.SIGTERM))


def _supervise(
    settings: Settings, listener: socket.socket, err: Console, *, access_log: bool, own_path: str | None
) -> int:
    if os.name != "posix":
        raise ConfigurationError(Fact("cli.no_workers"))
    url = _url(settings, listener)
    words = words_for_terminal()

    def read_again() -> Settings:
        found = settings.read_again()
        tls_context(found)
        return found

    plan = Plan(
        settings,
        url,
        access_log,
        read_again,
        tell_serving=lambda count: say(err, words("serving_workers", url=url, count=count)),
        tell_reloaded=lambda: say(err, words("reloaded")),
        complain=lambda problem: _complain(err, problem),
        refuse=lambda problem: _complain(err, problem, words("reload_refused")),
    )
    remove = remover_of(Path(own_path).expanduser()) if own_path else None
    try:
        code = asyncio.run(_run(plan, listener))
    finally:
        if remove is not None:
            remove()
    if code <= 0:
        say(err, words("stopped"))
    if code < 0:  # whoever has sent the signal sees that it was obeyed
        signal.signal(-code, signal.SIG_DFL)
        signal.raise_signal(-code)
    return code


async def _run(plan: Plan, listener: socket.socket) -> int:
    return await Supervisor(plan, listener).run()


def _complain(err: Console, problem: ConfigurationError | Iterable[str], *more: str) -> None:
    lines = error_lines(problem, words_for_terminal()) if isinstance(problem, ConfigurationError) else problem
    say(err, *lines, *more, level=logging.ERROR)


def listen(settings: Settings, given: socket.socket | None = None) -> socket.socket:
    """Return a listening socket: the one that is given, else a new one.

    Raises:
        ConfigurationError: the address is no one's, is taken, or would open the server to everybody.
    """
    if settings.uds and given is not None:
        return given
    if settings.uds:
        return listen_on_unix(Path(settings.uds).expanduser(), int(settings.uds_mode, 8), BACKLOG)
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ConfigurationError(Fact("cli.no_address", host=repr(host))) from None
    # localhost is two addresses; clients that know one of them only know IPv4.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    if not (settings.recognises_people or settings.allow_open) and not all(_loops_back(entry[4]) for entry in found):
        _want_people(settings, host)
    if given is not None:
        return given
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
    from qiusuo.cli.database.people import has_people  # noqa: PLC0415 - loaded when used

    try:
        found = has_people(settings)
    except ConfigurationError:  # nor can there be any
        found = False
    except SearchError as error:
        raise ConfigurationError(Fact("cli.people_unknown", host=host, reason=error.told)) from None
    if not found:
        raise ConfigurationError(Fact("cli.open_to_all", host=host))


def _loops_back(address: Any) -> bool:
    return ip_address(str(address[0]).partition("%")[0]).is_loopback


def _free_port(host: str, taken: int) -> int:
    """Return the next port that can be had, or the next one where none is near."""
    for port in range(taken + 1, min(taken + _NEAR, _LAST_PORT) + 1):
        with suppress(OSError), socket.create_server((host, port)):
            return port
    return min(taken + 1, _LAST_PORT)


def _bind_problem(error: OSError, host: str, port: int) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(Fact("cli.port_in_use", port=port, host=host, other=_free_port(host, port)))
    if error.errno == errno.EACCES:
        return ConfigurationError(Fact("cli.port_forbidden", port=port))
    return ConfigurationError(Fact("cli.listen_failed", port=port, host=host, words=error.strerror or ""))


def _url(settings: Settings, listener: socket.socket) -> str:
    if settings.uds:
        return f"{UNIX}{settings.uds}"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.tls_cert else 'http'}://{host}:{listener.getsockname()[1]}{settings.root_path}"
