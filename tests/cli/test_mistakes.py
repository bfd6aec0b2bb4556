"""Commands that cannot be run as they were typed, in both languages."""

from __future__ import annotations

import shlex
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.cli.exits import Exit
from qiusuo.cli.mistakes import CommandLine

MISTAKES = [
    ("nosuch", "没有 nosuch 这个命令。", "There is no command nosuch."),
    ("legal nosuch", "没有 nosuch 这个命令。", "There is no command nosuch."),
    ("tokens ad", "是不是 add？", "Did you mean add?"),
    ("search x --bogus", "没有 --bogus 这个选项。", "There is no option --bogus."),
    ("--bogus", "没有 --bogus 这个选项。", "There is no option --bogus."),
    ("search x --typ news", "是不是 --type？", "Did you mean --type?"),
    ("search", "缺少 query。", "query is missing."),
    ("search x -n", "-n 后面缺少值。", "-n wants a value behind it."),
    ("engines --json=yes", "--json 不带值。", "--json takes no value."),
    ("search x -n many", "--count / -n 应当是整数，不能是“many”。", "--count / -n wants a whole number, not “many”."),
    ("search x --timeout soon", "--timeout 应当是数字", "--timeout wants a number, not “soon”."),
    ("audit --since soon", "--since 应当是日期", "--since wants a day, such as 2026-01-31."),
    ("search x -n 0", "--count / -n 不能小于 1。", "--count / -n can be no less than 1."),
    ("serve --port 70000", "--port / -p 不能大于 65535。", "--port / -p can be no more than 65535."),
    ("search x -t all", "--type / -t 只能是 general、news、", "--type / -t can only be general, news, "),
    ("chat --mode both", "--mode 只能是 chat、agent。", "--mode can only be chat, agent."),
    ("doctor now please", "这个命令用不到 now、please。", "This command has no use for now, please."),
]


def run(line: str, language: str, commands: typer.Typer = app) -> tuple[int, str]:
    done = CliRunner().invoke(commands, shlex.split(line), prog_name="qiusuo", env={"QIUSUO_LANG": language})
    return done.exit_code, done.output


@pytest.mark.parametrize(("line", "chinese", "english"), MISTAKES)
def test_a_mistake_is_told_in_the_language_of_the_terminal(line: str, chinese: str, english: str) -> None:
    for language, words, usage in (("zh", chinese, "用法：qiusuo"), ("en", english, "Usage: qiusuo")):
        code, told = run(line, language)
        assert (code, words in told, told.startswith(usage)) == (Exit.USAGE, True, True), told
        assert "Traceback" not in told


@pytest.mark.parametrize("line", [line for line, *_ in MISTAKES])
def test_the_command_that_is_named_shows_the_help(line: str) -> None:
    _, told = run(line, "en")
    (advised,) = (row.partition("$ ")[2] for row in told.splitlines() if "$ " in row)
    program, *rest = shlex.split(advised)
    assert program.endswith("qiusuo")
    assert run(shlex.join(rest), "en")[0] == Exit.OK


@pytest.mark.parametrize("line", ["", "legal", "tokens"])
def test_who_asks_for_nothing_is_shown_the_help(line: str) -> None:
    code, told = run(line, "zh")
    assert (code, "Commands" in told) == (Exit.USAGE, True)


def test_commands_of_a_plug_in_say_what_they_like() -> None:
    commands = CommandLine()

    @commands.command()
    def tea(name: Annotated[str, typer.Argument()]) -> None:
        """Brew."""
        raise typer.BadParameter("longjing, puer", param_hint=name)

    @commands.command()
    def spoon(context: typer.Context) -> None:
        """Stir."""
        context.fail("Not today.")

    assert "coffee 的值不能用：longjing, puer" in run("tea coffee", "zh", commands)[1]
    assert "命令有误：Not today." in run("spoon", "zh", commands)[1]
