"""Where a conversation searches: the web, the news or what a plug-in offers; on which sites; how new its pages are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from qiusuo import plugins
from qiusuo.models import Freshness, SearchType, domain_of
from qiusuo.pipeline.request import SearchOptions, is_within
from qiusuo.plugins import Focus
from qiusuo.words import Fact

WEB: Final = "web"
NEWS: Final = "news"
MAX_SITES: Final = 10
FRESH: Final = (Freshness.DAY, Freshness.WEEK, Freshness.MONTH, Freshness.YEAR)
ANY: Final = "any"
_OWN: Final = (
    Focus(WEB, SearchType.GENERAL, Fact("focus.web")),
    Focus(NEWS, SearchType.NEWS, Fact("focus.news")),
)


def focuses() -> dict[str, Focus]:
    """Return what can be searched here, by name: the web, the news, and what plug-ins offer."""
    offered = (focus for plugin in plugins.installed() for focus in plugin.focuses)
    known: dict[str, Focus] = {}
    for focus in (*_OWN, *offered):
        known.setdefault(focus.name, focus)
    return known


@dataclass(frozen=True, slots=True)
class Scope:
    """What searches are kept to: a focus, some sites (none: all of them), how new pages must be."""

    focus: str = WEB
    sites: tuple[str, ...] = ()
    freshness: Freshness | None = None

    @property
    def narrowed(self) -> bool:
        """Whether less than all of the web is searched."""
        return self != Scope()

    @property
    def asks_plugins(self) -> bool:
        """Whether plug-ins may recognise the question and look it up: what they know is no news, and on no site."""
        return self.focus != NEWS and not self.sites

    def search_type(self, wanted: SearchType | str | None = None) -> SearchType:
        """Return the type of a search for which another is ``wanted``: within all of the web only it counts."""
        chosen = focuses().get(self.focus) if self.focus != WEB else None
        return chosen.search_type if chosen is not None else SearchType(wanted or SearchType.GENERAL)

    def options(self, wanted: SearchType | str | None = None) -> SearchOptions:
        """Return what a search is told."""
        return {
            "type": self.search_type(wanted),
            "include_domains": self.sites,
            "freshness": self.freshness,
        }

    def allows(self, url: str) -> bool:
        """Tell whether an address is on one of the sites."""
        return not self.sites or is_within(domain_of(url), self.sites)

    @property
    def key(self) -> str:
        """What tells searches of this scope from those of others; empty for all of the web."""
        parts = (self.focus, ",".join(self.sites), self.freshness or "")
        return " ".join(parts) if self.narrowed else ""

    @property
    def told(self) -> Fact:
        """What was searched, for readers: ``news · the last week · on example.org``."""
        known = focuses().get(self.focus)
        parts: list[Fact] = []
        if known is not None and (self.focus != WEB or not self.narrowed):
            parts.append(known.label)
        if self.freshness:
            parts.append(Fact(f"focus.{self.freshness.value}"))
        if self.sites:
            parts.append(Fact("focus.on_sites", sites=list(self.sites)))
        return Fact("focus.searched", parts=parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it in its JSON shape."""
        fresh = self.freshness.value if self.freshness else None
        return {"focus": self.focus, "sites": list(self.sites), "freshness": fresh}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scope:
        """Rebuild it from ``to_dict``."""
        fresh = data.get("freshness")
        return cls(data.get("focus") or WEB, tuple(data.get("sites") or ()), Freshness(fresh) if fresh else None)
