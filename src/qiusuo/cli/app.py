"""The commands and their options. What they do is in modules of their own, loaded when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from qiusuo.models import Freshness, SearchType

EPILOG = (
    "Exit codes: 0 results, 1 nothing found, 2 wrong usage, 3 not set up, 4 every engine failed, 5 over the rate limit."
)

app = typer.Typer(
    name="qiusuo",
    help="求索 Qiusuo — web search for LLM chat and agents. 面向大模型对话与智能体的联网搜索。",
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version. 显示版本。")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what happens to standard error. 输出日志。")
    ] = False,
) -> None:
    """Options of every command."""
    import logging  # noqa: PLC0415 - loaded when used

    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, format="%(levelname)s %(name)s: %(message)s")


@app.command(epilog=EPILOG)
def search(
    query: Annotated[list[str], typer.Argument(help="What to search for. 搜索内容。", show_default=False)],
    search_type: Annotated[
        SearchType, typer.Option("--type", "-t", help="Kind of pages. 搜索类型。")
    ] = SearchType.GENERAL,
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help="Ask this engine and no other. 指定引擎。", show_default=False)
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=50, help="How many results. 结果数量。", show_default="10")
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", "-l", help="Language of results: zh-CN, en, all. 结果语言。", show_default="auto"),
    ] = None,
    region: Annotated[
        str | None, typer.Option("--region", help="Two-letter country. 国家或地区代码。", show_default=False)
    ] = None,
    freshness: Annotated[
        Freshness | None, typer.Option("--freshness", "-f", help="How new. 时间范围。", show_default=False)
    ] = None,
    site: Annotated[
        list[str] | None, typer.Option("--site", help="Only this domain (repeatable). 限定站点。", show_default=False)
    ] = None,
    exclude_site: Annotated[
        list[str] | None,
        typer.Option("--exclude-site", help="Not this domain (repeatable). 排除站点。", show_default=False),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", "-m", help="Ask several engines and fuse their results. 多引擎合并。")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Seconds for the whole search. 总超时秒数。", show_default="5")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", "-x", help="Show the receipt: who was asked and why. 显示搜索回执。")
    ] = False,
) -> None:
    """Search the web. 联网搜索。"""
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


@app.command(epilog=EPILOG)
def engines(as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False) -> None:
    """Show every engine: ready, resting, missing its key, quota left. 查看各搜索引擎的状态。"""
    from qiusuo.cli.engines import run_engines  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_engines(as_json=as_json))
