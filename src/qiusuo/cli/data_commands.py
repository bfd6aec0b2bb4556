"""The commands about what is kept, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qiusuo.cli.help import about

EPILOG = about("exit_codes_data")


def backup(
    file: Annotated[Path, typer.Argument(help=about("backup_file"), show_default=False)],
    force: Annotated[bool, typer.Option("--force", help=about("backup_force"))] = False,
) -> None:
    """Save the database of conversations in one file."""
    from qiusuo.cli.data import run_backup  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_backup(file, force=force))


def restore(file: Annotated[Path, typer.Argument(help=about("restore_file"), show_default=False)]) -> None:
    """Bring a backup back."""
    from qiusuo.cli.data import run_restore  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_restore(file))


def add_data_commands(to: typer.Typer) -> None:
    """Add these commands."""
    to.command(epilog=EPILOG, help=about("backup"))(backup)
    to.command(epilog=EPILOG, help=about("restore"))(restore)
