"""People who have signed in: whom the cookie of a request stands for."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.types import Scope

from qiusuo.config.sign_in import SignInSettings
from qiusuo.errors import SearchError
from qiusuo.people.openid.errors import NotAdmitted
from qiusuo.people.person import Person, Via
from qiusuo.people.sign_ins import SignIn, SignIns
from qiusuo.web.entrance.auth import unauthorized
from qiusuo.web.errors import Refusal
from qiusuo.web.signin.cookies import Cookies
from qiusuo.words import Fact

FOR_PROGRAMS: Final = ("/v1", "/mcp", "/tavily")
"""Are called with tokens: no browser's cookie opens them."""


class SignedIn:
    """Finds out who has signed in."""

    def __init__(self, settings: Callable[[], SignInSettings], sign_ins: SignIns, issuer: str) -> None:
        self.cookies = Cookies(settings())
        self.sign_ins = sign_ins
        self._settings = settings
        self._issuer = issuer

    async def person(self, scope: Scope) -> Person | None:
        """Return who has signed in, None where nobody has or their time is over.

        Raises:
            Refusal: nobody can tell now.
        """
        secret = None if _is_for_programs(scope) else self.cookies.session(scope)
        if secret is None:
            return None
        try:
            found = await self.sign_ins.find(secret)
        except SearchError as error:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, error.fact) from None
        if found is None or not self._may_stay(found):
            return None
        return Person(found.identity.name, found.identity.role(self._settings()), Via.SIGN_IN)

    def refusal(self, scope: Scope) -> Refusal:
        """Return what is answered to those who have not signed in, or no more."""
        if _is_for_programs(scope):
            return unauthorized()
        over = self.cookies.session(scope) is not None
        fact = Fact("signin.over" if over else "signin.wanted")
        return Refusal(HTTPStatus.UNAUTHORIZED, fact, headers=unauthorized().headers)

    def _may_stay(self, found: SignIn) -> bool:
        """Tell whether the settings of now would let them in too; they may have changed since."""
        try:
            found.identity.admit(self._settings())
        except NotAdmitted:
            return False
        return found.identity.issuer.rstrip("/") == self._issuer.rstrip("/")


def _is_for_programs(scope: Scope) -> bool:
    path = scope["path"]
    return any(path == start or path.startswith(f"{start}/") for start in FOR_PROGRAMS)
