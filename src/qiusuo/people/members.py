"""People with tokens of the database: what is set for each, and what may be set."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from qiusuo.config.server import THIS_MACHINE, is_loopback
from qiusuo.errors import InvalidQuery
from qiusuo.people.person import Allowance, Person, Role, Via
from qiusuo.words import Fact

DAY: Final = 86_400
MOST_MEMBERS: Final = 10_000
MAX_NAME: Final = 60
MAX_DAYS: Final = 36_500
MAX_NUMBER: Final = 10**12
FIRST_MODEL: Final = "first"
"""How the first model is written, which has no name of its own."""
_NAME: Final = re.compile(r"[^\s:,/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_TOKEN: Final = re.compile(r"(qs-[a-z2-7]{8})-[A-Za-z0-9_-]{32,64}")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_SECRET_BYTES: Final = 30


@dataclass(frozen=True, slots=True)
class Secret:
    """A new token: ``text`` is told once, ``mark`` and ``digest`` are kept."""

    text: str
    mark: str
    digest: str

    @classmethod
    def new(cls) -> Secret:
        """Make one."""
        mark = "qs-" + "".join(secrets.choice(_LETTERS) for _ in range(8))
        text = f"{mark}-{secrets.token_urlsafe(_SECRET_BYTES)}"
        return cls(text, mark, digest_of(text))

    def __repr__(self) -> str:
        """Return what may stand in a log."""
        return f"Secret({self.mark})"


def digest_of(token: str) -> str:
    """Return what is kept of a token."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def mark_of(token: str) -> str | None:
    """Return the public beginning of a token; None where it is none of ours."""
    found = _TOKEN.fullmatch(token)
    return found[1] if found else None


@dataclass(frozen=True, slots=True)
class Grant:
    """What is set for somebody: role, end (None: never), and how much may be used."""

    role: Role = Role.USER
    ends_at: int | None = None
    allowance: Allowance = field(default_factory=Allowance)


@dataclass(frozen=True, slots=True)
class Used:
    """What somebody has used in a month."""

    searches: int = 0
    tokens: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(self.searches + other.searches, self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with a token. Moments are seconds since 1970; ``used_at`` is right to a minute or two."""

    name: str
    mark: str
    digest: str
    grant: Grant
    made_at: int
    used_at: int | None = None

    def is_live(self, now: float) -> bool:
        """Tell whether the token still opens the door."""
        return self.grant.ends_at is None or now < self.grant.ends_at

    @property
    def person(self) -> Person:
        """Who comes in with it."""
        return Person(self.name, self.grant.role, Via.TOKEN, self.grant.allowance)

    def to_dict(self, now: float, used: Used = Used()) -> dict[str, Any]:  # noqa: B008 - frozen
        """Return the person in the JSON shape of lists; what the token is made of is not in it."""
        return {
            "name": self.name,
            "token": f"{self.mark}-…",
            "role": self.grant.role.value,
            "ended": not self.is_live(now),
            **limits_shape(self.grant),
            "usedSearches": used.searches,
            "usedModelTokens": used.tokens,
            "madeAt": moment(self.made_at),
            "usedAt": moment(self.used_at) if self.used_at is not None else None,
        }


def limits_shape(grant: Grant) -> dict[str, Any]:
    """Return what is set in its JSON shape."""
    allowance = grant.allowance
    return {
        "endsAt": moment(grant.ends_at) if grant.ends_at is not None else None,
        "perMinute": allowance.per_minute,
        "searches": allowance.searches,
        "modelTokens": allowance.tokens,
        "engines": sorted(allowance.engines) if allowance.engines is not None else None,
        "models": sorted(name or FIRST_MODEL for name in allowance.models) if allowance.models is not None else None,
    }


def moment(seconds: float) -> str:
    """Return a moment as ISO 8601 has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to choose from: engines, and models by their names (that of the first is empty)."""

    engines: Collection[str]
    models: Collection[str]


def checked_name(name: str, taken: Collection[str] = ()) -> str:
    """Return a name that somebody can have.

    Raises:
        InvalidQuery: nobody can, or somebody has it in the settings.
    """
    name = name.strip()
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise InvalidQuery(Fact("people.bad_name", most=MAX_NAME))
    if name == THIS_MACHINE or is_loopback(name):
        raise InvalidQuery(Fact("people.local_name", name=name))
    if name in taken:
        raise InvalidQuery(Fact("people.name_in_settings", name=name))
    return name


def changed(grant: Grant, wanted: Mapping[str, Any], known: Known, now: float) -> Grant:
    """Return what is set after a change; ``wanted`` has the names of the JSON shape, and ``days`` until the end.

    None takes a limit away. What is not named stays.

    Raises:
        InvalidQuery: something cannot be set so.
    """
    allowance = grant.allowance
    numbers = {"per_minute": allowance.per_minute, "searches": allowance.searches, "tokens": allowance.tokens}
    for part, name in (("per_minute", "perMinute"), ("searches", "searches"), ("tokens", "modelTokens")):
        if name in wanted:
            numbers[part] = _number(wanted[name], name, MAX_NUMBER)
    allowance = Allowance(**numbers, engines=allowance.engines, models=allowance.models)
    if "engines" in wanted:
        allowance = replace(allowance, engines=_names(wanted["engines"], known.engines, "people.unknown_engine"))
    if "models" in wanted:
        allowance = replace(allowance, models=_models(wanted["models"], known.models))
    grant = replace(grant, allowance=allowance)
    if "role" in wanted:
        grant = replace(grant, role=_role(wanted["role"]))
    if "days" in wanted:
        days = _number(wanted["days"], "days", MAX_DAYS)
        grant = replace(grant, ends_at=None if days is None else int(now) + days * DAY)
    return grant


def _role(value: object) -> Role:
    try:
        return Role(str(value))
    except ValueError:
        raise InvalidQuery(Fact("people.bad_role", known=[role.value for role in Role])) from None


def _number(value: object, name: str, most: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidQuery(Fact("people.bad_number", name=name, most=most))
    return value


def _models(value: object, known: Collection[str]) -> frozenset[str] | None:
    written = {(name or FIRST_MODEL): name for name in known}
    found = _names(value, written, "people.unknown_model")
    return None if found is None else frozenset(written[name] for name in found)


def _names(value: object, known: Collection[str], code: str) -> frozenset[str] | None:
    """Return names of a list, or of a text with commas; none at all is no limit."""
    if isinstance(value, str):
        value = re.split("[,，]", value)
    if value is not None and not isinstance(value, list | tuple | set | frozenset):
        raise InvalidQuery(Fact("people.no_list"))
    names = frozenset(str(name).strip() for name in value or ()) - {""}
    for name in sorted(names - frozenset(known)):
        raise InvalidQuery(Fact(code, name=name[:60], known=sorted(known)))
    return names or None
