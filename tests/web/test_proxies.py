"""Who is believed about the person behind a proxy, and what then goes by that person."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

import qiusuo.web.entrance.door as door_module
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.entrance.door import MOST
from qiusuo.web.entrance.proxies import TrustedProxies
from tests.support.web_server import WebServer

TOKENS = "alice:tok-alice-0123456789"
ANN, BEN = "203.0.113.7", "198.51.100.9"
STRANGER = "127.0.0.2"
"""Of this machine too, and no proxy that is trusted."""


def calling_from(server: WebServer, address: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=server.url, transport=transport, trust_env=False, timeout=20)


def brought(*hops: str) -> dict[str, str]:
    return {"X-Forwarded-For": ", ".join(hops)}


def headers_of(*lines: str) -> list[tuple[bytes, bytes]]:
    pairs = (line.partition(": ") for line in lines)
    return [(name.lower().encode(), value.encode("latin-1")) for name, _, value in pairs]


class TestWhoStandsBehind:
    PROXIES = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48", "unix"])

    @pytest.mark.parametrize(
        ("lines", "person"),
        [
            ([f"X-Forwarded-For: {ANN}"], ANN),
            ([f"X-Forwarded-For:  {ANN} "], ANN),
            ([f"X-Forwarded-For: {ANN}:4711"], ANN),
            (["X-Forwarded-For: 2001:DB8:0::1"], "2001:db8::1"),
            (["X-Forwarded-For: [2001:db8::1]"], "2001:db8::1"),
            (["X-Forwarded-For: [2001:db8::1]:443"], "2001:db8::1"),
            (["X-Forwarded-For: fe80::1%eth0"], "fe80::1"),
            ([f"X-Forwarded-For: ::ffff:{ANN}"], ANN),
            # What stands left of the first stranger may be made up.
            ([f"X-Forwarded-For: 127.0.0.1, {ANN}"], ANN),
            ([f"X-Forwarded-For: {BEN}, {ANN}, 10.1.2.3, [2001:db8:1::9]:80"], ANN),
            (["X-Forwarded-For: 127.0.0.1", f"X-Forwarded-For: {ANN}"], ANN),
            ([f"X-Forwarded-For: {ANN}", "X-Forwarded-For: 10.0.0.1"], ANN),
            ([f"X-Forwarded-For: garbage, {ANN}"], ANN),
            ([f"X-Forwarded-For: {ANN},, 10.0.0.1,"], ANN),
            # All of them are trusted: the first one is the person.
            (["X-Forwarded-For: 10.0.0.5, 10.0.0.6"], "10.0.0.5"),
            (["X-Forwarded-For: 127.0.0.1"], "127.0.0.1"),
            # Another machine that was called from itself is not this one.
            (["X-Forwarded-For: 127.0.0.1, 10.0.0.6"], "10.0.0.6"),
            (["X-Forwarded-For: ::1, 10.0.0.6"], "10.0.0.6"),
            # Nobody is named.
            ([], "unknown"),
            (["X-Forwarded-For: "], "unknown"),
            ([f"X-Forwarded-For: {ANN}, unknown"], "unknown"),
            ([f"X-Forwarded-For: {ANN}, _hidden, 10.0.0.1"], "unknown"),
            (["X-Forwarded-For: localhost"], "unknown"),
            (["X-Forwarded-For: [2001:db8::1"], "unknown"),
            (["X-Forwarded-For: 127.1"], "unknown"),
            (["X-Forwarded-For: \xff\xfe"], "unknown"),
            (["X-Forwarded-Proto: https"], "unknown"),
            ([f"X-Real-IP: {ANN}"], "unknown"),
            # RFC 7239
            ([f"Forwarded: for={ANN}"], ANN),
            ([f'Forwarded: For="{ANN}:4711";proto=https;by=10.0.0.1'], ANN),
            (['Forwarded: for="[2001:db8::1]:4711"'], "2001:db8::1"),
            ([f"Forwarded: for=127.0.0.1, for={ANN};by=10.0.0.1, for=10.0.0.1"], ANN),
            (["Forwarded: for=127.0.0.1", f"Forwarded: for={ANN}"], ANN),
            (['Forwarded: for="', f"Forwarded: for={ANN}"], ANN),
            ([f'Forwarded: for=", for={ANN}'], "unknown"),
            ([f'Forwarded: for=127.0.0.1;x=", for="{ANN}"'], "unknown"),
            (["Forwarded: for=unknown"], "unknown"),
            (["Forwarded: for=_hidden"], "unknown"),
            (["Forwarded: proto=https"], "unknown"),
            (["Forwarded: nothing"], "unknown"),
            # One was let pass, and nobody knows which.
            ([f"X-Forwarded-For: {ANN}", f"Forwarded: for={ANN}"], ANN),
            ([f"X-Forwarded-For: {ANN}", "Forwarded: for=127.0.0.1"], "unknown"),
            (["X-Forwarded-For: 127.0.0.1", f"Forwarded: for={ANN}"], "unknown"),
        ],
    )
    @pytest.mark.parametrize("peer", ["127.0.0.1", "unix"])
    def test_it_is_the_first_from_the_right_who_is_not_trusted(self, lines: list[str], person: str, peer: str) -> None:
        assert self.PROXIES.person(peer, headers_of(*lines)).address == person

    def test_a_proxy_elsewhere_cannot_bring_anybody_of_this_machine(self) -> None:
        assert self.PROXIES.person("10.0.0.9", headers_of("X-Forwarded-For: 127.0.0.1")).address == "10.0.0.9"

    @pytest.mark.parametrize(
        ("lines", "scheme", "host"),
        [
            (["X-Forwarded-Proto: https", "X-Forwarded-Host: ask.example"], "https", "ask.example"),
            (["X-Forwarded-Proto: HTTPS", "X-Forwarded-Host: ask.example:8443"], "https", "ask.example:8443"),
            (["X-Forwarded-Host: [2001:db8::1]:8443"], None, "[2001:db8::1]:8443"),
            (["X-Forwarded-Proto: gopher", "X-Forwarded-Host: a/b"], None, None),
            (["X-Forwarded-Proto: ", "X-Forwarded-Host: <b>"], None, None),
            # One entry for each hop: that of the person's. Else only the last is certainly the proxy's own.
            ([f"X-Forwarded-For: {BEN}, {ANN}, 10.0.0.1", "X-Forwarded-Proto: http, https, http"], "https", None),
            ([f"X-Forwarded-For: {ANN}, 10.0.0.1", "X-Forwarded-Host: evil.example, b.example, c.example"], None,
             "c.example"),
            ([f"Forwarded: for={BEN};host=b.example, for={ANN};proto=https;host=ask.example, for=10.0.0.1;proto=http"],
             "https", "ask.example"),
            ([f'Forwarded: for={ANN};host="ask.example:8443"'], None, "ask.example:8443"),
            ([f"X-Forwarded-For: {ANN}", "Forwarded: for=127.0.0.1;host=localhost"], None, None),
        ],
    )  # fmt: skip
    def test_how_the_person_called_is_said_beside(self, lines: list[str], scheme: str | None, host: str | None) -> None:
        assert self.PROXIES.person("127.0.0.1", headers_of(*lines))[1:] == (scheme, host)

    def test_peers(self) -> None:
        trusted = ["127.0.0.1", "::ffff:127.0.0.1", "10.255.0.1", "2001:db8:1:2::3", "unix"]
        others = ["127.0.0.2", "11.0.0.1", "2001:db8:2::1", "", "unknown", "local"]
        assert [peer for peer in (*trusted, *others) if self.PROXIES.trusts(peer)] == trusted
        assert not any(TrustedProxies(None).trusts(peer) for peer in (*trusted, *others))

    @pytest.mark.parametrize("wrong", ["*", "0.0.0.0/0", "::/0", "nginx", "10.0.0.1/8", "10.0.0.1:80", "300.1.1.1"])
    def test_a_setting_that_names_no_proxy_is_not_taken(self, wrong: str) -> None:
        with pytest.raises(ConfigurationError) as told:
            Settings.load(trusted_proxies=f"127.0.0.1,{wrong}")
        assert wrong in told.value.message
        assert Settings.load(trusted_proxies=" 127.0.0.1 ,10.0.0.0/8，unix").trusted_proxies == (
            "127.0.0.1", "10.0.0.0/8", "unix",
        )  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    """Without tokens, called by people through 127.0.0.1."""
    names: dict[str, Any] = {"trusted_proxies": "127.0.0.1", "allowed_hosts": "ask.example", "rate_limit": 2}
    with WebServer.over("searxng", extensions=[chat_extension()], **names) as it:
        yield it


class TestWhatGoesByThePerson:
    def test_limits(self, server: WebServer) -> None:
        def statuses(client: httpx.Client, person: str, word: str) -> list[int]:
            body = [{"query": f"{word} {number}"} for number in range(3)]
            return [client.post("/api/search", json=each, headers=brought(person)).status_code for each in body]

        assert statuses(server.client, ANN, "ann") == [200, 200, 429]
        assert statuses(server.client, BEN, "ben") == [200, 200, 429]
        assert statuses(server.client, f"192.0.2.1, {ANN}", "spoofed") == [429, 429, 429]
        with calling_from(server, STRANGER) as stranger:  # with a name for each search
            hops = [brought(f"192.0.2.{number}") for number in range(3)]
            answers = [stranger.post("/api/search", json={"query": f"q{each}"}, headers=each) for each in hops]
            assert [answer.status_code for answer in answers] == [200, 200, 429]

    def test_who_is_on_this_machine(self, server: WebServer) -> None:
        def runs_it(client: httpx.Client, **headers: str) -> bool:
            return bool(client.get("/api/chat/config", headers=headers).json()["operator"])

        assert runs_it(server.client, **brought("127.0.0.1"))
        assert runs_it(server.client, **brought("127.0.0.1"), **{"X-Forwarded-Host": "ask.example", "Via": "1.1 Caddy"})
        assert not runs_it(server.client, **brought(ANN))
        assert not runs_it(server.client, **brought("127.0.0.1", ANN))
        assert not runs_it(server.client), "the proxy does not say whom it brings"
        assert not runs_it(server.client, **brought("unknown"))
        with calling_from(server, STRANGER) as direct:
            assert runs_it(direct)
            assert not runs_it(direct, **brought("127.0.0.1"))
            assert not runs_it(direct, Forwarded="for=127.0.0.1")

    def test_whose_conversations_are_shown(self, server: WebServer) -> None:
        made = server.client.post("/api/chat/sessions", json={}, headers=brought(ANN)).json()["id"]

        def seen(client: httpx.Client, headers: dict[str, str]) -> bool:
            return client.get(f"/api/chat/sessions/{made}", headers=headers).status_code == 200

        assert seen(server.client, brought(ANN))
        assert not seen(server.client, brought(BEN))
        assert not seen(server.client, brought("127.0.0.1"))
        assert not seen(server.client, {})
        with calling_from(server, STRANGER) as stranger:
            assert not seen(stranger, brought(ANN))

    def test_scheme_and_host(self, server: WebServer) -> None:
        def described(client: httpx.Client, **headers: str) -> str:
            return client.get("/opensearch.xml", headers=headers).text

        said = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "ask.example"}
        assert 'template="https://ask.example/?q=' in described(server.client, **said)
        assert 'template="https://ask.example/?q=' in described(
            server.client, Forwarded=f"for={ANN};proto=https;host=ask.example"
        )
        with calling_from(server, STRANGER) as stranger:
            assert f'template="{server.url}/?q=' in described(stranger, **said)

    def test_a_page_of_the_public_name_is_our_own(self, server: WebServer) -> None:
        page = {**brought("127.0.0.1"), "Origin": "https://ask.example:8443"}
        known = {"X-Forwarded-Host": "ask.example:8443", **page}
        assert server.client.post("/api/chat/sessions", json={}, headers=known).status_code == 201
        assert server.client.post("/api/chat/sessions", json={}, headers=page).status_code == 403

    def test_a_name_that_points_here_is_refused_whatever_the_headers_say(self, server: WebServer) -> None:
        """A page could point its own name at this machine and write a proxy's headers."""
        said = {**brought("127.0.0.1"), "X-Forwarded-Host": "localhost"}
        assert server.client.get("/api/chat/config", headers={"Host": "evil.example", **said}).status_code == 421
        assert server.client.get("/api/chat/config", headers={"X-Forwarded-Host": "evil.example"}).status_code == 421

    def test_wrong_tokens_and_the_log(self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        monkeypatch.setattr(door_module, "LATE_SECONDS", 0.0)
        with WebServer.over("searxng", tokens=TOKENS, trusted_proxies="127.0.0.1") as server:

            def guess(person: str) -> int:
                headers = {"Authorization": "Bearer wrong", **brought("192.0.2.77", person)}
                return server.client.get("/api/engines", headers=headers).status_code

            assert [guess(ANN) for _ in range(MOST + 1)] == [401] * MOST + [429]
            assert guess(BEN) == 401
        told = [record.message for record in caplog.records if "wrong token" in record.message]
        assert told == [f"a wrong token was sent from {ANN}", f"a wrong token was sent from {BEN}"]


class TestConnections:
    """A proxy has as many connections as people ask at once; each person has a few."""

    def test_they_count_for_the_person_whose_request_they_bring(self) -> None:
        names: dict[str, Any] = {"trusted_proxies": "127.0.0.1", "max_connections_per_address": 2}
        with WebServer.over("searxng", **names) as server, ExitStack() as stack:
            port = httpx.URL(server.url).port

            def begun(person: str) -> socket.socket:
                """A request whose body stays away."""
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
                connection.sendall(
                    f"POST /api/search HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {person}\r\n"
                    "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n".encode()
                )
                return connection

            idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)) for _ in range(5)]
            first, second, other = begun(ANN), begun(ANN), begun(BEN)
            third = begun(ANN)
            assert b"503" in first.recv(100), "the one that waits longest makes room for the next of the same person"
            for connection in (second, third, other):
                connection.sendall(b'{"query": "abcdef"} ')
                assert b"200" in connection.recv(100)
            for connection in idle:
                connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b"200" in connection.recv(100)
