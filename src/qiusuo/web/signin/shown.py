"""What the page shows of whom a server has recognised."""

from __future__ import annotations

from starlette.types import Scope

from qiusuo.people.person import Person, Via


def person_shown(scope: Scope) -> dict[str, str] | None:
    """Return who has come in without a token."""
    person: Person | None = scope.get("state", {}).get("person")
    if person is None or person.via not in {Via.SIGN_IN, Via.PROXY}:
        return None
    return {"name": person.name, "via": person.via.value}
