"""The model of the server's conversations: that of the settings, also when these change."""

from __future__ import annotations

import logging
from typing import Any, Final

from qiusuo.chat.models.opening import open_model
from qiusuo.chat.models.port import Model, UnusableModel
from qiusuo.config import Settings
from qiusuo.errors import ModelNotConfigured

logger = logging.getLogger(__name__)

_NAMES: Final = ("model", "second_model", "max_answer_tokens")


def usable_model(settings: Settings) -> Model:
    """Return the model of the settings; one that is set wrongly does not keep the server from starting."""
    try:
        return open_model(settings)
    except ModelNotConfigured as error:
        logger.warning("the model cannot be used: %s", error)
        return UnusableModel(error, settings.model or "")


def other_model(before: Settings, now: Settings) -> Model | None:
    """Return the model that new settings choose; None where it stays, perhaps with gigabytes in memory."""
    return usable_model(now) if _of_model(before) != _of_model(now) else None


def _of_model(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.model_fields if name.startswith(_NAMES)}
