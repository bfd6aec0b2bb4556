"""The model behind a conversation, as turns see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import AIMessageChunk

from qiusuo.chat.models.vendors import EXTRACTIVE
from qiusuo.errors import ModelError
from qiusuo.words import Fact, Language


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is shown of a model. ``kind``: remote, local, or extractive (no language model is configured)."""

    name: str
    label: str
    kind: str
    provider: str = ""
    context_tokens: int = 8192
    native_search: bool = False

    @property
    def title(self) -> Fact | str:
        """What readers are shown of it, as a value of a sentence."""
        return called(self.name) if self.kind == EXTRACTIVE else self.label

    def to_dict(self) -> dict[str, Any]:
        """Return the facts in their JSON shape."""
        return {"name": self.name, "label": self.label, "kind": self.kind, "nativeSearch": self.native_search}


def called(name: str) -> Fact | str:
    """Return how a model that goes by its full name is shown: what answers without a model has a name of ours alone."""
    return Fact("llm.excerpts") if name == EXTRACTIVE else name


def called_in(language: Language, name: str) -> str:
    """Return the same in words."""
    shown = called(name)
    return shown.text(language) if isinstance(shown, Fact) else shown


class Model(Protocol):
    """A chat model that is ready to be used. Shared by all turns; raises the ModelError tree only."""

    @property
    def info(self) -> ModelInfo:
        """What is known of it by now."""

    async def chat_model(self) -> BaseChatModel:
        """Return the LangChain model (loads or starts it on first use)."""

    async def aclose(self) -> None:
        """Free what it holds."""


@dataclass(frozen=True, slots=True)
class NativeSource:
    """A page that the model's own search has used; ``cited_text`` are the source's words where they are given."""

    title: str
    url: str
    cited_text: str = ""


@dataclass(frozen=True, slots=True)
class NativePiece:
    """What comes while a model with its own search answers: text, queries it makes, sources it uses.

    In ``text`` citations are ``[n]`` already, n counting the sources in the order in which they came (from 1).
    """

    text: str = ""
    queries: tuple[str, ...] = ()
    sources: tuple[NativeSource, ...] = ()
    chunk: AIMessageChunk | None = None


class NativeSearch(Protocol):
    """A model's own web search: ``answer`` binds it, streams, and reads citations off the provider's own shape."""

    provider: str

    def answer(self, model: BaseChatModel, messages: Sequence[BaseMessage]) -> AsyncGenerator[NativePiece]:
        """Stream an answer for which the model may search by itself.

        Raises:
            ModelError: the provider refused or failed; nothing of the answer was given yet if it is to be retried.
        """


class UnusableModel:
    """Stands for a model that is configured wrongly: everything works but the answers, which say what is wrong."""

    def __init__(self, problem: ModelError, name: str) -> None:
        self.info = ModelInfo(name, name, "unusable")
        self._problem = problem

    async def chat_model(self) -> BaseChatModel:
        """Say what is wrong.

        Raises:
            ModelError: always.
        """
        # A fresh one each time: an exception that is raised again drags its old traceback along.
        problem = self._problem
        fix = problem.remedy or ""
        raise type(problem)(problem.fact, engine=problem.engine, fix=fix, commands=problem.commands)

    async def aclose(self) -> None:
        """Do nothing."""
