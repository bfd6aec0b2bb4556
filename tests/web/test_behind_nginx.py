"""Behind a real nginx, by its defaults and as the guide sets it up, and behind a real Caddy."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import trustme
from mcp import Client
from starlette.routing import Route

from qiusuo.chat.stores.opening import open_store
from qiusuo.config import Settings
from qiusuo.config.server import OWN_PATHS
from qiusuo.errors import ConfigurationError
from qiusuo.service import SearchService
from qiusuo.web.app import create_app
from qiusuo.web.backend import Extend
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.openai.routes import openai_extension
from tests.support import reverse_proxies
from tests.support.chat_world import scripted
from tests.support.research_world import PARTS, QUESTION, writer
from tests.support.reverse_proxies import NAME, documented, with_caddy, with_nginx
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.web_server import WebServer
from tests.web.test_tls_and_sockets import serving

pytestmark = [pytest.mark.programs, pytest.mark.xdist_group("reverse_proxies")]

NGINX = pytest.param("nginx", marks=with_nginx)
BY_DEFAULT = pytest.param("nginx by default", marks=with_nginx)
CADDY = pytest.param("caddy", marks=with_caddy)
TOKENS = "ann:tok-ann-0123456789"


@dataclass(frozen=True)
class Behind:
    """A server behind a proxy; ``client`` calls the proxy, ``server.client`` the server itself."""

    server: WebServer
    model: ScriptedModel
    client: httpx.Client
    calling_from: Callable[[str], httpx.Client]


@contextmanager
def behind(proxy: str, folder: Path, **settings: Any) -> Iterator[Behind]:
    ca = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    with ScriptedModel() as model:
        extensions: list[Extend] = [
            chat_extension(scripted(model), open_store("sqlite://")),
            partial(openai_extension, ping_seconds=0.2),
            mcp_extension,
        ]
        names = {"allowed_hosts": NAME, "trusted_proxies": "127.0.0.1", "hedge_delay": 0, "research_pages": 0}
        with (
            WebServer.over("searxng", extensions=extensions, **{**names, **settings}) as server,
            _proxy(proxy, folder, server.url, ca) as url,
        ):
            host = {} if proxy == "nginx by default" else {"Host": f"{NAME}:{httpx.URL(url).port}"}

            def calling_from(address: str) -> httpx.Client:
                transport = httpx.HTTPTransport(local_address=address, verify=context)
                client = httpx.Client(base_url=url, transport=transport, headers=host, timeout=20, trust_env=False)
                client.event_hooks["request"].append(_named)
                return client

            with calling_from("127.0.0.1") as client:
                yield Behind(server, model, client, calling_from)


def _named(request: httpx.Request) -> None:
    if request.url.scheme == "https":
        request.extensions["sni_hostname"] = NAME


def _proxy(proxy: str, folder: Path, upstream: str, ca: trustme.CA) -> AbstractContextManager[str]:
    if proxy == "nginx by default":
        return reverse_proxies.nginx_by_default(folder, upstream)
    if proxy == "nginx":
        return reverse_proxies.nginx(folder, upstream, ca)
    return reverse_proxies.caddy(folder, upstream.removeprefix("http://"), ca)


async def tool_works(url: str) -> bool:
    async with Client(url) as client:
        return not (await client.call_tool("web_search", {"query": "tea"})).is_error


def heard(it: Behind, path: str, body: dict[str, Any], gate: Gate, *opening: str) -> str:
    """Return a stream whose model waits for the gate, which is opened when the words before it have arrived."""
    text, left = "", list(opening)
    with it.client.stream("POST", path, json=body) as answer:
        assert answer.status_code == 200, answer.read()
        for line in answer.iter_lines():
            text += line + "\n"
            while left and left[0] in text:
                left.pop(0)
            if not left:
                gate.open()
    return text


@pytest.mark.parametrize("proxy", [BY_DEFAULT, NGINX, CADDY])
def test_streams_are_heard_as_they_come(proxy: str, tmp_path: Path) -> None:
    with behind(proxy, tmp_path) as it:

        def reply() -> Gate:
            gate = Gate()
            it.model.otherwise = Reply.text("first words. ", gate, "second words.")
            return gate

        asked = {"model": "qiusuo-chat", "stream": True}
        chat = {**asked, "messages": [{"role": "user", "content": "hello"}]}
        for path, body in (("/v1/chat/completions", chat), ("/v1/responses", {**asked, "input": "hello"})):
            # A sign of life passes too.
            assert "second words" in heard(it, path, body, reply(), "first words", ": ping")
        session = it.client.post("/api/chat/sessions", json={}).json()["id"]
        turns = f"/api/chat/sessions/{session}/turns"
        assert "second words" in heard(it, turns, {"text": "hello"}, reply(), "first words")
        gate = Gate()
        it.model.otherwise = writer(gate, PARTS[1])
        told = heard(it, turns, {"text": QUESTION, "research": True}, gate, PARTS[0], '"writing"')
        assert '"stage":"done"' in told


@with_nginx
def test_every_stream_forbids_buffering(tmp_path: Path) -> None:
    """nginx obeys the header and keeps it to itself, so the server is asked directly."""
    with behind("nginx by default", tmp_path) as it:
        it.model.otherwise = Reply.text("words")
        direct = it.server.client
        session = direct.post("/api/chat/sessions", json={}).json()["id"]
        hello = {"method": "initialize", "jsonrpc": "2.0", "id": 1}
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        asked = {"model": "qiusuo-chat", "stream": True}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("/v1/chat/completions", {**asked, "messages": [{"role": "user", "content": "x"}]}),
            ("/v1/responses", {**asked, "input": "x"}),
            (f"/api/chat/sessions/{session}/turns", {"text": "x"}),
            (f"/api/chat/sessions/{session}/turns", {"text": QUESTION, "research": True}),
            ("/mcp", {**hello, "params": about}),
        ]  # fmt: skip
        accepted = {"Accept": "application/json, text/event-stream"}
        for path, body in calls:
            answer = direct.post(path, json=body, headers=accepted)
            assert answer.headers["content-type"].startswith("text/event-stream"), path
            assert answer.headers["x-accel-buffering"] == "no", path
        opened = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "Accept": "text/event-stream"}
        with direct.stream("GET", "/mcp", headers=opened) as waiting:
            assert waiting.headers["x-accel-buffering"] == "no"
        assert anyio.run(tool_works, f"{str(it.client.base_url).rstrip('/')}/mcp")


@pytest.mark.parametrize("proxy", [NGINX, CADDY])
def test_as_the_guide_sets_it_up_the_person_cannot_be_made_up(
    proxy: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    person = "127.0.0.3"
    made_up = {
        "X-Forwarded-For": "203.0.113.7",
        "Forwarded": "for=203.0.113.8;host=evil.example;proto=http",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "X-Real-IP": "203.0.113.9",
    }
    with behind(proxy, tmp_path, tokens=TOKENS) as it, it.calling_from(person) as client:
        assert client.get("/api/engines", headers={**made_up, "X-API-Key": "wrong"}).status_code == 401
        address = f"https://{NAME}:{it.client.base_url.port}/"
        assert f'template="{address}?q=' in client.get("/opensearch.xml", headers=made_up).text
        # A page of the public address is our own.
        session = {"X-API-Key": "tok-ann-0123456789", "Origin": address.rstrip("/")}
        assert client.post("/api/chat/sessions", json={}, headers=session).status_code == 201
    assert [record.message for record in caplog.records if "token" in record.message] == [
        f"a wrong token was sent from {person}"
    ]


@with_nginx
@pytest.mark.parametrize("strips", [True, False])
def test_below_a_path(strips: bool, tmp_path: Path) -> None:
    prefix = "/tools/qiusuo"
    with ScriptedModel(otherwise=Reply.text("words")) as model:
        chat = chat_extension(scripted(model), open_store("sqlite://"))
        extensions: list[Extend] = [chat, openai_extension, mcp_extension]
        names: dict[str, Any] = {"root_path": f"{prefix}/", "sharing": True, "hedge_delay": 0}
        with (
            WebServer.over("searxng", extensions=extensions, **names) as server,
            reverse_proxies.nginx_under(prefix, tmp_path, server.url, strips=strips) as url,
            httpx.Client(base_url=url, timeout=20, trust_env=False) as client,
        ):
            own = httpx.URL(url)
            for page in ("/", "/settings", "/board", "/usage", "/docs", "/docs/deployment", "/docs/api"):
                markup = client.get(page).text
                addresses = re.findall(r' (?:href|src)="(/[^"]*)"', markup)
                assert len(addresses) > 3
                for address in addresses:
                    assert address.startswith(f"{prefix}/"), (page, address)
                    if "/page/" in address:
                        assert client.get(own.copy_with(raw_path=address.encode())).status_code == 200
            described = client.get("/opensearch.xml", headers={"Host": "localhost"}).text
            assert f'template="http://127.0.0.1:{httpx.URL(server.url).port}{prefix}/?q=' in described
            moved = client.get("/?q=tea&format=json")
            assert (moved.status_code, moved.headers["location"]) == (308, f"{prefix}/search?q=tea&format=json")
            assert client.get("/openapi.json").json()["servers"] == [{"url": prefix}]
            asked = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "x"}]}
            assert client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
            assert client.get("/v1/nothing").json()["error"]["type"] == "invalid_request_error"
            session = client.post("/api/chat/sessions", json={}).json()["id"]
            client.post(f"/api/chat/sessions/{session}/turns", json={"text": "hello"}).read()
            link = client.post(f"/api/chat/sessions/{session}/shares").json()["path"]
            assert "words" in client.get(own.copy_with(raw_path=link.encode())).text
            assert anyio.run(tool_works, f"{url}/mcp")
            # Whoever calls the server itself need not know of the path.
            assert server.client.get("/livez").status_code == 200
            assert server.client.get(f"{prefix}x/livez").status_code == 404
            large = server.client.get(f"{prefix}/v1/models", headers={"X-Large": "x" * 40_000})
            assert (large.status_code, large.json()["error"]["type"]) == (431, "invalid_request_error")


@pytest.mark.parametrize("wrong", ["qiusuo", "/a b", "//x", "/../x", '/"x', "/docs", "/v1/x"])
def test_a_path_that_cannot_be_is_not_taken(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="root_path"):
        Settings.load(root_path=wrong)


def test_the_paths_of_our_own_are_known() -> None:
    with SearchService.from_settings(Settings.load()) as service:
        app = create_app(service)
        paths = [*app.openapi()["paths"], *(route.path for route in app.routes if isinstance(route, Route))]
    assert {path.split("/")[1] for path in paths} - {""} <= OWN_PATHS


@with_nginx
def test_it_is_called_by_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "qiusuo.sock"
    with (
        serving("--uds", str(path), QIUSUO_TRUSTED_PROXIES="unix", QIUSUO_ALLOWED_HOSTS=NAME),
        reverse_proxies.nginx_by_default(tmp_path, f"http://unix:{path}") as url,
    ):
        said = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": NAME}
        assert f"https://{NAME}/?q=" in httpx.get(f"{url}/opensearch.xml", headers=said, trust_env=False).text


@pytest.mark.parametrize("proxy", [NGINX, CADDY])
def test_what_is_for_inside_is_not_shown(proxy: str, tmp_path: Path) -> None:
    with behind(proxy, tmp_path) as it:
        for path in ("/metrics", "/livez", "/readyz", "/healthz"):
            assert (it.client.get(path).status_code, it.server.client.get(path).status_code) == (404, 200)
            # The server takes a slash at the end for nothing.
            assert (it.client.get(f"{path}/").status_code, it.server.client.get(f"{path}/").status_code) == (404, 200)


@with_nginx
def test_of_two_servers_one_may_stop(tmp_path: Path) -> None:
    ca = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    names: dict[str, Any] = {"allowed_hosts": NAME, "trusted_proxies": "127.0.0.1"}
    with WebServer.over("searxng", **names) as staying, ExitStack() as first:
        leaving = first.enter_context(WebServer.over("searxng", **names))
        with (
            reverse_proxies.nginx(tmp_path, staying.url, ca, leaving.url) as url,
            httpx.Client(base_url=url, verify=context, headers={"Host": NAME}, timeout=20, trust_env=False) as client,
        ):
            client.event_hooks["request"].append(_named)
            for number in range(4):
                assert client.post("/api/search", json={"query": f"tea {number}"}).status_code == 200
            assert [server.world.requests("searxng") for server in (staying, leaving)] == [2, 2]
            first.close()
            for number in range(4):
                assert client.post("/api/search", json={"query": f"coffee {number}"}).status_code == 200
            assert staying.world.requests("searxng") == 6


@contextmanager
def two_servers(folder: Path, **settings: Any) -> Iterator[tuple[list[WebServer], ScriptedModel, httpx.Client]]:
    """Run two servers with one model, behind nginx as the guide sets it up."""
    ca = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    names = {"allowed_hosts": NAME, "trusted_proxies": "127.0.0.1", **settings}
    with ScriptedModel(otherwise=Reply.text("words")) as model, ExitStack() as stack:
        servers = []
        for _ in range(2):
            extensions: list[Extend] = [chat_extension(scripted(model), open_store("sqlite://")), openai_extension]
            servers.append(stack.enter_context(WebServer.over("searxng", extensions=extensions, **names)))
        url = stack.enter_context(reverse_proxies.nginx(folder, servers[0].url, ca, servers[1].url))
        client = httpx.Client(base_url=url, verify=context, headers={"Host": NAME}, timeout=20, trust_env=False)
        client.event_hooks["request"].append(_named)
        yield servers, model, stack.enter_context(client)


ASKED: dict[str, Any] = {
    "model": "qiusuo-chat",
    "messages": [{"role": "user", "content": "hello"}],
    "search": False,
}


@with_nginx
def test_a_server_that_stops_sends_questions_to_the_other(tmp_path: Path) -> None:
    with two_servers(tmp_path) as (servers, model, client):
        servers[0].app.stopping()
        for number in range(10):
            answer = client.post("/v1/chat/completions", json={**ASKED, "user": f"u{number}"})
            assert answer.status_code == 200, answer.text
            assert answer.json()["choices"][0]["message"]["content"] == "words"
            assert "x-accel-redirect" not in answer.headers
        asked = len(model.requests)
        # Only what nginx has asked for is told, and to nobody else.
        direct = servers[0].client.post("/v1/chat/completions", json=ASKED, headers={"Host": NAME})
        assert (direct.status_code, "x-accel-redirect" in direct.headers) == (503, False)
        servers[1].app.stopping()
        refused = client.post("/v1/chat/completions", json=ASKED)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "server_stopping")
        assert refused.headers["retry-after"] == "5"
        assert len(model.requests) == asked


@with_nginx
def test_no_question_is_asked_twice(tmp_path: Path) -> None:
    """A 503 may also mean that the model was asked: then the other server is not."""
    with two_servers(tmp_path) as (_, model, client):
        model.otherwise = Reply.error(503)
        alone = client.post("/v1/chat/completions", json=ASKED)
        assert alone.status_code == 503
        once = len(model.requests)
        for _ in range(3):
            assert client.post("/v1/chat/completions", json=ASKED).status_code == 503
        assert len(model.requests) == once * 4


def test_both_guides_say_the_same() -> None:
    for language, several in (("nginx", False), ("nginx", True), ("caddy", False)):
        told = [documented(language, guide, several=several) for guide in ("deployment.md", "deployment.zh-CN.md")]
        assert told[0] == told[1]
