"""People whom a trusted proxy names in a header: believed from it alone, and from nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.serving.command import listen
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from tests.support import reverse_proxies
from tests.support.reverse_proxies import with_nginx
from tests.support.settings_world import settings_server
from tests.support.web_server import WebServer
from tests.web.test_proxies import STRANGER, calling_from

TOKENS = "ann:tok-ann-0123456789,root:tok-root-0123456789:operator"
SETTINGS: dict[str, Any] = {
    "trusted_proxies": "127.0.0.1",
    "proxy_user_header": "X-Forwarded-User",
    "proxy_groups_header": "X-Forwarded-Groups",
    "operator_groups": "admins",
    "operators": "olga",
}
TOKEN = {"Authorization": "Bearer tok-ann-0123456789"}


def named(name: str, groups: str | None = None, **more: str) -> dict[str, str]:
    return {"X-Forwarded-User": name, **({"X-Forwarded-Groups": groups} if groups is not None else {}), **more}


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    extensions = [chat_extension(store=open_store("sqlite://")), mcp_extension]
    with WebServer.over("searxng", extensions=extensions, tokens=TOKENS, **SETTINGS) as it:
        yield it


def config(client: httpx.Client, headers: dict[str, str]) -> httpx.Response:
    return client.get("/api/chat/config", headers=headers)


class TestWhoIsBelieved:
    def test_whom_the_proxy_names_needs_no_token(self, server: WebServer) -> None:
        assert config(server.client, named("alice")).status_code == 200
        made = server.client.post("/api/chat/sessions", json={}, headers=named("alice")).json()["id"]
        path = f"/api/chat/sessions/{made}"
        assert server.client.get(path, headers=named("alice")).status_code == 200
        assert server.client.get(path, headers=named("bob")).status_code == 404
        assert server.client.get(path, headers=TOKEN).status_code == 404

    def test_others_are_not_believed_and_need_a_token(self, server: WebServer) -> None:
        with calling_from(server, STRANGER) as stranger:
            for headers in (named("alice"), named("root", "admins"), {"x-forwarded-user": "alice"}, {}):
                assert config(stranger, headers).status_code == 401
            told = config(stranger, {**TOKEN, **named("root", "admins")})
            assert told.status_code == 200
            assert told.json()["operator"] is False
            assert stranger.get("/", headers=named("alice")).status_code == 200, "pages are there for all"

    def test_who_comes_through_the_proxy_without_a_name_needs_a_token(self, server: WebServer) -> None:
        assert config(server.client, {}).status_code == 401
        assert config(server.client, named("")).status_code == 401
        assert config(server.client, {"X-Forwarded-Groups": "admins"}).status_code == 401
        assert config(server.client, TOKEN).status_code == 200

    def test_the_name_counts_whatever_else_the_proxy_passes_on(self, server: WebServer) -> None:
        """nginx passes its own basic authentication on, oauth2-proxy a token of the issuer."""
        for given in ("Basic YWxpY2U6c2VjcmV0", "Bearer of-the-issuer", TOKEN["Authorization"]):
            made = server.client.post("/api/chat/sessions", json={}, headers=named("carol", Authorization=given))
            assert made.status_code == 201
            path = f"/api/chat/sessions/{made.json()['id']}"
            assert server.client.get(path, headers=named("carol")).status_code == 200

    def test_a_token_of_the_same_name_is_the_same_person_but_gives_no_role(self, server: WebServer) -> None:
        made = server.client.post("/api/chat/sessions", json={}, headers=TOKEN).json()["id"]
        assert server.client.get(f"/api/chat/sessions/{made}", headers=named("ann")).status_code == 200
        assert config(server.client, named("root")).json()["operator"] is False

    @pytest.mark.parametrize(
        ("headers", "runs"),
        [
            (named("alice"), False),
            (named("alice", "users"), False),
            (named("alice", "users, admins"), True),
            (named("alice", "users|admins"), True),
            (named("alice", "admins2,Admins"), False),
            (named("olga"), True),
        ],
    )
    def test_who_runs_the_server(self, server: WebServer, headers: dict[str, str], runs: bool) -> None:
        assert config(server.client, headers).json()["operator"] is runs
        assert server.client.get("/api/settings", headers=headers).status_code == (200 if runs else 403)

    def test_searches_and_tools(self, server: WebServer) -> None:
        asked = {"query": "tea"}
        assert server.client.post("/api/search", json=asked, headers=named("alice")).status_code == 200
        assert server.client.post("/tavily/search", json=asked, headers=named("alice")).status_code == 200
        assert server.client.post("/tavily/search", json=asked).status_code == 401
        assert server.client.post("/mcp", json={}).status_code == 401
        assert server.client.post("/mcp", json={}, headers=named("alice")).status_code not in {401, 403}


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["local", "Local", "unknown", "localhost", "127.0.0.1", "203.0.113.7", "2001:db8::1", "[::1]", "10.0.0.0/8",
         "token-0123abcd", ":others", "x" * 101],
    )  # fmt: skip
    def test_that_cannot_be_anybodys(self, server: WebServer, name: str) -> None:
        answer = config(server.client, named(name))
        assert answer.status_code == 403
        assert answer.json()["code"] == "signin.proxy_name"

    def test_two_of_them_are_none(self, server: WebServer) -> None:
        both = [("X-Forwarded-User", "alice"), ("X-Forwarded-User", "root")]
        assert server.client.get("/api/chat/config", headers=both).json()["code"] == "signin.proxy_name"

    def test_with_letters_that_nobody_sees(self, server: WebServer) -> None:
        raw = [(b"X-Forwarded-User", "al\u200bice".encode())]
        assert server.client.get("/api/chat/config", headers=raw).json()["code"] == "signin.proxy_name"

    def test_of_any_language(self, server: WebServer) -> None:
        raw = [(b"X-Forwarded-User", "张三 Zhang".encode())]
        made = server.client.post("/api/chat/sessions", json={}, headers=raw)
        assert made.status_code == 201
        path = f"/api/chat/sessions/{made.json()['id']}"
        assert server.client.get(path, headers=raw).status_code == 200
        assert server.client.get(path, headers=[(b"X-Forwarded-User", "张三".encode())]).status_code == 404


class TestOtherSites:
    """The browser sends the proxy's session by itself, also to what another site makes it send."""

    FOREIGN = ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"})

    @pytest.mark.parametrize("foreign", FOREIGN)
    def test_are_refused(self, server: WebServer, foreign: dict[str, str]) -> None:
        headers = {**named("alice"), **foreign}
        answers = [
            server.client.post("/api/chat/sessions", json={}, headers=headers),
            server.client.post("/api/search", json={"query": "tea"}, headers=headers),
            server.client.get("/search?q=tea&format=json", headers=headers),
            server.client.request("DELETE", "/api/chat/sessions", headers=headers),
        ]
        assert {answer.status_code for answer in answers} == {403}
        assert {answer.json()["code"] for answer in answers} == {"web.cross_site"}
        assert server.client.get("/", headers={**headers, "Sec-Fetch-Mode": "navigate"}).status_code == 200

    def test_our_own_page_is_not(self, server: WebServer) -> None:
        ours = ({"Sec-Fetch-Site": "same-origin"}, {"Origin": server.url})
        for headers in ours:
            answer = server.client.post("/api/chat/sessions", json={}, headers={**named("alice"), **headers})
            assert answer.status_code == 201

    def test_an_origin_that_may_call_with_a_token_may_not_use_the_proxys_session(self) -> None:
        with WebServer.over("searxng", tokens=TOKENS, allowed_origins="*", **SETTINGS) as server:
            page = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
            asked = {"query": "tea"}
            assert server.client.post("/api/search", json=asked, headers={**page, **TOKEN}).status_code == 200
            assert server.client.post("/api/search", json=asked, headers={**page, **named("alice")}).status_code == 403


