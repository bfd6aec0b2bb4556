"""Sign-in by OpenID Connect: in, known, out; and whom it lets in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.people.openid.claims import Identity
from qiusuo.people.sign_ins import MOST_OF_ONE, NOTED_SECONDS, SignIns
from qiusuo.web.people import people_extension
from qiusuo.web.signin.cookies import own_path
from tests.support.openid_issuer import CLIENT_SECRET, IssuerDouble
from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.sign_in_world import TOKEN, TOKENS, Browser, issuer_double, serving, told
from tests.support.web_server import WebServer

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerDouble]:
    with issuer_double() as it:
        yield it


@pytest.fixture(scope="module")
def server(issuer: IssuerDouble) -> Iterator[WebServer]:
    with serving(issuer, tokens=TOKENS, operator_groups="admins", operators="olga@example.org") as it:
        yield it


@pytest.fixture
def browser(server: WebServer) -> Iterator[Browser]:
    with Browser(server) as it:
        yield it


class TestComingIn:
    def test_from_the_page_to_the_issuer_and_back(
        self, server: WebServer, browser: Browser, issuer: IssuerDouble
    ) -> None:
        refused = browser.who()
        assert (refused.status_code, refused.json()["code"]) == (401, "signin.wanted")
        assert browser.get("/api/signin").json() == {"signIn": True, "over": False, "tokens": True}
        to = browser.begin("/#/c/abc")
        asked = dict(to.params)
        assert str(to).startswith(f"{issuer.url}/protocol/openid-connect/auth?")
        assert asked["response_type"] == "code"
        assert asked["redirect_uri"] == f"{server.url}/signin/callback"
        assert asked["scope"] == "openid profile email"
        assert asked["code_challenge_method"] == "S256"
        assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
        back = browser.come_back(browser.way_back(to, "ann"))
        assert (back.status_code, back.headers["Location"]) == (303, "/#/c/abc")
        known = browser.who()
        assert known.status_code == 200
        assert known.json()["person"] == {"name": "ann", "via": "sign_in"}
        assert known.json()["operator"] is False
        refused = browser.get("/api/settings")
        assert (refused.status_code, refused.json()["code"]) == (403, "signin.not_operator")
        assert browser.post("/api/search", json={"query": "tea"}).status_code == 200

    def test_what_the_browser_keeps(self, browser: Browser) -> None:
        answer = browser.sign_in()
        lines = answer.headers.get_list("Set-Cookie")
        [kept] = [line for line in lines if line.startswith("qiusuo-session=")]
        assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=43200"} <= set(kept.split("; "))
        assert "Domain" not in kept
        [dropped] = [line for line in lines if line.startswith("qiusuo-signin-")]
        assert "Max-Age=0" in dropped
        assert answer.headers["Cache-Control"] == "no-store"

    def test_conversations_are_the_persons(self, server: WebServer, browser: Browser) -> None:
        browser.sign_in("ann")
        made = browser.post("/api/chat/sessions", json={}).json()["id"]
        with Browser(server) as second, Browser(server) as other:
            second.sign_in("ann")
            other.sign_in("olga")
            assert second.get(f"/api/chat/sessions/{made}").status_code == 200
            assert other.get(f"/api/chat/sessions/{made}").status_code == 404
            assert other.who().json()["operator"] is True, "by her group"
        assert server.client.get(f"/api/chat/sessions/{made}", headers=BEARER).status_code == 404

    def test_two_tabs_at_once(self, browser: Browser) -> None:
        first, second = browser.begin("/?a"), browser.begin("/?b")
        assert browser.come_back(browser.way_back(second, "ann")).headers["Location"] == "/?b"
        assert browser.come_back(browser.way_back(first, "ann")).headers["Location"] == "/?a"

    def test_tokens_stay_as_they_are(self, server: WebServer, browser: Browser) -> None:
        assert server.client.get("/api/chat/config", headers=BEARER).json()["operator"] is True
        browser.sign_in()
        assert browser.get("/api/chat/config", headers=BEARER).json()["operator"] is True, "the token is the wish"
        wrong = browser.get("/api/chat/config", headers={"Authorization": "Bearer wrong-0123456789"})
        assert wrong.json()["code"] == "web.unauthorized"

    @pytest.mark.parametrize("path", ["/v1/models", "/mcp", "/tavily/extract"])
    def test_what_is_for_programs_wants_a_token(self, browser: Browser, path: str) -> None:
        browser.sign_in()
        answer = browser.get(path) if path == "/v1/models" else browser.post(path, json={"urls": ["https://a.example"]})
        assert answer.status_code == 401
        assert "signin." not in answer.text

    def test_a_name_chosen_elsewhere_gives_neither_role_nor_conversations(
        self, server: WebServer, browser: Browser
    ) -> None:
        """Eve calls herself as the operator's token is called, with an address that nobody has verified."""
        mine = server.client.post("/api/chat/sessions", json={}, headers=BEARER).json()["id"]
        browser.sign_in("eve")
        config = browser.who().json()
        assert config["operator"] is False
        assert config["person"]["name"].startswith("root-")
        assert browser.get(f"/api/chat/sessions/{mine}").status_code == 404


