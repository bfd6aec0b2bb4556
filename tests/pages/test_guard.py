"""Which addresses may be fetched. Each hostile URL stands with the reason for which it is refused."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.errors import ConfigurationError, PageRefused
from qiusuo.http.addresses import AddressKind, inner_address, kind_of
from qiusuo.http.guard import FetchPolicy, Target, check_address, check_url, follow
from qiusuo.words import Language
from tests.support.url_tables import HOSTILE, ORDINARY


def test_the_table_is_long_enough() -> None:
    assert len({url for url, _ in HOSTILE}) >= 60


@pytest.mark.parametrize(("url", "reason"), HOSTILE)
def test_hostile_url_is_refused_with_its_reason(url: str, reason: str) -> None:
    with pytest.raises(PageRefused) as caught:
        check_url(url, FetchPolicy())
    assert reason.lower() in caught.value.message.lower()
    for language in Language:
        assert all(caught.value.wording(language)[part] for part in (0, 2))


@pytest.mark.parametrize(("url", "canonical"), ORDINARY)
def test_ordinary_url_passes_in_canonical_form(url: str, canonical: str) -> None:
    target = check_url(url, FetchPolicy())
    assert target.url == canonical
    assert check_url(target.url, FetchPolicy()) == target


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://", "http://127.0.0.1", "http://example.com"]))
def test_any_text_is_refused_or_stays_as_it_is_once_canonical(text: str, start: str) -> None:
    try:
        target = check_url(start + text, FetchPolicy())
    except PageRefused:
        return
    assert target.url.isascii()
    assert check_url(target.url, FetchPolicy()) == target
    assert target.address is None or kind_of(target.address) is None


@given(st.ip_addresses())
def test_an_address_is_public_only_if_the_standard_library_thinks_so_too(address: object) -> None:
    parsed = ip_address(str(address))
    if kind_of(parsed) is None:
        reached = inner_address(parsed)
        assert reached.is_global
        assert not reached.is_multicast


class TestPolicy:
    def test_a_listed_network_is_open_and_its_neighbour_is_not(self) -> None:
        policy = FetchPolicy(allow_private=("10.1.0.0/16",))
        assert check_url("http://10.1.2.3/", policy).host == "10.1.2.3"
        assert check_url("http://[::ffff:10.1.2.3]/", policy).host == "::ffff:a01:203"
        with pytest.raises(PageRefused):
            check_url("http://10.2.0.1/", policy)

    @pytest.mark.parametrize(
        ("url", "place"),
        [
            ("http://127.0.0.1:45745/x", "127.0.0.1:45745"),
            ("http://[::1]:45745/", "[::1]:45745"),
            ("http://wiki.corp:8080/", "wiki.corp:8080"),
            ("http://169.254.169.254:8080/", None),
            ("http://[::ffff:169.254.169.254]:8080/", None),
            ("http://metadata.google.internal:8080/", None),
        ],
    )
    def test_a_port_names_what_would_open_it_unless_nobody_should(self, url: str, place: str | None) -> None:
        with pytest.raises(PageRefused) as caught:
            check_url(url, FetchPolicy())
        assert caught.value.fact.values.get("place") == place
        if place:
            assert check_url(url, FetchPolicy.opened_to([place])).port == caught.value.fact.values["port"]

    def test_an_allowed_port_is_open(self) -> None:
        policy = FetchPolicy(allowed_ports=frozenset({80, 443, 8080}))
        assert check_url("http://example.com:8080/", policy).url == "http://example.com:8080/"

    @pytest.mark.parametrize("network", ["169.254.0.0/16", "0.0.0.0/0", "100.64.0.0/10"])
    def test_a_wide_network_does_not_open_metadata_addresses(self, network: str) -> None:
        policy = FetchPolicy(allow_private=(network,))
        for address in ("169.254.169.254", "100.100.100.200", "168.63.129.16"):
            with pytest.raises(PageRefused, match="metadata"):
                check_url(f"http://{address}/", policy)

    def test_a_metadata_address_listed_by_itself_is_open(self) -> None:
        policy = FetchPolicy(allow_private=("169.254.169.254",))
        assert check_url("http://169.254.169.254/", policy).host == "169.254.169.254"

    def test_a_named_host_may_be_private_but_never_metadata(self) -> None:
        policy = FetchPolicy(allow_private=("wiki.corp", "intranet", "*.team.example.com"))
        for url in ("http://wiki.corp/", "http://Intranet/", "http://a.b.team.example.com/"):
            target = check_url(url, policy)
            for address in ("10.0.0.1", "127.0.0.1", "fd00::1", "93.184.216.34"):
                check_address(address, target, policy)
            for address in ("169.254.169.254", "169.254.0.1", "0.0.0.0", "224.0.0.1", "fe80::1"):  # noqa: S104 - data
                with pytest.raises(PageRefused):
                    check_address(address, target, policy)
        with pytest.raises(PageRefused):
            check_url("http://other.corp/", policy)
        with pytest.raises(PageRefused):
            check_address("10.0.0.1", check_url("http://team.example.com/", policy), policy)

    def test_metadata_names_cannot_be_opened_by_a_wildcard(self) -> None:
        with pytest.raises(PageRefused, match="metadata"):
            check_url("http://metadata.google.internal/", FetchPolicy(allow_private=("*.internal",)))

    @pytest.mark.parametrize("entry", ["not a host", "", "10.0.0.0/99", "300.1.1.1", "http://wiki.corp"])
    def test_an_unreadable_entry_is_reported_at_once(self, entry: str) -> None:
        with pytest.raises(ConfigurationError, match="allow_private"):
            FetchPolicy(allow_private=(entry,))

    def test_unusable_limits_are_reported_at_once(self) -> None:
        for limits in ({"max_bytes": 0}, {"timeout": 0}, {"max_redirects": -1}):
            with pytest.raises(ConfigurationError):
                FetchPolicy(**limits)  # type: ignore[arg-type]  # a mix of numbers


class TestResolvedAddresses:
    TARGET = Target("http://news.example.com/", "http", "news.example.com", 80)

    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1",
            "10.0.0.8",
            "169.254.169.254",
            "::1",
            "::ffff:10.0.0.8",
            "64:ff9b::a00:8",
            "198.18.0.5",
            "fe80::1%eth0",
        ],
    )
    def test_a_name_that_leads_inside_is_refused_without_naming_the_address(self, address: str) -> None:
        with pytest.raises(PageRefused) as caught:
            check_address(address, self.TARGET, FetchPolicy())
        assert "news.example.com" in str(caught.value)
        assert address not in str(caught.value)

    @pytest.mark.parametrize(
        "address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
    )
    def test_a_public_address_passes(self, address: str) -> None:
        check_address(address, self.TARGET, FetchPolicy())

    def test_made_up_addresses_of_a_local_proxy_can_be_allowed(self) -> None:
        check_address("198.18.0.5", self.TARGET, FetchPolicy(allow_private=("198.18.0.0/15",)))


class TestRedirectTargets:
    BASE = check_url("https://news.example.com/a/b?c", FetchPolicy())

    @pytest.mark.parametrize(
        ("location", "url"),
        [
            ("/x", "https://news.example.com/x"),
            ("x", "https://news.example.com/a/x"),
            ("?q=1", "https://news.example.com/a/b?q=1"),
            ("//cdn.example.com/x", "https://cdn.example.com/x"),
            ("http://example.org/", "http://example.org/"),
            (" /x ", "https://news.example.com/x"),
            ("/新闻", "https://news.example.com/%E6%96%B0%E9%97%BB"),
            ("/\udcd0\udcc2", "https://news.example.com/%D0%C2"),  # raw GBK bytes, as the client hands them on
        ],
    )
    def test_an_ordinary_redirect_is_followed(self, location: str, url: str) -> None:
        assert follow(self.BASE, location, FetchPolicy()).url == url

    @pytest.mark.parametrize(
        "location",
        [
            "http://169.254.169.254/latest/",
            "//127.0.0.1/",
            "//[::1]/",
            "//2130706433/",
            "http://localhost/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user@example.com/",
            "https://example.com:8080/",
            "/\\127.0.0.1/",
            "\\\\127.0.0.1\\x",
            "http://127.0.0.1\t.example.com/",
            "http://[",
            "",
        ],
    )
    def test_a_hostile_redirect_is_refused_without_repeating_it(self, location: str) -> None:
        with pytest.raises(PageRefused) as caught:
            follow(self.BASE, location, FetchPolicy())
        assert "news.example.com redirects" in caught.value.message
        assert "127.0.0.1" not in str(caught.value)
        assert "169.254" not in str(caught.value)


def test_every_kind_of_address_is_described() -> None:
    for language in Language:
        assert all(kind.fact.text(language) not in {"", kind.fact.code} for kind in AddressKind)
