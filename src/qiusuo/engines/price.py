"""What a search costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """What a provider asks for one search: an amount of a currency, as it was known on a day.

    ``source`` is ``vendor`` (its own documentation), ``others`` (third parties) or ``settings`` (set here).
    """

    amount: float
    currency: str
    as_of: str = ""
    source: str = "vendor"
