"""Conversations over search: chat and agent turns, sessions, models (extra ``chat``).

::

    from qiusuo.chat import Ask, Chat, ChatSettings, Memory, open_model

    chat = Chat(service, open_model(settings))
    async for event in chat.turn(Ask("What is RRF?", ChatSettings(search=True)), Memory()).events():
        ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiusuo.lazily import loader

if TYPE_CHECKING:
    from qiusuo.chat.chat import Chat, Turn
    from qiusuo.chat.models.opening import model_from, open_model
    from qiusuo.chat.models.port import ModelInfo
    from qiusuo.chat.search_session import SearchSession
    from qiusuo.chat.sessions.session import ChatSettings, Memory, Mode
    from qiusuo.chat.stores.opening import open_store
    from qiusuo.chat.turns.context import Ask

# Loaded when first used: the names of a setting must not cost LangChain.
_HOME = {
    "Ask": "turns.context",
    "Chat": "chat",
    "ChatSettings": "sessions.session",
    "Memory": "sessions.session",
    "Mode": "sessions.session",
    "ModelInfo": "models.port",
    "SearchSession": "search_session",
    "Turn": "chat",
    "model_from": "models.opening",
    "open_model": "models.opening",
    "open_store": "stores.opening",
}

__all__ = [
    "Ask",
    "Chat",
    "ChatSettings",
    "Memory",
    "Mode",
    "ModelInfo",
    "SearchSession",
    "Turn",
    "model_from",
    "open_model",
    "open_store",
]


__getattr__ = loader(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
