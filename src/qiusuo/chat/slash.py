"""The slash commands, one table for the terminal and the page; what they do is known there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qiusuo.chat.depth import Depth
from qiusuo.chat.focus import ANY, FRESH


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: how it is called, and the words that its argument may be. ``page``: the page has it too."""

    name: str
    argument: str = ""
    choices: tuple[str, ...] = ()
    page: bool = False

    @property
    def usage(self) -> str:
        """How it is called."""
        return f"/{self.name} {self.argument}".strip()


COMMANDS: Final[Mapping[str, Command]] = {
    command.name: command
    for command in (
        Command("search", "[on|off]", ("on", "off"), page=True),
        Command("mode", "[chat|agent]", ("chat", "agent"), page=True),
        Command("research", "QUESTION", page=True),
        Command("continue"),
        Command("sources"),
        Command("file", "[PATH]"),
        Command("model", "[NAME]", page=True),
        Command("engine", "[NAME|auto]"),
        Command("depth", "[snippets|auto|read]", tuple(Depth), page=True),
        Command("focus", "[NAME]", page=True),
        Command("site", "[DOMAIN …|all]", page=True),
        Command("fresh", "[day|week|month|year|any]", (*FRESH, ANY), page=True),
        Command("new", page=True),
        Command("sessions"),
        Command("open", "ID"),
        Command("history"),
        Command("receipt"),
        Command("help", page=True),
        Command("exit"),
    )
}
