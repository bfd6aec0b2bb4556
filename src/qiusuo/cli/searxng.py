"""``qiusuo searxng``."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from qiusuo.cli.exits import Exit
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.commands import typed
from qiusuo.folders import data_folder
from qiusuo.kit.commands import KitCommands
from qiusuo.kit.docker import Engine, compose_command, engine_state, is_outdated, run_compose, shown_command
from qiusuo.kit.environment import LICENCE, PACKAGE, InstallFailed, install, is_installed
from qiusuo.kit.files import DEFAULT_PORT, KitFolder, default_folder, environment_folder
from qiusuo.kit.process import HOST, StartFailed, port_is_free, running, sigterm_as_interrupt, wait_until_healthy
from qiusuo.kit.running import Running, noted, running_with
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.words import Fact

_LOG_LINES: Final = 100


def run_init(folder: Path | None, *, force: bool, port: int | None, limiter: bool) -> Exit:
    """Write the files that are not there yet and say what comes next."""
    words, kit = words_for_terminal(), _kit(folder)
    try:
        there = SettingsFile.read(kit.settings) if kit.exists and not force else None
        other = there is not None and ((port or there.port) != there.port or (limiter and not there.limiter))
        if other:  # an option that would have no effect
            return _fail(words("kit_exists", paths=_listed(kit.paths)), Exit.USAGE)
        port = there.port if there else port or DEFAULT_PORT
        written = kit.write(port=port, limiter=limiter, force=force)
    except SettingsFileError as error:
        return _bad_file(words, kit.settings, error)
    except OSError as error:
        return _fail(words("kit_unwritable", path=kit.path, reason=error.strerror), Exit.NOT_CONFIGURED)
    typer.echo(words("kit_written", paths=_listed(written)) if written else words("kit_there", path=kit.path))
    up = typed(KitCommands(kit.settings if folder else None).start[-1])
    typer.echo(words("kit_next", up=up, url=f"http://localhost:{port}", doctor=typed("qiusuo doctor")))
    return Exit.OK


def run_up(folder: Path | None, *, no_docker: bool, yes: bool, port: int | None) -> int:
    """Start SearXNG, in its container or without one."""
    return run_without_docker(folder, yes=yes, port=port) if no_docker else run_compose_action("up", folder)


def run_restart(folder: Path | None) -> int:
    """Restart SearXNG the way it runs, or else can run here."""
    kit = _kit(folder)
    alone = running_with(kit.settings, _notes())
    if alone is None and not KitCommands(kit.settings).without_docker:
        return run_compose_action("restart", folder)
    return run_without_docker(folder, yes=False, port=alone.port if alone else None, anew=True)


def run_down(folder: Path | None) -> int:
    """Stop SearXNG the way it runs."""
    words, kit = words_for_terminal(), _kit(folder)
    alone = running_with(kit.settings, _notes())
    if alone is not None:
        return _ended(words, alone)
    if KitCommands(kit.settings).without_docker:
        typer.echo(words("searxng_not_running"))
        return Exit.OK
    return run_compose_action("down", folder)


def run_logs(folder: Path | None, *, follow: bool) -> int:
    """Show what SearXNG has logged."""
    words, kit = words_for_terminal(), _kit(folder)
    alone = running_with(kit.settings, _notes()) is not None
    if not alone and not KitCommands(kit.settings).without_docker:
        return run_compose_action("logs", folder, follow=follow)
    try:
        lines = _log().read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return _fail(words("no_file", path=_log()), Exit.NOT_CONFIGURED)
    typer.echo("\n".join(lines[-_LOG_LINES:]))
    return Exit.OK


def run_compose_action(action: str, folder: Path | None, *, follow: bool = False) -> int:
    """Run compose in the folder, or say the exact commands where it cannot be run."""
    words, kit = words_for_terminal(), _kit(folder)
    if not kit.compose.is_file():
        return _fail(words("kit_missing", path=kit.compose, init=_typed("init", folder)), Exit.NOT_CONFIGURED)
    advice = {"command": shown_command(kit, action), "other": _typed("up", folder) + " --no-docker"}
    if asyncio.run(engine_state()) is Engine.OFF:
        return _fail(words("docker_off", **advice), Exit.NOT_CONFIGURED)
    if compose_command() is None:
        return _fail(words("docker_missing", **advice), Exit.NOT_CONFIGURED)
    # Compose looks at its own file alone: a container goes on with the settings that it has read.
    outdated = action == "up" and asyncio.run(is_outdated(kit))
    if run_compose(kit, action, follow=follow) or (outdated and run_compose(kit, "restart")):
        return Exit.ALL_FAILED
    if action == "up":
        try:
            url = f"http://localhost:{SettingsFile.read(kit.settings).port}"
        except SettingsFileError as error:
            return _bad_file(words, kit.settings, error)
        typer.echo(words("compose_up", url=url, doctor=typed("qiusuo doctor")))
    return Exit.OK


def run_without_docker(folder: Path | None, *, yes: bool, port: int | None, anew: bool = False) -> Exit:
    """Install SearXNG if need be, run it in the foreground and stop it on Ctrl-C.

    One that runs with these files goes on; it is restarted where its settings have changed, or ``anew`` is set.
    """
    words, kit = words_for_terminal(), _kit(folder)
    try:
        # Nobody must write the files first: what a laptop needs is in the templates.
        if not kit.exists:
            typer.echo(words("kit_written", paths=_listed(kit.write())))
        port = port or SettingsFile.read(kit.settings).port
    except OSError as error:
        return _fail(words("kit_unwritable", path=kit.path, reason=str(error)), Exit.NOT_CONFIGURED)
    except SettingsFileError as error:
        return _bad_file(words, kit.settings, error)
    before = running_with(kit.settings, _notes())
    if before is not None and before.port == port:
        if before.is_current and not anew:
            typer.echo(words("searxng_runs", url=f"http://{HOST}:{port}"))
            return Exit.OK
        ended = _ended(words, before)
        if ended is not Exit.OK:
            return ended
    if not port_is_free(port):
        return _fail(words("port_taken", port=port), Exit.USAGE)
    environment = environment_folder()
    if not is_installed(environment) and not _agreed(words, environment, yes=yes):
        return _fail(words("install_declined"), Exit.NOT_CONFIGURED)
    try:
        python = install(environment, lambda step: typer.echo(words.tell(step)))
    except InstallFailed as error:
        return _fail(words("install_failed", reason=error.fact), Exit.NOT_CONFIGURED)
    return _serve(words, python, kit, port)


def _serve(words: Words, python: Path, kit: KitFolder, port: int) -> Exit:
    log = _log()
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with (
            sigterm_as_interrupt(),
            noted(kit.settings, port, _notes()),
            running(python, kit.settings, port, log, secret=kit.secret) as process,
        ):
            with err.status(words("searxng_starting")):
                wait_until_healthy(process, port, log)
            typer.echo(words("searxng_up", url=f"http://{HOST}:{port}", log=log))
            ended = process.wait()
    except KeyboardInterrupt:
        typer.echo(words("searxng_stopped"))
        return Exit.OK
    except StartFailed as error:
        return _fail(words("searxng_failed", reason=error.fact), Exit.ALL_FAILED)
    return _fail(words("searxng_failed", reason=Fact("kit.ended_later", code=ended, log=str(log))), Exit.ALL_FAILED)


def _ended(words: Words, running_one: Running) -> Exit:
    typer.echo(words("searxng_ending", port=running_one.port))
    return Exit.OK if running_one.stop() else _fail(words("port_taken", port=running_one.port), Exit.ALL_FAILED)


def _notes() -> Path:
    return data_folder() / "searxng"


def _log() -> Path:
    return _notes() / "searxng.log"


def _agreed(words: Words, environment: Path, *, yes: bool) -> bool:
    plan = words("install_plan", package=PACKAGE, licence=LICENCE, folder=environment)
    if yes:
        typer.echo(plan)
        return True
    question = plan + words.language.after_sentence + words("install_ask")
    return sys.stdin.isatty() and typer.confirm(question)


def _bad_file(words: Words, file: Path, error: SettingsFileError) -> Exit:
    return _fail(words("bad_file", file=file, reason=error.fact), Exit.NOT_CONFIGURED)


def _kit(folder: Path | None) -> KitFolder:
    return KitFolder(folder.expanduser().resolve()) if folder else default_folder()


def _typed(action: str, folder: Path | None) -> str:
    return typed(f"qiusuo searxng {action}" + (f" {shlex.quote(str(folder))}" if folder else ""))


def _listed(paths: tuple[Path, ...]) -> str:
    return ", ".join(str(path) for path in paths)


def _fail(text: str, code: Exit) -> Exit:
    Console(stderr=True, highlight=False, soft_wrap=True).print(escape(text))
    return code
