"""Reading of web pages for agents: fetched under guard, decoded, reduced to what is worth reading."""

from qiusuo.pages.models import Page, PageLink
from qiusuo.pages.reader import PageReader, can_read
from qiusuo.pages.recent import ReadPage, RecentPages

__all__ = ["Page", "PageLink", "PageReader", "ReadPage", "RecentPages", "can_read"]
