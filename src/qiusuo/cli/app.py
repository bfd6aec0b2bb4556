"""The commands and their options. What they do is in modules of their own, loaded when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from qiusuo.cli.database.data_commands import add_data_commands
from qiusuo.cli.database.people_commands import add_people_commands
from qiusuo.cli.help import about
from qiusuo.cli.mistakes import CommandLine
from qiusuo.cli.plugged_in import add_plugin_commands
from qiusuo.models import Freshness, SearchType

EPILOG = about("exit_codes")

app = CommandLine(
    name="qiusuo",
    help=about("qiusuo"),
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from qiusuo import __version__  # noqa: PLC0415 - loaded when used

        typer.echo(f"qiusuo {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[  # noqa: ARG001 - the callback does it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help=about("version"))
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help=about("verbose"))] = False,
) -> None:
    """Options of every command."""
    from qiusuo.cli.words import words_for_terminal  # noqa: PLC0415 - loaded when used
    from qiusuo.logs import start_logging  # noqa: PLC0415 - loaded when used

    start_logging(verbose=verbose, language=words_for_terminal().language)


@app.command(epilog=EPILOG, help=about("search"))
def search(
    query: Annotated[list[str], typer.Argument(help=about("search_query"), show_default=False)],
    search_type: Annotated[SearchType, typer.Option("--type", "-t", help=about("search_type"))] = SearchType.GENERAL,
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help=about("search_engine"), show_default=False)
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=50, help=about("search_count"), show_default="10")
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", "-l", help=about("search_lang"), show_default="auto"),
    ] = None,
    region: Annotated[str | None, typer.Option("--region", help=about("search_region"), show_default=False)] = None,
    freshness: Annotated[
        Freshness | None, typer.Option("--freshness", "-f", help=about("search_freshness"), show_default=False)
    ] = None,
    site: Annotated[list[str] | None, typer.Option("--site", help=about("search_site"), show_default=False)] = None,
    exclude_site: Annotated[
        list[str] | None,
        typer.Option("--exclude-site", help=about("search_exclude_site"), show_default=False),
    ] = None,
    merge: Annotated[bool, typer.Option("--merge", "-m", help=about("search_merge"))] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help=about("search_timeout"), show_default="5")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
    explain: Annotated[bool, typer.Option("--explain", "-x", help=about("search_explain"))] = False,
) -> None:
    """Search the web."""
    from qiusuo.cli.search import run_search  # noqa: PLC0415 - loaded when used

    raise typer.Exit(
        run_search(
            " ".join(query),
            {
                "type": search_type,
                "engine": engine,
                "num_results": count,
                "language": lang,
                "region": region,
                "freshness": freshness,
                "include_domains": site or (),
                "exclude_domains": exclude_site or (),
                "merge": merge,
                "timeout": timeout,
            },
            as_json=as_json,
            explain=explain,
        )
    )


@app.command(epilog=about("exit_codes_chat"), help=about("chat"))
def chat(
    question: Annotated[
        list[str] | None,
        typer.Argument(help=about("chat_question"), show_default="a conversation"),
    ] = None,
    mode: Annotated[
        Literal["chat", "agent"] | None,
        typer.Option("--mode", help=about("chat_mode"), show_default="chat"),
    ] = None,
    search: Annotated[
        bool | None,
        typer.Option("--search/--no-search", help=about("chat_search"), show_default="off; on without a model"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help=about("chat_model"), show_default="QIUSUO_MODEL"),
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help=about("chat_engine"), show_default="auto")
    ] = None,
    depth: Annotated[
        Literal["snippets", "auto", "read"] | None,
        typer.Option("--depth", help=about("chat_depth"), show_default="QIUSUO_DEPTH"),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", help=about("chat_session"), show_default=False),
    ] = None,
    no_save: Annotated[bool, typer.Option("--no-save", help=about("chat_no_save"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=about("chat_json"))] = False,
    research: Annotated[bool, typer.Option("--research", help=about("chat_research"))] = False,
    export: Annotated[
        Literal["md", "html", "json"] | None,
        typer.Option("--export", help=about("chat_export"), show_default=False),
    ] = None,
    bring: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help=about("chat_import"), show_default=False)
    ] = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", help=about("chat_file"), metavar="PATH", show_default=False)
    ] = None,
    focus: Annotated[
        str | None, typer.Option("--focus", help=about("chat_focus"), metavar="NAME", show_default=False)
    ] = None,
    language: Annotated[
        Literal["zh", "zh-Hant", "en"] | None,
        typer.Option("--language", "-l", help=about("chat_language"), show_default="the question's"),
    ] = None,
) -> None:
    """Talk with a model that searches; in a pipe, answer once."""
    from qiusuo.cli.chat.command import ChatOptions, run_chat  # noqa: PLC0415 - loaded when used

    options = ChatOptions(
        " ".join(question or ()),
        mode,
        search,
        model,
        engine,
        session,
        not no_save,
        as_json,
        language,
        depth,
        research=research,
        export=export,
        bring=bring,
        files=files or (),
        focus=focus,
    )
    raise typer.Exit(run_chat(options))


@app.command(epilog=EPILOG, help=about("engines"))
def engines(
    short: Annotated[bool, typer.Option("--short", help=about("engines_short"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Show every engine: ready, resting, missing its key, quota left."""
    from qiusuo.cli.engines import run_engines  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_engines(short=short, as_json=as_json))


@app.command(epilog=EPILOG, help=about("usage"))
def usage(
    days: Annotated[int, typer.Option("--days", "-d", min=1, max=3660, help=about("usage_days"))] = 7,
    user: Annotated[str | None, typer.Option("--user", "-u", help=about("usage_user"), show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
) -> None:
    """Show what was searched and answered."""
    from qiusuo.cli.database.usage import run_usage  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_usage(days=days, user=user, as_json=as_json))


@app.command(epilog=EPILOG, help=about("mcp"))
def mcp() -> None:
    """Serve the tools to one MCP client over standard input and output."""
    from qiusuo.cli.mcp import run_mcp  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_mcp())


