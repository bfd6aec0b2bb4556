"""A worker: ``python -m qiusuo.cli.serving.worker ORDER``, started by the supervisor and by nobody else."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.serving.answering import Telling, answer, build_app
from qiusuo.cli.serving.listening import tls_context
from qiusuo.cli.serving.orders import FORCE, RETIRE, TELL, Order, Report
from qiusuo.cli.words import words_for_terminal
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from qiusuo.logs import log_for_machines, start_logging
from qiusuo.storage.private import end_orphan
from qiusuo.web.entrance.tally import Tally

if TYPE_CHECKING:
    from qiusuo.web.entrance.server import Server


class Worker:
    """This process, as its supervisor has ordered it."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._control = socket.socket(fileno=order.control)
        self._listener = socket.socket(fileno=order.listener)
        self._orphaned = False
        self._may_tell = asyncio.Event()

    def run(self) -> int:
        """Serve until told to stop; return the exit code."""
        order = self._order
        with self._control, self._listener:
            try:
                with _without_warnings():  # the supervisor has read the same settings and told of them
                    settings = Settings.load(**order.arguments).with_store(order.store)
                log_for_machines(as_json=settings.log == "json", queries=settings.log_queries)
                with _without_warnings(when=order.is_quiet):
                    server = self._server(settings)
            except ConfigurationError as error:
                lines = tuple(error_lines(error, words_for_terminal()))
                self._report(Report(lines, exit_code(error)))
                return exit_code(error)
            telling = Telling(order.url, notices=order.notices, work=order.work, begin=self._may_tell)
            err = Console(stderr=True, highlight=False, soft_wrap=True)
            answer(server, self._listener, err, telling, lambda loop: self._hear(loop, server))
        if self._orphaned:  # nobody else takes this away any more
            if order.store is not None:
                end_orphan(order.store)
            shutil.rmtree(order.folder, ignore_errors=True)
        return Exit.OK

    def _server(self, settings: Settings) -> Server:
        tls = tls_context(settings)
        app = build_app(settings, metrics_folder=self._order.folder)
        from qiusuo.web.entrance.server import Server  # noqa: PLC0415 - after it is known that it is installed

        return Server(
            app,
            tally=Tally(Path(self._order.folder)),
            access_log=self._order.access_log,
            tls=tls,
            workers=self._order.count,
            hears_signals=False,
            when_started=lambda: self._report(Report()),
        )

    def _report(self, report: Report) -> None:
        with suppress(OSError):  # that the supervisor is gone is seen elsewhere
            self._control.sendall(report.to_line())

    def _hear(self, loop: asyncio.AbstractEventLoop, server: Server) -> None:
        def hear() -> None:
            said = self._control.recv(16)
            if not said:  # whatever has become of the supervisor
                loop.remove_reader(self._control)
                self._orphaned = True
                server.stop()
                return
            if TELL in said:
                self._may_tell.set()
            if RETIRE in said:
                server.retire()
            if FORCE in said:
                server.force()

        loop.add_reader(self._control, hear)
        loop.add_signal_handler(signal.SIGTERM, server.stop)


@contextmanager
def _without_warnings(*, when: bool = True) -> Iterator[None]:
    """Log only errors meanwhile."""
    before = logging.root.manager.disable
    if when:
        logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _ignore(_signal: int, _frame: object) -> None:
    """Leave it to the supervisor, who hears the same at a terminal. Programs that are started here do not ignore it."""


def main() -> None:
    """Run the worker."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore)
    order = Order.read(sys.argv[1])
    start_logging(verbose=order.verbose)
    sys.exit(Worker(order).run())


if __name__ == "__main__":
    main()