class TestForgery:
    def test_other_sites_cannot_use_the_cookie(self, browser: Browser) -> None:
        browser.sign_in()
        for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
            assert browser.post("/api/search", json={"query": "tea"}, headers=foreign).status_code == 403
            assert browser.get("/search?q=tea&format=json", headers=foreign).status_code == 403
            assert browser.post("/signout", headers=foreign).status_code == 403
        assert browser.who().status_code == 200

    def test_the_state_belongs_to_the_browser_that_began(self, server: WebServer, browser: Browser) -> None:
        """Otherwise a stranger's link would sign people in as the stranger, who then reads what they ask."""
        with Browser(server) as stranger:
            link = stranger.way_back(stranger.begin(), "eve")
        browser.begin()
        answer = browser.come_back(link)
        assert (answer.status_code, told(answer)) == (400, "signin.unknown_state")
        assert browser.who().status_code == 401

    def test_neither_state_nor_code_serve_twice(self, server: WebServer, browser: Browser) -> None:
        to = browser.begin()
        held = dict(browser.cookies)
        link = browser.way_back(to, "ann")
        assert browser.come_back(link).status_code == 303
        assert told(browser.come_back(link)) == "signin.unknown_state"
        with Browser(server, cookies=held) as thief:  # who has copied link and cookie
            answer = thief.come_back(link)
            assert (answer.status_code, told(answer)) == (502, "signin.code_refused")
            assert thief.who().status_code == 401

    def test_a_code_of_another_sign_in_is_refused(self, server: WebServer, browser: Browser) -> None:
        with Browser(server) as stranger:
            code = httpx.URL(stranger.way_back(stranger.begin(), "eve")).params["code"]
        own = httpx.URL(browser.way_back(browser.begin(), "ann"))
        answer = browser.come_back(str(own.copy_set_param("code", code)))
        assert told(answer) == "signin.code_refused", "the verifier is another's"

    @pytest.mark.parametrize(
        "back",
        ["https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
         "javascript:alert(1)", "/a\nSet-Cookie: x=y", "evil", "", "/signout", "/signin", "/" + "x" * 2000,
         "/#" + "茶" * 300, "/ /evil"],
    )  # fmt: skip
    def test_the_way_back_leads_to_our_own_paths_alone(self, browser: Browser, back: str) -> None:
        assert own_path(back) == "/"
        assert browser.sign_in(back=back).headers["Location"] == "/"

    def test_the_answer_of_another_issuer(self, browser: Browser) -> None:
        link = httpx.URL(browser.way_back(browser.begin(), "ann"))
        assert told(browser.come_back(str(link.copy_set_param("iss", "https://evil.example")))) == "signin.wrong_issuer"

    def test_a_refusal_of_the_issuer_is_told_without_its_markup(self, browser: Browser) -> None:
        state = browser.begin().params["state"]
        answer = browser.get("/signin/callback", params={"state": state, "error": "<script>alert(1)</script>"})
        assert (answer.status_code, told(answer)) == (403, "signin.refused_there")
        assert "<script>" not in answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