@app.command(epilog=EPILOG, help=about("serve"))
def serve(
    host: Annotated[str | None, typer.Option("--host", help=about("serve_host"), show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help=about("serve_port"), show_default="8000"),
    ] = None,
    allow_open: Annotated[
        bool,
        typer.Option("--allow-open", help=about("serve_allow_open")),
    ] = False,
    workers: Annotated[
        str | None, typer.Option("--workers", metavar="N|auto", help=about("serve_workers"), show_default="1")
    ] = None,
    uds: Annotated[
        str | None, typer.Option("--uds", metavar="PATH", help=about("serve_uds"), show_default=False)
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help=about("serve_tls_cert"), show_default=False)
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", metavar="FILE", help=about("serve_tls_key"), show_default=False)
    ] = None,
    root_path: Annotated[
        str | None, typer.Option("--root-path", metavar="PATH", help=about("serve_root_path"), show_default=False)
    ] = None,
    fd: Annotated[
        int | None, typer.Option("--fd", min=0, metavar="N", help=about("serve_fd"), show_default=False)
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help=about("serve_access_log"))] = False,
) -> None:
    """Serve the HTTP API."""
    from qiusuo.cli.serving.command import run_serve  # noqa: PLC0415 - loaded when used

    texts = {"workers": workers, "uds": uds, "tls_cert": tls_cert, "tls_key": tls_key, "root_path": root_path}
    raise typer.Exit(run_serve(host=host, port=port, allow_open=allow_open, access_log=access_log, fd=fd, **texts))


@app.command(epilog=about("exit_codes_token"), help=about("token"))
def token() -> None:
    """Make a token for QIUSUO_TOKENS."""
    import secrets  # noqa: PLC0415 - loaded when used

    typer.echo(secrets.token_urlsafe(24))


@app.command(epilog=about("exit_codes_doctor"), help=about("doctor"))
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help=about("json"))] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help=about("doctor_fix")),
    ] = False,
    settings_file: Annotated[
        Path | None,
        typer.Option("--settings-file", help=about("doctor_settings_file"), show_default=False),
    ] = None,
) -> None:
    """Find what is wrong with the set-up, why, and the command that repairs it."""
    from qiusuo.cli.doctor import run_doctor  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_doctor(as_json=as_json, fix=fix, settings_file=settings_file))


add_people_commands(app)
add_data_commands(app)

searxng = CommandLine(help=about("group_searxng"), no_args_is_help=True)
app.add_typer(searxng, name="searxng")
SEARXNG_EPILOG = about("exit_codes_searxng")
KitDir = Annotated[
    Path | None,
    typer.Argument(metavar="[DIR]", help=about("kit_folder"), show_default="data folder of the user"),
]


@searxng.command("init", epilog=SEARXNG_EPILOG, help=about("searxng_init"))
def searxng_init(
    folder: KitDir = None,
    force: Annotated[bool, typer.Option("--force", help=about("searxng_init_force"))] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help=about("searxng_init_port"), show_default="8080")
    ] = None,
    limiter: Annotated[bool, typer.Option("--limiter", help=about("searxng_init_limiter"))] = False,
) -> None:
    """Write docker-compose.yml and settings.yml, with the JSON API on."""
    from qiusuo.cli.searxng import run_init  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_init(folder, force=force, port=port, limiter=limiter))


@searxng.command("up", epilog=SEARXNG_EPILOG, help=about("searxng_up"))
def searxng_up(
    folder: KitDir = None,
    no_docker: Annotated[bool, typer.Option("--no-docker", help=about("searxng_up_no_docker"))] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help=about("searxng_up_yes"))] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help=about("searxng_up_port"), show_default="as in settings.yml"),
    ] = None,
) -> None:
    """Start SearXNG."""
    from qiusuo.cli.searxng import run_up  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_up(folder, no_docker=no_docker, yes=yes, port=port))


@searxng.command("down", epilog=SEARXNG_EPILOG, help=about("searxng_down"))
def searxng_down(folder: KitDir = None) -> None:
    """Stop SearXNG and remove its container."""
    from qiusuo.cli.searxng import run_down  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_down(folder))


@searxng.command("restart", epilog=SEARXNG_EPILOG, help=about("searxng_restart"))
def searxng_restart(folder: KitDir = None) -> None:
    """Restart SearXNG, so that it reads its settings again."""
    from qiusuo.cli.searxng import run_restart  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_restart(folder))


@searxng.command("logs", epilog=SEARXNG_EPILOG, help=about("searxng_logs"))
def searxng_logs(
    folder: KitDir = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help=about("searxng_logs_follow"))] = False,
) -> None:
    """Show what SearXNG has logged."""
    from qiusuo.cli.searxng import run_logs  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_logs(folder, follow=follow))


google = CommandLine(help=about("group_google"), no_args_is_help=True)
app.add_typer(google, name="google")


@google.callback()
def google_group() -> None:
    """Google through your own Chrome."""


@google.command(epilog=EPILOG, help=about("solve"))
def solve(
    query: Annotated[str, typer.Option("--query", "-q", help=about("solve_query"))] = "qiusuo",
    engine: Annotated[str, typer.Option("--engine", "-e", help=about("solve_engine"))] = "google",
) -> None:
    """Answer a CAPTCHA or consent page yourself, in a visible browser."""
    from qiusuo.cli.google import run_solve  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_solve(query, engine))


add_plugin_commands(app)
