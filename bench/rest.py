"""A cached search over HTTP beside the bare framework and LiteLLM's proxy: one kind of server, one client, in turns."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from bench.processes import running
from bench.search import PlainTavily, serve_upstream
from bench.table import Report

ROUNDS = 8
SECONDS = 2
CONNECTIONS = 32
SHARE_OF_BARE = 0.35
TIMES_LITELLM = 5
# More than anybody answers in a turn, so that no two turns ask the same.
QUERIES_PER_TURN = 1_000_000

LITELLM_ENV = Path(__file__).resolve().parent.parent / ".cache" / "litellm-env"
LITELLM_KEY = "sk-bench"
INSTALL_LITELLM = "uv venv .cache/litellm-env; uv pip install --python .cache/litellm-env 'litellm[proxy]'"

# Every request asks something else where the body has a number in it.
WRK_SCRIPT = """\
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local first, token, fresh = tonumber(os.getenv("BENCH_FIRST")), os.getenv("BENCH_TOKEN"), os.getenv("BENCH_FRESH")
if token then wrk.headers["Authorization"] = "Bearer " .. token end
local number = first
request = function()
  if fresh then number = number + 1 end
  return wrk.format(nil, nil, nil, '{"query": "bench ' .. number .. '"}')
end
"""


@dataclass(frozen=True)
class Contestant:
    """Who is measured: ``fresh`` asks something else each time, ``patient`` waits for the last answer of a turn.

    wrk hangs up on what is under way when its time is over. LiteLLM's proxy works on for those who are gone, and each
    turn would find it busier than the last; so it gets the patient client, which it does not keep busy anyway.
    """

    url: str
    token: str = ""
    fresh: bool = False
    patient: bool = False
    rates: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        # The best turn is the one that other programs on this machine have disturbed least.
        return max(self.rates)


def measure() -> Report:
    """Run everything and report."""
    with ExitStack() as stack:
        upstream = stack.enter_context(running(serve_upstream))
        ours = stack.enter_context(running(_serve_ours, upstream))
        answer = _post(f"{ours}/api/search", b'{"query": "bench 0"}')
        bare = stack.enter_context(running(_serve_bare, answer))
        contestants = {
            "json": Contestant(f"{bare}/json"),
            "bytes": Contestant(f"{bare}/bytes"),
            "cached": Contestant(f"{ours}/api/search"),
            "fresh": Contestant(f"{ours}/api/search", fresh=True),
        }
        proxy = stack.enter_context(_litellm_proxy(upstream))
        if proxy is not None:
            contestants["litellm"] = Contestant(f"{proxy}/v1/search/bench", LITELLM_KEY, patient=True)
        for contestant in contestants.values():
            load(contestant, 0)
        for turn in range(1, ROUNDS + 1):
            for contestant in contestants.values():
                contestant.rates.append(load(contestant, turn))
    return _report(contestants, len(answer))


def _report(contestants: dict[str, Contestant], size: int) -> Report:
    client = "wrk" if shutil.which("wrk") else "aiohttp (wrk is not installed)"
    report = Report(
        "Cached search over HTTP",
        f"`POST` with {CONNECTIONS} connections by {client}, each answer {size:,} bytes of JSON (ten results), "
        f"one uvicorn process each, best of {ROUNDS} turns. *ours* reads and checks the request, looks up who asks, "
        "makes the answer anew and counts it.",
    )
    bare, ours = contestants["json"].rate, contestants["cached"].rate
    report.add("bare Starlette: request.json(), JSONResponse", _rate(bare))
    report.add("bare Starlette: bytes in, ready-made bytes out", _rate(contestants["bytes"].rate))
    share = ours / bare
    report.add(
        "ours, cached: POST /api/search",
        _rate(ours),
        f"{share:.0%} of bare JSON, {ours / contestants['bytes'].rate:.0%} of ready-made bytes",
        f"at least {SHARE_OF_BARE:.0%} of bare JSON",
        met=share >= SHARE_OF_BARE,
    )
    report.add("ours, uncached, over a loopback upstream", _rate(contestants["fresh"].rate))
    if "litellm" not in contestants:
        report.add("LiteLLM proxy: POST /v1/search", "not installed", f"`{INSTALL_LITELLM}`")
        return report
    theirs = contestants["litellm"].rate
    report.add(
        "LiteLLM proxy: POST /v1/search (it has no cache for searches)",
        _rate(theirs),
        f"ours is {ours / theirs:.0f}x faster cached, {contestants['fresh'].rate / theirs:.1f}x uncached",
        f"at least {TIMES_LITELLM}x cached",
        met=ours >= TIMES_LITELLM * theirs,
    )
    return report


def load(contestant: Contestant, turn: int) -> float:
    """Return the requests per second that a contestant answers."""
    first = turn * QUERIES_PER_TURN if contestant.fresh else 0
    if contestant.patient or not shutil.which("wrk"):
        return asyncio.run(_load_by_aiohttp(contestant, first))
    environment = {**os.environ, "BENCH_FIRST": str(first)}
    environment |= {"BENCH_TOKEN": contestant.token} if contestant.token else {}
    environment |= {"BENCH_FRESH": "1"} if contestant.fresh else {}
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(WRK_SCRIPT)
        script.flush()
        options = ["-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--timeout", "20s", "-s", script.name]
        command = ["wrk", *options, contestant.url]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", said)
    if found is None or "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(f"{contestant.url}: {said}")
    return float(found[1])


async def _load_by_aiohttp(contestant: Contestant, first: int) -> float:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {contestant.token}"}
    number, answered, started = first, 0, time.perf_counter()

    async def worker(session: aiohttp.ClientSession) -> None:
        nonlocal number, answered
        while time.perf_counter() - started < SECONDS:
            number += contestant.fresh
            async with session.post(contestant.url, data=b'{"query": "bench %d"}' % number) as response:
                response.raise_for_status()
                await response.read()
            answered += 1

    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(worker(session) for _ in range(CONNECTIONS)))
    return answered / (time.perf_counter() - started)


def _serve_ours(address: Any, upstream: str) -> None:
    from qiusuo import SearchService  # noqa: PLC0415 - in the server's process only
    from qiusuo.config import Settings  # noqa: PLC0415
    from qiusuo.engines.tavily import TavilyEngine  # noqa: PLC0415
    from qiusuo.web.app import create_app  # noqa: PLC0415
    from qiusuo.web.entrance.server import Server  # noqa: PLC0415

    engine = TavilyEngine(PlainTavily.key, base_url=upstream)
    server = Server(create_app(SearchService([engine], Settings.load(rate_limit=0))))
    server.run(sockets=[_listening(address)])


def _serve_bare(address: Any, answer: bytes) -> None:
    from starlette.applications import Starlette  # noqa: PLC0415 - in the server's process only
    from starlette.requests import Request  # noqa: PLC0415
    from starlette.responses import JSONResponse, Response  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    data = orjson.loads(answer)

    async def as_json(request: Request) -> Response:
        await request.json()
        return JSONResponse(data)

    async def as_bytes(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type="application/json")

    routes = [Route("/json", as_json, methods=["POST"]), Route("/bytes", as_bytes, methods=["POST"])]
    _run_uvicorn(Starlette(routes=routes), address)


def _run_uvicorn(app: Any, address: Any) -> None:
    import uvicorn  # noqa: PLC0415 - in the server's process only

    # As `qiusuo serve` has it, but for the bounds on connections.
    config = uvicorn.Config(app, access_log=False, log_level="warning", server_header=False, proxy_headers=False)
    uvicorn.Server(config).run(sockets=[_listening(address)])


def _listening(address: Any) -> socket.socket:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    address.put(f"http://127.0.0.1:{listener.getsockname()[1]}")
    return listener


@contextmanager
def _litellm_proxy(upstream: str) -> Iterator[str | None]:
    """Run LiteLLM's proxy where it is installed, in an environment of its own: it wants other versions than we do."""
    program = LITELLM_ENV / "bin" / "litellm"
    if not program.exists():
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tool = {"search_provider": "tavily", "api_key": PlainTavily.key, "api_base": upstream}
    config = {
        "search_tools": [{"search_tool_name": "bench", "litellm_params": tool}],
        "general_settings": {"master_key": LITELLM_KEY},
    }
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    environment |= {"TAVILY_API_BASE": upstream, "TAVILY_API_KEY": PlainTavily.key}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_bytes(orjson.dumps(config))  # JSON is YAML
        process = subprocess.Popen(
            [program, "--config", path, "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _wait_until_up(process, f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], base: str) -> str | None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            _post(f"{base}/v1/search/bench", b'{"query": "bench 0"}')
        except OSError:
            time.sleep(0.5)
        else:
            return base
    print("LiteLLM's proxy did not start: it is left out", file=sys.stderr)
    return None


def _post(url: str, body: bytes) -> bytes:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {LITELLM_KEY}"}
    request = urllib.request.Request(url, body, headers)
    # A proxy of the environment has no business on loopback.
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as response:
        data: bytes = response.read()
    return data


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f}/s"
