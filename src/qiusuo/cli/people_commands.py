"""The commands about people and their options: ``qiusuo audit``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from qiusuo.cli.help import about

EPILOG = about("exit_codes_people")


def add_people_commands(app: typer.Typer) -> None:
    """Add them to the others."""
    app.command("audit", epilog=EPILOG, help=about("audit"))(audit)


def audit(
    since: Annotated[
        datetime | None,
        typer.Option("--since", formats=["%Y-%m-%d"], help=about("audit_since"), show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Show who did what and when."""
    from qiusuo.cli.people import run_audit  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_audit(since=since, as_json=as_json))
