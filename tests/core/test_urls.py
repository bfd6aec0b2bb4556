"""Canonical addresses (what counts as the same page) and addresses that are safe in Markdown."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.urls import canonical_url, link_url

SAME_PAGE = {
    "scheme and host in any case": ("HTTP://Example.COM/Page", "https://example.com/Page"),
    "http and https": ("http://example.com/a", "https://example.com/a"),
    "with and without www": ("https://www.example.com/a", "https://example.com/a"),
    "default ports": ("http://example.com:80/a", "https://example.com:443/a"),
    "slash at the end": ("https://example.com/a/", "https://example.com/a"),
    "root with and without a slash": ("https://example.com", "https://example.com/"),
    "fragment": ("https://example.com/a#part-2", "https://example.com/a"),
    "text fragment": ("https://example.com/a#:~:text=hello", "https://example.com/a"),
    "campaign": ("https://example.com/a?utm_source=x&UTM_Medium=y&id=3", "https://example.com/a?id=3"),
    "click ids": ("https://example.com/a?gclid=1&fbclid=2&msclkid=3", "https://example.com/a"),
    "Chinese share marks": (
        "https://www.bilibili.com/video/BV1?spm_id_from=333.1&vd_source=abc&from_source=x",
        "https://bilibili.com/video/BV1",
    ),
    "WeChat share": (
        "https://mp.weixin.qq.com/s?__biz=a&mid=1&from=timeline&isappinstalled=0",
        "https://mp.weixin.qq.com/s?__biz=a&mid=1",
    ),
    "order of the query": ("https://example.com/?b=2&a=1", "https://example.com/?a=1&b=2"),
    "blank as plus": ("https://example.com/?q=a+b", "https://example.com/?q=a%20b"),
    "case of escapes": ("https://example.com/%e4%b8%ad", "https://example.com/%E4%B8%AD"),
    "needless escapes": ("https://example.com/%7Euser/%61", "https://example.com/~user/a"),
    "Chinese path written out": ("https://example.com/中文", "https://example.com/%E4%B8%AD%E6%96%87"),
    "international host": ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
    "dot segments": ("https://example.com/a/./b/../c", "https://example.com/a/c"),
    "dot at the end of the host": ("https://example.com./a", "https://example.com/a"),
    "empty query": ("https://example.com/a?", "https://example.com/a"),
    "surrounding blanks": ("  https://example.com/a\n", "https://example.com/a"),
    "session in the path": ("https://example.com/a;jsessionid=1F2E", "https://example.com/a"),
}

OTHER_PAGE = {
    "path": ("https://example.com/a", "https://example.com/b"),
    "case of the path": ("https://example.com/A", "https://example.com/a"),
    "host": ("https://a.example.com/", "https://b.example.com/"),
    "port": ("https://example.com:8443/", "https://example.com/"),
    "value": ("https://example.com/?id=1", "https://example.com/?id=2"),
    "parameter that names a branch": ("https://example.com/?ref=main", "https://example.com/?ref=dev"),
    "order of equal names": ("https://example.com/?a=1&a=2", "https://example.com/?a=2&a=1"),
    "route in the fragment": ("https://example.com/#/one", "https://example.com/#/two"),
    "literal plus": ("https://example.com/?q=c%2B", "https://example.com/?q=c+"),
    "escaped slash": ("https://example.com/a%2Fb", "https://example.com/a/b"),
    "sharp s is no double s": ("https://faß.de/", "https://fass.de/"),
    "www as the whole name": ("https://www.com/", "https://com/"),
}


@pytest.mark.parametrize(("one", "other"), SAME_PAGE.values(), ids=SAME_PAGE)
def test_same_page_has_one_canonical_address(one: str, other: str) -> None:
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(("one", "other"), OTHER_PAGE.values(), ids=OTHER_PAGE)
def test_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    "text", ["", "no address", "javascript:alert(1)", "http://", "http://[", "http://a b/", "//x/y", "http://a:99999/"]
)
def test_what_is_no_web_address_comes_back_stripped(text: str) -> None:
    assert canonical_url(f" {text}\t") == text


hosts = st.from_regex(r"(www\.)?[a-z]{1,8}(\.[a-z]{1,5}){1,2}", fullmatch=True)
paths = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/?#\\"), max_size=6), max_size=4).map(
    "/".join
)
queries = st.text(st.characters(codec="utf-8", exclude_characters="#"), max_size=20)
web_addresses = st.builds(
    "{}://{}{}/{}?{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    hosts,
    st.sampled_from(["", ":80", ":443", ":8080"]),
    paths,
    queries,
    st.sampled_from(["", "#top", "#/route", "#!x"]),
)


@given(st.one_of(web_addresses, st.text(), st.text().map("http://{}".format), st.text().map("https://a.b/{}".format)))
def test_canonical_form_is_stable_and_nothing_raises(url: str) -> None:
    canonical = canonical_url(url)
    assert canonical_url(canonical) == canonical


@given(web_addresses)
def test_canonical_form_of_a_web_address_is_plain_ascii(url: str) -> None:
    canonical = canonical_url(url)
    assert canonical.isascii()
    assert canonical.startswith("https://")
    assert " " not in canonical


@given(web_addresses, st.sampled_from(["utm_source=a", "fbclid=1", "spm=a.b.c", "gclid=%20"]))
def test_tracking_never_makes_another_page(url: str, tracking: str) -> None:
    assert canonical_url(url.replace("?", f"?{tracking}&", 1)) == canonical_url(url)


@given(hosts, st.integers(), st.integers())
def test_different_numbers_are_different_pages(host: str, one: int, other: int) -> None:
    same = canonical_url(f"https://{host}/?id={one}") == canonical_url(f"https://{host}/?id={other}")
    assert same == (one == other)


@given(st.one_of(web_addresses, st.text(), st.text().map("https://a.b/{}".format)))
def test_link_is_http_and_cannot_break_out_of_markdown(url: str) -> None:
    link = link_url(url)
    if link is not None:
        assert urlsplit(link).scheme in {"http", "https"}
        assert link.isascii()
        assert not set("()<>\"'`|\\{}^ \n\t") & set(link)
        assert link_url(link) == link


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://example.com/a(b) c", "https://example.com/a%28b%29%20c"),
        ('https://example.com/"><script>', "https://example.com/%22%3E%3Cscript%3E"),
        ("https://example.com/a%20b%", "https://example.com/a%20b%25"),
        ("https://example.com/?a=1&copy;=2", "https://example.com/?a=1&copy%3B=2"),
        ("https://bank.example@evil.example/", "https://evil.example/"),
        ("http://[::1]:8080/a[1]", "http://[::1]:8080/a%5B1%5D"),
        ("https://例え.jp/?q=中", "https://xn--r8jz45g.jp/?q=%E4%B8%AD"),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("ftp://example.com/", None),
        ("https://exa mple.com/", None),
        ("https://example.com/" + "a" * 5000, None),
        ("", None),
    ],
)
def test_link_escapes_or_refuses(url: str, link: str | None) -> None:
    assert link_url(url) == link
