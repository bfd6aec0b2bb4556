"""The commands and their options. What they do is in modules of their own, loaded when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from qiusuo import plugins
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


CHAT_EPILOG = (
    "Exit codes: 0 answered, 2 wrong usage, 3 not set up, 4 the model failed, 5 over the rate limit, 130 stopped."
)


@app.command(epilog=CHAT_EPILOG)
def chat(
    question: Annotated[
        list[str] | None,
        typer.Argument(help="Ask this and leave. 只问这一个问题。", show_default="a conversation"),
    ] = None,
    mode: Annotated[
        Literal["chat", "agent"] | None,
        typer.Option("--mode", help="Who decides to search: your switch, or the AI. 模式。", show_default="chat"),
    ] = None,
    search: Annotated[
        bool | None,
        typer.Option("--search/--no-search", help="The search switch. 联网搜索开关。", show_default="off"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="provider:name. 使用的模型。", show_default="QIUSUO_MODEL"),
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", "-e", help="Search with this engine. 指定引擎。", show_default="auto")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", help="Go on with this conversation. 继续会话。", show_default=False),
    ] = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep nothing. 不保存会话。")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print events as JSON lines. 逐行输出 JSON 事件。")] = False,
    language: Annotated[
        Literal["zh", "en"] | None,
        typer.Option("--language", "-l", help="Language of the answer. 回答语言。", show_default="the question's"),
    ] = None,
) -> None:
    """Talk with a model that searches; in a pipe, answer once. 终端聊天；在管道中回答一次。"""
    from qiusuo.cli.chat.command import ChatOptions, run_chat  # noqa: PLC0415 - loaded when used

    options = ChatOptions(
        " ".join(question or ()), mode, search, model, engine, session, not no_save, as_json, language
    )
    raise typer.Exit(run_chat(options))


@app.command(epilog=EPILOG)
def engines(as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False) -> None:
    """Show every engine: ready, resting, missing its key, quota left. 查看各搜索引擎的状态。"""
    from qiusuo.cli.engines import run_engines  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_engines(as_json=as_json))


@app.command(epilog=EPILOG)
def mcp() -> None:
    """Serve the tools to one MCP client over standard input and output. 以 MCP（stdio）方式提供工具。"""
    from qiusuo.cli.mcp import run_mcp  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_mcp())


@app.command(epilog=EPILOG)
def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on. 监听地址。", show_default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help="Port; 0 takes a free one. 端口。", show_default="8000"),
    ] = None,
    allow_open: Annotated[
        bool,
        typer.Option("--allow-open", help="Listen beyond this machine without tokens. 允许不设令牌对外监听。"),
    ] = False,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log every request. 记录每个请求。")] = False,
) -> None:
    """Serve the HTTP API. 启动 HTTP 服务。"""
    from qiusuo.cli.serve import run_serve  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_serve(host=host, port=port, allow_open=allow_open, access_log=access_log))


@app.command(epilog="Exit codes: 0 done, 2 wrong usage.")
def token() -> None:
    """Make a token for QIUSUO_TOKENS. 生成一个可用于 QIUSUO_TOKENS 的令牌。"""
    import secrets  # noqa: PLC0415 - loaded when used

    typer.echo(secrets.token_urlsafe(24))


@app.command(epilog="Exit codes: 0 all is well, 1 it works, with warnings, 2 wrong usage, 3 something does not work.")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. 输出 JSON。")] = False,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Make the safe repairs in SearXNG's settings.yml, with a backup. 自动修复（留备份）。"
        ),
    ] = False,
    settings_file: Annotated[
        Path | None,
        typer.Option("--settings-file", help="SearXNG's settings.yml. SearXNG 的设置文件。", show_default=False),
    ] = None,
) -> None:
    """Find what is wrong with the set-up, why, and the command that repairs it. 诊断配置，指出原因和修复命令。"""
    from qiusuo.cli.doctor import run_doctor  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_doctor(as_json=as_json, fix=fix, settings_file=settings_file))


searxng = typer.Typer(help="A SearXNG of your own. 自建 SearXNG。", no_args_is_help=True)
app.add_typer(searxng, name="searxng")
SEARXNG_EPILOG = "Exit codes: 0 done, 2 wrong usage, 3 not set up (files, Docker), 4 SearXNG or compose failed."
KitDir = Annotated[
    Path | None,
    typer.Argument(metavar="[DIR]", help="Folder of the files. 文件所在目录。", show_default="data folder of the user"),
]


@searxng.command("init", epilog=SEARXNG_EPILOG)
def searxng_init(
    folder: KitDir = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files. 覆盖已有文件。")] = False,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port on this machine. 本机端口。")] = 8080,
    limiter: Annotated[
        bool, typer.Option("--limiter", help="Limit strangers; needs Valkey, which is added. 开启限流（公开实例）。")
    ] = False,
) -> None:
    """Write docker-compose.yml and settings.yml, with the JSON API on. 生成部署模板（已开启 JSON 接口）。"""
    from qiusuo.cli.searxng import run_init  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_init(folder, force=force, port=port, limiter=limiter))


@searxng.command("up", epilog=SEARXNG_EPILOG)
def searxng_up(
    folder: KitDir = None,
    no_docker: Annotated[
        bool, typer.Option("--no-docker", help="Run SearXNG as a child process, until Ctrl-C. 不使用 Docker 运行。")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Install without asking. 不询问直接安装。")] = False,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=1, max=65535, help="Port, without Docker. 端口。", show_default="as in settings.yml"
        ),
    ] = None,
) -> None:
    """Start SearXNG. 启动 SearXNG。"""
    from qiusuo.cli.searxng import run_compose_action, run_without_docker  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_without_docker(folder, yes=yes, port=port) if no_docker else run_compose_action("up", folder))


@searxng.command("down", epilog=SEARXNG_EPILOG)
def searxng_down(folder: KitDir = None) -> None:
    """Stop SearXNG and remove its container. 停止 SearXNG。"""
    from qiusuo.cli.searxng import run_compose_action  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_compose_action("down", folder))


@searxng.command("restart", epilog=SEARXNG_EPILOG)
def searxng_restart(folder: KitDir = None) -> None:
    """Restart SearXNG, so that it reads its settings again. 重启 SearXNG，使设置生效。"""
    from qiusuo.cli.searxng import run_compose_action  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_compose_action("restart", folder))


@searxng.command("logs", epilog=SEARXNG_EPILOG)
def searxng_logs(
    folder: KitDir = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on showing new lines. 持续输出。")] = False,
) -> None:
    """Show what SearXNG has logged. 查看 SearXNG 的日志。"""
    from qiusuo.cli.searxng import run_compose_action  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_compose_action("logs", folder, follow=follow))


google = typer.Typer(help="Google through your own Chrome. 通过本机 Chrome 使用谷歌。", no_args_is_help=True)
app.add_typer(google, name="google")


@google.callback()
def google_group() -> None:
    """Google through your own Chrome. 通过本机 Chrome 使用谷歌。"""


@google.command(epilog=EPILOG)
def solve(
    query: Annotated[str, typer.Option("--query", "-q", help="What to search for there. 搜索内容。")] = "qiusuo",
    engine: Annotated[str, typer.Option("--engine", "-e", help="google, bing_web or baidu. 网站。")] = "google",
) -> None:
    """Answer a CAPTCHA or consent page yourself, in a visible browser. 在可见的浏览器中手动完成验证。"""
    from qiusuo.cli.google import run_solve  # noqa: PLC0415 - loaded when used

    raise typer.Exit(run_solve(query, engine))


def add_plugin_commands(to: typer.Typer) -> None:
    """Add what plug-ins bring: groups of commands, and commands. None of them can take the place of ours."""
    taken = {one.name or getattr(one.callback, "__name__", "") for one in to.registered_commands}
    taken.update(str(group.name) for group in to.registered_groups)
    added = [(plugin, name, part) for plugin in plugins.installed() for name, part in plugin.commands.items()]
    for plugin, name, part in added:
        command = plugins.load(plugin, part) if name not in taken else None
        taken.add(name)
        if isinstance(command, typer.Typer):
            to.add_typer(command, name=name)
        elif command is not None:
            to.command(name)(command)


add_plugin_commands(app)
