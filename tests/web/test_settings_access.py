"""Who may read and change settings, and that nobody ever reads a key."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from qiusuo.config import Settings
from qiusuo.config.server import TokenEntry
from qiusuo.errors import ConfigurationError
from qiusuo.kit.files import default_folder
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.settings_world import SettingsServer, config_path, settings_server

ANN, BOB, CAT = "ann-0123456789abcdef", "bob-0123456789abcdef", "cat:0123456789abcdef"
TOKENS = f"ann:{ANN}:operator,bob:{BOB}:user,cat:{CAT}"
CALLS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/api/settings", None),
    ("PATCH", "/api/settings", {"set": {"timeout": 3}}),
    ("POST", "/api/settings/test", {"kind": "model", "model": "extractive"}),
    ("POST", "/api/settings/models", {"provider": "ollama"}),
    ("GET", "/api/settings/found", None),
    ("GET", "/api/doctor", None),
    ("POST", "/api/doctor/repair", {"code": "searxng.json_off"}),
    ("GET", "/api/legal/packs", None),
    ("DELETE", "/api/legal/packs/just-laws", None),
]
EVERY_CALL = pytest.mark.parametrize(("method", "path", "body"), CALLS)


@pytest.fixture(scope="module")
def server() -> Iterator[SettingsServer]:
    with settings_server() as it:
        yield it


@pytest.fixture(scope="module")
def guarded() -> Iterator[SettingsServer]:
    with settings_server(tokens=TOKENS, operators="dora") as it:
        yield it


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class TestWho:
    @EVERY_CALL
    def test_others_are_refused(self, server: SettingsServer, method: str, path: str, body: Any) -> None:
        for headers in ({"X-Forwarded-For": "203.0.113.9"}, {"Forwarded": "for=1"}, {"Via": "1.1 proxy"}):
            answer = server.client.request(method, path, json=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "web.not_from_here")

    @EVERY_CALL
    def test_where_there_are_tokens_only_an_operators_will_do(
        self, guarded: SettingsServer, method: str, path: str, body: Any
    ) -> None:
        assert guarded.client.request(method, path, json=body).status_code == 401, "loopback alone is not enough"
        for token in (BOB, CAT):
            answer = guarded.client.request(method, path, json=body, headers=bearer(token))
            assert (answer.status_code, answer.json()["code"]) == (403, "web.not_operator")

    def test_an_operators_token_will_do_from_anywhere(self, guarded: SettingsServer) -> None:
        brought = {**bearer(ANN), "X-Forwarded-For": "203.0.113.9"}
        assert guarded.client.get("/api/settings", headers=brought).status_code == 200
        assert guarded.patch({"timeout": 3}, **brought).status_code == 200
        assert guarded.client.get("/api/settings", headers=bearer(f"{ANN}:operator")).status_code == 401

    @EVERY_CALL
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
        ],
    )
    def test_pages_of_others_are_refused_with_any_token(
        self, guarded: SettingsServer, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> None:
        answer = guarded.client.request(method, path, json=body, headers={**bearer(ANN), **headers})
        assert answer.status_code == 403

    def test_pages_that_may_search_may_not_set(self) -> None:
        with settings_server(allowed_origins="https://app.example") as it:
            headers = {"Origin": "https://app.example"}
            assert it.client.get("/api/engines", headers=headers).status_code == 200
            assert it.client.get("/api/settings", headers=headers).status_code == 403
            assert it.patch({"timeout": 3}, **headers).status_code == 403
            own = {"Origin": it.url, "Sec-Fetch-Site": "same-origin"}
            assert it.patch({"timeout": 3}, **own).status_code == 200

    def test_a_name_that_is_pointed_here_is_nobody(self) -> None:
        with settings_server(allow_open=True, host="0.0.0.0") as it:  # noqa: S104 - the test listens on loopback
            assert it.client.get("/api/settings").status_code == 200
            rebound = {"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}
            assert it.client.get("/api/settings", headers=rebound).status_code == 403

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
    def test_writing_wants_json(self, server: SettingsServer, kind: str) -> None:
        answer = server.client.patch("/api/settings", content=b'{"set": {}}', headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["code"]) == (415, "web.json_wanted")


class TestRoles:
    @pytest.mark.parametrize(
        ("text", "entry"),
        [
            ("a:token", ("a", "token", "")),
            ("a:token:operator", ("a", "token", "operator")),
            ("a:token:user", ("a", "token", "user")),
            ("a:token:metrics", ("a", "token", "metrics")),
            ("a:to:ken", ("a", "to:ken", "")),
            ("a:token:operators", ("a", "token:operators", "")),
            ("token", ("", "token", "")),
            ("a:operator", ("a", "operator", "")),
        ],
    )
    def test_an_entry_is_taken_apart(self, text: str, entry: tuple[str, str, str]) -> None:
        assert TokenEntry.read(text) == entry

    def test_a_colon_and_a_role_are_too_much(self) -> None:
        with pytest.raises(ConfigurationError) as caught:
            Settings.load(tokens="a:0123456789:abcdef:operator")
        assert caught.value.fact.values["problems"][0].values["problem"].code == "settings.token_role"

    def test_of_two_tokens_of_one_name_the_lesser_role_counts(self) -> None:
        with settings_server(tokens=f"ann:{ANN}:operator,ann:{BOB}") as it:
            assert it.client.get("/api/settings", headers=bearer(BOB)).status_code == 403
            assert it.client.get("/api/settings", headers=bearer(ANN)).status_code == 403


PLANTED = {
    "model_api_key": "planted-model-key",
    "tokens": "planted-token-0123456789",
    "redis_url": "planted-redis-password",
    "searxng_url": "planted-searxng-password",
    "tavily": "planted-tavily-key",
    "basic_auth": "planted-basic-password",
    "headers": "planted-header-value",
    "other": "planted-other-key",
    "unknown": "planted-unknown-secret",
    "web_search": "planted-tool-key",
}
FILE = f"""
model = "compatible:x"
model_base_url = "http://user:{PLANTED["unknown"]}@127.0.0.1:9/v1"
model_api_key = "{PLANTED["model_api_key"]}"
tokens = ["ann:{PLANTED["tokens"]}:operator"]
searxng_url = "http://me:{PLANTED["searxng_url"]}@127.0.0.1:9"
provider_priority = ["searxng", "tavily"]
[engines.tavily]
api_key = "{PLANTED["tavily"]}"
base_url = "http://me:{PLANTED["unknown"]}@127.0.0.1:9"
[engines.searxng]
basic_auth = "me:{PLANTED["basic_auth"]}"
headers = {{X-Token = "{PLANTED["headers"]}"}}
[models.other]
model = "compatible:y"
base_url = "http://127.0.0.1:9/v1"
api_key = "{PLANTED["other"]}"
[web_search]
apiKey = "{PLANTED["web_search"]}"
"""


class TestSecrecy:
    def test_no_key_is_ever_read(self, caplog: pytest.LogCaptureFixture) -> None:
        config_path().parent.mkdir(parents=True)
        config_path().write_text(FILE)
        config_path().chmod(0o600)
        texts: list[str] = []
        with caplog.at_level(logging.DEBUG), settings_server() as it:
            it.client.headers.update(bearer(PLANTED["tokens"]))
            for method, path, body in (*CALLS, *OTHERS):
                answer = it.client.request(method, path, json=body)
                assert answer.status_code not in {401, 403, 404, 500}, path
                texts += [answer.text, str(answer.headers)]
            config_path().write_text(FILE + 'model = "twice"\n')
            texts += [it.client.get("/api/settings").text, it.patch({"timeout": 4}).text]
            config_path().write_text(FILE.replace('tokens = ["ann:', 'tokens = ["ann:short:'))
            texts += [it.client.get("/api/settings").text, it.client.get("/api/doctor").text]
        texts.append(caplog.text)
        for text in texts:
            for planted in PLANTED.values():
                assert planted not in text


OTHERS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/api/health", None),
    ("GET", "/api/engines", None),
    ("GET", "/openapi.json", None),
    ("GET", "/metrics", None),
    ("GET", "/config", None),
    ("POST", "/api/search", {"query": "x"}),
    ("PATCH", "/api/settings", {"set": {"model_base_url": "http://127.0.0.1:10/v1"}}),
    ("PATCH", "/api/settings", {"set": {"searxng_url": "http://127.0.0.1:10"}}),
    ("PATCH", "/api/settings", {"set": {"engines.tavily.base_url": "http://127.0.0.1:10"}}),
    ("PATCH", "/api/settings", {"set": {"models.other.api_key": PLANTED["other"] + "\n\n x", "timeout": "x"}}),
    ("PATCH", "/api/settings", {"set": 5}),
    ("POST", "/api/settings/test", {"kind": "model", "name": ""}),
    ("POST", "/api/settings/test", {"kind": "model", "name": "other"}),
    ("POST", "/api/settings/test", {"kind": "engine", "name": "tavily"}),
    ("POST", "/api/settings/test", {"kind": "searxng"}),
]


class TestDoctor:
    def test_a_finding_is_repaired(self, monkeypatch: pytest.MonkeyPatch) -> None:
        searxng = Searxng()
        searxng.json_on = False
        with ProviderServer(searxng) as provider:
            monkeypatch.setenv("SEARXNG_URL", provider.url)
            file = default_folder(os.environ).settings
            file.parent.mkdir(parents=True)
            file.write_text(
                f"use_default_settings: true\nserver:\n  port: {provider.port}\nsearch:\n  formats: [html]\n"
            )
            with settings_server() as it:
                found = {one["code"]: one for one in it.client.get("/api/doctor").json()["findings"]}
                assert found["searxng.json_off"]["repair"]
                assert not any(one["repair"] for code, one in found.items() if code != "searxng.json_off")
                answer = it.client.post("/api/doctor/repair", json={"code": "searxng.json_off"})
                assert answer.status_code == 200
                assert "json" in file.read_text()
                refused = it.client.post("/api/doctor/repair", json={"code": "model.none"})
                assert (refused.status_code, refused.json()["code"]) == (400, "web.no_repair")
