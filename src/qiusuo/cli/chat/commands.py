"""The slash commands of the terminal chat. They change what the page changes, by the same rules."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from difflib import get_close_matches
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qiusuo.chat.depth import Depth
from qiusuo.chat.focus import focuses
from qiusuo.chat.live.conversations import LiveTurn
from qiusuo.chat.sessions.filing import Underway
from qiusuo.chat.sessions.session import Mode, SessionInfo, SwitchState
from qiusuo.chat.slash import COMMANDS
from qiusuo.cli.chat.lines import limits_line, safe, settings_line, support_of
from qiusuo.cli.chat.talk import Talk, find_session
from qiusuo.cli.chat.view import can_link, render
from qiusuo.cli.chat.words import ChatWords
from qiusuo.cli.exits import advice_lines
from qiusuo.cli.search import receipt_table, short_date
from qiusuo.files.models import ADDRESS
from qiusuo.models import Attempt
from qiusuo.roster import NATIVE
from qiusuo.text import visible

# "/etc/hosts …" is a question, "/sources" a command.
_COMMAND: Final = re.compile(r"/([A-Za-z]*|\?)(?:\s+(.*))?", re.DOTALL)


_ALIASES: Final = {"quit": "exit", "q": "exit", "?": "help", "h": "help"}


def is_command(text: str) -> bool:
    """Tell whether a line is a command and no question."""
    return _COMMAND.fullmatch(text.strip()) is not None


class Commands:
    """Runs slash commands on a conversation and says on the console what came of it."""

    def __init__(
        self, talk: Talk, console: Console, words: ChatWords, show: Callable[[LiveTurn], Awaitable[None]]
    ) -> None:
        self._talk = talk
        self._show = show
        self._console = console
        self._words = words
        self._actions: dict[str, Callable[[str], Awaitable[None]]] = {
            "search": self._search,
            "mode": self._mode,
            "research": self._research,
            "continue": self._continue,
            "sources": self._sources,
            "file": self._file,
            "model": self._model,
            "engine": self._engine,
            "depth": self._depth,
            "focus": self._focus,
            "site": self._site,
            "fresh": self._fresh,
            "new": self._new,
            "sessions": self._sessions,
            "open": self._open,
            "history": self._history,
            "receipt": self._receipt,
            "help": self._help,
        }

    async def run(self, text: str) -> bool:
        """Run a command; return whether the conversation goes on.

        Raises:
            SearchError: what was asked for cannot be done.
        """
        found = _COMMAND.fullmatch(text.strip())
        if found is None:
            raise ValueError(text)
        name, argument = found[1].lower(), (found[2] or "").strip()
        name = _ALIASES.get(name, name)
        if name == "exit":
            return False
        action = self._actions.get(name)
        if action is None:
            self._unknown(name)
        else:
            await action(argument)
        return True

    def completions(self, text: str) -> Iterator[tuple[str, str]]:
        """Return what may stand for the last word of a line that is a command, with its meaning."""
        name, blank, argument = text.removeprefix("/").partition(" ")
        if not blank:
            yield from ((f"/{each}", self._words(f"help_{each}")) for each in COMMANDS if each.startswith(name.lower()))
        elif name in COMMANDS and " " not in argument:
            choices = dict.fromkeys(COMMANDS[name].choices, "")
            if name == "engine":
                choices = dict.fromkeys(("auto", *self._usable_engines()), "")
            if name == "focus":
                choices = {known: focus.label.text(self._words.language) for known, focus in focuses().items()}
            if name == "model":
                choices = {called: full for called, full in self._talk.models().items() if called}
            yield from (one for one in choices.items() if one[0].lower().startswith(argument.lower()))

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style))

    def _unknown(self, name: str) -> None:
        near = get_close_matches(name, [*COMMANDS], n=1)
        advice = self._words("did_you_mean", name=f"/{near[0]}") if near else self._words("see_help")
        self._say(f"{self._words('unknown_command', name=f'/{name}')} {advice}", "yellow")

    def _usage(self, name: str) -> None:
        self._say(self._words("usage_of", usage=COMMANDS[name].usage), "yellow")

    def _now(self) -> None:
        line = settings_line(self._talk.settings, self._talk.engine_called(self._words.language), self._words)
        self._say(self._words("set_to", settings=line), "green")

    def _stands(self, name: str) -> None:
        """Say how things stand, and how they are changed: a command alone asks for that."""
        self._now()
        self._say(self._words("usage_of", usage=COMMANDS[name].usage), "dim")

    async def _search(self, argument: str) -> None:
        if self._talk.settings.mode is Mode.AGENT:
            if argument:
                self._say(self._words("agent_note"), "yellow")
            self._stands("mode")  # it has to be changed first
        elif argument not in {"on", "off"}:
            self._stands("search") if not argument else self._usage("search")
        else:
            await self._talk.change({"search": argument == "on"})
            self._now()

    async def _mode(self, argument: str) -> None:
        if argument not in list(Mode):
            self._stands("mode") if not argument else self._usage("mode")
            return
        await self._talk.change({"mode": argument})
        self._now()

    async def _engine(self, argument: str) -> None:
        if not argument:
            self._now()
            self._say(self._words("engines_known", names=self._usable_engines()), "dim")
            return
        await self._talk.change({"engine": None if argument == "auto" else argument})
        self._now()
        problem = self._talk.service.engine_problems().get(argument)
        if problem is not None:
            told = problem.wording(self._words.language)
            self._say(self._words("engine_missing", name=argument, reason=visible(told.what)), "yellow")
            for line in advice_lines(told.fix, problem.commands):
                self._say(f"  {visible(line)}", "yellow")

    async def _depth(self, argument: str) -> None:
        if argument not in list(Depth):
            if argument:
                self._usage("depth")
            else:
                self._say(self._words(f"depth_{self._talk.depth.value}"), "green")
            return
        await self._talk.change({"depth": argument})
        self._now()

    async def _focus(self, argument: str) -> None:
        if argument:
            await self._talk.change({"focus": argument})
        self._scope()
        if not argument:
            self._say(self._words("focus_known", names=list(focuses())), "dim")

    async def _site(self, argument: str) -> None:
        names = argument.replace(",", " ").split()
        if names:
            await self._talk.change({"sites": [] if names == ["all"] else names})
        self._scope()

    async def _fresh(self, argument: str) -> None:
        if argument and argument not in COMMANDS["fresh"].choices:
            self._usage("fresh")
            return
        if argument:
            await self._talk.change({"freshness": argument})
        self._scope()

    def _scope(self) -> None:
        """Say where is searched now, and that nothing is where the switch is off."""
        settings = self._talk.settings
        self._say(visible(settings.scope.told.text(self._words.language)), "green")
        if settings.switch is SwitchState.OFF:
            self._say(self._words("focus_off"), "yellow")

    def _usable_engines(self) -> list[str]:
        usable = [name for name, problem in self._talk.service.engine_problems().items() if problem is None]
        return [*usable, NATIVE] if self._talk.model.info.native_search else usable

    async def _model(self, argument: str) -> None:
        if argument:
            await self._talk.use_model(argument)
        self._say(self._words("model_is", name=visible(self._talk.model_shown(self._words.language))), "green")
        if argument:
            return
        models = self._talk.models()
        if len(models) > 1:
            table = Table(show_edge=False, pad_edge=False, show_header=False, box=None)
            for called, full in models.items():
                current = "*" if called == self._talk.model_name else " "
                table.add_row(current, Text(called, "cyan"), escape(visible(full)))
            self._console.print(table)
            self._say(self._words("model_choose"), "dim")
        self._say(self._words("model_use"), "dim")

    async def _research(self, argument: str) -> None:
        self._say(limits_line(self._talk.research_limits, self._words), "dim")
        if not argument:
            self._usage("research")
            return
        await self._show(await self._talk.ask(argument, research=True))

    async def _file(self, argument: str) -> None:
        if not argument:
            files = await self._talk.files()
            for file in files:
                self._say(visible(file.about.text(self._words.language)))
            if not files:
                self._say(self._words("no_files"), "yellow")
            return
        with self._console.status(self._words("reading_file", name=visible(argument))) as status:

            def reached(far: Underway) -> None:
                status.update(self._words("reading_file_page", name=visible(far.name), page=far.page, pages=far.pages))

            file = await self._talk.add_file(argument, reached)
        self._say(self._words("file_added", name=visible(file.name)), "green")

    async def _continue(self, _argument: str) -> None:
        live = await self._talk.go_on()
        if live is None:
            self._say(self._words("nothing_to_go_on"), "yellow")
        else:
            await self._show(live)

    async def _sources(self, _argument: str) -> None:
        record = self._talk.last
        if record is None or not record.sources:
            self._say(self._words("no_sources" if record else "no_answer_yet"), "yellow")
            return
        for source in record.sources:
            number = source["number"]
            mark = support_of(number, record.check) or ("cited" if number in record.cited else "uncited")
            style = {"supported": "green", "weak": "yellow", "not_found": "red"}.get(mark, "dim")
            facts = [source["domain"], source.get("publishedAt") and short_date(source["publishedAt"])]
            facts.append(self._words("page_read") if source.get("pageRead") else "")
            self._console.print(
                Text.assemble(
                    (f"[{number}] {visible(source['title'])}", "bold"), "  ", (self._words(f"mark_{mark}"), style)
                )
            )
            link = f"cyan link {source['url']}" if can_link() and visible(source["url"]) == source["url"] else "cyan"
            if not source["url"].startswith(ADDRESS):
                self._console.print(Padding(Text(visible(source["url"]), style=link), (0, 0, 0, 4)))
            if source.get("snippet"):
                self._console.print(Padding(Text(visible(source["snippet"])), (0, 0, 0, 4)))
            self._console.print(Padding(Text(" · ".join(visible(fact) for fact in facts if fact), "dim"), (0, 0, 0, 4)))

    async def _receipt(self, _argument: str) -> None:
        record = self._talk.last
        if record is None or not record.rounds:
            self._say(self._words("no_receipt" if record else "no_answer_yet"), "yellow")
            return
        for round_ in record.rounds:
            engine = self._words.engine(round_.get("engine") or "", round_.get("engineLabel") or "") or "—"
            title = self._words("round", number=round_["number"])
            self._say(f"{title} · {visible(engine)} · “{visible(round_['query'])}”", "bold")
            attempts = [Attempt.from_dict(attempt) for attempt in round_.get("attempts", ())]
            if attempts:
                self._console.print(receipt_table(attempts, self._words))
            elif round_.get("cached"):
                self._say(self._words("cached"), "dim")

    async def _new(self, _argument: str) -> None:
        self._talk.begin_anew()
        await self._talk.look_up_engine()
        self._say(self._words("new_session"), "green")
        self._now()

    async def _sessions(self, _argument: str) -> None:
        mine = self._talk.info.id if self._talk.info else ""
        # What has no title has no question yet: begun in the page by a changed setting or a file.
        found = [info for info in await self._talk.sessions() if info.title or info.id == mine]
        if not found:
            self._say(self._words("no_sessions"), "yellow")
            return
        table = Table(show_edge=False, pad_edge=False, show_header=False, box=None)
        for info in found:
            current = "*" if info.id == mine else " "
            table.add_row(current, info.id, info.updated_at[:16].replace("T", " "), escape(self._title(info)))
        self._console.print(table)

    async def _open(self, argument: str) -> None:
        if not argument:
            self._usage("open")
            return
        match await find_session(self._talk, argument):
            case SessionInfo() as info:
                count = await self._talk.open(info.id)
                self._say(self._words("opened", title=self._title(info), count=count), "green")
                self._now()
                if self._talk.last and self._talk.last.can_go_on:
                    self._say(self._words("can_go_on"), "yellow")
            case several:
                self._say(self._words("session_many" if several else "session_unknown", id=argument), "yellow")

    async def _history(self, _argument: str) -> None:
        turns = await self._talk.turns()
        if not turns:
            self._say(self._words("no_history"), "yellow")
        for record in turns:
            self._say(f"› {safe(record.question)}", "bold cyan")
            self._console.print(render(safe(record.answer), links=can_link()))
            self._console.print()

    async def _help(self, _argument: str) -> None:
        table = Table(show_edge=False, pad_edge=False, show_header=False, box=None, padding=(0, 2, 0, 0))
        for command in COMMANDS.values():
            table.add_row(Text(command.usage, "cyan"), self._words(f"help_{command.name}"))
        self._console.print(table)
        self._say(self._words("hint"), "dim")

    def _title(self, info: SessionInfo) -> str:
        return visible(info.title) or self._words("session_untitled")
