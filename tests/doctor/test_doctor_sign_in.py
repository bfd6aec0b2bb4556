"""The check of the issuer at which people sign in."""

from __future__ import annotations

from typing import Any

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine
from qiusuo.words import Fact, Language
from tests.support.openid_issuer import CLIENT_SECRET
from tests.support.sign_in_world import issuer_double

pytestmark = pytest.mark.usefixtures("own_data_folder")
LEFT_OUT = ("settings", "plugins", "files", "search", "searxng", "providers", "model", "redis", "chrome", "clock")


async def look(*, quick: bool = False, **settings: Any) -> list[Finding]:
    """Return what the doctor says about the sign-in."""
    found = await examine(Settings.load(**settings), quick=quick, leave_out=LEFT_OUT)
    mine = [one for one in found if one.code.startswith("signin.")]
    assert CLIENT_SECRET not in repr(mine) + "".join(
        str(one.to_dict(language)) for one in mine for language in Language
    )
    return mine


def reason(found: list[Finding]) -> str:
    [finding] = found
    assert (finding.code, finding.level) == ("signin.unusable", Level.PROBLEM)
    why = finding.values["reason"]
    assert isinstance(why, Fact)
    return why.code


async def test_nothing_is_said_where_nobody_signs_in() -> None:
    assert await look() == []


async def test_an_issuer_that_is_well() -> None:
    with issuer_double() as issuer:
        assert [one.code for one in await look(**issuer.settings)] == ["signin.ok"]
        before = len(issuer.seen)
        assert await look(quick=True, **issuer.settings) == []
        assert len(issuer.seen) == before, "in a hurry nobody is asked"


@pytest.mark.parametrize("name", ["oidc_client_id", "oidc_client_secret"])
async def test_a_setting_that_is_missing(name: str) -> None:
    with issuer_double() as issuer:
        found = await look(quick=True, **{**issuer.settings, name: None})
        assert reason(found) == "signin.incomplete"
        assert f"QIUSUO_{name.upper()}" in found[0].wording().what


async def test_an_issuer_that_is_down() -> None:
    with issuer_double() as issuer:
        settings = issuer.settings
    assert reason(await look(**settings)) == "signin.issuer_failed"


async def test_an_issuer_that_is_another_one() -> None:
    with issuer_double(discovery=lambda said: {**said, "issuer": "https://sso.example.com"}) as issuer:
        found = await look(**issuer.settings)
        assert reason(found) == "signin.other_issuer"
        assert "https://sso.example.com" in found[0].wording().what


async def test_an_issuer_without_keys() -> None:
    with issuer_double(answers={"certs": (200, b'{"keys": []}')}) as issuer:
        assert reason(await look(**issuer.settings)) == "signin.no_keys"


async def test_an_issuer_without_https() -> None:
    settings = {"oidc_issuer": "http://sso.example.com", "oidc_client_id": "a", "oidc_client_secret": "b"}
    [finding] = await look(quick=True, **settings)
    assert (finding.code, finding.level) == ("signin.plain_http", Level.WARNING)
