"""Why somebody could not be signed in."""

from __future__ import annotations

from qiusuo.errors import SearchError


class SignInError(SearchError):
    """A sign-in came to nothing."""


class IssuerFailed(SignInError):
    """The issuer does not answer, or says what cannot be believed."""


class NotAdmitted(SignInError):
    """The issuer knows the person, but this server does not let them in."""