class TestSettings:
    def test_such_a_server_is_never_open(self) -> None:
        with WebServer.over("searxng", **SETTINGS) as server:
            assert server.search().status_code == 401
            assert server.client.get("/api/settings").status_code == 401
            with calling_from(server, STRANGER) as local:
                assert local.get("/api/engines").status_code == 401, "nor to who sits at this machine"
            assert server.client.post("/api/search", json={"query": "tea"}, headers=named("alice")).status_code == 200

    def test_who_runs_the_server_may_change_while_it_runs(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        fixed = {name: value for name, value in SETTINGS.items() if name != "operator_groups"}
        with settings_server(**fixed) as server:
            answer = server.patch({"operator_groups": ["chiefs"]}, **named("olga"))
            assert (answer.status_code, answer.json().get("restart")) == (200, []), answer.text
            assert server.client.get("/api/settings", headers=named("alice", "chiefs")).status_code == 200

    def test_to_set_one_up_locks_nobody_out_before_the_restart(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        with settings_server() as server:
            answer = server.patch({"oidc_issuer": "https://sso.example.com"})
            assert (answer.status_code, answer.json().get("restart")) == (200, ["oidc_issuer"]), answer.text
            assert server.client.get("/api/settings").status_code == 200

    def test_it_may_listen_for_all(self) -> None:
        with listen(Settings.load(host="0.0.0.0", port=0, **SETTINGS)) as listener:  # noqa: S104 - what is tested
            assert listener.getsockname()[0] == "0.0.0.0"  # noqa: S104 - as above

    @pytest.mark.parametrize(
        ("wrong", "code"),
        [
            ({"proxy_user_header": "Remote-User"}, "settings.header_needs_proxies"),
            ({"proxy_user_header": "Authorization", "trusted_proxies": "unix"}, "settings.header_form"),
            ({"proxy_user_header": "X Y", "trusted_proxies": "unix"}, "settings.header_form"),
        ],
    )
    def test_what_cannot_work_is_refused(self, wrong: dict[str, str], code: str) -> None:
        with pytest.raises(ConfigurationError) as caught:
            Settings.load(**wrong)
        assert [problem.values["problem"].code for problem in caught.value.fact.values["problems"]] == [code]


@with_nginx
@pytest.mark.programs
def test_behind_an_nginx_that_asks_for_a_password(tmp_path: Path) -> None:
    with (
        WebServer.over("searxng", **SETTINGS) as server,
        reverse_proxies.nginx_with_passwords(tmp_path, server.url, alice="secret") as url,
        httpx.Client(base_url=url, trust_env=False, timeout=20) as client,
    ):
        asked = {"query": "tea"}
        assert client.post("/api/search", json=asked).status_code == 401
        spoofed = named("root", "admins")
        answer = client.post("/api/search", json=asked, auth=("alice", "secret"), headers=spoofed)
        assert answer.status_code == 200
        assert client.get("/api/settings", auth=("alice", "secret"), headers=spoofed).status_code == 403
        for path in ("/metrics", "/livez", "/readyz", "/healthz", "/metrics/"):
            assert client.get(path, auth=("alice", "secret")).status_code == 404
