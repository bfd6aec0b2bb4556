"""The OpenAPI document: complete, without anything from outside, and true (schemathesis)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from qiusuo import SearchService
from qiusuo.web.app import create_app
from tests.support.examples import examples
from tests.support.web_server import WebServer, page_site

pytest_plugins = ["tests.support.legal_fixtures"]


@pytest.fixture(scope="module")
def server(sample_folder: Path) -> Iterator[WebServer]:
    legal_dir = str(sample_folder)
    with page_site() as (_, reader), WebServer.over("tavily", "brave", reader=reader, legal_dir=legal_dir) as server:
        yield server


@pytest.fixture(scope="module")
def document(server: WebServer) -> Any:
    return server.client.get("/openapi.json").json()


def offline_document() -> dict[str, Any]:
    """Return the document without a server."""
    with pytest.MonkeyPatch.context() as clean:
        for name in [name for name in os.environ if name.startswith(("QIUSUO_", "SEARCH_"))]:
            clean.delenv(name)
        clean.setenv("XDG_CONFIG_HOME", os.devnull)
        return create_app(SearchService([]), extensions=()).openapi()


def test_it_can_be_had_without_a_server(document: Any) -> None:
    assert offline_document() == document


def test_every_endpoint_is_there(document: Any) -> None:
    operations = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert operations == {
        ("POST", "/api/search"),
        ("GET", "/api/engines"),
        ("GET", "/api/health"),
        ("GET", "/api/settings"),
        ("PATCH", "/api/settings"),
        ("POST", "/api/settings/test"),
        ("POST", "/api/settings/models"),
        ("GET", "/api/settings/found"),
        ("GET", "/api/doctor"),
        ("POST", "/api/doctor/repair"),
        ("GET", "/healthz"),
        ("GET", "/livez"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/search"),
        ("POST", "/search"),
        ("GET", "/config"),
        ("POST", "/tavily/search"),
        ("POST", "/tavily/extract"),
        ("GET", "/api/legal/packs"),
        ("POST", "/api/legal/packs/{name}"),
        ("DELETE", "/api/legal/packs/{name}"),
        ("POST", "/api/legal/regulations"),
        ("POST", "/api/legal/cases"),
        ("GET", "/api/legal/cases/{id}"),
        ("GET", "/api/legal/card"),
        ("GET", "/api/legal/diff"),
        ("GET", "/api/legal/stats"),
    }


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The document of a server with all that is installed."""
    return create_app(SearchService([])).openapi()


def test_what_extensions_offer_is_there_too(whole: Any) -> None:
    for path in ("/v1/chat/completions", "/v1/responses", "/mcp"):
        operation = whole["paths"][path]["post"]
        assert operation["description"]
        assert operation["requestBody"]["content"]["application/json"]["schema"]["type"] == "object"
    assert whole["paths"]["/v1/models"]["get"]["responses"]["200"]
    asked = whole["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"model", "messages", "tools", "search", "references"} <= set(asked["properties"])


@pytest.mark.parametrize("which", ["document", "whole"])
def test_every_status_has_its_schema(which: str, request: pytest.FixtureRequest) -> None:
    document = request.getfixturevalue(which)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["description"]
            assert "422" not in operation["responses"]
            assert {"401", "403", "413", "421"} <= set(operation["responses"]), path
            assert {"200", "201", "204"} & set(operation["responses"]), path
            for status, answer in operation["responses"].items():
                assert ("content" in answer) is (status != "204"), (path, status)
    assert set(document["paths"]["/api/search"]["post"]["responses"]) == {
        "200", "400", "401", "403", "413", "421", "429", "502", "503", "504",
    }  # fmt: skip


def test_tokens_are_part_of_it(document: Any) -> None:
    assert document["security"] == [{}, {"token": []}]
    with WebServer.over("tavily", tokens="a:tok-0123456789abcdef") as guarded:
        headers = {"Authorization": "Bearer tok-0123456789abcdef"}
        protected = httpx.get(f"{guarded.url}/openapi.json", headers=headers, trust_env=False).json()
    assert protected["security"] == [{"token": []}]
    assert protected["paths"]["/healthz"]["get"]["security"] == []
    assert protected["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_nothing_is_loaded_from_elsewhere(server: WebServer) -> None:
    for path in ("/redoc", "/docs/oauth2-redirect"):
        assert server.client.get(path).status_code == 404
    guide = server.client.get("/docs")  # our own pages stand there
    assert "script-src 'self'" in guide.headers["content-security-policy"]
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//", guide.text)


@pytest.fixture(scope="module")
def described(document: Any) -> Any:
    return schemathesis.openapi.from_dict(document)


# By a fixture: what is tried is worked out where it is run, and not by each process that collects tests.
operations = schemathesis.pytest.from_fixture("described")
thoroughly = settings(examples(0.1), derandomize=True, suppress_health_check=list(HealthCheck))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.unsupported_method,
]


@operations.include(path_regex="^/api/").parametrize()
@thoroughly
def test_the_server_keeps_to_it(case: schemathesis.Case[Any], server: WebServer) -> None:
    case.call_and_validate(base_url=server.url, checks=[*CHECKS, schemathesis.checks.negative_data_rejection])


@operations.exclude(path_regex="^/api/").parametrize()
@thoroughly
def test_what_stands_in_for_others_is_as_lenient_as_they_are(case: schemathesis.Case[Any], server: WebServer) -> None:
    case.call_and_validate(base_url=server.url, checks=CHECKS)
