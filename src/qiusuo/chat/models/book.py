"""The models at hand: the first, and those that stand beside it under names of their own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model, UnusableModel
from qiusuo.chat.models.vendors import point_to_table, settings_of
from qiusuo.config import Settings
from qiusuo.errors import ModelNotConfigured

logger = logging.getLogger(__name__)

FIRST: Final = ""
"""The name of the first model, that of ``QIUSUO_MODEL``."""
_WHAT_A_MODEL_IS: Final = (
    "model", "model_base_url", "model_api_key", "model_temperature", "model_timeout", "model_context",
    "max_answer_tokens", "models",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AtHand:
    """A model under its name, with the settings as they hold for it."""

    name: str
    model: Model
    settings: Settings


@dataclass(slots=True)
class _Use:
    """How many turns use the models of a book, and whether it was replaced by another."""

    turns: int = 0
    retired: bool = False
    kept: Model | None = None


@dataclass(slots=True)
class ModelBook:
    """The models of some settings by their names. Each is opened when it is first asked for.

    One that is set wrongly is there too: what asks it is told what is wrong. ``first`` is given where it is no model of
    the settings; ``wrap`` is put around each model that is given out.
    """

    settings: Settings
    first: Model
    wrap: Callable[[AtHand], Model] | None = None
    _opened: dict[str, Model] = field(default_factory=dict)
    _use: _Use = field(default_factory=_Use)

    @classmethod
    def of(cls, settings: Settings) -> ModelBook:
        """Return the book of the settings."""
        return cls(settings, usable_model(settings))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all models, the first one's first."""
        return FIRST, *self.settings.models

    @property
    def second(self) -> AtHand | None:
        """The model that answers where the first cannot; None where there is none."""
        return self.get(self.settings.second_model) if self.settings.second_model else None

    def get(self, name: str) -> AtHand | None:
        """Return the model of a name; None where no model is called so."""
        if name == FIRST:
            return self._given(FIRST, self.first, self.settings)
        if name not in self.settings.models:
            return None
        settings = settings_of(self.settings, name)
        if name not in self._opened:
            self._opened[name] = usable_model(settings, name=name)
        return self._given(name, self._opened[name], settings)

    def chosen(self, name: str | None) -> AtHand:
        """Return the model of a name, else the first."""
        return self.get(name or FIRST) or self._given(FIRST, self.first, self.settings)

    def _given(self, name: str, model: Model, settings: Settings) -> AtHand:
        found = AtHand(name, model, settings)
        return found if self.wrap is None else AtHand(name, self.wrap(found), settings)

    def to_list(self) -> list[dict[str, str]]:
        """Return the models in their JSON shape: by which name each is chosen, and what is shown of it."""
        infos = {name: self.chosen(name).model.info for name in self.names}
        return [{"name": name, "label": info.label, "kind": info.kind} for name, info in infos.items()]

    def wrapped(self, wrap: Callable[[AtHand], Model]) -> ModelBook:
        """Return the same models, each with something around it."""
        book = copy(self)
        book.wrap = wrap
        return book

    def is_of(self, settings: Settings) -> bool:
        """Tell whether other settings have the same models."""
        return all(getattr(settings, name) == getattr(self.settings, name) for name in _WHAT_A_MODEL_IS)

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        """Keep the models open meanwhile, also where the book is replaced."""
        self._use.turns += 1
        try:
            yield
        finally:
            self._use.turns -= 1
            if self._use.retired and not self._use.turns:
                await self.aclose()

    async def retire(self, *, keeping: Model | None = None) -> None:
        """Close the models as soon as no turn uses them any more, but for one that goes on in another book."""
        self._use.retired, self._use.kept = True, keeping
        if not self._use.turns:
            await self.aclose()

    async def aclose(self) -> None:
        """Close all models that were opened."""
        for model in (self.first, *self._opened.values()):
            if model is not self._use.kept:
                await model.aclose()


def usable_model(settings: Settings, *, name: str = FIRST, level: int = logging.INFO) -> Model:
    """Return the model of the settings; one that is set wrongly keeps nothing else from working, and is logged."""
    try:
        return open_model(settings)
    except ModelNotConfigured as error:
        point_to_table(error, name)
        logger.log(level, "the model cannot be used: %s", error)
        return UnusableModel(error, settings.model or "")
