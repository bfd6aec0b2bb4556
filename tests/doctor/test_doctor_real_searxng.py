"""The doctor against real SearXNG processes: it names the cause, and its fix, applied, makes the next run green."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from qiusuo.config import Settings
from qiusuo.doctor import startup_notices
from qiusuo.doctor.searxng.fixes import repair
from qiusuo.kit.files import template
from qiusuo.service import SearchService
from tests.support.doctor_support import causes, diagnose, is_green
from tests.support.searxng_process import MISSING, PYTHON, LocalWeb, SearxngProcess, free_port, offline_settings

pytestmark = [
    pytest.mark.skipif(not PYTHON.exists(), reason=MISSING),
    pytest.mark.xdist_group("searxng"),
]

JSON_ON = ("html", "json")
Change = Callable[[dict[str, Any]], None]


class Instances:
    """SearXNG processes by name, started side by side; changing the settings of one needs a restart, as in life."""

    def __init__(self, folder: Path, web: LocalWeb) -> None:
        self.web = web
        self._folder = folder
        self._all: dict[str, SearxngProcess] = {}

    def add(self, name: str, formats: tuple[str, ...], change: Change | None = None) -> None:
        port = free_port()
        folder = self._folder / name
        folder.mkdir()
        settings = offline_settings(self.web, port, formats)
        if change:
            change(settings)
        (folder / "settings.yml").write_text(yaml.safe_dump(settings, sort_keys=False))
        self._all[name] = SearxngProcess(folder / "settings.yml", port)
        self._all[name].start()

    def __getitem__(self, name: str) -> SearxngProcess:
        self._all[name].wait()
        return self._all[name]

    def restart(self, name: str, change: Change | None = None) -> None:
        process = self._all[name]
        process.stop()
        if change:
            settings = yaml.safe_load(process.settings.read_text())
            change(settings)
            process.settings.write_text(yaml.safe_dump(settings, sort_keys=False))
        process.start()
        process.wait()

    def stop(self) -> None:
        for process in self._all.values():
            process.stop()


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int | None]:
    if shutil.which("redis-server") is None:
        yield None
        return
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, cwd=tmp_path_factory.mktemp("redis"), stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    time.sleep(0.3)
    yield port
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory, redis_port: int | None) -> Iterator[Instances]:
    def limited(settings: dict[str, Any]) -> None:
        settings["server"]["limiter"] = True
        settings["valkey"]["url"] = f"redis://127.0.0.1:{redis_port}/0"

    def patient(settings: dict[str, Any]) -> None:
        settings["outgoing"]["request_timeout"] = settings["outgoing"]["max_request_timeout"] = 8.0
        for engine in settings["engines"]:
            del engine["timeout"]

    with LocalWeb() as web:
        found = Instances(tmp_path_factory.mktemp("doctor"), web)
        try:
            found.add("good", JSON_ON)
            found.add("json-off", ("html",))
            found.add("slow", JSON_ON, patient)
            if redis_port:
                found.add("limiter", JSON_ON, limited)
            yield found
        finally:
            found.stop()


@pytest.fixture
def web(instances: Instances) -> LocalWeb:
    instances.web.reset()
    return instances.web


class OtherServer:
    """Another web server on a free port."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class QuietFiles(SimpleHTTPRequestHandler):
    """Python's own file server."""

    def log_message(self, *_: object) -> None:
        pass


