"""A model with the wishes of one request: temperature, length, stop words."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from langchain_core.language_models import BaseChatModel

from qiusuo.chat.chat import Chat
from qiusuo.chat.models.book import AtHand
from qiusuo.chat.models.port import Model, ModelInfo
from qiusuo.errors import ModelError

# By what names the packages of the providers know them.
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "max_output_tokens", "num_predict"),
    "stop": ("stop", "stop_sequences"),
    "seed": ("seed",),
}


class TunedModel:
    """A model of which single settings differ; connections and all else are the model's own.

    A wish that its package does not know is dropped: an answer without it is better than none.
    """

    def __init__(self, model: Model, wishes: Mapping[str, Any]) -> None:
        self._model = model
        self._wishes = wishes

    @property
    def info(self) -> ModelInfo:
        """What is known of the model by now."""
        return self._model.info

    async def chat_model(self) -> BaseChatModel:
        chat = await self._model.chat_model()
        known = type(chat).model_fields
        settings: dict[str, Any] = {}
        for wish, value in self._wishes.items():
            name = next((name for name in _NAMES[wish] if name in known), None)
            if name is not None:
                settings[name] = value
        return chat.model_copy(update=settings) if settings else chat

    async def aclose(self) -> None:
        """Do nothing: the model is its owner's."""


async def knows_json(model: Model) -> bool:
    """Tell whether answers in JSON can be demanded of a model: OpenAI's protocol has that, others differ."""
    try:
        chat = await model.chat_model()
    except ModelError:
        return True  # the turn itself tells what is wrong
    return any(kind.__name__ == "BaseChatOpenAI" for kind in type(chat).__mro__)


def tuned(chat: Chat, wishes: Mapping[str, Any]) -> Chat:
    """Return the chat with tuned models, for one turn; it needs no closing."""
    given = {wish: value for wish, value in wishes.items() if value is not None}
    if not given:
        return chat

    def wrap(hand: AtHand) -> Model:
        limit = hand.settings.max_answer_tokens
        if limit is None or "max_tokens" not in given:
            return TunedModel(hand.model, given)
        return TunedModel(hand.model, {**given, "max_tokens": min(given["max_tokens"], limit)})

    own = copy(chat)
    own.book = chat.book.wrapped(wrap)
    return own
