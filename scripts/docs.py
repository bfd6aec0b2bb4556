"""Write the reference pages out of the code, or check that they are up to date.

python scripts/docs.py            writes docs/engines.md, docs/cli.md, docs/configuration.md
python scripts/docs.py --check    writes nothing; exit code 1 and the names of the stale files if there are any
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final, get_args

import typer.main
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from qiusuo.cli.app import app
from qiusuo.config import DEFAULT_SEARXNG_URL, EngineSettings, Settings, variable_name
from qiusuo.config.model import OtherModel
from qiusuo.engines import discover_engines
from qiusuo.engines.base import Joins, SearchEngine, Storing

ROOT: Final = Path(__file__).resolve().parents[1]
NOTICE: Final = "<!-- Written by scripts/docs.py out of the code: `make docs`. Changes made here are lost. -->"

JOINS: Final = {
    Joins.CONFIGURED: "its key is set 设置密钥后",
    Joins.DETECTED: f"its address is set, or one answers at `{DEFAULT_SEARXNG_URL}` 设置地址后，或在该地址检测到时",
    Joins.LAST_RESORT: "nothing else is set up 没有其他可用引擎时",
    Joins.NAMED: "never; only when named 仅在指定名称时",
}
STORING: Final = {
    Storing.SHARED: "any cache 任意缓存",
    Storing.MEMORY: "memory of this process only 仅本进程内存",
    Storing.NEVER: "never 不缓存",
}

# Read in other places than the settings; a test looks for them in the code.
OTHER_VARIABLES: Final[Mapping[str, str]] = {
    "QIUSUO_CONFIG": "The configuration file to use.",
    "QIUSUO_LANG": "Language of the command line: `zh`, `zh-Hant` or `en`. Unset: the terminal's own.",
    "QIUSUO_COMMAND": "How advice writes `qiusuo` where it is run in another way: `docker compose exec qiusuo qiusuo`.",
    "QIUSUO_CHROME": "The browser's program for `google`, `bing_web` and `baidu`. Unset: one is looked for.",
    "QIUSUO_CHROME_PAGES": "Pages that the browser may have open at once (3); further searches wait for one.",
    "QIUSUO_CHROME_SANDBOX": "`off` starts the browser without its sandbox, for containers that do not allow one.",
    "DDGS_PROXY": "Proxy for DuckDuckGo alone; `tb` is the Tor Browser's.",
    "HTTPS_PROXY": "Proxy for the other providers, and likewise `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`. Never used for "
    "this machine itself.",
}

ENGINES_HEAD: Final = f"""\
# Engines 搜索引擎

{NOTICE}

In the order in which they are tried; `SEARCH_PROVIDER_PRIORITY` sets another one. `qiusuo engines` shows how each one
stands right now. 按默认尝试顺序排列；可用 `SEARCH_PROVIDER_PRIORITY` 更改。`qiusuo engines` 显示各引擎当前状态。
"""

ENGINES_NOTES: Final = """\
- Of several variables the first one that is set wins. 列出多个变量时，取排在最前且已设置的一个。
- What an engine cannot honour is named in the receipt, never dropped in silence. 不支持的选项会写入回执。
- A query over the limit is shortened, and the receipt says so. 过长的查询会被截短，并在回执中说明。
- `store_results` under `[engines.NAME]` changes where results may be kept. 可用 `store_results` 修改结果的存放位置。
- `bing` is Microsoft Web IQ; the Bing Search API v7 was retired on 2025-08-11. With a SerpApi key alone it asks Bing
  through SerpApi, and then only when named. `bing` 指 Microsoft Web IQ，旧版 v7 接口已停用；若只有 SerpApi 密钥，则经由
  SerpApi 查询必应，且仅在指定名称时使用。
"""

CONFIGURATION: Final = f"""\
# Configuration 配置

{NOTICE}

Arguments in code win over environment variables, these over the configuration file, the file over defaults.
优先级：代码参数 > 环境变量 > 配置文件 > 默认值。

The file is TOML, JSON or YAML: the one that `QIUSUO_CONFIG` names, else `config.toml` (`.json`, `.yaml`, `.yml`) in
`~/.config/qiusuo` (`$$XDG_CONFIG_HOME/qiusuo`; on Windows `%APPDATA%\\qiusuo`). Lists are lists in the file and comma
lists in the environment. 列表在文件中写成数组，在环境变量中用逗号分隔。

