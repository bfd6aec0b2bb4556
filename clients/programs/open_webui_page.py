"""Open WebUI with its own page in Chromium. Runs in our environment, which has the driver of the browser."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from common import BASE, FOLLOW_UP, KEY, QUESTION
from playwright.sync_api import Page, expect, sync_playwright

OPEN_WEBUI = Path(sys.argv[1]) / "bin" / "open-webui"
START_SECONDS = 240
ANSWER_MS = 60_000


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    opener = build_opener(ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            opener.open(f"{url}/health", timeout=5).close()
        except OSError:
            time.sleep(1)
        else:
            return
    raise SystemExit(f"Open WebUI did not start: {log.read_text('utf-8')[-600:]}")


def ask(page: Page, text: str, number: int) -> list[tuple[str, str]]:
    """Type a question; return the links of the answer's text, each with what its chip says."""
    page.locator("#chat-input").click()
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    answer = page.locator(".chat-assistant").nth(number)
    expect(answer.get_by_text(re.compile("Sources?$"))).to_be_visible(timeout=ANSWER_MS)
    links = answer.locator("p a[href]")
    expect(links).to_have_count(2)
    return [(link.get_attribute("href") or "", link.inner_text().strip()) for link in links.all()]


def use(page: Page, url: str) -> None:
    page.goto(f"{url}/?models=qiusuo-chat", wait_until="domcontentloaded")
    page.get_by_text("Okay, Let's Go!").click(timeout=ANSWER_MS)
    first = ask(page, QUESTION, 0)
    second = ask(page, FOLLOW_UP, 1)
    if folder := os.environ.get("QIUSUO_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/open-webui.png")
    print(json.dumps([first, second], indent=1))
    assert not {href for href, _ in first} & {href for href, _ in second}
    for links, words in ((first, "When is spring"), (second, "And when is autumn")):
        for place, (href, chip) in enumerate(links, 1):
            # The played SearXNG gives a page the query and its place as title; the chip shortens it in the middle.
            assert href.endswith(f"/page/{place}"), links
            assert chip.startswith(words[:10]), f"the chip of {href} says {chip!r}"
            assert chip.endswith(str(place)), f"the chip of {href} says {chip!r}"


with tempfile.TemporaryDirectory() as data, socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
    free.close()
    log = Path(data, "log")
    environment = {
        **os.environ,
        "DATA_DIR": data,
        "WEBUI_AUTH": "False",
        "WEBUI_SECRET_KEY": "0123456789abcdef" * 2,
        "OPENAI_API_BASE_URL": BASE,
        "OPENAI_API_KEY": KEY,
        "ENABLE_OLLAMA_API": "False",
        # It would look for models of its own on the internet.
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "RAG_EMBEDDING_ENGINE": "openai",
    }
    with log.open("wb") as said:
        command = [str(OPEN_WEBUI), "serve", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, cwd=data, stdout=said, stderr=said)
        try:
            wait_for(f"http://127.0.0.1:{port}", process, log)
            with sync_playwright() as playwright:
                kept_here = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), chromium_sandbox=False, args=kept_here
                )
                window = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
                use(window.new_page(), f"http://127.0.0.1:{port}")
                browser.close()
        finally:
            process.terminate()
            process.wait()
