"""``qiusuo legal …``: the commands and their options. What they do is in ``terminal.py``, loaded when one runs."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = (
    "Exit codes: 0 results, 1 nothing found, 2 wrong usage, 3 not set up, 4 every engine failed, 5 over the rate limit."
)
legal = typer.Typer(help="Chinese law on this machine. 本地法律检索。", no_args_is_help=True)


@legal.callback()
def legal_group() -> None:
    """Chinese law on this machine. 本地法律检索。"""


@legal.command("install", epilog=EPILOG)
def legal_install(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. 不再询问。")] = False,
    semantic: Annotated[bool, typer.Option("--semantic", help="Also build vectors. 同时建立语义向量。")] = False,
) -> None:
    """Bring the default statutes and build the index. 安装默认法律库并建立索引。"""
    from qiusuo.legal.terminal import run_install  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_install(yes=yes, semantic=semantic))


@legal.command("import", epilog=EPILOG)
def legal_import(
    paths: Annotated[
        list[str],
        typer.Argument(help="Markdown folders, judgments (.csv), JSON lines, statutes (.db). 文件或文件夹。"),
    ],
    semantic: Annotated[bool, typer.Option("--semantic", help="Also build vectors. 同时建立语义向量。")] = False,
) -> None:
    """Add laws and judgments to the index; an interrupted import goes on. 导入法律或裁判文书，可断点续传。"""
    from qiusuo.legal.terminal import run_import  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_import(paths, semantic=semantic))


@legal.command("rebuild", epilog=EPILOG)
def legal_rebuild(
    semantic: Annotated[bool, typer.Option("--semantic", help="Also build vectors. 同时建立语义向量。")] = False,
) -> None:
    """Build the ranking anew, for instance after an update of Qiusuo. 重建索引。"""
    from qiusuo.legal.terminal import run_rebuild  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_rebuild(semantic=semantic))


@legal.command("stats", epilog=EPILOG)
def legal_stats(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False,
) -> None:
    """Show what the index holds. 查看索引内容。"""
    from qiusuo.legal.terminal import run_stats  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_stats(as_json=as_json))


@legal.command("search", epilog=EPILOG)
def legal_search(
    query: Annotated[list[str], typer.Argument(help="A law, an article, a question. 法律名称、条款号或问题。")],
    cases: Annotated[bool, typer.Option("--cases", help="Search judgments instead. 检索裁判文书。")] = False,
    as_of: Annotated[str, typer.Option("--as-of", help="Law as of this day. 按该日有效的法律。")] = "",
    case_type: Annotated[str, typer.Option("--type", help="民事, 刑事, 行政, 执行, 国家赔偿。")] = "",
    court: Annotated[str, typer.Option("--court", help="Court or place. 法院或地名。")] = "",
    date_from: Annotated[str, typer.Option("--from", help="Judgments not before. 裁判日期起。")] = "",
    date_to: Annotated[str, typer.Option("--to", help="Judgments not after. 裁判日期止。")] = "",
    limit: Annotated[int, typer.Option("--count", "-n", min=1, max=50, help="How many results. 结果数量。")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False,
) -> None:
    """Search the index, offline. 离线检索法律条文或裁判文书。"""
    from qiusuo.legal.terminal import run_search  # noqa: PLC0415 - loaded when used

    words = " ".join(query)
    filters = (case_type, court, date_from, date_to)
    raise typer.Exit(run_search(words, cases=cases, as_of=as_of, filters=filters, limit=limit, as_json=as_json))


@legal.command("show", epilog=EPILOG)
def legal_show(
    reference: Annotated[list[str], typer.Argument(help="Article, law, 案号 or id. 条款、法律、案号或编号。")],
    as_of: Annotated[str, typer.Option("--as-of", help="Law as of this day. 按该日有效的法律。")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False,
) -> None:
    """Show one article, law or judgment in full. 显示条文、法律或裁判文书全文。"""
    from qiusuo.legal.terminal import run_show  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_show(" ".join(reference), as_of=as_of, as_json=as_json))
