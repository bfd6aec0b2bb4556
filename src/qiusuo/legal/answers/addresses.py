"""Addresses of articles: made for results, and read back where a result is all that is left of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from qiusuo.legal.models import LawVersion

OFFICIAL_SITE: Final = "https://flk.npc.gov.cn/"


@dataclass(frozen=True, slots=True)
class ArticleAddress:
    """What an address says. ``page`` is the version's own page where its source gave one, else the law is named."""

    law_name: str = ""
    label: str = ""
    published: str = ""
    page: str = ""


def address_of(law_name: str, label: str = "", version: LawVersion | None = None) -> str:
    """Return the address of an article, or of a law: on its own page, else in the official database.

    The pages of that database have no stable addresses, so the words are parameters.
    """
    if version is not None and version.url:
        return f"{version.url}#{quote(label)}" if label and "#" not in version.url else version.url
    parts = {"title": law_name, "article": label, "version": version.published if version else ""}
    return f"{OFFICIAL_SITE}?{urlencode({name: value for name, value in parts.items() if value})}"


def comparison_of(law_name: str, label: str, version: LawVersion) -> str:
    """Return where on a server an article of this version is compared with another one."""
    parts = {"reference": f"{law_name}{label}", "asOf": version.effective}
    return f"/api/legal/diff?{urlencode({name: value for name, value in parts.items() if value})}"


def read_address(url: str) -> ArticleAddress | None:
    """Read an address back; None where it is none of a web page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    values = {name: found[0] for name, found in parse_qs(parts.query).items()}
    if url.startswith(f"{OFFICIAL_SITE}?") and values.get("title"):
        return ArticleAddress(values["title"], values.get("article", ""), values.get("version", ""))
    return ArticleAddress(label=unquote(parts.fragment), page=parts._replace(fragment="").geturl())
