"""The words of ``qiusuo chat`` in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping

from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import entry


class ChatWords(Words):
    """Looks up the words of the terminal chat, and those of the other commands behind them."""

    def __init__(self, language: Language) -> None:
        super().__init__(language)
        self.engines: Mapping[str, str] = {}
        """The engines by name, as readers of the terminal's language call them."""

    def engine(self, name: str, label: str) -> str:
        """Return what an engine is called; ``label`` is in the language of the question."""
        return self.engines.get(name) or label or name

    def __call__(self, key: str, **values: object) -> str:
        own = f"terminal.{key}"
        return self.tell(Fact(own, **values)) if entry(own) else super().__call__(key, **values)


def chat_words() -> ChatWords:
    """Return the words in the language of the terminal."""
    return ChatWords(words_for_terminal().language)
