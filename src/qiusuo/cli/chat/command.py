"""``qiusuo chat``: a conversation in the terminal, or one question in a pipe."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from qiusuo import __version__, plugins
from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.commands import install_command, typed
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, InvalidQuery, SearchError
from qiusuo.plugins import Beside
from qiusuo.text import visible
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.chat.live.conversations import LiveTurn
    from qiusuo.cli.chat.plain import Listener
    from qiusuo.cli.chat.talk import Talk, Wish
    from qiusuo.cli.chat.words import ChatWords

STOPPED: Final = 130
"""The exit code of a question that Ctrl-C stopped, as shells have it."""
_NOTHING_TO_ANSWER_FROM: Final = "notice.nothing_to_answer_from"
_OVER_A_LIMIT: Final = frozenset({"user_rate_limited", "searches_used"})
# What this command itself imports; models and databases name what they need themselves.
_PACKAGES: Final = ("langchain", "langchain_core", "prompt_toolkit", "sqlalchemy", "trafilatura")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of the command; None leaves a setting as it is."""

    question: str = ""
    mode: str | None = None
    search: bool | None = None
    model: str | None = None
    engine: str | None = None
    session: str | None = None
    save: bool = True
    as_json: bool = False
    language: str | None = None
    depth: str | None = None
    research: bool = False
    export: str | None = None
    bring: Path | None = None
    files: Sequence[str] = ()
    focus: str | None = None

    def wish(self) -> Wish:
        """Return what is asked of the conversation."""
        from qiusuo.cli.chat.talk import Wish  # noqa: PLC0415 - needs the extra

        return Wish(
            self.mode,
            self.search,
            self.engine,
            self.session,
            self.save,
            self.language,
            self.depth,
            self.model,
            self.focus,
        )


def run_chat(options: ChatOptions) -> int:
    """Talk; return the exit code."""
    err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    try:
        check_packages()
        if options.export or options.bring:
            return asyncio.run(_carry(options, err))
        return asyncio.run(_talk(options, err))
    except SearchError as error:
        if options.as_json:
            from qiusuo.cli.chat.plain import write_json  # noqa: PLC0415 - needs the extra for what it imports

            write_json({"type": "error", **error.to_dict(words_for_terminal().language)})
        else:
            _report(error, err, words_for_terminal())
        return exit_code(error)


