"""The commands about what is kept, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qiusuo.cli.help import about
from qiusuo.cli.mistakes import CommandLine

EPILOG = about("exit_codes_data")


def backup(
    file: Annotated[Path, typer.Argument(help=about("backup_file"), show_default=False)],
    force: Annotated[bool, typer.Option("--force", help=about("backup_force"))] = False,
) -> None:
    """Save the database of conversations in one file."""
    from qiusuo.cli.database.data import run_backup  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_backup(file, force=force))


def restore(file: Annotated[Path, typer.Argument(help=about("restore_file"), show_default=False)]) -> None:
    """Bring a backup back."""
    from qiusuo.cli.database.data import run_restore  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_restore(file))


def export(
    file: Annotated[Path, typer.Argument(help=about("export_file"), show_default=False)],
    owner: Annotated[str, typer.Option("--owner", "-o", help=about("owner"))] = "local",
    force: Annotated[bool, typer.Option("--force", help=about("backup_force"))] = False,
) -> None:
    """Write everything that is kept about somebody into a file."""
    from qiusuo.cli.database.owners import run_export  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_export(owner, file, force=force))


def forget(
    owner: Annotated[str, typer.Option("--owner", "-o", help=about("owner"), show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help=about("forget_yes"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Delete everything that is kept about somebody."""
    from qiusuo.cli.database.owners import run_forget  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_forget(owner, yes=yes, as_json=as_json))


def retention(
    owner: Annotated[str | None, typer.Option("--owner", "-o", help=about("owner"), show_default=False)] = None,
    days: Annotated[
        int | None, typer.Option("--days", "-d", min=1, max=36500, help=about("retention_days"), show_default=False)
    ] = None,
    off: Annotated[bool, typer.Option("--off", help=about("retention_off"))] = False,
) -> None:
    """Show or set how long the conversations of some owners are kept."""
    from qiusuo.cli.database.owners import run_retention  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_retention(owner, days=days, off=off))


database = CommandLine(help=about("database"), invoke_without_command=True)


@database.callback(epilog=EPILOG)
def database_state(context: typer.Context) -> None:
    """Show the state of the tables."""
    if context.invoked_subcommand is None:
        from qiusuo.cli.database.data import run_database  # noqa: PLC0415 - loaded when used

        raise typer.Exit(run_database(migrate=False))


@database.command(epilog=EPILOG, help=about("database_migrate"))
def migrate() -> None:
    """Bring the tables up to date."""
    from qiusuo.cli.database.data import run_database  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_database(migrate=True))


@database.command(epilog=EPILOG, help=about("database_copy"))
def copy(
    to: Annotated[str, typer.Option("--to", metavar="URL", help=about("database_copy_to"), show_default=False)],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help=about("database_copy_from"), show_default="QIUSUO_DATABASE_URL"),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help=about("database_copy_replace"))] = False,
) -> None:
    """Copy all tables into another database."""
    from qiusuo.cli.database.data import run_copy  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_copy(source, to, replace=replace))


def add_data_commands(to: typer.Typer) -> None:
    """Add these commands."""
    to.command(epilog=EPILOG, help=about("backup"))(backup)
    to.command(epilog=EPILOG, help=about("restore"))(restore)
    to.command(epilog=EPILOG, help=about("export"))(export)
    to.command(epilog=EPILOG, help=about("forget"))(forget)
    to.command(epilog=EPILOG, help=about("retention"))(retention)
    to.add_typer(database, name="database")
