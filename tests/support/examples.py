"""How many made-up examples a test of any text tries."""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> settings:
    """Return the settings of a test that tries more or fewer examples than others do, whatever the run asks for."""
    return settings(max_examples=round(share * settings().max_examples))
