"""Fetching over real sockets: what is refused, what is capped, what is never sent."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest

from qiusuo.errors import (
    ConfigurationError,
    PageRefused,
    PageUnavailable,
)
from qiusuo.http import pages as pages_module
from qiusuo.http.guard import FetchPolicy
from qiusuo.http.pages import PageClient
from tests.support.page_site import Names, Site, redirect, response

HERE = [["127.0.0.1"]]
PUBLIC = "93.184.216.34"
HELLO = response("<p>hello</p>")


class Dialled(list[str]):
    """The addresses that connections were attempted to."""


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    """Record every connection attempt; those that leave loopback find nobody."""
    attempts = Dialled()
    connect = socket.socket.connect

    def recorded(self: socket.socket, address: Any) -> None:
        attempts.append(str(address[0]))
        if not attempts[-1].startswith("127."):
            raise ConnectionRefusedError(111, f"nobody at {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", recorded)
    return attempts


class TestRedirects:
    async def test_are_followed_within_the_rules(self) -> None:
        async with Site({"/a": redirect("/b", 301), "/b": redirect("c?x=1", 308), "/c?x=1": HELLO}) as site:
            page = await PageClient(site.policy()).fetch(site.url("/a"))
        assert page.url == site.url("/a")
        assert page.final_url == site.url("/c?x=1")
        assert page.hops == (site.url("/a"), site.url("/b"))
        assert page.body == b"<p>hello</p>"
        assert not page.downgraded

    @pytest.mark.parametrize(
        "location",
        [
            "http://169.254.169.254/latest/meta-data/",
            "http://[::ffff:169.254.169.254]/",
            "http://100.100.100.200/",
            "http://127.0.0.2/",
            "http://2130706434/",
            "http://[::1]/",
            "http://10.0.0.1/",
            "http://192.168.0.1/",
            "http://localhost/",
            "http://metadata.google.internal/",
            "http://inside.example.com/",
            "http://example.com:8080/",
            "http://a@example.com/",
            "file:///etc/passwd",
            "http:///x",
        ],
    )
    async def test_to_a_forbidden_place_are_refused(self, location: str, dialled: Dialled) -> None:
        names = Names({"inside.example.com": [["10.0.0.9"]]})
        async with Site({"/": redirect(location)}) as site:
            with pytest.raises(PageRefused) as caught:
                await PageClient(site.policy(), resolve=names).fetch(site.url("/"))
        assert site.paths == ["/"]
        assert dialled == ["127.0.0.1"]
        assert "10.0.0" not in str(caught.value)

    async def test_every_hop_is_checked_not_only_the_first(self, dialled: Dialled) -> None:
        async with Site({"/1": redirect("/2"), "/2": redirect("/3"), "/3": redirect("http://10.1.1.1/")}) as site:
            with pytest.raises(PageRefused):
                await PageClient(site.policy()).fetch(site.url("/1"))
        assert site.paths == ["/1", "/2", "/3"]
        assert set(dialled) == {"127.0.0.1"}

    async def test_in_a_circle_end(self) -> None:
        async with Site({"/a": redirect("/b"), "/b": redirect("/a")}) as site:
            with pytest.raises(PageUnavailable, match="in a circle"):
                await PageClient(site.policy()).fetch(site.url("/a"))
        assert site.paths == ["/a", "/b"]

    async def test_without_end_are_capped(self) -> None:
        async with Site({f"/{n}": redirect(f"/{n + 1}") for n in range(20)}) as site:
            with pytest.raises(PageUnavailable, match="more than 3 times"):
                await PageClient(site.policy(max_redirects=3)).fetch(site.url("/0"))
        assert len(site.paths) == 4

    async def test_that_say_not_where_are_an_error(self) -> None:
        async with Site({"/": response(status=302)}) as site:
            with pytest.raises(PageUnavailable, match="HTTP 302"):
                await PageClient(site.policy()).fetch(site.url("/"))

    async def test_carry_no_cookie_and_no_referrer(self) -> None:
        async with Site({"/": response(status=302, Location="/b", Set_Cookie="id=1; Path=/"), "/b": HELLO}) as site:
            await PageClient(site.policy()).fetch(site.url("/"))
        for heard in site.heard:
            assert not {"cookie", "referer", "authorization"} & set(heard.headers)

    async def test_with_raw_bytes_in_the_path_keep_them(self) -> None:
        async with Site({"/": redirect("/\udcd0\udcc2"), "/%D0%C2": HELLO}) as site:
            page = await PageClient(site.policy()).fetch(site.url("/"))
        assert page.final_url == site.url("/%D0%C2")


class TestNames:
    async def test_the_name_stays_in_the_request(self) -> None:
        names = Names({"xn--fsqu00a.example.com": HERE})
        async with Site({"/": HELLO}) as site:
            page = await PageClient(site.policy(), resolve=names).fetch(site.url("/", host="例子.example.com"))
        assert site.heard[0].headers["host"] == f"xn--fsqu00a.example.com:{site.port}"
        assert page.final_url == site.url("/", host="xn--fsqu00a.example.com")
        assert names.asked == ["xn--fsqu00a.example.com"]

    @pytest.mark.parametrize(
        "addresses",
        [
            ["127.0.0.1"],
            ["10.0.0.1"],
            ["169.254.169.254"],
            ["::1"],
            ["fd00:ec2::254"],
            ["::ffff:192.168.1.1"],
            [PUBLIC, "10.0.0.1"],
            ["10.0.0.1", PUBLIC],
            ["2606:4700::1111", "fe80::1%eth0"],
            [PUBLIC, "198.18.0.1"],
        ],
    )
    async def test_that_lead_inside_are_refused_even_in_part(self, addresses: list[str], dialled: Dialled) -> None:
        client = PageClient(resolve=Names({"news.example.com": [addresses]}))
        with pytest.raises(PageRefused) as caught:
            await client.fetch("http://news.example.com/")
        assert dialled == []
        assert not any(address in str(caught.value) for address in addresses)

    async def test_rebinding_between_check_and_use_leads_nowhere(self, dialled: Dialled) -> None:
        async with Site({"/": HELLO}) as site:
            names = Names({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]})
            policy = FetchPolicy(allowed_ports=frozenset({site.port}))
            with pytest.raises(PageUnavailable, match="refuses the connection") as caught:
                await PageClient(policy, resolve=names).fetch(site.url("/", host="rebind.example.com"))
        assert names.asked == ["rebind.example.com"]
        assert dialled == [PUBLIC]
        assert site.heard == []
        assert PUBLIC not in str(caught.value)

    async def test_rebinding_between_two_hops_leads_nowhere(self, dialled: Dialled) -> None:
        async with Site({"/": redirect("/again"), "/again": HELLO}) as site:
            names = Names({"rebind.example.com": [["127.0.0.1"], ["127.0.0.9"]]})
            page = await PageClient(site.policy(), resolve=names).fetch(site.url("/", host="rebind.example.com"))
        assert page.status == 200
        assert names.asked == ["rebind.example.com"]
        assert set(dialled) == {"127.0.0.1"}

    async def test_the_peer_is_looked_at_before_anything_is_sent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = pages_module._PinnedResolver.resolve

        async def misled(self: Any, host: str, port: int = 0, family: Any = socket.AF_UNSPEC) -> Any:
            return [entry | {"host": "127.0.0.1"} for entry in await answer(self, host, port, family)]

        monkeypatch.setattr(pages_module._PinnedResolver, "resolve", misled)
        async with Site({"/": HELLO}) as site:
            policy = FetchPolicy(allowed_ports=frozenset({site.port}))
            client = PageClient(policy, resolve=Names({"news.example.com": [[PUBLIC]]}))
            with pytest.raises(PageRefused, match="checked address"):
                await client.fetch(site.url("/", host="news.example.com"))
        assert site.heard == []

    async def test_the_next_address_is_tried_when_one_is_dead(self, dialled: Dialled) -> None:
        async with Site({"/": HELLO}) as site:
            names = Names({"news.example.com": [[PUBLIC, "127.0.0.1"]]})
            page = await PageClient(site.policy(), resolve=names).fetch(site.url("/", host="news.example.com"))
        assert page.status == 200
        assert dialled == [PUBLIC, "127.0.0.1"]

    async def test_a_host_named_by_the_operator_may_be_private(self) -> None:
        async with Site({"/": HELLO}) as site:
            client = PageClient(site.policy(allow=("wiki",)), resolve=Names({"wiki": HERE}))
            page = await client.fetch(site.url("/", host="wiki"))
        assert page.status == 200

    @pytest.mark.parametrize("answers", [{}, {"gone.example.com": [[]]}, {"gone.example.com": [["not an address"]]}])
    async def test_unknown_names_are_told(self, answers: dict[str, list[list[str]]]) -> None:
        with pytest.raises(PageUnavailable, match=r"gone\.example\.com cannot be resolved"):
            await PageClient(resolve=Names(answers)).fetch("https://gone.example.com/")

    async def test_the_systems_name_service_is_the_default(self) -> None:
        async with Site({"/": HELLO}) as site:
            page = await PageClient(site.policy(allow=("localhost",))).fetch(site.url("/", host="localhost"))
        assert page.status == 200

    async def test_nobody_there_is_an_error_that_names_no_address(self, dialled: Dialled) -> None:
        client = PageClient(resolve=Names({"down.example.com": [[PUBLIC, "93.184.216.35"]]}))
        with pytest.raises(PageUnavailable, match=r"down\.example\.com") as caught:
            await client.fetch("http://down.example.com/")
        assert "93.184" not in str(caught.value)
        assert set(dialled) == {PUBLIC, "93.184.216.35"}


class TestTls:
    @pytest.fixture
    def contexts(self) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        trustme = pytest.importorskip("trustme")
        authority = trustme.CA()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("secure.example.com").configure_cert(server)
        client = ssl.create_default_context()
        authority.configure_trust(client)
        return server, client

    async def test_certificate_and_server_name_are_those_of_the_name(
        self, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
    ) -> None:
        server, tls = contexts
        asked: list[str | None] = []
        server.sni_callback = lambda _socket, name, _context: asked.append(name)
        async with Site({"/": HELLO}, tls=server) as site:
            names = Names({"secure.example.com": HERE, "other.example.com": HERE})
            client = PageClient(site.policy(), resolve=names, tls=tls)
            page = await client.fetch(site.url("/", host="secure.example.com"))
            with pytest.raises(PageUnavailable, match="certificate"):
                await client.fetch(site.url("/", host="other.example.com"))
        assert page.body == b"<p>hello</p>"
        assert asked == ["secure.example.com", "other.example.com"]
        assert len(site.heard) == 1

    async def test_an_unknown_authority_is_refused(self, contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
        async with Site({"/": HELLO}, tls=contexts[0]) as site:
            client = PageClient(site.policy(), resolve=Names({"secure.example.com": HERE}))
            with pytest.raises(PageUnavailable, match="certificate"):
                await client.fetch(site.url("/", host="secure.example.com"))
        assert site.heard == []

    async def test_a_step_down_to_http_is_recorded(self, contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
        server, tls = contexts
        async with Site({"/": HELLO}) as plain, Site({}, tls=server) as secure:
            secure.pages["/"] = redirect(plain.url("/"))
            policy = FetchPolicy(allowed_ports=frozenset({plain.port, secure.port}), allow_private=("127.0.0.1",))
            client = PageClient(policy, resolve=Names({"secure.example.com": HERE}), tls=tls)
            page = await client.fetch(secure.url("/", host="secure.example.com"))
        assert page.downgraded
        assert page.final_url == plain.url("/")


class TestEnvironment:
    async def test_proxies_of_the_environment_are_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with Site({"/": HELLO}) as site, Site() as proxy:
            monkeypatch.setenv("http_proxy", proxy.url())
            names = Names({"news.example.com": HERE})
            page = await PageClient(site.policy(), resolve=names).fetch(site.url("/", host="news.example.com"))
        assert page.status == 200
        assert proxy.heard == []

    async def test_a_dead_end_mentions_the_proxy_that_was_not_used(
        self, monkeypatch: pytest.MonkeyPatch, dialled: Dialled
    ) -> None:
        monkeypatch.setenv("https_proxy", "http://proxy.example.com:3128")
        with pytest.raises(PageUnavailable, match="QIUSUO_READ_PROXY"):
            await PageClient(resolve=Names({"news.example.com": [[PUBLIC]]})).fetch("https://news.example.com/")
        assert dialled == [PUBLIC]

    async def test_the_operator_can_choose_the_proxy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with Site({"http://news.example.com/": HELLO}) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url())
            names = Names({})
            client = PageClient(FetchPolicy(use_env_proxy=True), resolve=names)
            page = await client.fetch("http://news.example.com/")
            with pytest.raises(PageRefused):
                await client.fetch("http://10.0.0.1/")
        assert page.body == b"<p>hello</p>"
        assert names.asked == []
        assert proxy.paths == ["http://news.example.com/"]

    async def test_redirects_seen_through_a_proxy_are_checked_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with Site({"http://news.example.com/": redirect("http://169.254.169.254/")}) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url())
            with pytest.raises(PageRefused):
                await PageClient(FetchPolicy(use_env_proxy=True)).fetch("http://news.example.com/")
        assert len(proxy.heard) == 1

    async def test_what_the_environment_exempts_from_the_proxy_is_pinned_as_ever(
        self, monkeypatch: pytest.MonkeyPatch, dialled: Dialled
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "inside.example.com")
        client = PageClient(FetchPolicy(use_env_proxy=True), resolve=Names({"inside.example.com": [["10.0.0.1"]]}))
        with pytest.raises(PageRefused):
            await client.fetch("http://inside.example.com/")
        assert dialled == []

    async def test_a_proxy_of_another_kind_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
        with pytest.raises(ConfigurationError, match="socks5"):
            await PageClient(FetchPolicy(use_env_proxy=True)).fetch("http://news.example.com/")

    async def test_the_request_says_who_asks(self) -> None:
        async with Site({"/": HELLO}) as site:
            await PageClient(site.policy()).fetch(site.url("/"))
            policy = FetchPolicy(
                allowed_ports=frozenset({site.port}), allow_private=("127.0.0.1",), user_agent="mine/1.0"
            )
            await PageClient(policy).fetch(site.url("/"))
        assert "qiusuo/" in site.heard[0].headers["user-agent"]
        assert site.heard[0].headers["accept-encoding"] == "gzip, deflate"
        assert site.heard[1].headers["user-agent"] == "mine/1.0"