Who runs the server can change them in the page, and the file is written for them ([settings.md](settings.md)).
运行服务器的人可以在页面上修改，文件会自动写好（[settings.zh-CN.md](settings.zh-CN.md)）。

```toml
timeout = 4
cache_ttl_news = 600

[engines.tavily]
api_key = "tvly-…"
monthly_quota = 1000

[engines.searxng]
base_url = "http://localhost:8080"
```

## Search 搜索

A value that is not valid is replaced by the default, and a log line names it. 无效值会改用默认值，并记录日志。
Each can also be written with `QIUSUO_` and the file key in capitals (`QIUSUO_TIMEOUT`); the name in the table wins.
也可以写成 `QIUSUO_` 加大写的文件键（如 `QIUSUO_TIMEOUT`）；两者都有时，以表中的名称为准。

$search

## Everything else 其他设置

A value that is not valid is an error that says where it stands. 无效值会报错，并指明位置。

$others

## Keys and addresses 密钥与地址

$keys

## One engine 单个引擎：`[engines.NAME]`

`NAME` is the engine's, for instance `QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA=1000`. `NAME` 为引擎名。

$engine

Keys that one engine alone knows. 个别引擎专有的键：

$own

## Further models 更多模型：`[models.NAME]`

`NAME` is yours: letters, digits, `-`, `_` and `.`, at most 40 of them; in variables it is read in small letters:
`QIUSUO_MODELS__CHEAP__MODEL=deepseek:deepseek-chat`. [More about them](models.md).
`NAME` 自取；在环境变量中按小写读取。
[详见](models.zh-CN.md)。

$model

## Other variables 其他环境变量

$variables
"""


def engine_table(engines: Iterable[type[SearchEngine]] | None = None) -> str:
    """Return the page about the engines: those given, else all that are found, plug-ins too."""
    rows = [
        (
            f"`{kind.name}`",
            f"[{kind.label}]({kind.docs_url})",
            _names((*kind.key_env, *kind.url_env)),
            _joins(kind),
            "paid 付费" if kind.costs_money else "free 免费",
            str(kind.max_results),
            _query_limit(kind),
            ", ".join(sorted(feature.value for feature in kind.features)) or "—",
            STORING[kind.storing],
        )
        for kind in (discover_engines().values() if engines is None else engines)
    ]
    head = (
        "Name 名称",
        "Provider, keys 服务商与密钥申请",
        "Variables 环境变量",
        "Joins by itself when 何时自动参与",
        "Cost 费用",
        "Max. results 最多结果",
        "Query limit 查询长度",
        "Honours 支持的选项",
        "Results may be kept in 结果可存于",
    )
    return f"{ENGINES_HEAD}\n{_table(head, rows)}\n\n{ENGINES_NOTES}"


def _joins(kind: type[SearchEngine]) -> str:
    if kind.search_types is None or kind.joins is Joins.NAMED:
        return JOINS[kind.joins]
    when = JOINS[kind.joins] if kind.key_env or kind.url_env else "it is set up 已安装时"
    types = ", ".join(f"`{one.value}`" for one in sorted(kind.search_types))
    return f"{when}; in {types} searches alone 仅限该类型的搜索"


def cli_reference() -> str:
    """Return the page about the command line."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("qiusuo", [], resilient_parsing=True)
    parts = ["# Command line 命令行", NOTICE, group.help, _options(group, context, "qiusuo"), group.epilog]
    parts += _commands(group, context, "qiusuo")
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(group: Any, context: Any, path: str) -> list[str]:
    """Return the parts about the commands of a group, and of the groups in it."""
    parts: list[str] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        full = f"{path} {name}"
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        parts += [f"## {full}", inspect.cleandoc(command.help or ""), _options(command, inner, full)]
        if command.epilog != group.epilog:
            parts.append(command.epilog)
        if hasattr(command, "list_commands"):
            parts += _commands(command, inner, full)
    return parts