class TestGoing:
    def test_sign_out(self, server: WebServer, browser: Browser, issuer: IssuerDouble) -> None:
        browser.sign_in()
        stolen = dict(browser.cookies)
        answer = browser.post("/signout")
        to = httpx.URL(answer.json()["to"])
        assert str(to).startswith(f"{issuer.url}/protocol/openid-connect/logout?")
        assert to.params["post_logout_redirect_uri"] == f"{server.url}/"
        assert to.params["id_token_hint"].count(".") == 2
        assert "qiusuo-session" not in browser.cookies
        assert browser.who().json()["code"] == "signin.wanted"
        with Browser(server, cookies=stolen) as thief:
            assert (thief.who().status_code, thief.who().json()["code"]) == (401, "signin.over")
            assert thief.get("/api/signin").json()["over"] is True
        assert browser.post("/signout").json() == {"to": None}, "a second time is no fault"

    def test_everywhere(self, issuer: IssuerDouble) -> None:
        # Not at the server of all: there ann may have signed in so often within a second that one of these makes room.
        with serving(issuer) as server, Browser(server) as laptop, Browser(server) as phone, Browser(server) as other:
            for each, person in ((laptop, "ann"), (phone, "ann"), (other, "olga")):
                each.sign_in(person)
            laptop.post("/signout", json={"everywhere": True})
            assert [each.who().status_code for each in (laptop, phone, other)] == [401, 401, 200]

    def test_an_issuer_that_ends_nothing(self) -> None:
        double = issuer_double(discovery=lambda said: {**said, "end_session_endpoint": None})
        with double as issuer, serving(issuer) as server, Browser(server) as browser:
            browser.sign_in()
            assert browser.post("/signout").json() == {"to": None}
            assert browser.who().status_code == 401


class TestBesideTokensOfTheDatabase:
    def test_budgets_go_by_name_and_the_audit_log_tells_who_came(self, issuer: IssuerDouble, tmp_path: Path) -> None:
        with serving(issuer, tmp_path / "chat.db", tokens=TOKENS, extra=[people_extension()]) as server:
            added = server.client.post("/api/people", json={"name": "ann", "searches": 1}, headers=BEARER)
            assert added.status_code == 201, added.text
            with Browser(server) as browser:
                browser.sign_in("ann")
                found = [browser.post("/api/search", json={"query": f"tea {number}"}) for number in range(2)]
                assert [answer.status_code for answer in found] == [200, 429]
                assert browser.post("/signout", json={}).status_code == 200
            lines = server.client.get("/api/audit", headers=BEARER).json()["lines"]
            told = [(line["who"], line["code"]) for line in lines]
            assert ("ann", "audit.signed_in") in told
            assert ("ann", "audit.signed_out") in told

    def test_where_only_the_database_has_tokens_the_page_takes_them_too(
        self, issuer: IssuerDouble, tmp_path: Path
    ) -> None:
        with serving(issuer, tmp_path / "chat.db", operator_groups="admins", extra=[people_extension()]) as server:
            assert server.client.get("/api/signin").json()["tokens"] is False
            with Browser(server) as olga, Browser(server) as eve:
                olga.sign_in("olga")
                added = olga.post("/api/people", json={"name": "root", "role": "operator"})
                secret = added.json()["secret"]
                headers = {"Authorization": f"Bearer {secret}"}
                assert server.client.get("/api/settings", headers=headers).status_code == 200
                assert server.client.get("/api/signin").json()["tokens"] is True
                eve.sign_in("eve")  # calls herself root at the issuer
                assert eve.who().json()["person"]["name"] != "root"
                assert eve.get("/api/settings").status_code == 403


