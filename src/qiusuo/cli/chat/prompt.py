"""The line in which questions are written: history, several lines, completion of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.color_depth import ColorDepth

from qiusuo.folders import data_folder

HISTORY_FILE: Final = "chat_history"
Complete = Callable[[str], Iterator[tuple[str, str]]]


class QuestionPrompt:
    """Asks for the next question or command."""

    def __init__(self, complete: Complete, toolbar: Callable[[], str], *, keep_history: bool, colours: bool) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=open_history() if keep_history else InMemoryHistory(),
            completer=SlashCompleter(complete),
            complete_while_typing=True,
            multiline=True,
            prompt_continuation=lambda _width, _line, _wrapped: "  ",
            key_bindings=key_bindings(),
            bottom_toolbar=lambda: FormattedText([("noreverse fg:ansibrightblack", toolbar())]),
            color_depth=None if colours else ColorDepth.DEPTH_1_BIT,
        )

    async def ask(self) -> str:
        """Return what was written.

        Raises:
            EOFError: the user wants to leave.
        """
        return await self._session.prompt_async(FormattedText([("bold fg:ansicyan", "› ")]))


class SlashCompleter(Completer):
    """Completes commands and their arguments; questions are left alone."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - the interface
        """Yield what may stand for the last word."""
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in text:
            return
        word = text.rpartition(" ")[2]
        for each, meaning in self._complete(text):
            yield Completion(each, start_position=-len(word), display_meta=meaning)


def key_bindings() -> KeyBindings:
    """Return the keys: Enter sends, Alt-Enter (or Esc, Enter) breaks the line, Ctrl-C clears the line or leaves."""
    keys = KeyBindings()

    @keys.add(Keys.Enter)
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add(Keys.Escape, Keys.Enter)
    @keys.add(Keys.Escape, Keys.ControlJ)  # what a terminal makes of Enter outside of the prompt
    def _break_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.ControlC)
    @keys.add(Keys.SIGINT)
    def _clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=EOFError())

    return keys


def open_history(folder: Path | None = None) -> History:
    """Return the history of questions; where its file cannot be written, one that ends with the program."""
    path = (folder or data_folder()) / HISTORY_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.chmod(0o600)  # questions are private, also where an older file was not
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)
