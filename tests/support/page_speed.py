"""How fast the page shows an answer that comes as fast as it can; for the tests and for ``make bench``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession

from tests.support.page_world import PageWorld, Screen
from tests.support.scripted_model import Reply

TOKENS = 2000
LAST = "末尾到了"
# Tells when the bytes of the last token were read, and when their text was in a frame on the screen.
_WATCH = f"""
  window.__seen = {{}};
  const read = ReadableStreamDefaultReader.prototype.read;
  const decoder = new TextDecoder();
  ReadableStreamDefaultReader.prototype.read = async function () {{
    const result = await read.call(this);
    if (result.value && !window.__seen.read && decoder.decode(result.value).includes("{LAST}")) {{
      window.__seen.read = performance.now();
    }}
    return result;
  }};
  const look = () => {{
    const blocks = document.querySelectorAll(".turn:last-child .block");
    if (!window.__seen.shown && blocks.length && blocks[blocks.length - 1].textContent.includes("{LAST}")) {{
      requestAnimationFrame(() => {{ window.__seen.shown = performance.now(); }});
    }} else requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
"""
_END = """new Promise((resolve) => {
  const timer = setInterval(() => {
    if (window.__seen.shown && document.querySelector(".turn:last-child .turn-foot")) {
      clearInterval(timer);
      resolve();
    }
  }, 50);
})"""
# What a page costs that puts the same pieces one behind the other as plain text, and lays them out after each.
_PLAIN = """(pieces) => {
  const box = document.createElement("div");
  document.body.append(box);
  for (const piece of pieces) {
    box.append(piece);
    box.getBoundingClientRect();
  }
  box.remove();
}"""


@dataclass(frozen=True, slots=True)
class Speed:
    """Milliseconds: of the browser's main thread per token, and from the last token to its picture."""

    cpu_ms_per_token: float
    last_text_ms: float


def answer_of(tokens: int = TOKENS) -> list[str]:
    """Return the pieces of a long answer: headings, paragraphs with citations, lists, code and a table."""
    pieces: list[str] = []
    part = 0
    while len(pieces) < tokens - 1:
        part += 1
        text = f"## 第{part}部分\n\n"
        text += f"自由线程构建在 Python 3.14 中转为正式支持[{part % 3 + 1}]，**重要**的变化还有 `t-string` 等。" * 3
        text += "\n\n- 第一点[1]\n- 第二点，说得更长一些\n\n"
        text += "```python\nfor number in range(10):\n    print(number)  # 注释\n```\n\n"
        text += "| 甲 | 乙 |\n| --- | --- |\n| 1 | 2 |\n\n"
        pieces += [text[at : at + 3] for at in range(0, len(text), 3)]
    return [*pieces[: tokens - 1], f"\n\n{LAST}"]


def measure_stream(page: Screen, world: PageWorld) -> Speed:
    """Let the page show an answer of 2000 tokens."""
    world.model.add(Reply.text(*answer_of()))
    cdp = page.page.context.new_cdp_session(page.page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.page.evaluate(_WATCH)
    before = _busy(cdp)
    page.send("两千个词")
    page.page.evaluate(_END)  # what Playwright does to look for things would be counted too
    after = _busy(cdp)
    seen: dict[str, Any] = page.page.evaluate("window.__seen")
    cdp.detach()
    return Speed((after - before) * 1000 / TOKENS, seen["shown"] - seen["read"])


def measure_plain(page: Screen) -> float:
    """Return the milliseconds that each of the same tokens costs a page that knows nothing but text: the yardstick."""
    cdp = page.page.context.new_cdp_session(page.page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _busy(cdp)
    page.page.evaluate(_PLAIN, answer_of())
    after = _busy(cdp)
    cdp.detach()
    return (after - before) * 1000 / TOKENS


def _busy(cdp: CDPSession) -> float:
    metrics = cdp.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def page_weight(page: Screen) -> int:
    """Return the bytes that opening the page takes from the network, heads of the answers included."""
    cdp = page.page.context.new_cdp_session(page.page)
    cdp.send("Network.enable")
    cdp.send("Network.setCacheDisabled", {"cacheDisabled": True})
    wanted: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def asked(event: dict[str, Any]) -> None:
        wanted[event["requestId"]] = event["request"]["url"]

    def loaded(event: dict[str, Any]) -> None:
        if "/api/" not in wanted.get(event["requestId"], "/api/"):
            sizes[event["requestId"]] = event["encodedDataLength"]

    cdp.on("Network.requestWillBeSent", asked)
    cdp.on("Network.loadingFinished", loaded)
    page.page.reload()
    page.page.wait_for_load_state("networkidle")
    cdp.detach()
    return round(sum(sizes.values()))
