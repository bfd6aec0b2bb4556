"""The commands that plug-ins bring."""

from __future__ import annotations

import logging

import typer

from qiusuo import plugins
from qiusuo.cli.help import in_both

logger = logging.getLogger(__name__)


def add_plugin_commands(to: typer.Typer) -> None:
    """Add what plug-ins bring: groups of commands, and commands. None of them can take the place of ours."""
    taken = {one.name or getattr(one.callback, "__name__", "") for one in to.registered_commands}
    taken.update(str(group.name) for group in to.registered_groups)
    added = [(plugin, name, part) for plugin in plugins.installed() for name, part in plugin.commands.items()]
    for plugin, name, part in added:
        if name in taken:
            logger.error("the plug-in %r brings a command %r, of which there is one: it is left out", plugin.name, name)
            continue
        taken.add(name)
        command = plugins.load_or_tell(plugin, part)
        if isinstance(command, typer.Typer):
            to.add_typer(command, name=name)
        elif isinstance(command, plugins.Broken):
            _add_broken(to, name, command)
        else:
            to.command(name)(command)


def _add_broken(to: typer.Typer, name: str, fault: plugins.Broken) -> None:
    """Let a command that cannot be loaded say so, with whatever it is typed."""

    @to.command(
        name,
        help=in_both(fault.fact),
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def broken(_context: typer.Context) -> None:
        from qiusuo.cli.exits import Exit, error_lines  # noqa: PLC0415 - loaded when used
        from qiusuo.cli.words import words_for_terminal  # noqa: PLC0415 - loaded when used
        from qiusuo.errors import ConfigurationError  # noqa: PLC0415 - loaded when used

        error = ConfigurationError(fault.fact, commands=("qiusuo doctor",))
        typer.echo("\n".join(error_lines(error, words_for_terminal())), err=True)
        raise typer.Exit(Exit.NOT_CONFIGURED)
