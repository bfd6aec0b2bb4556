"""A command that cannot be run as it was typed: what is wrong with it, in the terminal's language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from qiusuo.cli.exits import Exit, advice_lines
from qiusuo.cli.words import words_for_terminal
from qiusuo.words import Fact

F = TypeVar("F", bound=Callable[..., Any])

# What pydantic, by which typer reads values, calls a value that is none of its kind.
_WANTED: Final = {"int_parsing": "mistake.whole_number", "float_parsing": "mistake.number"}
_BOUNDS: Final = {"greater_than_equal": ("mistake.at_least", "ge"), "less_than_equal": ("mistake.at_most", "le")}


class Mistake(typer.TyperException):
    """Something is wrong that typer only has words for."""

    exit_code = Exit.USAGE

    def __init__(self, fact: Fact, ctx: Any) -> None:
        super().__init__(str(fact))
        self.fact = fact
        self.ctx = ctx


class Command(TyperCommand):
    """A command that names what it has no use for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options and arguments."""
        strict = not (ctx.allow_extra_args or ctx.resilient_parsing)
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except typer.TyperException as error:
            option = getattr(error, "option_name", None)
            if option is None or hasattr(error, "possibilities"):
                raise
            flag = any(option in param.opts and getattr(param, "is_flag", False) for param in self.params)
            code = "mistake.takes_no_value" if flag else "mistake.wants_value"
            raise Mistake(Fact(code, option=option), ctx) from None
        if rest and strict:
            raise Mistake(Fact("mistake.extra", given=rest), ctx)
        return rest


class Group(TyperGroup):
    """A group of commands that tells mistakes in our own words."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the group's own options."""
        with _told():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, whose options are read first."""
        with _told():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            if hasattr(error, "option_name"):
                raise
            name, near = args[0], get_close_matches(args[0], self.list_commands(ctx))
            fact = Fact("mistake.command_near", name=name, near=near) if near else Fact("mistake.command", name=name)
            raise Mistake(fact, ctx) from None


class CommandLine(typer.Typer):
    """Commands whose mistakes are told in our own words."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        """Add a command."""
        return super().command(name, cls=Command, **options)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except typer.TyperException as error:
        fact = _fact_of(error)
        if fact is None:
            raise
        _tell(fact, getattr(error, "ctx", None))
        raise typer.Exit(error.exit_code) from None


def _tell(fact: Fact, ctx: Any) -> None:
    words = words_for_terminal()
    if ctx is not None:
        typed = " ".join((ctx.command_path, *ctx.command.collect_usage_pieces(ctx)))
        typer.echo(words.tell(Fact("mistake.usage", command=typed)), err=True)
    typer.echo(words.tell(fact), err=True)
    command = ctx.command_path if ctx is not None else "qiusuo"
    for line in advice_lines(words.tell(Fact("mistake.help")), [f"{command} --help"]):
        typer.echo(f"  {line}", err=True)


def _fact_of(error: typer.TyperException) -> Fact | None:
    """Return what is wrong; typer's classes of mistakes are its own, so it is told by what they carry.

    None: it is no mistake of this kind, or help that was asked for by asking for nothing.
    """
    if isinstance(error, Mistake):
        return error.fact
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        return _unknown_option(error.option_name, error.possibilities or ())
    if isinstance(error, typer.BadParameter):
        return _value_fact(error)
    return Fact("mistake.other", words=error.message) if error.message and hasattr(error, "ctx") else None


def _unknown_option(option: str, near: Sequence[str]) -> Fact:
    if near:
        return Fact("mistake.option_near", option=option, near=sorted(near))
    return Fact("mistake.option", option=option)


def _value_fact(error: typer.BadParameter) -> Fact:
    param: Any = error.param
    options = param.opts if param is not None and param.param_type_name == "option" else ()
    name = " / ".join(options) or str(error.param_hint or (param.name if param is not None else ""))
    if not error.message:
        return Fact("mistake.missing", name=name)
    kind_of_value = getattr(param, "type_descriptor", None)
    if kind_of_value is not None and kind_of_value.is_datetime:
        return Fact("mistake.day", name=name)
    if kind_of_value is not None and kind_of_value.choices:
        choices = [str(getattr(one, "value", one)) for one in kind_of_value.choices]
        return Fact("mistake.one_of", name=name, choices=choices)
    found: list[Any] = getattr(error.__cause__, "errors", list)()
    kind, given = (found[0]["type"], str(found[0]["input"])) if found else ("", "")
    if kind in _WANTED:
        return Fact(_WANTED[kind], name=name, given=given)
    if kind in _BOUNDS:
        code, bound = _BOUNDS[kind]
        return Fact(code, name=name, bound=found[0]["ctx"][bound])
    return Fact("mistake.value", name=name, words=error.message)
