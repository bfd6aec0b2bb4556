"""The user's own Chrome: found, started, shared, recycled and closed here. The only package that imports Playwright.

Playwright is loaded by the first search, so that finding out whether there is a browser costs nothing.
"""

from qiusuo.browser.browser import Browser
from qiusuo.browser.locate import find_chrome
from qiusuo.browser.settings import BrowserSettings
from qiusuo.browser.solved import host_of, solved_hosts
from qiusuo.browser.views import PageCircles, PageView, Visit

__all__ = ["Browser", "BrowserSettings", "PageCircles", "PageView", "Visit", "find_chrome", "host_of", "solved_hosts"]
