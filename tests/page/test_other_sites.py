"""What a page of somebody else can do to a server without tokens, through the browser of the server's user: nothing."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from qiusuo.testing import Answer, Provider, ProviderServer, Seen
from tests.support.chromium import browser_settings
from tests.support.page_world import PageWorld, with_own_browser

pytestmark = with_own_browser(__name__)

# Our server by a name without TLS: there browsers do not say from which site a request comes.
PLAIN_NAME = "box.lan"
HOSTS = "MAP evil.example 127.0.0.1, MAP box.lan 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
# Each stands in the page; {url} searches, {n} is a number of its own.
MARKUP = {
    "iframe": '<iframe src="{url}" hidden></iframe>',
    "iframe without a referrer": '<iframe src="{url}" referrerpolicy="no-referrer"></iframe>',
    "sandboxed iframe": '<iframe src="{url}" sandbox></iframe>',
    "frame": "<iframe srcdoc='<frameset><frame src=\"{url}\"></frameset>'></iframe>",
    "iframe of the root": '<iframe src="{root}/?q={n}&format=json"></iframe>',
    "object": '<object data="{url}"></object>',
    "embed": '<embed src="{url}">',
    "img": '<img src="{url}">',
    "img without a referrer": '<img src="{url}" referrerpolicy="no-referrer">',
    "script": '<script src="{url}"></script>',
    "script without a referrer": '<script src="{url}" referrerpolicy="no-referrer"></script>',
    "style": '<link rel="stylesheet" href="{url}">',
    "video": '<video src="{url}" autoplay></video>',
    "prefetch": '<link rel="prefetch" href="{url}">',
    "prerender": '<link rel="prerender" href="{url}">',
    "speculation": '<script type="speculationrules">'
    '{{"prefetch": [{{"urls": ["{url}"], "eagerness": "immediate"}}],'
    ' "prerender": [{{"urls": ["{url}2"], "eagerness": "immediate"}}]}}</script>',
    "form GET into a frame": '<iframe name="f{n}"></iframe><form action="{root}/search" target="f{n}">'
    '<input name="q" value="form"><input name="format" value="json"></form>'
    "<script>document.forms[document.forms.length - 1].submit()</script>",
    "form POST into a frame": '<iframe name="p{n}"></iframe><form action="{root}/search" method="post" target="p{n}">'
    '<input name="q" value="form"><input name="format" value="json"></form>'
    "<script>document.forms[document.forms.length - 1].submit()</script>",
    "fetch": '<script>fetch("{url}", {{mode: "no-cors"}}).catch(() => 0)</script>',
    "fetch without a referrer": "<script>"
    'fetch("{url}", {{mode: "no-cors", referrerPolicy: "no-referrer"}}).catch(() => 0)</script>',
    "fetch POST": '<script>fetch("{root}/api/search", {{mode: "no-cors", method: "POST", body: \'{{"query": "x"}}\'}})'
    ".catch(() => 0)</script>",
    "beacon": '<script>navigator.sendBeacon("{root}/search", new URLSearchParams("q=b&format=json"))</script>',
    "new conversation": '<script>fetch("{root}/api/chat/sessions", {{mode: "no-cors", method: "POST", body: "{{}}"}})'
    ".catch(() => 0)</script>",
    "event source": '<script>new EventSource("{url}")</script>',
    "worker": "<script>new Worker(URL.createObjectURL(new Blob(['importScripts(\"{url}\")'])))</script>",
}
# Each takes the tab, or another one, to a search; the click makes it look like the user's own wish.
CLICKS = {
    "window": 'window.open("{url}")',
    "window without a referrer": 'window.open("{url}", "_blank", "noreferrer")',
    "location": 'location.href = "{url}"',
    "location of the root": 'location.href = "{root}/?q=root&format=json"',
    "form": 'const f = document.createElement("form"); f.action = "{root}/search";'
    'f.innerHTML = "<input name=q value=top><input name=format value=json>"; document.body.append(f); f.submit()',
    "form POST": 'const f = document.createElement("form"); f.action = "{root}/search"; f.method = "post";'
    'f.innerHTML = "<input name=q value=top><input name=format value=json>"; document.body.append(f); f.submit()',
}


class Hostile(Provider):
    """A web site whose one page says what it is told to."""

    text = ""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - the same for all
        return Answer(f"<!doctype html><title>elsewhere</title><body>{self.text}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    settings = browser_settings()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=settings.executable,
            chromium_sandbox=settings.sandbox,
            args=[f"--host-resolver-rules={HOSTS}"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    with PageWorld(allowed_hosts=PLAIN_NAME) as world:
        yield world


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProviderServer]:
    with ProviderServer(Hostile()) as server:
        yield server


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def _root(world: PageWorld, name: str) -> str:
    return f"http://{name}:{urlsplit(world.url).port}"


def _refused(world: PageWorld) -> float:
    lines = world.server.metrics().splitlines()
    return sum(float(line.split()[-1]) for line in lines if "http_requests_total" in line and 'status="403"' in line)


def _nothing_was_done(world: PageWorld) -> None:
    assert world.searches() == []
    assert world.server.client.get("/api/chat/sessions").json()["sessions"] == []


# Another site, this machine by its other name, and another program on this machine: the same site to a browser.
@pytest.mark.parametrize("site", ["evil.example", "localhost", "127.0.0.1"])
@pytest.mark.parametrize("name", ["127.0.0.1", PLAIN_NAME])
class TestAPageElsewhere:
    def test_cannot_search_unseen(
        self, world: PageWorld, elsewhere: ProviderServer, tab: Page, site: str, name: str
    ) -> None:
        root, before = _root(world, name), _refused(world)
        ways = [
            text.format(root=root, url=f"{root}/search?format=json&q={number}", n=number)
            for number, text in enumerate(MARKUP.values())
        ]
        elsewhere.provider.text = "\n".join(ways)  # type: ignore[attr-defined]
        tab.goto(f"http://{site}:{elsewhere.port}/")
        tab.wait_for_load_state("networkidle")
        _nothing_was_done(world)
        # They were tried: nearly each of them has reached the server.
        assert _refused(world) - before >= len(MARKUP) - 6

    def test_cannot_send_somebody_to_a_search(
        self, world: PageWorld, elsewhere: ProviderServer, tab: Page, site: str, name: str
    ) -> None:
        root, before = _root(world, name), _refused(world)
        for number, text in enumerate(CLICKS.values()):
            code = text.format(root=root, url=f"{root}/search?format=json&q=click{number}")
            elsewhere.provider.text = f"<button>Click</button><script>onclick = () => {{ {code} }}</script>"  # type: ignore[attr-defined]
            tab.goto(f"http://{site}:{elsewhere.port}/")
            with tab.context.expect_event("response") as answer:
                tab.click("button")
            assert answer.value.status == 403
        _nothing_was_done(world)
        assert _refused(world) - before >= len(CLICKS)

    def test_can_link_to_a_page_but_not_frame_it(
        self, world: PageWorld, elsewhere: ProviderServer, tab: Page, site: str, name: str
    ) -> None:
        root = _root(world, name)
        for path in ("/", "/docs"):
            elsewhere.provider.text = f'<a href="{root}{path}">link</a><iframe src="{root}{path}"></iframe>'  # type: ignore[attr-defined]
            tab.goto(f"http://{site}:{elsewhere.port}/")
            tab.wait_for_load_state("networkidle")
            [framed] = [frame for frame in tab.frames if frame.parent_frame]
            assert "求索" not in framed.content()
            with tab.expect_navigation() as there:
                tab.click("a")
            assert there.value.status == 200


def test_a_typed_search_and_our_own_page_are_served(world: PageWorld, tab: Page) -> None:
    before = len(world.searches())
    # The browser's search box and bookmarks come from no site at all.
    answer = tab.goto(f"{world.url}/search?format=json&q=typed")
    assert answer is not None
    assert answer.status == 200
    tab.goto(world.url)
    found = tab.evaluate("fetch('/search?format=json&q=own').then((answer) => answer.status)")
    assert found == 200
    assert world.searches()[before:] == ["typed", "own"]
