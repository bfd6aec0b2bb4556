"""The issuer at which people sign in."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlsplit

from qiusuo.commands import install_command
from qiusuo.config.server import is_loopback
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import SearchError
from qiusuo.people.openid.issuer import Issuer
from qiusuo.words import Fact


async def check_sign_in(context: Examination) -> list[Finding]:
    """Look whether people can sign in: what is set, what is installed, and what the issuer says of itself."""
    settings = context.settings
    if not settings.oidc_issuer:
        return []
    given = {
        "QIUSUO_OIDC_CLIENT_ID": settings.oidc_client_id,
        "QIUSUO_OIDC_CLIENT_SECRET": settings.oidc_client_secret,
    }
    missing = [variable for variable, value in given.items() if not value]
    if missing:
        return [_unusable(Fact("signin.incomplete", variable=missing[0]))]
    if any(find_spec(package) is None for package in ("jwt", "cryptography", "sqlalchemy")):
        return [_unusable(Fact("signin.not_installed"), install_command("qiusuo[signin]"))]
    found = []
    address = urlsplit(settings.oidc_issuer)
    if address.scheme == "http" and not is_loopback(address.hostname or ""):
        found.append(Finding("signin.plain_http", Level.WARNING, {"issuer": settings.oidc_issuer}))
    if not context.quick:
        found.append(await _asked(settings.oidc_issuer))
    return found


async def _asked(url: str) -> Finding:
    issuer = Issuer(url)
    try:
        await issuer.about()
        await issuer.keys()
    except SearchError as error:
        return _unusable(error.fact)
    finally:
        await issuer.aclose()
    return Finding("signin.ok", Level.OK, {"issuer": url})


def _unusable(reason: Fact, *commands: str) -> Finding:
    return Finding("signin.unusable", Level.PROBLEM, {"reason": reason}, commands)