def configuration_reference(engines: Iterable[type[SearchEngine]] | None = None) -> str:
    """Return the page about variables and the configuration file."""
    kinds = list(discover_engines().values() if engines is None else engines)
    seeds = Settings.SEED_FIELDS
    others = [name for name in Settings.model_fields if name not in seeds and name not in {"engines", "models"}]
    head = ("Variable 变量", "File key 文件键", "Default 默认值", "Value 取值", "Meaning 含义")
    tables = {
        "search": _table(head, _rows(Settings, seeds)),
        "others": _table(head, _rows(Settings, others)),
        "keys": _table(
            ("Engine 引擎", "Key 密钥", "Address 地址"),
            (
                (f"`{kind.name}`", _names(kind.key_env), _names(kind.url_env))
                for kind in kinds
                if kind.key_env or kind.url_env
            ),
        ),
        "engine": _table(head, _rows(EngineSettings, EngineSettings.model_fields, ("engines", "NAME"))),
        "model": _table(head, _rows(OtherModel, OtherModel.model_fields, ("models", "NAME"))),
        "own": _table(
            ("Engine 引擎", "Key 键", "Meaning 含义"),
            (
                (f"`{engine.name}`", f"`{key}`", meaning)
                for engine in kinds
                for key, meaning in engine.own_settings.items()
            ),
        ),
        "variables": _table(
            ("Variable 变量", "Meaning 含义"), ((f"`{name}`", text) for name, text in OTHER_VARIABLES.items())
        ),
    }
    return Template(CONFIGURATION).substitute(tables)


def generated() -> dict[str, str]:
    """Return the text of every generated file by its path. Plug-ins of this machine are left out."""
    own = [kind for kind in discover_engines().values() if kind.__module__.startswith("qiusuo.")]
    return {
        "docs/engines.md": engine_table(own),
        "docs/cli.md": cli_reference(),
        "docs/configuration.md": configuration_reference(own),
    }


def stale_files(root: Path = ROOT) -> list[str]:
    """Return the generated files that are missing or not as the code would have them."""
    return [
        name
        for name, text in generated().items()
        if not (root / name).is_file() or (root / name).read_text("utf-8") != text
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only tell what is stale")
    if parser.parse_args(arguments).check:
        stale = stale_files()
        for name in stale:
            print(f"{name} is stale: run make docs")
        return 1 if stale else 0
    for name, text in generated().items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, "utf-8")
        print(name)
    return 0


def _options(command: Any, context: Any, name: str) -> str:
    usage = f"```text\n{' '.join((name, *command.collect_usage_pieces(context)))}\n```"
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [(f"`{record[0]}`", record[1]) for record in records if record]
    return f"{usage}\n\n{_table(('Option 选项', 'Meaning 含义'), rows)}"


def _rows(model: type[BaseModel], names: Iterable[str], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield a row for each field; the fields of a table inside follow with their whole path."""
    schema = model.model_json_schema(by_alias=False)["properties"]
    for name in names:
        field = model.model_fields[name]
        inner = next((one for one in (field.annotation, *get_args(field.annotation)) if _is_model(one)), None)
        if inner is not None:
            yield from _rows(inner, inner.model_fields, (*path, name))
            continue
        variable = f"QIUSUO_{'__'.join((*path, name)).upper()}" if path else variable_name(name)
        shown = (f"`{variable}`", f"`{'.'.join((*path, name))}`", _default(field.get_default()), _kind(schema[name]))
        yield (*shown, field.description or "")


def _is_model(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, BaseModel)


def _default(value: object) -> str:
    if value in (None, "", PydanticUndefined):
        return "—"
    if isinstance(value, tuple):
        return f"`{','.join(value)}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _kind(schema: Mapping[str, Any]) -> str:
    """Say what a value must be."""
    shape = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    if "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape["enum"])
    name = {
        "integer": "whole number",
        "boolean": "`true`, `false`",
        "array": "list",
        "string": "text",
        "object": "table",
    }
    bounds = [
        f"{word} {shape[key]}"
        for key, word in (("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"))
        if key in shape
    ]
    kind = shape.get("type", "object")
    return ", ".join((name.get(kind, kind), *bounds))


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "—"


def _query_limit(kind: type[SearchEngine]) -> str:
    limits = ((kind.max_query_chars, "characters 字符"), (kind.max_query_words, "words 词"))
    return ", ".join(f"{limit} {unit}" for limit, unit in limits if limit) or "—"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
