"""The commands about people and their options: ``qiusuo tokens``, ``qiusuo audit``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import typer

from qiusuo.cli.help import about
from qiusuo.cli.mistakes import CommandLine

EPILOG = about("exit_codes_people")
NEVER = "none"
"""Takes a limit away."""

Name = Annotated[str, typer.Argument(help=about("tokens_name"), show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help=about("json"))]
RoleOption = Annotated[
    Literal["user", "operator"] | None, typer.Option("--role", help=about("tokens_role"), show_default="user")
]


Days = Annotated[str | None, typer.Option("--days", metavar="DAYS", help=about("tokens_days"), show_default=False)]
PerMinute = Annotated[
    str | None, typer.Option("--per-minute", metavar="N", help=about("tokens_per_minute"), show_default=False)
]
Searches = Annotated[
    str | None, typer.Option("--searches", metavar="N", help=about("tokens_searches"), show_default=False)
]
ModelTokens = Annotated[
    str | None, typer.Option("--model-tokens", metavar="N", help=about("tokens_model_tokens"), show_default=False)
]
Engines = Annotated[
    str | None, typer.Option("--engines", metavar="NAMES", help=about("tokens_engines"), show_default=False)
]
Models = Annotated[
    str | None, typer.Option("--models", metavar="NAMES", help=about("tokens_models"), show_default=False)
]

tokens = CommandLine(help=about("group_tokens"), no_args_is_help=True)


def add_people_commands(app: typer.Typer) -> None:
    """Add them to the others."""
    app.add_typer(tokens, name="tokens")
    app.command("audit", epilog=EPILOG, help=about("audit"))(audit)


def _given(**limits: str | None) -> dict[str, str]:
    return {name: value for name, value in limits.items() if value is not None}


@tokens.command("add", epilog=EPILOG, help=about("tokens_add"))
def tokens_add(  # noqa: PLR0917 - typer's way to name options
    name: Name,
    role: RoleOption = None,
    days: Days = None,
    per_minute: PerMinute = None,
    searches: Searches = None,
    model_tokens: ModelTokens = None,
    engines: Engines = None,
    models: Models = None,
    as_json: AsJson = False,
) -> None:
    """Give somebody a token."""
    from qiusuo.cli.database.people import run_add  # noqa: PLC0415 - loaded when used

    limits = _given(
        role=role, days=days, perMinute=per_minute, searches=searches, modelTokens=model_tokens, engines=engines,
        models=models,
    )  # fmt: skip
    raise typer.Exit(run_add(name, limits, as_json=as_json))


@tokens.command("list", epilog=EPILOG, help=about("tokens_list"))
def tokens_list(as_json: AsJson = False) -> None:
    """Show everybody with a token."""
    from qiusuo.cli.database.people import run_list  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_list(as_json=as_json))


@tokens.command("change", epilog=EPILOG, help=about("tokens_change"))
def tokens_change(  # noqa: PLR0917 - the same
    name: Name,
    role: RoleOption = None,
    days: Days = None,
    per_minute: PerMinute = None,
    searches: Searches = None,
    model_tokens: ModelTokens = None,
    engines: Engines = None,
    models: Models = None,
) -> None:
    """Change what is set for somebody."""
    from qiusuo.cli.database.people import run_change  # noqa: PLC0415 - loaded when used

    limits = _given(
        role=role, days=days, perMinute=per_minute, searches=searches, modelTokens=model_tokens, engines=engines,
        models=models,
    )  # fmt: skip
    raise typer.Exit(run_change(name, limits))


@tokens.command("rotate", epilog=EPILOG, help=about("tokens_rotate"))
def tokens_rotate(name: Name, as_json: AsJson = False) -> None:
    """Give somebody another token."""
    from qiusuo.cli.database.people import run_rotate  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_rotate(name, as_json=as_json))


@tokens.command("revoke", epilog=EPILOG, help=about("tokens_revoke"))
def tokens_revoke(name: Name) -> None:
    """End somebody's token."""
    from qiusuo.cli.database.people import run_revoke  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_revoke(name))


def audit(
    since: Annotated[
        datetime | None,
        typer.Option("--since", formats=["%Y-%m-%d"], help=about("audit_since"), show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show who did what and when."""
    from qiusuo.cli.database.people import run_audit  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_audit(since=since, as_json=as_json))
