"""Web pages and desktop programs of other origins: those that the operator names may call, others may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from tests.support.web_server import WebServer

APP = "https://app.example"
DESKTOP = "app://obsidian.md"
TOKEN = "tok-alice-0123456789"
ORIGINS = f"{APP}/, {DESKTOP}"


@pytest.fixture(scope="module", params=[None, f"alice:{TOKEN}"], ids=["without tokens", "with tokens"])
def server(request: pytest.FixtureRequest) -> Iterator[WebServer]:
    with WebServer.over("tavily", tokens=request.param, allowed_origins=ORIGINS) as server:
        yield server


def preflight(server: WebServer, origin: str, path: str = "/v1/chat/completions") -> httpx.Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, x-stainless-lang",
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "cors",
    }
    return server.client.options(path, headers=headers)


def search(server: WebServer, origin: str, **headers: str) -> httpx.Response:
    given = {"Authorization": f"Bearer {TOKEN}", "Origin": origin, "Sec-Fetch-Site": "cross-site", **headers}
    return server.client.post("/api/search", json={"query": "x"}, headers=given)


@pytest.mark.parametrize("origin", [APP, DESKTOP])
def test_those_that_are_named_may_call(server: WebServer, origin: str) -> None:
    asked = preflight(server, origin)
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == origin
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert "x-stainless-lang" in asked.headers["access-control-allow-headers"]
    assert "origin" in asked.headers["vary"].lower()
    answer = search(server, origin)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == origin
    assert "x-request-id" in answer.headers["access-control-expose-headers"].lower()
    # They may read why something is refused, too.
    wrong = server.client.get("/nothing", headers={"Origin": origin, "Authorization": f"Bearer {TOKEN}"})
    assert wrong.status_code == 404
    assert wrong.headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("origin", ["https://evil.example", "http://app.example", "https://app.example.evil", "null"])
def test_others_may_not(server: WebServer, origin: str) -> None:
    for answer in (preflight(server, origin), search(server, origin)):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert preflight(server, origin).status_code in {401, 403, 404, 405}


def test_the_advice_of_the_refusal_is_true() -> None:
    with WebServer.over("tavily") as server:
        refused = search(server, APP)
        assert refused.status_code == 403
        assert "QIUSUO_ALLOWED_ORIGINS" in refused.json()["fix"]
    with WebServer.over("tavily", allowed_origins=APP) as server:
        assert search(server, APP).status_code == 200
        # Nothing else may be done in its name: no picture of it says where it comes from.
        hidden = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert server.client.get("/search?q=x&format=json", headers=hidden).status_code == 403


def test_any_origin_only_with_tokens() -> None:
    with WebServer.over("tavily", tokens=f"alice:{TOKEN}", allowed_origins="*") as server:
        assert preflight(server, "https://any.example").headers["access-control-allow-origin"] == "https://any.example"
        assert search(server, "https://any.example").status_code == 200
    wrong: Any
    for wrong in ("*", "app.example", "https://app.example/path"):
        with pytest.raises((ConfigurationError, ValidationError)):
            Settings.load(allowed_origins=wrong)