class TestServers:
    def test_two_share_sign_ins_and_a_restart_keeps_them(self, issuer: IssuerDouble, tmp_path: Path) -> None:
        store = tmp_path / "chat.db"
        address = "http://ask.example"
        with (
            serving(issuer, store, public_url=address) as one,
            serving(issuer, store, public_url=address) as two,
            Browser(one) as browser,
        ):
            to = browser.begin()
            with Browser(two, cookies=dict(browser.cookies)) as elsewhere:  # the balancer sends it to the other one
                assert elsewhere.come_back(browser.way_back(to, "ann")).status_code == 303
                held = dict(elsewhere.cookies)
            with Browser(one, cookies=held) as again:
                assert again.who().json()["person"]["name"] == "ann"
        with serving(issuer, store) as third, Browser(third, cookies=held) as later:
            assert later.who().status_code == 200
            later.post("/signout")
        with serving(issuer, store) as fourth, Browser(fourth, cookies=held) as thief:
            assert thief.who().status_code == 401

    def test_nothing_in_the_database_opens_the_door(self, issuer: IssuerDouble, tmp_path: Path) -> None:
        store = tmp_path / "chat.db"
        with serving(issuer, store) as server, Browser(server) as browser:
            browser.sign_in()
            secret = browser.cookies["qiusuo-session"]
        written = b"".join(path.read_bytes() for path in tmp_path.glob("chat.db*") if path.is_file())
        assert b"sub-ann" in written
        assert secret.encode() not in written

    @pytest.mark.parametrize(
        ("settings", "headers", "address", "kept_as"),
        [
            (
                {"trusted_proxies": "127.0.0.1"},
                {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "ask.example"},
                "https://ask.example", ("__Host-qiusuo-signin-", "Path=/;"),
            ),
            (
                {"trusted_proxies": "127.0.0.1", "root_path": "/ask"},
                {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "ask.example"},
                "https://ask.example/ask", ("__Secure-qiusuo-signin-", "Path=/ask;"),
            ),
            (
                {"public_url": "https://ask.example:8443/ask/"}, {},
                "https://ask.example:8443/ask", ("__Secure-qiusuo-signin-", "Path=/ask;"),
            ),
        ],
    )  # fmt: skip
    def test_behind_a_proxy(
        self,
        issuer: IssuerDouble,
        settings: dict[str, Any],
        headers: dict[str, str],
        address: str,
        kept_as: tuple[str, str],
    ) -> None:
        with serving(issuer, allowed_hosts="ask.example", **settings) as server, Browser(server) as browser:
            answer = browser.get("/signin", params={"return": "/docs"}, headers=headers)
            to = httpx.URL(answer.headers["Location"])
            assert to.params["redirect_uri"] == f"{address}/signin/callback"
            kept = answer.headers["Set-Cookie"]
            assert kept.startswith(kept_as[0])
            assert "; Secure" in kept
            assert kept_as[1] in f"{kept};"
            held = {"Cookie": kept.partition(";")[0], **headers}
            back = httpx.URL(browser.way_back(to, "ann"))
            assert str(back).startswith(f"{address}/signin/callback?")
            done = browser.get("/signin/callback", params=dict(back.params), headers=held)
            assert done.headers["Location"] == f"{httpx.URL(address).path.rstrip('/')}/docs"
            [session] = [line for line in done.headers.get_list("Set-Cookie") if "qiusuo-session" in line]
            name = {"Cookie": session.partition(";")[0], **headers}
            assert browser.get("/api/chat/config", headers=name).json()["person"]["name"] == "ann"


class TestWhoMayComeIn:
    @pytest.mark.parametrize(
        ("settings", "person", "code"),
        [
            ({"oidc_allowed_groups": "admins"}, "ann", "signin.not_in_group"),
            ({"oidc_allowed_groups": "admins,users"}, "ann", None),
            ({"oidc_allowed_domains": "Example.org"}, "ann", None),
            ({"oidc_allowed_domains": "example.org"}, "eve", "signin.not_of_domain"),
            ({"oidc_allowed_domains": "evil-example.org"}, "ann", "signin.not_of_domain"),
        ],
    )
    def test_groups_and_domains(
        self, issuer: IssuerDouble, settings: dict[str, Any], person: str, code: str | None
    ) -> None:
        with serving(issuer, **settings) as server, Browser(server) as browser:
            answer = browser.sign_in(person)
            assert (told(answer) if answer.status_code == 403 else None) == code
            assert browser.who().status_code == (401 if code else 200)

    def test_settings_of_now_count(self, issuer: IssuerDouble, tmp_path: Path) -> None:
        store = tmp_path / "chat.db"
        with serving(issuer, store, operator_groups="users") as server, Browser(server) as browser:
            browser.sign_in()
            held = dict(browser.cookies)
            assert browser.who().json()["operator"] is True
        with serving(issuer, store, operator_groups="admins") as server, Browser(server, cookies=held) as browser:
            assert browser.who().json()["operator"] is False
        with serving(issuer, store, oidc_allowed_groups="admins") as server, Browser(server, cookies=held) as browser:
            assert browser.who().json()["code"] == "signin.over"

    @pytest.mark.parametrize(
        ("claims", "settings", "name"),
        [
            ({"preferred_username": "ann"}, {}, "ann"),
            ({"email": "a@b.example", "email_verified": True}, {}, "a@b.example"),
            ({"email": "a@b.example"}, {}, "sub-ann"),
            ({"preferred_username": "ann", "email": "a@b.example", "email_verified": False},
             {"oidc_name_claim": "email"}, "sub-ann"),
            ({"preferred_username": "张三", "upn": "zhang"}, {"oidc_name_claim": "upn"}, "zhang"),
            ({"realm_access": {"name": "deep"}}, {"oidc_name_claim": "realm_access.name"}, "deep"),
        ],
    )  # fmt: skip
    def test_names(self, claims: dict[str, Any], settings: dict[str, Any], name: str) -> None:
        with IssuerDouble({"ann": claims}) as issuer, serving(issuer, **settings) as server, Browser(server) as browser:
            browser.sign_in()
            assert browser.who().json()["person"]["name"] == name

    @pytest.mark.parametrize("name", ["local", "127.0.0.1", "x" * 101, "a\u202eb"])
    def test_names_that_cannot_be_anybodys(self, name: str) -> None:
        double = IssuerDouble({"ann": {"preferred_username": name}})
        with double as issuer, serving(issuer) as server, Browser(server) as browser:
            answer = browser.sign_in()
            assert (answer.status_code, told(answer)) == (403, "signin.bad_name")

    def test_groups_that_only_the_userinfo_tells(self) -> None:
        double = issuer_double(in_id_token=frozenset({"preferred_username"}))
        with double as issuer, serving(issuer, operator_groups="admins") as server, Browser(server) as browser:
            browser.sign_in("olga")
            assert browser.who().json()["operator"] is True
            issuer.userinfo = lambda claims: {**claims, "sub": "another"}
            assert told(browser.sign_in("olga")) == "signin.other_person"

    def test_such_a_server_is_never_open(self, issuer: IssuerDouble) -> None:
        with serving(issuer) as server:
            assert server.search().status_code == 401
            assert server.client.get("/", headers={"Accept": "text/html"}).status_code == 200

    def test_it_is_documented(self, server: WebServer) -> None:
        document = server.client.get("/openapi.json", headers=BEARER).json()
        assert {"/api/signin", "/signout"} <= document["paths"].keys()
        assert document["security"] == [{"token": []}]

    def test_the_secret_is_not_shown(self, issuer: IssuerDouble, server: WebServer) -> None:
        assert CLIENT_SECRET not in repr(Settings.load(**issuer.settings))
        shown = server.client.get("/api/settings", headers=BEARER)
        assert shown.status_code == 200
        assert CLIENT_SECRET not in shown.text


