"""One canonical form per web page, and addresses that are safe to put into Markdown.

Two results with the same ``canonical_url`` are the same page: they share one citation number and one merged result.
"""

from __future__ import annotations

import re
import string
import unicodedata
from urllib.parse import urlsplit


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What tells where a visitor came from, never which page is shown. Names that sites also use for content
# (``ref``, ``source``, ``id``, ``t``) are not in it: a page too many is better than two pages in one.
_TRACKING_NAMES = _words(
    """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl fbclid fb_action_ids fb_action_types
    fb_source mibextid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh mc_cid mc_eid mkt_tok _hsenc _hsmi
    __hssc __hstc __hsfp hsctatracking oly_enc_id oly_anon_id vero_id vero_conv wickedid s_kwcid rb_clickid
    _branch_match_id ref_src ref_url guccounter guce_referrer guce_referrer_sig at_medium at_campaign at_custom1
    at_custom2 at_custom3 at_custom4 cmpid ncid
    spm scm spm_id_from from_source from_spmid vd_source share_source share_medium share_plat share_session_id
    share_tag share_from share_times unique_k xhsshare xsec_source isappinstalled nsukey tdsourcetag wfr hmsr hmpl
    hmcu hmkw hmci bd_vid sharer_sharetime sharer_shareid sharer_shareinfo shareuid share_uid
    """
)
_TRACKING_PREFIXES = ("utm_", "pk_campaign", "pk_kwd", "mtm_")
# General names that are tracking only with these values (added by WeChat and Baidu when a page is passed on).
_TRACKING_PAIRS = frozenset({"from=singlemessage", "from=groupmessage", "from=timeline", "for=pc"})

_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
# A route, or 第 as it is and as it is escaped.
_TELLING_FRAGMENTS = ("/", "!", "第", "%E7%AC%AC", "%e7%ac%ac")
# What has to be escaped in each part; the percent sign is dealt with apart.
_UNSAFE_IN_USER = re.compile(r"[^\w.~:%-]", re.ASCII)
_UNSAFE_IN_PATH = re.compile(r"[^\w.~!$&'()*+,;=:@/%-]", re.ASCII)
_UNSAFE_IN_NAME = re.compile(r"[^\w.~!$'()*,;:@/?%-]", re.ASCII)
_UNSAFE_IN_VALUE = re.compile(r"[^\w.~!$'()*,;:@/?=%-]", re.ASCII)
_UNSAFE_IN_ROUTE = re.compile(r"[^\w.~!$&'()*+,;=:@/?%-]", re.ASCII)
# In a link nothing may stay that ends a Markdown destination, a table cell or a code span.
_UNSAFE_IN_LINK = re.compile(r"[^\w.~!$&*+,;=:@/?#%-]", re.ASCII)

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SESSION = re.compile(r";jsessionid=[^/;?]*", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_IPV6 = re.compile(r"[0-9a-f:.]+")
_ENTITY = re.compile(r"(&#?\w+);")
_BLANK = string.whitespace + "".join(map(chr, range(0x20))) + "\u00a0\u3000\ufeff"
_MAX_LINK = 4000


def canonical_url(url: str) -> str:
    """Return the form of ``url`` that is the same for all addresses of one page.

    Meant as a key, not as a link: the scheme is always ``https``, ``www.``, default ports, fragments and tracking
    parameters are gone, the query is sorted by name. Fragments that are routes (``#/a``, ``#!a``) or name an article
    of a law (``#第五条``) stay. Never raises:
    what is no http address comes back stripped of surrounding blanks.
    """
    stripped = url.strip(_BLANK)
    try:
        parts = urlsplit(stripped)
        port = parts.port
        host = _host(parts.hostname or "")
    except ValueError:
        return stripped
    if parts.scheme not in {"http", "https"} or not host:
        return stripped
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    # Both default ports go: with the scheme unified, http on 443 would else change at the second pass.
    authority = host if port in {None, 80, 443} else f"{host}:{port}"
    if parts.username is not None:
        authority = f"{_encode(parts.netloc.rpartition('@')[0], _UNSAFE_IN_USER)}@{authority}"
    path = _path(parts.path)
    query = _query(parts.query)
    fragment = parts.fragment if parts.fragment.startswith(_TELLING_FRAGMENTS) else ""
    return (
        f"https://{authority}{path}"
        + (f"?{query}" if query else "")
        + (f"#{_encode(fragment, _UNSAFE_IN_ROUTE)}" if fragment else "")
    )


def link_url(url: str) -> str | None:
    """Return ``url`` percent-escaped for use as a link in Markdown or HTML, None where it must not be one.

    Only http and https pass; user names are dropped (``https://bank.example@evil.example`` shows the wrong host).
    """
    stripped = url.strip(_BLANK)
    try:
        parts = urlsplit(stripped)
        port = parts.port
        host = _host(parts.hostname or "")
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host:
        return None
    start = f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")
    rest = parts.path or ("/" if parts.query or parts.fragment else "")
    if parts.query:
        rest += f"?{parts.query}"
    if parts.fragment:
        rest += f"#{parts.fragment}"
    # "&copy;" in a destination would be read as an entity.
    link = start + _ENTITY.sub(r"\1%3B", _UNSAFE_IN_LINK.sub(_escape, _STRAY_PERCENT.sub("%25", rest)))
    return link if len(link) <= _MAX_LINK else None


def _host(host: str) -> str:
    """Return a host in lower case and ASCII (labels of other scripts as punycode); ValueError if it is none."""
    if ":" in host:
        if not _IPV6.fullmatch(host):
            raise ValueError(f"not an address: {host!r}")
        return f"[{host}]"
    if not host.isascii():
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", host).lower()).replace("。", ".")
        host = ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
            for label in folded.split(".")
        )
    host = host.lower().rstrip(".")
    if host and not _HOST.fullmatch(host):
        raise ValueError(f"not a host name: {host!r}")
    return host


def _path(path: str) -> str:
    """Return a path with its escapes normalised, dot segments resolved and no slash at its end (but for the root)."""
    kept: list[str] = []
    for segment in _SESSION.sub("", _encode(path, _UNSAFE_IN_PATH)).split("/")[1:]:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    while kept and not kept[-1]:
        kept.pop()
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    """Return a query without tracking, sorted by name; the order of equal names may matter and stays."""
    pairs = []
    for pair in query.replace("+", "%20").split("&"):
        name, equals, value = pair.partition("=")
        name, value = _encode(name, _UNSAFE_IN_NAME), _encode(value, _UNSAFE_IN_VALUE)
        lowered = name.lower()
        if not pair or lowered in _TRACKING_NAMES or lowered.startswith(_TRACKING_PREFIXES):
            continue
        if f"{lowered}={value.lower()}" not in _TRACKING_PAIRS:
            pairs.append((name, f"{name}{equals}{value}"))
    pairs.sort(key=lambda pair: pair[0])
    return "&".join(text for _, text in pairs)


def _encode(text: str, unsafe: re.Pattern[str]) -> str:
    """Normalise percent-escapes: unreserved characters plain, all else escaped once, in upper case."""
    # Stray percent signs go first: "%%341" must not become "%41", which the next pass would read as "A".
    return unsafe.sub(_escape, _ESCAPE.sub(_plain_if_unreserved, _STRAY_PERCENT.sub("%25", text)))


def _plain_if_unreserved(match: re.Match[str]) -> str:
    character = chr(int(match[0][1:], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))
