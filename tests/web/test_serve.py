"""``qiusuo serve`` as a process: where it listens, when it refuses, how it stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo import web
from qiusuo.cli.exits import Exit
from qiusuo.cli.serving.command import listen, run_serve
from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.scripted_model import Reply, ScriptedModel

pytestmark = [pytest.mark.programs, pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")]

EVERYWHERE = "0.0.0.0"  # noqa: S104 - listened on with a token, on a port nobody knows


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; give the process and the address it names."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-W", "error::ResourceWarning", "-m", "qiusuo", "serve", "--port", "0", *arguments],
        env={**os.environ, "QIUSUO_LANG": "en", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def get(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, trust_env=False, timeout=10)


class TestProcess:
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 0)])
    def test_searches_and_stops_in_order(self, number: signal.Signals, code: int) -> None:
        with ProviderServer(Searxng()) as upstream, serving(SEARXNG_URL=upstream.url) as (process, url):
            assert get(f"{url}/healthz").text == "OK"
            assert get(f"{url}/search?q=x&format=json").json()["results"]
            assert get(f"{url}/api/health").json()["engines"] == {"searxng": "ready"}
            assert "server" not in get(f"{url}/healthz").headers
            process.send_signal(number)
            assert process.wait(10) == code
            assert process.stderr is not None
            assert process.stderr.read() == "Qiusuo has stopped.\n"

    def test_a_search_under_way_is_finished_first(self) -> None:
        with (
            ProviderServer(Searxng(), fault=Fault.SLOW) as upstream,
            serving(SEARXNG_URL=upstream.url) as (process, url),
        ):
            upstream.hold = 0.8
            with socket.create_connection(("127.0.0.1", httpx.URL(url).port or 0)) as raw:
                raw.sendall(b"GET /search?q=x&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while not any(seen.path == "/search" for seen in upstream.seen):
                    time.sleep(0.01)
                process.send_signal(signal.SIGTERM)
                assert raw.recv(100).startswith(b"HTTP/1.1 200")
            process.wait(10)

    def test_the_access_log_has_times_and_no_queries(self) -> None:
        with (
            ProviderServer(Searxng()) as upstream,
            serving("--access-log", SEARXNG_URL=upstream.url) as (process, url),
        ):
            assert get(f"{url}/search?q=secretquery&format=json").status_code == 200
            for path in ("/share/secretlink", "/below/a/path/share/secretlink"):
                assert get(f"{url}{path}").status_code == 404
            process.terminate()
            process.wait(10)
            assert process.stderr is not None
            log = process.stderr.read()
        line = next(line for line in log.splitlines() if "GET /search" in line)
        assert re.match(
            r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ INFO uvicorn.access \[[0-9a-f]{16}\] 127.0.0.1:\d+ - ", line
        )
        assert "secretquery" not in log
        assert "GET /share/…" in log
        assert "secretlink" not in log

    def test_tokens_from_the_environment(self) -> None:
        with serving("--host", EVERYWHERE, QIUSUO_TOKENS="alice:tok-0123456789abcdef") as (_, url):
            own = url.replace(EVERYWHERE, "127.0.0.1")
            assert get(f"{own}/healthz").status_code == 200
            assert get(f"{own}/api/engines").status_code == 401
            assert get(f"{own}/api/engines", Authorization="Bearer tok-0123456789abcdef").status_code == 200

    def test_headers_of_proxies_do_not_change_who_asks(self) -> None:
        with (
            ProviderServer(Searxng()) as upstream,
            serving(SEARXNG_URL=upstream.url, SEARCH_RATE_LIMIT="2") as (_, url),
        ):
            statuses = [
                get(f"{url}/search?q=q{n}&format=json", **{"X-Forwarded-For": f"10.0.0.{n}"}).status_code
                for n in range(3)
            ]
        assert statuses == [200, 200, 429]

    def test_without_any_engine_it_starts_and_says_so(self) -> None:
        with serving(SEARCH_PROVIDER_PRIORITY="tavily") as (process, url):
            assert get(f"{url}/healthz").status_code == 200
            assert get(f"{url}/api/health").status_code == 503
            process.terminate()
            process.wait(10)
            assert process.stderr is not None
            said = process.stderr.read()
            assert "TAVILY_API_KEY" in said
            assert re.search(rf"{url}/docs/troubleshooting\?lang=\w\w#search-off\n", said)
            assert "$ qiusuo searxng init\n" in said


class TestRefusals:
    @pytest.mark.parametrize("host", [EVERYWHERE, "::", ""])
    def test_beyond_loopback_it_wants_tokens(self, host: str) -> None:
        command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0", "--host", host]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)  # noqa: S603 - our own
        assert ended.returncode == Exit.NOT_CONFIGURED
        if host:
            assert "QIUSUO_TOKENS" in ended.stderr
            assert "--allow-open" in ended.stderr

    @pytest.mark.parametrize(
        "settings",
        [
            {"host": "127.0.0.1"},
            {"host": "localhost"},
            {"host": "127.0.0.9"},
            {"host": EVERYWHERE, "tokens": "a:tok-0123456789abcdef"},
            {"host": EVERYWHERE, "allow_open": True},
        ],
    )
    def test_these_are_fine(self, settings: dict[str, object]) -> None:
        with listen(Settings.load(port=0, **settings)) as listener:  # type: ignore[arg-type] # mixed values
            assert listener.getsockname()[1] > 0

    def test_the_environment_can_allow_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QIUSUO_ALLOW_OPEN", "true")
        monkeypatch.setenv("QIUSUO_HOST", EVERYWHERE)
        listen(Settings.load(port=0)).close()

    def test_a_port_in_use(self, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            assert run_serve(host=None, port=port, allow_open=False, access_log=False) == Exit.NOT_CONFIGURED
        said = capsys.readouterr().err
        assert f"Port {port} on 127.0.0.1 is in use" in said
        assert f"--port {port + 1}" in said

    def test_an_address_that_is_not_ours(self) -> None:
        for host in ("no such host", "x" * 300, "203.0.113.7"):
            with pytest.raises(ConfigurationError, match=r"listen|Listening"):
                listen(Settings.load(host=host, port=0, allow_open=True))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may listen on any port")
    def test_a_port_for_root(self) -> None:
        with pytest.raises(ConfigurationError, match="may not"):
            listen(Settings.load(port=1))

    @pytest.mark.parametrize("package", ["uvicorn", "fastapi", "prometheus_client"])
    def test_without_the_extra_it_says_what_to_install(
        self, package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("qiusuo.web", web)  # else the one that is loaded anew stays there for the tests to come
        for name in [name for name in sys.modules if name.startswith("qiusuo.web")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)
        assert run_serve(host=None, port=0, allow_open=False, access_log=False) == Exit.NOT_CONFIGURED
        said = capsys.readouterr().err
        assert f"({package})" in said
        assert install_command("qiusuo[server]") in said

    def test_wrong_tokens_are_not_shown(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("QIUSUO_TOKENS", "alice:sëcret")
        assert run_serve(host=None, port=0, allow_open=False, access_log=False) == Exit.NOT_CONFIGURED
        said = capsys.readouterr().err
        assert "QIUSUO_TOKENS" in said
        assert "cret" not in said


def test_the_settings_do_not_show_tokens() -> None:
    settings = Settings.load(tokens="alice:tok-1-0123456789abc, tok-2-0123456789abc，王:tok-3-0123456789abc")
    assert [token.get_secret_value() for token in settings.tokens or ()] == [
        "alice:tok-1-0123456789abc",
        "tok-2-0123456789abc",
        "王:tok-3-0123456789abc",
    ]
    assert "tok-" not in repr(settings) + str(settings.model_dump())


def qiusuo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself."""
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "qiusuo", *arguments],
        env={**os.environ, "QIUSUO_LANG": "en", **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("tokens", ["1", "ada:geheim", "ada:123456789abcdef", "long-enough-0123456789,bob:kurz"])
def test_short_tokens_are_refused_at_the_start(tokens: str) -> None:
    done = qiusuo("serve", "--port", "0", QIUSUO_TOKENS=tokens)
    assert done.returncode == Exit.NOT_CONFIGURED
    assert "fewer than 16 characters" in done.stderr
    assert "qiusuo token" in done.stderr
    assert not [secret for secret in ("geheim", "123456789abcdef", "kurz") if secret in done.stderr]
    # What it says works in that state, and gives one that is accepted.
    made = qiusuo("token", QIUSUO_TOKENS=tokens)
    assert made.returncode == 0
    assert Settings.load(tokens=f"ada:{made.stdout.strip()}").tokens


@pytest.mark.parametrize(
    "tokens",
    ["name:", ":tok-0123456789abcdef", "two words 0123456789", "tök-0123456789abcdef", ["tok-01234567,9abcdef"]],
)
def test_tokens_that_no_client_could_send(tokens: object) -> None:
    with pytest.raises(ConfigurationError, match="tokens"):
        Settings.load(tokens=tokens)


def data_of(stream: httpx.Response) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


def test_answers_that_run_end_in_good_order(tmp_path: Path) -> None:
    settings = {"QIUSUO_DATABASE_URL": f"sqlite:///{tmp_path}/chat.db", "SEARXNG_URL": "http://127.0.0.1:9"}
    with ScriptedModel(otherwise=Reply.hang("开头")) as model:
        settings |= {"QIUSUO_MODEL": "openai:scripted", "QIUSUO_MODEL_BASE_URL": model.base_url}
        settings |= {"QIUSUO_MODEL_API_KEY": model.key, "QIUSUO_MODEL_SEARCH": "off"}
        with serving(**settings) as (process, url), httpx.Client(base_url=url, trust_env=False, timeout=20) as client:
            session = client.post("/api/chat/sessions", json={}).json()["id"]
            asked = {"model": "qiusuo-chat", "search": False, "stream": True}
            asked["messages"] = [{"role": "user", "content": "你好"}]
            with (
                client.stream("POST", f"/api/chat/sessions/{session}/turns", json={"text": "你好"}) as page,
                client.stream("POST", "/v1/chat/completions", json=asked) as program,
            ):
                process.send_signal(signal.SIGTERM)
                events, chunks = data_of(page), data_of(program)
            assert process.wait(20) == -signal.SIGTERM
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
        assert (events[-1]["type"], events[-1]["state"], events[-1]["answer"]) == ("done", "stopped", "开头")
        # The one of OpenAI's reasons that says that there is more; ours says why.
        assert chunks[-1]["choices"][0]["finish_reason"] == "length"
        assert chunks[-1]["qiusuo"]["finish"] == events[-1]["finish"] == "server_stopping"
        with serving(**settings) as (_, url):
            shown = httpx.get(f"{url}/api/chat/sessions/{session}", trust_env=False).json()
        assert shown["running"] is None
        assert [(turn["state"], turn["answer"]) for turn in shown["turns"]] == [("stopped", "开头")]


@pytest.mark.parametrize("name", ["local", "localhost", "127.0.0.1", "LocalHost"])
def test_a_token_s_name_is_not_that_of_this_machine(name: str) -> None:
    # Its holder would be taken for everybody who asks without tokens, and be shown their conversations.
    with pytest.raises(ConfigurationError, match="take another name") as told:
        Settings.load(tokens=f"{name}:tok-1-0123456789abc")
    assert "tok-1-0123456789abc" not in str(told.value)
