"""What searches cost, as far as somebody has said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qiusuo.config import Settings
from qiusuo.engines.base import SearchEngine
from qiusuo.engines.price import Price
from qiusuo.models import Outcome

PAID_FOR: Final = frozenset({Outcome.OK.value, Outcome.EMPTY.value, Outcome.TIMEOUT.value})
"""How requests end that providers charge for: those that were answered, and those whose answer came too late."""
_CURRENCY: Final = "USD"


def prices(settings: Settings, engines: Mapping[str, type[SearchEngine]]) -> dict[str, Price]:
    """Return the price of one search by engine: as it is set, else as its class says; others are not known."""
    found = {}
    for name, kind in engines.items():
        own, usual = settings.engine(name).price, kind.price_per_search
        if own is not None:
            amount, _, currency = own.partition(" ")
            found[name] = Price(float(amount), currency or (usual.currency if usual else _CURRENCY), source="settings")
        elif usual is not None:
            found[name] = usual
    return found
