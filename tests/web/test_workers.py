"""``qiusuo serve --workers``: processes that answer as one server does."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from qiusuo.cli.exits import Exit
from qiusuo.cli.serving.answering import reload_on_hang_up
from qiusuo.cli.serving.folder import OwnFolder
from qiusuo.config import Settings
from qiusuo.doctor import examine
from qiusuo.errors import ConfigurationError
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.own_program import LAUNCH_IN_TERMINAL
from tests.support.processes import on_linux
from tests.support.redis_process import with_redis
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.workers import PATIENCE, Workers, children, until, workers

pytestmark = [pytest.mark.programs, on_linux, with_redis[0]]

LIMIT = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(otherwise=Reply.text("Tea is hot.")) as model:
        yield model


@pytest.fixture(scope="module")
def pair(folder: Path, model: ScriptedModel) -> Iterator[Workers]:
    """Two workers for all tests of this file: starting them takes longer than most of what is tried."""
    environment = {
        "QIUSUO_MODEL": "openai:scripted",
        "QIUSUO_MODEL_BASE_URL": model.base_url,
        "QIUSUO_MODEL_API_KEY": model.key,
        "QIUSUO_MODEL_SEARCH": "off",
        "SEARCH_RATE_LIMIT": str(LIMIT),
    }
    with ProviderServer(Searxng()) as upstream, workers(folder, SEARXNG_URL=upstream.url, **environment) as pair:
        pair.wait_for()
        yield pair


class TestTogether:
    def test_they_share_results_limits_and_counts(self, pair: Workers) -> None:
        one, other = pair.wait_for()
        before = pair.metric(one, "qiusuo_searches_total")
        me = "127.0.0.9"
        assert not pair.search(one, "tea", me)[1]["cached"]
        assert pair.search(other, "tea", me)[1]["cached"]
        for number in range(LIMIT - 1):
            assert pair.search(one, f"tea{number}", me)[0] == 200
        assert pair.search(other, "coffee", me)[0] == 429
        counted = [pair.metric(pid, "qiusuo_searches_total") - before for pid in (one, other)]
        assert counted == [LIMIT + 2, LIMIT + 2]

    def test_what_is_saved_in_one_is_obeyed_by_the_other(self, pair: Workers) -> None:
        one, other = pair.wait_for()
        with pair.to(one) as connection:
            body = json.dumps({"set": {"max_results": 3}})
            connection.request("PATCH", "/api/settings", body, {"Content-Type": "application/json"})
            assert connection.getresponse().status == 200
        until(lambda: len(pair.search(other, "tea")[1]["results"]) == 3, 10)

    def test_forty_conversations_at_once(self, pair: Workers) -> None:
        pair.wait_for()

        def talk(number: int) -> tuple[str, str]:
            session = pair.new()
            events = pair.ask(session, f"question {number}")
            return session, json.dumps(events)

        with ThreadPoolExecutor(40) as pool:
            told = dict(pool.map(talk, range(40)))
        assert len(told) == 40
        assert "locked" not in "".join(told.values()) + pair.said
        # What the other worker has counted is written within some seconds.
        until(lambda: pair.client.get("/api/usage").json()["total"]["answers"] >= 40)
        for pid in pair.wait_for():
            assert pair.metric(pid, "qiusuo_answers_total") >= 40
            assert pair.metric(pid, "qiusuo_answers_in_flight") == 0
        for number, session in enumerate(told):
            [turn] = pair.show(session)["turns"]
            assert turn["question"] == f"question {number}"
            assert "Tea is hot." in turn["answer"]


class TestLife:
    def test_a_worker_that_is_killed_is_replaced(self, pair: Workers) -> None:
        one, other = pair.wait_for()
        counted = pair.metric(other, "qiusuo_http_requests_total")
        os.kill(one, signal.SIGKILL)
        until(lambda: one not in pair.pids)
        assert pair.is_alive()
        assert len(pair.wait_for() - {one, other}) == 1
        assert pair.metric(other, "qiusuo_http_requests_total") > counted
        assert pair.said.count(f"worker {one} has ended") == 1

    def test_the_store_that_they_share_is_replaced(self, pair: Workers) -> None:
        store = pair.store
        assert store is not None
        [folder] = pair.log.parent.glob("qiusuo-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert "unixsocket:" in children(pair.process.pid)[store], "it has no port"
        os.kill(store, signal.SIGKILL)
        until(lambda: pair.store not in {None, store})

    def test_connections_that_come_at_once_and_stay_are_shared_out(self, pair: Workers) -> None:
        pids = pair.wait_for()

        def sockets(pid: int) -> int:
            links = (entry.readlink() for entry in Path(f"/proc/{pid}/fd").iterdir())
            return sum(str(link).startswith("socket:") for link in links)

        before = {pid: sockets(pid) for pid in pids}
        address = ("127.0.0.1", pair.port)
        with ExitStack() as stack:
            # So many that a worker which the machine keeps waiting at first still finds enough of them.
            for _ in range(240):
                stack.enter_context(socket.create_connection(address))
            until(lambda: sum(sockets(pid) - before[pid] for pid in pids) >= 240)
            assert min(sockets(pid) - before[pid] for pid in pids) >= 80

    def test_new_workers_take_over_and_the_old_finish_their_answers(self, pair: Workers, model: ScriptedModel) -> None:
        old = pair.wait_for()
        gate = Gate()
        model.add(Reply.text("Slow", gate, " tea."))
        session = pair.new()
        with pair.asking(session, "How?") as events:
            next(event for event in events if event["type"] == "delta")
            pair.process.send_signal(signal.SIGHUP)
            until(lambda: len(pair.pids - old) == 2 and len(pair.pids & old) == 1)
            until(lambda: "The settings were read anew and are in use." in pair.said)
            # Longer than a server that stops would wait.
            time.sleep(3.5)
            assert len(pair.pids & old) == 1
            gate.open()
            *_, last = events
        assert last["answer"] == "Slow tea."
        until(lambda: not pair.pids & old)
        assert pair.is_alive()

    def test_broken_settings_are_told_and_change_nothing(self, pair: Workers, folder: Path) -> None:
        old = pair.wait_for()
        file = folder / "config" / "qiusuo" / "config.toml"
        before = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        said = len(pair.said)
        try:
            file.write_text('log = "loud"\n')
            pair.process.send_signal(signal.SIGHUP)
            until(lambda: "config.toml" in pair.said[said:])
            until(lambda: "the workers that serve now stay" in pair.said[said:])
            assert pair.pids == old
            assert pair.is_alive()
        finally:
            file.write_text(before)

    def test_they_stop_together_and_tell_their_readers(self, pair: Workers, model: ScriptedModel) -> None:
        """The last one of this server's tests."""
        pair.wait_for()
        store = pair.store
        model.add(Reply.hang("It begins"))
        with pair.asking(pair.new(), "Well?") as events:
            next(event for event in events if event["type"] == "delta")
            pair.process.send_signal(signal.SIGTERM)
            *_, last = events
        assert (last["state"], last["finish"], last["answer"]) == ("stopped", "server_stopping", "It begins")
        assert pair.process.wait(30) == -signal.SIGTERM
        assert pair.said.count("listens on") == 1
        assert "with 2 workers" in pair.said
        assert not Path(f"/proc/{store}").exists()
        assert not [path for path in pair.log.parent.iterdir() if path.name.startswith("qiusuo-")]
        assert "Traceback" not in pair.said

    def test_who_comes_when_they_have_closed_is_refused_and_does_not_wait(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """A proxy asks another server then; nobody's question lies in a port that is open and not served."""
        with workers(tmp_path_factory.mktemp("closed"), SEARXNG_URL="http://127.0.0.1:9") as pair:
            pair.wait_for()
            with socket.create_connection(("127.0.0.1", pair.port)) as slow:
                # Half of a request keeps its worker for some seconds.
                slow.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
                slow.sendall(b"Content-Length: 100\r\n\r\n{")
                pair.client.get("/livez")
                pair.process.send_signal(signal.SIGTERM)

                def is_refused() -> bool:
                    with socket.socket() as probe:
                        return probe.connect_ex(("127.0.0.1", pair.port)) != 0

                until(is_refused, 5)
                assert pair.process.poll() is None
            assert pair.process.wait(30) == -signal.SIGTERM
            assert "Traceback" not in pair.said


class TestStart:
    def test_what_no_worker_can_use_is_told_once(self) -> None:
        command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0", "--workers", "3"]
        environment = {**os.environ, "QIUSUO_LANG": "en", "QIUSUO_REDIS_URL": "nonsense://x"}
        ended = subprocess.run(  # noqa: S603 - ours
            command, env=environment, capture_output=True, text=True, check=False, timeout=100
        )
        assert ended.returncode == Exit.NOT_CONFIGURED
        assert ended.stderr.count("QIUSUO_REDIS_URL is not usable") == 1
        assert "listens on" not in ended.stderr

    def test_without_a_store_it_says_what_is_not_shared(self, tmp_path: Path) -> None:
        empty = tmp_path / "bin"
        empty.mkdir()
        with workers(tmp_path / "own", PATH=str(empty), SEARXNG_URL="http://127.0.0.1:9") as pair:
            until(lambda: "Each of the 2 workers has a cache" in pair.said)
            assert pair.said.index("listens on") < pair.said.index("Each of the 2 workers")
            assert pair.store is None
            pair.wait_for()
            assert pair.said.count("Each of the 2 workers") == 1
            # It is told to stop while a request stands still, and then again.
            with socket.create_connection(("127.0.0.1", pair.port)) as waiting:
                waiting.sendall(b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
                pair.process.send_signal(signal.SIGINT)
                with pytest.raises(subprocess.TimeoutExpired):
                    pair.process.wait(1)
                pair.process.send_signal(signal.SIGINT)
                assert pair.process.wait(8) == Exit.OK

    def test_nothing_is_left_of_a_server_that_is_killed(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        tmp_path = tmp_path_factory.mktemp("left")  # short enough for a socket
        with workers(tmp_path, SEARXNG_URL="http://127.0.0.1:9") as pair:
            pair.wait_for()
            assert list(tmp_path.glob("qiusuo-*"))
            left = {*pair.pids, pair.store}
            pair.process.kill()
            until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
            until(lambda: not list(tmp_path.glob("qiusuo-*")))
            assert "Traceback" not in pair.said

    def test_what_was_left_is_taken_away_by_the_next_server(
        self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path_factory.mktemp("next")
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        living = OwnFolder()
        code = "import os, sys\nfrom qiusuo.cli.serving.folder import OwnFolder\nOwnFolder()\nos.kill(os.getpid(), 9)"
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(folder)}, check=False)  # noqa: S603 - ours
        assert len(list(folder.iterdir())) == 2
        third = OwnFolder()
        assert set(folder.iterdir()) == {living.path, third.path}
        for own in (living, third):
            own.remove()
        assert not list(folder.iterdir())

    async def test_the_doctor_says_it_too(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        settings = Settings.load(workers=4, searxng_url="http://127.0.0.1:9")
        assert not [one for one in await examine(settings, quick=True) if one.code.startswith("workers")]
        monkeypatch.setenv("PATH", str(tmp_path))
        [finding] = [one for one in await examine(settings, quick=True) if one.code.startswith("workers")]
        assert (finding.code, finding.values) == ("workers.not_shared", {"count": 4})

    async def test_a_package_that_is_missing_is_not_a_program_that_is_missing(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        program = tmp_path / "redis-server"
        program.touch(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("qiusuo.doctor.workers.client_is_installed", lambda: False)
        settings = Settings.load(workers=4, searxng_url="http://127.0.0.1:9")
        [finding] = [one for one in await examine(settings, quick=True) if one.code.startswith("workers")]
        assert (finding.code, finding.values) == ("workers.no_client", {"count": 4})
        [command] = finding.commands
        assert "qiusuo[redis]" in command

    @pytest.mark.parametrize("value", ["0", "65", "-1", "many", "1.5", True])
    def test_numbers_that_make_no_sense(self, value: object) -> None:
        with pytest.raises(ConfigurationError, match="from 1 to 64, or auto"):
            Settings.load(workers=value)

    def test_as_many_as_there_are_cores(self) -> None:
        assert Settings.load(workers="auto").worker_count == len(os.sched_getaffinity(0))


def test_a_single_process_reads_its_settings_on_sighup(tmp_path: Path) -> None:
    file = tmp_path / "config" / "qiusuo" / "config.toml"
    with workers(tmp_path, (), SEARXNG_URL="http://127.0.0.1:9") as server:
        assert server.is_alive()
        file.parent.mkdir(parents=True)
        file.write_text('log = "loud"\n')
        until(lambda: "the changed configuration is not used" in server.said)  # it looks by itself, and tells it once
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.said.count("the changed configuration is not used") == 2)
        assert "read anew" not in server.said
        file.write_text('log = "text"\n')
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "The settings were read anew and are in use." in server.said)
        assert server.process.poll() is None


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_every_line_is_json_where_the_log_is(options: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0", *options]
    own = {"QIUSUO_LANG": "en", "XDG_DATA_HOME": str(tmp_path), "QIUSUO_LOG": "json", "PATH": ""}
    with subprocess.Popen(  # noqa: S603 - ours
        command, env={**os.environ, **own, "SEARXNG_URL": "http://127.0.0.1:9"}, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline()]
        while "troubleshooting" not in lines[-1]:
            lines.append(process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        lines += process.stderr.read().splitlines()
        assert process.wait(PATIENCE) == -signal.SIGTERM
    told = [json.loads(line) for line in lines]
    assert "listens on http://127.0.0.1:" in told[0]["message"]
    assert (told[-1]["level"], told[-1]["message"]) == ("info", "Qiusuo has stopped.")


def test_what_keeps_a_server_from_starting_is_an_error_in_the_log(tmp_path: Path) -> None:
    own = {"QIUSUO_LANG": "en", "XDG_DATA_HOME": str(tmp_path), "QIUSUO_LOG": "json"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "qiusuo", "serve", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert done.returncode == 3
    (told,) = map(json.loads, done.stderr.splitlines())
    assert told["level"] == "error"
    assert "is in use" in told["message"]


def test_a_terminal_that_is_closed_ends_the_server(tmp_path: Path) -> None:
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-c", LAUNCH_IN_TERMINAL, sys.executable, "-m", "qiusuo", "serve", "--port", "0"],
        env={**os.environ, "QIUSUO_LANG": "en", "XDG_DATA_HOME": str(tmp_path), "SEARXNG_URL": "http://127.0.0.1:9"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        said = b""
        while b"troubleshooting" not in said:  # it serves, and has told what it has to tell
            said += os.read(terminal, 1000)
    finally:
        os.close(terminal)
    assert process.wait(PATIENCE) in {-signal.SIGTERM, -signal.SIGHUP}


async def test_nohup_is_obeyed() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        reload_on_hang_up(asyncio.get_running_loop(), lambda: None, lambda: None)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
