"""``qiusuo searxng``."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from qiusuo.cli.exits import Exit
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.folders import data_folder
from qiusuo.kit.docker import Engine, compose_command, engine_state, run_compose, shown_command
from qiusuo.kit.environment import LICENCE, PACKAGE, InstallFailed, install, is_installed
from qiusuo.kit.files import FilesExist, KitFolder, default_folder, environment_folder
from qiusuo.kit.process import HOST, StartFailed, port_is_free, running, sigterm_as_interrupt, wait_until_healthy
from qiusuo.kit.settings_file import SettingsFile, SettingsFileError
from qiusuo.words import Fact


def run_init(folder: Path | None, *, force: bool, port: int, limiter: bool) -> Exit:
    """Write the files and say what comes next."""
    words, kit = words_for_terminal(), _kit(folder)
    try:
        paths = kit.write(port=port, limiter=limiter, force=force)
    except FilesExist as taken:
        return _fail(words("kit_exists", paths=_listed(taken.paths)), Exit.USAGE)
    except OSError as error:
        return _fail(words("kit_unwritable", path=kit.path, reason=error.strerror), Exit.NOT_CONFIGURED)
    typer.echo(words("kit_written", paths=_listed(paths)))
    docker = compose_command() is not None
    up = _typed("up", folder) + ("" if docker else " --no-docker")
    typer.echo(words("kit_next", up=up, url=f"http://localhost:{port}"))
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
    if run_compose(kit, action, follow=follow):
        return Exit.ALL_FAILED
    if action == "up":
        try:
            typer.echo(words("compose_up", url=f"http://localhost:{SettingsFile.read(kit.settings).port}"))
        except SettingsFileError as error:
            return _bad_file(words, kit.settings, error)
    return Exit.OK


def run_without_docker(folder: Path | None, *, yes: bool, port: int | None) -> Exit:
    """Install SearXNG if need be, run it in the foreground and stop it on Ctrl-C."""
    words, kit = words_for_terminal(), _kit(folder)
    try:
        # Nobody must write the files first: what a laptop needs is in the templates.
        if not kit.exists:
            typer.echo(words("kit_written", paths=_listed(kit.write())))
        port = port or SettingsFile.read(kit.settings).port
    except FilesExist as taken:
        return _fail(words("kit_exists", paths=_listed(taken.paths)), Exit.NOT_CONFIGURED)
    except OSError as error:
        return _fail(words("kit_unwritable", path=kit.path, reason=str(error)), Exit.NOT_CONFIGURED)
    except SettingsFileError as error:
        return _bad_file(words, kit.settings, error)
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
    log = data_folder() / "searxng" / "searxng.log"
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with sigterm_as_interrupt(), running(python, kit.settings, port, log, secret=kit.secret) as process:
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
    return f"qiusuo searxng {action}" + (f" {shlex.quote(str(folder))}" if folder else "")


def _listed(paths: tuple[Path, ...]) -> str:
    return ", ".join(str(path) for path in paths)


def _fail(text: str, code: Exit) -> Exit:
    Console(stderr=True, highlight=False, soft_wrap=True).print(escape(text))
    return code
