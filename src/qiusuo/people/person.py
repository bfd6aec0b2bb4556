"""Somebody whom a server has recognised, and what is set for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What somebody may do: use the server, or run it."""

    USER = "user"
    OPERATOR = "operator"


class Via(StrEnum):
    """How somebody came in."""

    SETTINGS = "settings"
    """With a token of the settings."""
    TOKEN = "token"  # noqa: S105 - a kind, not a secret
    """With a token of the database."""
    SIGN_IN = "sign_in"
    """Signed in elsewhere (OpenID Connect)."""
    PROXY = "proxy"
    """Named by a trusted proxy."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much somebody may use; None: as much as the server's settings say."""

    per_minute: int | None = None
    """Searches in a minute."""
    searches: int | None = None
    """Searches in a month."""
    tokens: int | None = None
    """Tokens of models in a month, in and out."""
    engines: frozenset[str] | None = None
    """The only engines that may be asked."""
    models: frozenset[str] | None = None
    """The only models that may answer, by their names in the settings."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who calls. ``name`` owns their conversations and is counted; it is in ``scope["state"]["user"]`` too."""

    name: str
    role: Role = Role.USER
    via: Via = Via.SETTINGS
    allowance: Allowance = field(default_factory=Allowance)
