"""Make the pictures of the README: real runs of ``qiusuo search … --explain``, drawn as SVG.

The providers are the loopback servers of :mod:`qiusuo.testing`: the first is out of credits, the second hangs and is
overtaken, the third answers. Nothing leaves this machine, and the picture loads nothing from elsewhere.

    python scripts/screenshot.py        writes docs/images/search.svg and docs/images/search.zh-CN.svg
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from qiusuo.engines import discover_engines
from qiusuo.testing import Fault, Provider, ProviderServer
from qiusuo.testing.providers.perplexity import Perplexity
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.testing.providers.zhipu import Zhipu

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLUMNS = 96
CHAR_WIDTH = 20 * 0.61  # as in rich's drawing
FONTS = (
    'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", "PingFang SC", '
    '"Microsoft YaHei", monospace'
)
THEME = TerminalTheme(
    (24, 26, 31),
    (208, 213, 220),
    [(24, 26, 31), (224, 108, 117), (152, 195, 121), (229, 192, 123),
     (97, 175, 239), (198, 120, 221), (102, 204, 214), (208, 213, 220)],
)  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """One picture: what is typed, in which language, and what the last provider knows."""

    name: str
    language: str
    words: Sequence[str]
    winner: type[Provider]
    pages: Sequence[Mapping[str, str]]

    @property
    def typed(self) -> str:
        return "qiusuo " + " ".join(f'"{word}"' if " " in word else word for word in self.words)


SCENES = (
    Scene(
        "search.svg",
        "en",
        ("search", "python free threading", "-n", "3", "--explain"),
        Perplexity,
        (
            {
                "title": "PEP 703 – Making the Global Interpreter Lock Optional in CPython",
                "url": "https://peps.python.org/pep-0703/",
                "snippet": "The GIL is an obstacle to using multi-core CPUs from Python efficiently.",
                "date": "2023-01-09",
            },
            {
                "title": "Python support for free threading",
                "url": "https://docs.python.org/3/howto/free-threading-python.html",
                "snippet": "Since 3.13, CPython has a build in which the global interpreter lock is disabled.",
                "date": "2024-10-07",
            },
            {
                "title": "PEP 779 – Criteria for supported status for free-threaded Python",
                "url": "https://peps.python.org/pep-0779/",
                "snippet": "The next step is to make the free-threaded build officially supported, but still optional.",
                "date": "2025-03-13",
            },
        ),
    ),
    Scene(
        "search.zh-CN.svg",
        "zh",
        ("search", "民法典 居住权", "-n", "2", "--explain"),
        Zhipu,
        (
            {
                "title": "中华人民共和国民法典",
                "url": "https://www.gov.cn/xinwen/2020-06/01/content_5516649.htm",
                "snippet": "第三百六十六条 居住权人有权按照合同约定，对他人的住宅享有占有、使用的用益物权。",
                "date": "2020-06-01",
            },
            {
                "title": "国家法律法规数据库：中华人民共和国民法典",
                "url": "https://flk.npc.gov.cn/",
                "snippet": "第三百六十七条 设立居住权，当事人应当采用书面形式订立居住权合同。",
                "date": "2020-05-28",
            },
        ),
    ),
)


def main() -> int:
    """Draw every scene."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        (IMAGES / scene.name).write_text(draw(scene, play(scene)), "utf-8")
        print(f"docs/images/{scene.name}")
    return 0


def play(scene: Scene) -> str:
    """Run the command against loopback and return what a terminal would get."""
    provider = scene.winner()
    provider.page = lambda number, query: dict(scene.pages[number - 1])  # type: ignore[method-assign]  # noqa: ARG005
    provider.results = len(scene.pages)
    name = scene.winner.__name__.lower()
    with ExitStack() as stack:
        tavily = stack.enter_context(ProviderServer(Tavily(), fault=Fault.QUOTA))
        searxng = stack.enter_context(ProviderServer(Searxng(), fault=Fault.HANG))
        winner = stack.enter_context(ProviderServer(provider))
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "XDG_CONFIG_HOME": str(IMAGES),  # no configuration of this machine
            "PYTHONUTF8": "1",
            "COLUMNS": str(COLUMNS),
            "FORCE_COLOR": "1",
            "TTY_INTERACTIVE": "0",
            "TERM": "xterm-256color",
            "QIUSUO_LANG": scene.language,
            "SEARCH_PROVIDER_PRIORITY": f"tavily, searxng, {name}",
            "TAVILY_API_KEY": tavily.key,
            "QIUSUO_ENGINES__TAVILY__BASE_URL": tavily.base_url,
            "SEARXNG_URL": searxng.base_url,
            discover_engines()[name].key_env[0]: winner.key,
            f"QIUSUO_ENGINES__{name.upper()}__BASE_URL": winner.base_url,
        }
        done = subprocess.run(
            [sys.executable, "-m", "qiusuo", *scene.words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
    return done.stdout


def draw(scene: Scene, output: str) -> str:
    """Turn the output into a picture of a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(f"[green]$[/green] [bold]{scene.typed}[/bold]\n")
    for line in output.strip("\n").split("\n"):
        console.print(Text.from_ansi(line), soft_wrap=True)
    template = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    template = template.replace("Fira Code, monospace", FONTS).replace("arial", FONTS)
    svg = console.export_svg(title="qiusuo", theme=THEME, code_format=template, unique_id="q")
    svg = re.sub(r'<text ([^>]*?)x="([^"]*)"([^>]*?)textLength="[^"]*"([^>]*)>([^<]*)</text>', _placed, svg)
    return "\n".join(line.rstrip() for line in svg.split("\n") if line.strip()) + "\n"


def _placed(match: re.Match[str]) -> str:
    # rich places a text as a whole and counts characters; a Chinese one takes two cells, so each run gets its place.
    before, x, between, after, content = match.groups()
    place, drawn = float(x), []
    for wide, run in groupby(unescape(content), key=lambda char: cell_len(char) > 1):
        text = "".join(run)
        length = len(text) * CHAR_WIDTH * (2 if wide else 1)
        if text.strip("\xa0"):
            shown = escape(text).replace("\xa0", "&#160;")
            drawn.append(f'<text {before}x="{place:g}"{between}textLength="{length:g}"{after}>{shown}</text>')
        place += length
    return "".join(drawn)


if __name__ == "__main__":
    sys.exit(main())
