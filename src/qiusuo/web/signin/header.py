"""People whom a trusted proxy has signed in, and names in a header."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.types import Scope

from qiusuo.config.sign_in import SignInSettings
from qiusuo.people.names import LONGEST_NAME, usable_name
from qiusuo.people.person import Person, Role, Via
from qiusuo.web.entrance.proxies import TrustedProxies, peer_of
from qiusuo.web.errors import Refusal
from qiusuo.words import Fact

_BROUGHT: Final = "brought_by_proxy"


class NamedByProxy:
    """Reads whom a trusted proxy names. What others write there is taken out unread."""

    def __init__(self, settings: Callable[[], SignInSettings], proxies: TrustedProxies) -> None:
        self._user = (settings().proxy_user_header or "").encode()
        self._groups = (settings().proxy_groups_header or "").encode()
        self._settings = settings  # who runs the server may change while it runs
        self._proxies = proxies

    def take(self, scope: Scope) -> None:
        """Take the headers out of a request. Before anybody else reads who has sent it: the proxy is meant here."""
        names = {self._user, self._groups} - {b""}
        said = [header for header in scope["headers"] if header[0] in names]
        if not said:
            return
        scope["headers"] = [header for header in scope["headers"] if header[0] not in names]
        if self._proxies.trusts(peer_of(scope)):
            scope.setdefault("state", {})[_BROUGHT] = said

    def person(self, scope: Scope) -> Person | None:
        """Return whom the proxy has brought, None where it names nobody.

        Raises:
            Refusal: the name cannot be anybody's.
        """
        said: list[tuple[bytes, bytes]] = scope.get("state", {}).get(_BROUGHT, [])
        given = [value.strip() for name, value in said if name == self._user]
        if not any(given):
            return None
        # Of two one is the proxy's, the other what it has let pass; nobody can tell which.
        name = usable_name(_text(given[0])) if len(given) == 1 else None
        if name is None:
            raise Refusal(
                HTTPStatus.FORBIDDEN, Fact("signin.proxy_name", header=self._user.decode(), most=LONGEST_NAME)
            )
        groups = {each.strip() for key, value in said if key == self._groups for each in re.split("[,|]", _text(value))}
        now = self._settings()
        runs = name in (now.operators or ()) or bool(groups & set(now.operator_groups or ()))
        return Person(name, Role.OPERATOR if runs else Role.USER, Via.PROXY)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
