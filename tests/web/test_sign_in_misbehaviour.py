"""An issuer that misbehaves, is slow, down or huge: nobody comes in, and people are told why."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest

import qiusuo.people.openid.issuer as issuer_module
from qiusuo.people.openid.errors import IssuerFailed
from qiusuo.people.openid.id_token import SKEW_SECONDS
from qiusuo.people.openid.issuer import FAILED_SECONDS, Issuer
from tests.support.openid_issuer import IssuerDouble
from tests.support.sign_in_world import Browser, issuer_double, serving, told
from tests.support.web_server import WebServer

Change = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerDouble]:
    with issuer_double() as it:
        yield it


@pytest.fixture(scope="module")
def server(issuer: IssuerDouble) -> Iterator[WebServer]:
    with serving(issuer) as it:
        yield it


@pytest.fixture(autouse=True)
def well_behaved_again(issuer: IssuerDouble) -> Iterator[None]:
    yield
    issuer.claims, issuer.sign = (lambda claims: claims), None
    issuer.answers.clear()


def refused(server: WebServer) -> tuple[int, str]:
    with Browser(server) as browser:
        answer = browser.sign_in()
        assert browser.who().status_code == 401
        return answer.status_code, told(answer)


def without(name: str) -> Change:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


def with_(**more: Any) -> Change:
    return lambda claims: {**claims, **more}


NOW = int(time.time())  # the tests may run much later than they are collected
DAY = 86_400


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        (with_(aud="another"), "signin.wrong_audience"),
        (with_(aud=["another", "third"]), "signin.wrong_audience"),
        (with_(aud=["qiusuo", "another"], azp="another"), "signin.wrong_audience"),
        (with_(iss="https://evil.example"), "signin.wrong_issuer"),
        (lambda claims: {**claims, "iss": claims["iss"] + "/"}, "signin.wrong_issuer"),
        (with_(nonce="another"), "signin.wrong_nonce"),
        (without("nonce"), "signin.wrong_nonce"),
        (with_(exp=NOW - SKEW_SECONDS - 60, iat=NOW - 1000), "signin.expired_token"),
        (with_(iat=NOW + DAY, exp=NOW + 2 * DAY), "signin.early_token"),
        (with_(nbf=NOW + DAY), "signin.early_token"),
        (without("exp"), "signin.incomplete_token"),
        (without("sub"), "signin.incomplete_token"),
        (with_(sub="s" * 300), "signin.bad_subject"),
        (with_(sub=" "), "signin.bad_subject"),
        (with_(sub=7), "signin.incomplete_token"),
    ],
)
def test_wrong_claims(server: WebServer, issuer: IssuerDouble, claims: Change, code: str) -> None:
    issuer.claims = claims
    assert refused(server) == (502, code)


def test_a_clock_that_is_a_little_off(server: WebServer, issuer: IssuerDouble) -> None:
    now = int(time.time())
    for claims in (with_(exp=now - SKEW_SECONDS + 60), with_(iat=now + SKEW_SECONDS - 60, exp=now + 600)):
        issuer.claims = claims
        with Browser(server) as browser:
            assert browser.sign_in().status_code == 303


def _unsigned(_issuer: IssuerDouble, claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "", algorithm="none")


def _by_the_public_key(issuer: IssuerDouble, claims: dict[str, Any]) -> str:
    """As a stranger could who knows only what everybody may."""

    def part(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    head = part(json.dumps({"alg": "HS256", "kid": issuer.kid, "typ": "JWT"}).encode())
    signed = head + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.digest(issuer.public_pem(), signed, "sha256"))).decode()


@pytest.mark.parametrize(
    ("sign", "code"),
    [
        (_unsigned, "signin.wrong_algorithm"),
        (_by_the_public_key, "signin.wrong_algorithm"),
        (lambda issuer, claims: issuer.signed(claims, key=1 - issuer.key), "signin.wrong_signature"),
        (lambda issuer, claims: issuer.signed(claims)[:-8] + "AAAAAAAA", "signin.wrong_signature"),
        (lambda _issuer, _claims: "no.token", "signin.unreadable_token"),
        (lambda _issuer, _claims: "x" * 100_000, "signin.unreadable_token"),
        (lambda _issuer, _claims: None, "signin.no_id_token"),
    ],
    ids=["none", "HS256 with the public key", "another key", "torn", "no token", "huge", "absent"],
)
def test_wrong_signatures(server: WebServer, issuer: IssuerDouble, sign: Any, code: str) -> None:
    issuer.sign = sign
    assert refused(server) == (502, code)


def test_keys_that_are_changed(server: WebServer, issuer: IssuerDouble) -> None:
    with Browser(server) as browser:
        assert browser.sign_in().status_code == 303
        issuer.rotate()
        before = issuer.seen.count("certs")
        assert browser.sign_in().status_code == 303
        assert browser.sign_in().status_code == 303
        assert issuer.seen.count("certs") == before + 1


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"token": (500, b"oops")}, "signin.issuer_failed"),
        ({"token": (200, b"<html>")}, "signin.issuer_failed"),
        ({"token": (200, b"[]")}, "signin.no_id_token"),
        ({"token": (401, b'{"error": "invalid_client"}')}, "signin.code_refused"),
        ({"token": (302, b"")}, "signin.issuer_failed"),
        ({"token": (200, b"x" * 400_000)}, "signin.issuer_failed"),
    ],
)
def test_an_exchange_that_fails(
    server: WebServer, issuer: IssuerDouble, answers: dict[str, tuple[int, bytes]], code: str
) -> None:
    issuer.answers.update(answers)
    assert refused(server) == (502, code)


def begun(issuer: IssuerDouble, **settings: Any) -> tuple[int, str]:
    with serving(issuer, **settings) as server, Browser(server) as browser:
        answer = browser.get("/signin")
        return answer.status_code, told(answer)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (lambda said: {**said, "issuer": "https://evil.example"}, "signin.other_issuer"),
        (lambda said: {**said, "issuer": None}, "signin.other_issuer"),
        (lambda _said: [], "signin.discovery_form"),
        (lambda said: {**said, "token_endpoint": None}, "signin.discovery_address"),
        (lambda said: {**said, "authorization_endpoint": "javascript:alert(1)"}, "signin.discovery_address"),
        (lambda said: {**said, "end_session_endpoint": "file:///etc/passwd"}, "signin.discovery_address"),
    ],
)
def test_an_issuer_that_describes_itself_wrongly(said: Any, code: str) -> None:
    with issuer_double(discovery=said) as issuer:
        assert begun(issuer) == (502, code)


def test_an_issuer_that_names_a_place_of_credentials() -> None:
    double = issuer_double(discovery=lambda said: {**said, "jwks_uri": "http://169.254.169.254/latest"})
    with double as issuer, serving(issuer) as server:
        assert refused(server) == (502, "signin.issuer_failed")


def test_an_issuer_that_is_slow_down_or_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer_module, "ISSUER_SECONDS", 0.3)
    monkeypatch.setattr(issuer_module, "FAILED_SECONDS", 0.0)
    with issuer_double() as issuer, serving(issuer) as server, Browser(server) as browser:
        issuer.silent.add("openid-configuration")
        assert told(browser.get("/signin")) == "signin.issuer_failed"
        issuer.silent.clear()
        issuer.answers["openid-configuration"] = (200, b" " * 400_000)
        assert told(browser.get("/signin")) == "signin.issuer_failed"
        issuer.answers.clear()
        assert browser.sign_in().status_code == 303, "as soon as it is well again"
        issuer.__exit__()
        assert browser.who().status_code == 200, "who is in stays in"
        assert browser.post("/signout").status_code == 200
        assert browser.who().status_code == 401
    with issuer_double() as issuer:
        settings = issuer.settings
    with serving(issuer, **settings) as server, Browser(server) as browser:
        answer = browser.get("/signin", headers={"Accept-Language": "zh"})
        assert (answer.status_code, told(answer)) == (502, "signin.issuer_failed")
        assert "没有登录成功" in answer.text


def test_a_silent_issuer_is_not_waited_for_by_one_after_the_other() -> None:
    async def failures(issuer: Issuer, count: int) -> list[str]:
        asked = await asyncio.gather(*(issuer.about() for _ in range(count)), return_exceptions=True)
        return [each.fact.code for each in asked if isinstance(each, IssuerFailed)]

    async def film(double: IssuerDouble) -> None:
        now = 0.0
        issuer = Issuer(double.url, clock=lambda: now)
        assert await failures(issuer, 20) == ["signin.issuer_failed"] * 20
        assert double.seen == ["openid-configuration"]
        double.answers.clear()
        assert await failures(issuer, 1) == ["signin.issuer_failed"]
        now += FAILED_SECONDS
        assert await failures(issuer, 1) == []
        await issuer.aclose()

    with issuer_double(answers={"openid-configuration": (503, b"")}) as double:
        asyncio.run(film(double))


def test_settings_that_are_not_whole() -> None:
    with issuer_double() as issuer:
        assert begun(issuer, oidc_client_id=None) == (503, "signin.incomplete")
        assert begun(issuer, oidc_client_secret=None) == (503, "signin.incomplete")
        with serving(issuer, oidc_client_secret="wrong") as server:
            assert refused(server) == (502, "signin.code_refused")


def test_a_slash_at_the_end_of_the_issuer_is_no_other_issuer() -> None:
    with issuer_double() as issuer, serving(issuer, oidc_issuer=issuer.url + "/") as server, Browser(server) as browser:
        assert browser.sign_in().status_code == 303
        assert browser.who().status_code == 200
