"""Reading of web pages for agents: fetched under guard, decoded, reduced to what is worth reading."""

from qiusuo.pages.models import Page, PageLink
from qiusuo.pages.reader import PageReader

__all__ = ["Page", "PageLink", "PageReader"]
