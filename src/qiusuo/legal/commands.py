"""``qiusuo legal …``: the commands and their options. What they do is in ``terminal.py``, loaded when one runs."""

from __future__ import annotations

from typing import Annotated

import typer

from qiusuo.cli.help import about
from qiusuo.cli.mistakes import CommandLine

EPILOG = about("exit_codes")


def own(key: str) -> str:
    """Return what a command of ours or its option does."""
    return about(key, "legal_help")


def packed(key: str) -> str:
    """Return what a command or an option about packs does."""
    return about(key, "legal_packs_help")


def elsewhere(key: str) -> str:
    """Return what a command about published indexes, or its argument, does."""
    return about(key, "legal_places")


legal = CommandLine(help=own("group"), no_args_is_help=True)


@legal.callback()
def legal_group() -> None:
    """Chinese law on this machine."""


@legal.command("install", epilog=EPILOG, help=own("install"))
def legal_install(
    yes: Annotated[bool, typer.Option("--yes", "-y", help=own("install_yes"))] = False,
    semantic: Annotated[bool, typer.Option("--semantic", help=own("install_semantic"))] = False,
    pack: Annotated[str, typer.Option("--pack", help=packed("install_pack"))] = "",
    source: Annotated[str, typer.Option("--from", help=packed("install_from"))] = "",
    since: Annotated[str, typer.Option("--since", help=packed("install_since"))] = "",
    kinds: Annotated[list[str] | None, typer.Option("--kind", help=packed("install_kind"))] = None,
) -> None:
    """Bring the default statutes, or a pack, and build the index."""
    from qiusuo.legal.pack_terminal import PackOrder, run_install_pack  # noqa: PLC0415 - loaded when used
    from qiusuo.legal.terminal import run_install  # noqa: PLC0415 - loaded when used

    if pack or source or since or kinds:
        order = PackOrder(pack, source, since, tuple(kinds or ()), yes=yes, semantic=semantic)
        raise typer.Exit(run_install_pack(order))
    raise typer.Exit(run_install(yes=yes, semantic=semantic))


@legal.command("packs", epilog=EPILOG, help=packed("packs"))
def legal_packs(as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False) -> None:
    """List the packs, with where each comes from and what is installed."""
    from qiusuo.legal.pack_terminal import run_packs  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_packs(as_json=as_json))


@legal.command("remove", epilog=EPILOG, help=packed("remove"))
def legal_remove(
    pack: Annotated[str, typer.Argument(help=packed("remove_pack"))],
    yes: Annotated[bool, typer.Option("--yes", "-y", help=own("install_yes"))] = False,
) -> None:
    """Take a pack out of the index."""
    from qiusuo.legal.pack_terminal import run_remove  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_remove(pack, yes=yes))


@legal.command("import", epilog=EPILOG, help=own("import"))
def legal_import(
    paths: Annotated[
        list[str],
        typer.Argument(help=own("import_paths")),
    ],
    semantic: Annotated[bool, typer.Option("--semantic", help=own("install_semantic"))] = False,
) -> None:
    """Add laws and judgments to the index; an interrupted import goes on."""
    from qiusuo.legal.terminal import run_import  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_import(paths, semantic=semantic))


@legal.command("rebuild", epilog=EPILOG, help=own("rebuild"))
def legal_rebuild(
    semantic: Annotated[bool, typer.Option("--semantic", help=own("install_semantic"))] = False,
) -> None:
    """Build the ranking anew, for instance after an update of Qiusuo."""
    from qiusuo.legal.terminal import run_rebuild  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_rebuild(semantic=semantic))


@legal.command("publish", epilog=EPILOG, help=elsewhere("publish"))
def legal_publish(target: Annotated[str, typer.Argument(help=elsewhere("publish_target"))]) -> None:
    """Publish the current index to a folder, for other machines."""
    from qiusuo.legal.places_terminal import run_publish  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_publish(target))


@legal.command("take", epilog=EPILOG, help=elsewhere("take"))
def legal_take(source: Annotated[str, typer.Argument(help=elsewhere("take_source"))]) -> None:
    """Take an index that was published elsewhere."""
    from qiusuo.legal.places_terminal import run_take  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_take(source))


@legal.command("stats", epilog=EPILOG, help=own("stats"))
def legal_stats(
    files: Annotated[bool, typer.Option("--files", help=own("stats_files"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Show what the index holds."""
    from qiusuo.legal.terminal import run_stats  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_stats(files=files, as_json=as_json))


@legal.command("search", epilog=EPILOG, help=own("search"))
def legal_search(
    query: Annotated[list[str], typer.Argument(help=own("search_query"))],
    cases: Annotated[bool, typer.Option("--cases", help=own("search_cases"))] = False,
    as_of: Annotated[str, typer.Option("--as-of", help=own("search_as_of"))] = "",
    case_type: Annotated[str, typer.Option("--type", help=own("search_case_type"))] = "",
    court: Annotated[str, typer.Option("--court", help=own("search_court"))] = "",
    date_from: Annotated[str, typer.Option("--from", help=own("search_date_from"))] = "",
    date_to: Annotated[str, typer.Option("--to", help=own("search_date_to"))] = "",
    limit: Annotated[int, typer.Option("--count", "-n", min=1, max=50, help=about("search_count"))] = 5,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Search the index, offline."""
    from qiusuo.legal.terminal import run_search  # noqa: PLC0415 - loaded when used

    words = " ".join(query)
    filters = (case_type, court, date_from, date_to)
    raise typer.Exit(run_search(words, cases=cases, as_of=as_of, filters=filters, limit=limit, as_json=as_json))


@legal.command("show", epilog=EPILOG, help=own("show"))
def legal_show(
    reference: Annotated[list[str], typer.Argument(help=own("show_reference"))],
    as_of: Annotated[str, typer.Option("--as-of", help=own("search_as_of"))] = "",
    diff: Annotated[bool, typer.Option("--diff", help=about("help", "legal_diff"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Show one article, law or judgment in full."""
    from qiusuo.legal.terminal import run_diff, run_show  # noqa: PLC0415 - loaded when used

    if diff:
        raise typer.Exit(run_diff(" ".join(reference), as_of=as_of, as_json=as_json))
    raise typer.Exit(run_show(" ".join(reference), as_of=as_of, as_json=as_json))
