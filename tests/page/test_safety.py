"""What models and web pages write never runs, never loads anything, and never leads elsewhere than http(s)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.web.static.page import CONTENT_POLICY
from tests.support.page_world import PAGES, PageWorld, Screen, screen, show, with_own_browser
from tests.support.scripted_model import Reply

pytestmark = with_own_browser(__name__)

SCRIPT = "window.__xss=(window.__xss||0)+1"
# Outside hosts are real words here: what asks for them is seen.
PAYLOADS = (
    f"<script>{SCRIPT}</script>",
    f'<img src=x onerror="{SCRIPT}">',
    f"<svg onload={SCRIPT}>",
    f"<svg><script>{SCRIPT}</script></svg>",
    f"<body onload={SCRIPT}>",
    f'<iframe srcdoc="<script>parent.{SCRIPT}</script>"></iframe>',
    f'<iframe src="javascript:{SCRIPT}"></iframe>',
    f'<object data="javascript:{SCRIPT}"></object>',
    "<embed src=https://evil.example/e.swf>",
    f"<details open ontoggle={SCRIPT}>x</details>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={SCRIPT}></style></mglyph></table></mtext></math>",
    f'<noscript><p title="</noscript><img src=x onerror={SCRIPT}>"></noscript>',
    f"<template><img src=x onerror={SCRIPT}></template>",
    f'<a href="javascript:{SCRIPT}">x</a>',
    f'<form action="javascript:{SCRIPT}"><button>go</button></form>',
    f"<input autofocus onfocus={SCRIPT}>",
    f"<video><source onerror={SCRIPT}></video>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css'; body{background:url(https://evil.example/b.png)}</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    f"[x](javascript:{SCRIPT})",
    f"[x](JaVaScRiPt:{SCRIPT})",
    f"[x](&#106;avascript:{SCRIPT})",
    f"[x](java\tscript:{SCRIPT})",
    f"[x](\x01javascript:{SCRIPT})",
    f"[x](vbscript:{SCRIPT})",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/protocol-relative)",
    "[x](/api/health)",
    f'[x]( javascript:{SCRIPT} "title")',
    f"[[1]](javascript:{SCRIPT})",
    f'[[1]](https://evil.example/ "\\" onmouseover=\\"{SCRIPT}")',
    f"<javascript:{SCRIPT}>",
    "![tracking](https://evil.example/pixel.png?who=me)",
    f'![x](https://evil.example/x.png "\\" onerror=\\"{SCRIPT}")',
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "[![x](https://evil.example/in-link.png)](https://evil.example/)",
    f"[ref]: javascript:{SCRIPT}\n\n[ref]",
    f"`code <img src=x onerror={SCRIPT}>`",
    f"```html\n<img src=x onerror={SCRIPT}><script>{SCRIPT}</script>\n```",
    f'```"><img src=x onerror={SCRIPT}>\ncode\n```',
    f"| a |\n| --- |\n| <img src=x onerror={SCRIPT}> |",
    f"{{{{constructor.constructor('{SCRIPT}')()}}}}",
    f"${{{SCRIPT}}}",
    f"</textarea></title></style></script><script>{SCRIPT}</script>",
    f"&lt;script&gt;{SCRIPT}&lt;/script&gt;",
    f"\u202e<img src=x onerror={SCRIPT}>\u0000",
    f'<x class="cite" data-number=1 onpointerenter={SCRIPT}>[1]</x>',
    f'<img srcset="https://evil.example/s.png 1x" onload={SCRIPT}>',
    f"<a href=https://evil.example ping=https://evil.example/ping onclick={SCRIPT}>x</a>",
)


def nothing_happened(page: Screen) -> None:
    page.page.wait_for_timeout(150)
    assert page.page.evaluate("window.__xss") is None
    assert page.outside == []
    bad = page.page.evaluate(
        """() => {
          const allowed = new Set(["early.js", "main.js"]);
          const found = [];
          for (const e of document.querySelectorAll("*")) {
            const name = e.localName;
            if (["iframe", "object", "embed", "base", "img", "video", "style", "template", "noscript"].includes(name)
                && e.closest("#app")) found.push(name);
            if (name === "script" && !allowed.has((e.src || "").split("/").pop())) found.push("script");
            for (const a of e.attributes) if (/^on|^srcdoc$|^ping$/.test(a.name)) found.push(name + "@" + a.name);
          }
          for (const a of document.querySelectorAll("#app a[href]")) {
            const own = /^(#|\\/docs|\\/(settings|board|usage)$)/.test(a.getAttribute("href"));
            if (!own && !/^https?:$/.test(a.protocol)) found.push("href " + a.href);
            if (!own && (a.target !== "_blank" || !a.rel.includes("noopener"))) found.push("target " + a.href);
          }
          return found;
        }"""
    )
    assert bad == []


def test_there_are_enough_of_them() -> None:
    assert len(set(PAYLOADS)) >= 50


def test_in_the_model_s_text(chromium: Browser) -> None:
    # One by one in pieces, and all in one answer.
    text = "\n\n".join(PAYLOADS)
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    script = (Reply.text(*pieces), Reply.text("[1] " + "\n\n[2] ".join(PAYLOADS)))
    with PageWorld(*script) as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("攻击")
        nothing_happened(page)
        page.ask("再次攻击")
        for link in page("a.cite").all()[:6]:
            link.hover()
        nothing_happened(page)
        page.page.reload()
        page.ended()
        nothing_happened(page)


@pytest.mark.parametrize("field", ["title", "snippet"])
def test_in_titles_and_snippets(chromium: Browser, field: str) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.turn_search_on()
        for start in range(0, len(PAYLOADS), 5):
            some = PAYLOADS[start : start + 5]
            pages: list[Mapping[str, str]] = [
                {**PAGES[0], "url": f"https://site{number}.example/", field: payload}
                for number, payload in enumerate(some)
            ]
            show(world.engine(), pages)
            world.model.add(Reply.text("见[1][2][3][4][5]。"))
            turn = page.ask(f"攻击 {start}")
            for link in turn.locator("a.cite").all():
                link.hover()
            nothing_happened(page)


def test_in_addresses(chromium: Browser) -> None:
    urls = (
        f"javascript:{SCRIPT}",
        "data:text/html,<script>1</script>",
        f'https://ok.example/"onmouseover="{SCRIPT}',
        "https://ok.example/<script>",
        "https://ok.example/a b) [x](javascript:1)",
        "https://[::1",
        "//evil.example/x",
        "file:///etc/passwd",
        "https://user:pass@ok.example/",
        "HTTPS://OK.example/%22%3E%3Csvg%20onload=1%3E",
    )
    with PageWorld() as world, screen(chromium, world) as page:
        page.turn_search_on()
        for start in range(0, len(urls), 5):
            show(world.engine(), [{**PAGES[0], "url": url} for url in urls[start : start + 5]])
            world.model.add(Reply.text("见[1][2][3][4][5]。"))
            page.ask(f"地址 {start}")
            nothing_happened(page)


def test_in_questions_and_names(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        for payload in PAYLOADS[:12]:
            page.ask(payload)
        nothing_happened(page)
        page.page.get_by_role("button", name="重命名").first.click()
        page.page.get_by_label("新名称").fill(PAYLOADS[1])
        page.page.get_by_label("新名称").press("Enter")
        expect(page(".history .title").first).to_have_text(PAYLOADS[1])
        nothing_happened(page)


def test_pictures_are_links(chromium: Browser) -> None:
    text = "![示意图](https://pictures.example/a.png) ![坏](javascript:1)"
    with PageWorld(Reply.text(text)) as world, screen(chromium, world) as page:
        turn = page.ask("图")
        link = turn.locator(".answer a")
        expect(link).to_have_text("🖼️ 示意图")
        expect(link).to_have_attribute("href", "https://pictures.example/a.png")
        nothing_happened(page)


def test_the_policy_forbids_inline_and_foreign_code(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        assert world.server.client.get("/").headers["content-security-policy"] == CONTENT_POLICY
        tried = page.page.evaluate(
            """async () => {
              const inline = document.createElement("script"); inline.textContent = "window.__xss = 1";
              document.body.append(inline);
              const picture = new Image(); picture.src = "https://evil.example/p.png";
              const sent = await fetch("https://evil.example/").then(() => "sent", () => "refused");
              await new Promise((resolve) => setTimeout(resolve, 100));
              return [window.__xss ?? null, sent, picture.complete && picture.naturalWidth];
            }"""
        )
        assert tried == [None, "refused", 0]
        page.errors.clear()  # the browser reports what the policy refused
        page.outside.clear()