class Healthy(BaseHTTPRequestHandler):
    """A program that says OK under /healthz, as many do."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()
        self.wfile.write(b"OK")

    def log_message(self, *_: object) -> None:
        pass


async def test_json_on_is_green(instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    url = instances["good"].url
    started = time.monotonic()
    found = await diagnose(monkeypatch, url)
    assert time.monotonic() - started < 8
    assert is_green(found)
    assert found[0].values["engines"] == 2
    # Searched for in Chinese and in English.
    assert any("开源" in text for text in web.queries("json"))
    assert any("open source" in text for text in web.queries("json"))


async def test_the_quick_examination_asks_no_engine(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await diagnose(monkeypatch, instances["good"].url, quick=True)
    assert is_green(found)
    assert web.asked == []


async def test_json_off_is_named_and_repaired(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = instances["json-off"]
    assert web.asked == []
    for quick in (True, False):
        assert causes(await diagnose(monkeypatch, process.url, quick=quick)) == ["searxng.json_off"]
    found = await diagnose(monkeypatch, process.url, settings_file=process.settings)
    (finding,) = [one for one in found if one.code == "searxng.json_off"]
    assert finding.commands[0] == f"qiusuo doctor --fix --settings-file {process.settings}"
    before = process.settings.read_text()
    made = repair(found, process.settings)
    assert made is not None
    assert made.backup.read_text() == before
    # The file is right now, but SearXNG has not read it: that is another cause with another fix.
    again = await diagnose(monkeypatch, process.url, settings_file=process.settings)
    assert causes(again) == ["searxng.json_not_applied"]
    settings = Settings.load()
    async with SearchService.from_settings(settings) as service:
        assert causes(await startup_notices(settings, service)) == ["searxng.json_off"]
        instances.restart("json-off")
        # The same service, not restarted, notices the repair.
        assert await startup_notices(settings, service) == []
    assert is_green(await diagnose(monkeypatch, process.url, settings_file=process.settings))


async def test_the_limiter_is_named_and_switched_off(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch, redis_port: int | None
) -> None:
    if redis_port is None:
        pytest.skip("redis-server is not installed")
    process = instances["limiter"]
    assert web.asked == []
    # While its few calls last, it is a warning …
    assert causes(await diagnose(monkeypatch, process.url)) == ["searxng.limiter_on"]
    for _ in range(5):
        found = await diagnose(monkeypatch, process.url)
    # … and then the real 429.
    assert causes(found) == ["searxng.limiter"]
    assert "limiter: false" in found[0].wording().fix

    def switch_off(settings: dict[str, Any]) -> None:
        settings["server"]["limiter"] = False

    # The fix for a public instance: the limiter stays on, and we are on its list.
    passing = process.settings.with_name("limiter.toml")
    passing.write_text(template("limiter.toml"))
    instances.restart("limiter")
    assert is_green(await diagnose(monkeypatch, process.url))
    passing.unlink()
    # The fix for a private one.
    instances.restart("limiter", switch_off)
    assert is_green(await diagnose(monkeypatch, process.url))


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        (429, "searxng.engines_blocked"),
        ("late", "searxng.engines_timeout"),
        (500, "searxng.engines_failing"),
        ("empty", "searxng.no_engines"),
    ],
)
async def test_all_engines_failing_is_told_from_an_empty_answer(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch, trouble: int | str, cause: str
) -> None:
    url = instances["good"].url
    web.trouble = {"json": trouble, "page": trouble}
    found = await diagnose(monkeypatch, url)
    assert causes(found) == [cause]
    if cause != "searxng.no_engines":
        assert "local json" in str(found[0].values["engines"])
    web.reset()
    assert is_green(await diagnose(monkeypatch, url))


async def test_one_failing_engine_is_only_a_note(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.trouble = {"page": 500}
    found = await diagnose(monkeypatch, instances["good"].url)
    assert is_green(found)
    assert [finding.code for finding in found] == ["searxng.ok", "searxng.some_silent"]
    assert found[0].values["engines"] == 1


async def test_a_slow_one_is_named_and_made_fast(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = instances["slow"]
    web.trouble = {"page": "late"}
    web.late_seconds = 3.2
    found = await diagnose(monkeypatch, process.url)
    assert causes(found) == ["searxng.slow"]
    assert found[0].level.label == "warning"
    web.late_seconds = 7
    started = time.monotonic()
    found = await diagnose(monkeypatch, process.url)
    assert time.monotonic() - started < 8
    assert causes(found) == ["searxng.timeout"]
    assert found[0].level.label == "problem"

    def impatient(settings: dict[str, Any]) -> None:  # as the finding says
        settings["outgoing"] |= {"request_timeout": 2.0, "max_request_timeout": 2.0}

    instances.restart("slow", impatient)
    for _ in range(3):  # on a busy machine even a fast one is slow at times
        found = await diagnose(monkeypatch, process.url)
        if is_green(found):
            break
    assert is_green(found)
    web.late_seconds = 3


async def test_a_wrong_port_is_named_with_the_right_one(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = instances["good"]
    assert web.asked == []
    wrong = f"http://127.0.0.1:{free_port()}"
    found = await diagnose(monkeypatch, wrong, settings_file=process.settings)
    assert causes(found) == ["searxng.wrong_port"]
    (command,) = found[0].commands
    assert command == f"export SEARXNG_URL={process.url}"
    assert is_green(await diagnose(monkeypatch, command.partition("=")[2]))


@pytest.mark.parametrize("handler", [QuietFiles, Healthy])
async def test_another_web_server_is_not_taken_for_searxng(
    instances: Instances,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    handler: type[BaseHTTPRequestHandler],
) -> None:
    monkeypatch.chdir(tmp_path)
    other = OtherServer(handler)
    try:
        found = await diagnose(monkeypatch, other.url)
        assert causes(found) == ["searxng.other_service"]
        assert "HTTP 404" in found[0].wording().what
        # With its file at hand the doctor even knows where SearXNG is.
        settings = instances["good"].settings
        found = await diagnose(monkeypatch, other.url, settings_file=settings)
        assert causes(found) == ["searxng.wrong_port"]
        assert is_green(await diagnose(monkeypatch, str(found[0].values["found"])))
    finally:
        other.stop()


async def test_not_running_is_named_and_started(
    instances: Instances, web: LocalWeb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert web.asked == []
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    process = instances["good"]
    process.stop()
    found = await diagnose(monkeypatch, process.url)
    assert causes(found) == ["searxng.refused"]
    assert found[0].commands[-1].startswith("qiusuo searxng up")
    instances.restart("good")
    assert is_green(await diagnose(monkeypatch, process.url))


async def test_the_default_secret_is_named_and_replaced(
    web: LocalWeb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port = free_port()
    settings = offline_settings(web, port, JSON_ON)
    settings["server"]["secret_key"] = "ultrasecretkey"
    file = tmp_path / "settings.yml"
    file.write_text(json.dumps(settings))
    process = SearxngProcess(file, port)
    try:
        process.start()
        assert process.wait_for_end() == 1  # SearXNG itself refuses it
        found = await diagnose(monkeypatch, process.url, settings_file=file)
        assert causes(found) == ["searxng.secret"]
        assert repair(found, file) is not None
        process.start()
        process.wait()
        assert is_green(await diagnose(monkeypatch, process.url, settings_file=file))
    finally:
        process.stop()
