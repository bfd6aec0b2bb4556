"""Whom an issuer's claims stand for here, and whether they may come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.config.sign_in import SignInSettings
from qiusuo.people.names import LONGEST_NAME, usable_name
from qiusuo.people.openid.errors import IssuerFailed, NotAdmitted
from qiusuo.people.person import Role
from qiusuo.words import Fact

MOST_GROUPS: Final = 500
LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom an issuer knows. ``email`` is there only where the issuer says that it is verified."""

    issuer: str
    subject: str
    name: str
    email: str = ""
    groups: tuple[str, ...] = ()

    def role(self, settings: SignInSettings) -> Role:
        """Return what they may do; never by a name that they may have chosen themselves."""
        named = {self.email, self.subject} & set(settings.operators or ())
        runs = named or set(self.groups) & set(settings.operator_groups or ())
        return Role.OPERATOR if runs else Role.USER

    def admit(self, settings: SignInSettings) -> None:
        """Let somebody in.

        Raises:
            NotAdmitted: the settings do not.
        """
        wanted, domains = settings.oidc_allowed_groups, settings.oidc_allowed_domains
        if wanted and not set(wanted) & set(self.groups):
            raise NotAdmitted(Fact("signin.not_in_group", name=self.name))
        if domains and self.email.rpartition("@")[2].lower() not in domains:
            raise NotAdmitted(Fact("signin.not_of_domain", name=self.name))


def identity_of(claims: Mapping[str, Any], issuer: str, settings: SignInSettings) -> Identity:
    """Return whom claims stand for.

    Raises:
        NotAdmitted: they have no name that can be used.
        IssuerFailed: the subject cannot be kept.
    """
    subject = str(claims["sub"])
    if not subject.strip() or len(subject) > LONGEST:
        raise IssuerFailed(Fact("signin.bad_subject", most=LONGEST))
    given = claims.get("email")
    verified = claims.get("email_verified") in (True, "true")
    email = given if isinstance(given, str) and verified and len(given) <= LONGEST else ""
    wanted = settings.oidc_name_claim
    named = email if wanted == "email" else _found(claims, wanted)
    text = next((each for each in (named, email, subject) if isinstance(each, str) and each.strip()), "")
    name = usable_name(text)
    if name is None:
        raise NotAdmitted(Fact("signin.bad_name", most=LONGEST_NAME))
    return Identity(issuer, subject, name, email, groups_of(claims, settings.oidc_groups_claim))


def groups_of(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Return the groups in a claim: a list, or one alone."""
    found = _found(claims, claim)
    given = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return tuple(each for each in given if isinstance(each, str) and 0 < len(each) <= LONGEST)[:MOST_GROUPS]


def lacks(claims: Mapping[str, Any], settings: SignInSettings) -> bool:
    """Tell whether something is missing that the issuer may say elsewhere."""
    groups = (settings.operator_groups or settings.oidc_allowed_groups) and not groups_of(
        claims, settings.oidc_groups_claim
    )
    mail = settings.oidc_allowed_domains and "email" not in claims
    return bool(groups or mail) or _found(claims, settings.oidc_name_claim) is None


def _found(claims: Mapping[str, Any], path: str) -> Any:
    """Return a claim by its name, or by the way to it, such as ``realm_access.roles``."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
