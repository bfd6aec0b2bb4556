"""Whether an ID token is the issuer's, for this server and this sign-in, and of now. PyJWT does the sums."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jwt
from jwt.exceptions import InvalidSubjectError

from qiusuo.people.openid.errors import IssuerFailed
from qiusuo.people.openid.issuer import Issuer
from qiusuo.words import Fact

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Only those with a public key: with another kind whoever knows that key could sign."""
SKEW_SECONDS: Final = 120
MAX_TOKEN: Final = 64 * 1024
_NEEDED: Final = ("exp", "iat", "iss", "aud", "sub")
_ASYMMETRIC: Final = frozenset({"RSA", "EC", "OKP"})


async def checked(token: str, issuer: Issuer, client_id: str, nonce: str) -> Mapping[str, Any]:
    """Return the claims of an ID token that can be believed.

    Raises:
        IssuerFailed: it cannot; the fact says why.
    """
    header = _header(token)
    algorithm, name = str(header.get("alg", "")), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise _wrong("signin.wrong_algorithm", algorithm=algorithm[:40] or "—")
    expected = _Expected((await issuer.about()).issuer, client_id, algorithm)
    claims = expected.read(token, _fitting(await issuer.keys(), name, algorithm))
    if claims is None:  # the issuer may have changed its keys since
        claims = expected.read(token, _fitting(await issuer.keys(anew=True), name, algorithm))
    if claims is None:
        raise _wrong("signin.wrong_signature")
    given = claims.get("nonce")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
        raise _wrong("signin.wrong_nonce")
    return claims


def _header(token: str) -> Mapping[str, Any]:
    try:
        if len(token) > MAX_TOKEN:
            raise _wrong("signin.unreadable_token")
        return jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise _wrong("signin.unreadable_token") from None


def _fitting(keys: Sequence[Mapping[str, Any]], name: Any, algorithm: str) -> list[jwt.PyJWK]:
    """Return the keys that may have signed: the one of that name, or all where the token names none."""
    found = []
    for key in keys:
        usable = key.get("kty") in _ASYMMETRIC and key.get("use", "sig") == "sig"
        if not usable or (name is not None and key.get("kid") != name) or key.get("alg", algorithm) != algorithm:
            continue
        try:
            found.append(jwt.PyJWK(dict(key), algorithm))
        except (jwt.PyJWTError, ValueError, TypeError):  # of another kind than the algorithm wants
            continue
    return found


@dataclass(frozen=True, slots=True)
class _Expected:
    """What must be so of a token."""

    issuer: str
    client_id: str
    algorithm: str

    def read(self, token: str, keys: Sequence[jwt.PyJWK]) -> dict[str, Any] | None:
        """Return the claims that a key of the issuer has signed; None where none of them has."""
        for key in keys:
            try:
                claims = jwt.decode(
                    token,
                    key,
                    algorithms=[self.algorithm],
                    audience=self.client_id,
                    issuer=self.issuer,
                    leeway=SKEW_SECONDS,
                    options={"require": list(_NEEDED)},
                )
            except (jwt.InvalidSignatureError, jwt.InvalidKeyError):
                continue
            except jwt.PyJWTError as error:
                raise _reason(error) from None
            # Made out to several, it is another's who shows it here.
            if claims.get("azp", self.client_id) != self.client_id:
                raise _wrong("signin.wrong_audience")
            return claims
        return None


def _reason(error: jwt.PyJWTError) -> IssuerFailed:
    match error:
        case jwt.ExpiredSignatureError():
            return _wrong("signin.expired_token", seconds=SKEW_SECONDS)
        case jwt.ImmatureSignatureError() | jwt.InvalidIssuedAtError():
            return _wrong("signin.early_token", seconds=SKEW_SECONDS)
        case jwt.InvalidAudienceError():
            return _wrong("signin.wrong_audience")
        case jwt.InvalidIssuerError():
            return _wrong("signin.wrong_issuer")
        case jwt.MissingRequiredClaimError() | InvalidSubjectError():
            return _wrong("signin.incomplete_token", needed=", ".join(_NEEDED))
        case _:
            return _wrong("signin.unreadable_token")


def _wrong(code: str, **values: str | int) -> IssuerFailed:
    return IssuerFailed(Fact(code, **values))