def check_packages() -> None:
    """See that the extra is installed.

    Raises:
        ConfigurationError: it is not.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigurationError(Fact("cli.no_chat", packages=missing), commands=(install_command("qiusuo[chat]"),))


async def _carry(options: ChatOptions, err: Console) -> int:
    from qiusuo.cli.chat.portable import bring, export  # noqa: PLC0415 - needs the extra

    if options.bring:
        await bring(options.bring, err)
    if options.export:
        await export(options.export, options.session)
    return Exit.OK


async def _talk(options: ChatOptions, err: Console) -> int:
    from qiusuo.chat.questions import is_one_line  # noqa: PLC0415 - needs the extra
    from qiusuo.cli.chat.talk import open_talk, with_model  # noqa: PLC0415 - the same
    from qiusuo.cli.chat.words import chat_words  # noqa: PLC0415 - the same

    words = chat_words()
    # Arguments are UTF-8 in any locale; where the interpreter could not read them so, they are escaped.
    question = os.fsencode(options.question).decode("utf-8", "replace")
    interactive = not question and not options.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if not interactive and not question:
        question = sys.stdin.buffer.read().decode("utf-8", "replace")
        if options.search is None and not is_one_line(question):
            options = replace(options, search=False)  # a diff, a log: searched for only if somebody says so
    if not interactive and not question.strip():
        raise InvalidQuery(Fact("terminal.no_question"))
    settings = Settings.load()
    if options.model is not None and options.model not in settings.models:
        settings = with_model(settings, options.model)
        options = replace(options, model="")  # it is the first now, also in a conversation that has chosen another
    async with open_talk(settings, options.wish(), lenient=interactive) as talk:
        words.engines = talk.engines_called(words.language)
        for path in options.files:
            with err.status(words("reading_file", name=visible(path))):
                file = await talk.add_file(path)
            if not options.as_json:
                err.print(Text(words("file_added", name=visible(file.name)), style="dim"))
        if interactive:
            with plugins.beside(settings) as work:
                return await Conversation(talk, words, work).run()
        live = await talk.ask(question, research=options.research)
        if options.research and not options.as_json:
            from qiusuo.cli.chat.lines import limits_line  # noqa: PLC0415 - the same

            err.print(Text(limits_line(talk.research_limits, words), style="dim"))
        return await _answer_once(talk, live, words, err, as_json=options.as_json)


async def _answer_once(talk: Talk, live: LiveTurn, words: ChatWords, err: Console, *, as_json: bool) -> int:
    from qiusuo.cli.chat.plain import JsonOutput, PlainOutput, write_json  # noqa: PLC0415 - needs the extra

    _tell_removed(talk, err, words)
    if as_json:
        if talk.info:
            write_json({"type": "session", **talk.info.to_dict()})
        await _follow(live, JsonOutput(words.language))
    elif sys.stdout.isatty():
        with _silent_keys():
            await _show(talk, live, Console(highlight=False, emoji=False), words)
    else:
        with err.status(words("thinking")):
            await _follow(live, PlainOutput(err, words))
    if talk.saved and talk.info and not as_json:
        err.print(Text(words("resume", command=typed(f"qiusuo chat --session {talk.info.id}")), style="dim"))
    return _code(live)


class Conversation:
    """Questions and answers in a terminal, until the user leaves."""

    def __init__(self, talk: Talk, words: ChatWords, work: Sequence[Beside] = ()) -> None:
        from qiusuo.cli.chat.commands import Commands  # noqa: PLC0415 - needs the extra
        from qiusuo.cli.chat.prompt import QuestionPrompt  # noqa: PLC0415 - the same

        self._talk = talk
        self._words = words
        self._work = work
        self._console = Console(highlight=False, emoji=False)
        self._commands = Commands(talk, self._console, words, self._answer)
        self._prompt = QuestionPrompt(
            self._commands.completions,
            self._state,
            keep_history=talk.saved,
            colours=not self._console.no_color,
        )

    async def run(self) -> int:
        """Talk until the user leaves; return the exit code."""
        await self._greet()
        # While the first question is written, what answers it is loaded: a second for a client, more for a local file.
        warming = asyncio.create_task(_load(self._talk))
        try:
            with _silent_keys():
                await self._take_turns()
        finally:
            warming.cancel()
        if self._talk.info:
            command = typed(f"qiusuo chat --session {self._talk.info.id}")
            hint = self._words("resume", command=command) if self._talk.saved else self._words("resume_unsaved")
            self._console.print(Text(hint, style="dim"))
        return Exit.OK

    async def _take_turns(self) -> None:
        from qiusuo.cli.chat.commands import is_command  # noqa: PLC0415 - needs the extra

        while True:
            try:
                text = (await self._prompt.ask()).strip()
            except (EOFError, KeyboardInterrupt):
                break
            if not text:
                continue
            try:
                if is_command(text):
                    if not await self._commands.run(text):
                        break
                else:
                    await self._answer(await self._talk.ask(text))
            except SearchError as error:
                _report(error, self._console, self._words)
            except KeyboardInterrupt:
                break

    async def _answer(self, live: LiveTurn) -> None:
        _tell_removed(self._talk, self._console, self._words)
        await _show(self._talk, live, self._console, self._words)
        self._tell_unfinished()

    def _tell_unfinished(self) -> None:
        """Tell how to go on where the last turn is a research that broke off."""
        if self._talk.last and self._talk.last.can_go_on:
            self._console.print(Text(self._words("can_go_on"), style="yellow"))

    def _settings(self) -> str:
        from qiusuo.cli.chat.lines import settings_line  # noqa: PLC0415 - needs the extra

        return settings_line(self._talk.settings, self._talk.engine_called(self._words.language), self._words)

    def _state(self) -> str:
        told = [fact.text(self._words.language) for work in self._work if (fact := work.status())]
        return " · ".join((self._settings(), self._talk.model_shown(self._words.language), *told))

    async def _greet(self) -> None:
        await self._talk.look_up_engine()
        model = self._talk.model
        shown = self._talk.model_shown(self._words.language)
        line = self._words("header", version=__version__, model=shown, settings=self._settings())
        self._console.print(Text(line, style="bold"))
        self._console.print(Text(self._words("hint"), style="dim"))
        self._tell_unfinished()
        try:
            if model.info.kind == "unusable":
                await model.chat_model()
        except SearchError as error:
            _report(error, self._console, self._words)
            self._console.print(Text(self._words("model_use"), style="dim"))


def _tell_removed(talk: Talk, console: Console, words: ChatWords) -> None:
    """Tell which conversations made room for this one."""
    for info in talk.removed:
        console.print(Text(words("room_made", title=visible(info.title) or info.id), style="yellow"))
    talk.removed = ()


async def _load(talk: Talk) -> None:
    with suppress(SearchError):  # the first answer says what is wrong
        await talk.model.chat_model()


async def _show(talk: Talk, live: LiveTurn, console: Console, words: ChatWords) -> None:
    from qiusuo.cli.chat.view import ChatView  # noqa: PLC0415 - needs the extra

    with ChatView(console, words, engine=talk.engine_called(words.language), told=talk.told) as view:
        await _follow(live, view)


async def _follow(live: LiveTurn, listener: Listener) -> None:
    """Hear a turn out. The first Ctrl-C stops it, the second leaves.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed twice.
    """
    hearing = asyncio.ensure_future(_hear(live, listener))
    with _interrupts(live.stop, hearing.cancel):
        try:
            await hearing
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise KeyboardInterrupt from None


async def _hear(live: LiveTurn, listener: Listener) -> None:
    async for batch in live.follow():
        for _, event in batch:
            listener.show(event)
    await live.wait()


@contextmanager
def _interrupts(first: Callable[[], object], then: Callable[[], object]) -> Iterator[None]:
    """Call ``first`` on the first Ctrl-C and ``then`` on those after it."""
    loop = asyncio.get_running_loop()
    presses = 0

    def pressed() -> None:
        nonlocal presses
        presses += 1
        (first if presses == 1 else then)()

    previous = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, pressed)
        added = True
    except NotImplementedError:  # Windows
        signal.signal(signal.SIGINT, lambda _number, _frame: loop.call_soon_threadsafe(pressed))
        added = False
    try:
        yield
    finally:
        if added:
            loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _silent_keys() -> Iterator[None]:
    """Keep the terminal from writing what is typed into the answer: the keys wait for the prompt as they are."""
    try:
        import termios  # noqa: PLC0415 - not on Windows
    except ImportError:
        yield
        return
    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):  # standard input is closed, or no terminal
        yield
        return
    silent = [*before]
    silent[0] &= ~termios.ICRNL
    silent[3] &= ~(termios.ECHO | termios.ICANON)  # Ctrl-C stays a signal
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _code(live: LiveTurn) -> int:
    """Return the exit code for how a turn ended; a failed search is no failure as long as there is an answer."""
    state = live.record.state.value
    if state == "stopped":
        return STOPPED
    if state != "failed":
        return _code_of_searches(live)
    codes = {notice["code"] for notice in live.record.notices if notice["level"] == "error"}
    if "model_not_configured" in codes:
        return Exit.NOT_CONFIGURED
    return Exit.RATE_LIMITED if "model_rate_limited" in codes else Exit.ALL_FAILED


def _code_of_searches(live: LiveTurn) -> int:
    """Return the exit code of a turn that has ended: without a model, searches that failed leave nothing to answer."""
    silent = [
        notice["code"]
        for notice in live.record.notices
        if notice["values"].get("then", {}).get("code") == _NOTHING_TO_ANSWER_FROM
    ]
    if not silent or live.record.sources:
        return Exit.OK
    if "search_disabled" in silent:
        return Exit.NOT_CONFIGURED
    return Exit.ALL_FAILED if _OVER_A_LIMIT.isdisjoint(silent) else Exit.RATE_LIMITED


def _report(error: SearchError, console: Console, words: Words) -> None:
    for line in error_lines(error, words):
        console.print(Text(line, style="red" if not line.startswith(" ") else ""))