class TestTime:
    """Absolute and idle ends, and names, by a clock that is ours."""

    @pytest.fixture
    async def kept(self) -> Any:
        store = open_store(":memory:")
        self.now = 1_000_000.0
        yield SignIns(store.database, hours=2, idle_hours=1, clock=lambda: self.now)
        await store.aclose()

    async def test_idle_end(self, kept: SignIns) -> None:
        secret = await kept.begin(Identity("i", "s", "ann"), "")
        for _ in range(3):
            self.now += 1800
            assert await kept.find(secret) is not None
        self.now += 3600
        assert await kept.find(secret) is None

    async def test_absolute_end(self, kept: SignIns) -> None:
        secret = await kept.begin(Identity("i", "s", "ann"), "")
        while self.now < 1_000_000 + 7200 - NOTED_SECONDS:
            self.now += NOTED_SECONDS * 10
            found = await kept.find(secret)
        assert found is None or self.now < 1_000_000 + 7200
        self.now = 1_000_000.0 + 7200
        assert await kept.find(secret) is None

    async def test_the_oldest_of_one_person_makes_room(self, kept: SignIns) -> None:
        made = []
        for _ in range(MOST_OF_ONE + 1):
            self.now += 1
            made.append(await kept.begin(Identity("i", "s", "ann"), ""))
        other = await kept.begin(Identity("i", "t", "bob"), "")
        assert [await kept.find(each) is not None for each in made] == [False] + [True] * MOST_OF_ONE
        assert await kept.find(other) is not None

    async def test_a_person_keeps_the_name_and_nobody_else_gets_it(self, kept: SignIns) -> None:
        async def name(identity: Identity) -> str:
            found = await kept.find(await kept.begin(identity, ""))
            assert found is not None
            return found.identity.name

        assert await name(Identity("i", "1", "ann")) == "ann"
        assert await name(Identity("i", "1", "anna")) == "ann", "renamed at the issuer"
        second = await name(Identity("i", "2", "ann"))
        assert second.startswith("ann-")
        assert await name(Identity("i", "2", "ann")) == second


class TestPostgres:
    pytestmark = with_postgres

    async def test_it_is_kept_there_too(self, postgres: PostgresProcess) -> None:
        store = open_store(postgres.url(postgres.create()))
        kept = SignIns(store.database, hours=2, idle_hours=1)
        secrets = [await kept.begin(Identity("i", str(number), "ann", groups=("a",)), "t") for number in (1, 1, 2)]
        found = [await kept.find(secret) for secret in secrets]
        names = [each.identity.name for each in found if each]
        assert names[:2] == ["ann", "ann"]
        assert names[2].startswith("ann-")
        await kept.end(secrets[0], everywhere=True)
        assert [await kept.find(secret) is None for secret in secrets] == [True, True, False]
        await store.aclose()
