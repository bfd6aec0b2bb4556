"""One index for several servers: they read one folder, or each takes what was published elsewhere."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from qiusuo.errors import ConfigurationError
from qiusuo.legal.building import published
from qiusuo.legal.building.published import place_of, publish, take
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.judgments.cases import CaseSearch
from tests.support.legal_samples import build, crime, opened


def add_crimes(folder: Path, name: str, *facts: str) -> Path:
    """Import thefts; their numbers tell them apart."""
    source = folder.parent / f"{name}.jsonl"
    first = sum(map(ord, name))
    source.write_text("\n".join(crime(first + place, one) for place, one in enumerate(facts)), "utf-8")
    build(folder, source)
    return source


def found(folder: Path, words: str) -> int:
    return len(CaseSearch(opened(folder).get()).search(words).results)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """An index, published to ``disk``."""
    add_crimes(tmp_path / "built", "a", "被告人窃取茶叶二十斤。")
    publish(IndexFolder(tmp_path / "built"), tmp_path / "disk")
    return tmp_path / "built"


class TestTaking:
    def test_what_is_published_is_taken_once(self, built: Path, tmp_path: Path) -> None:
        elsewhere, disk = IndexFolder(tmp_path / "elsewhere"), tmp_path / "disk"
        first = take(elsewhere, place_of(str(disk)))
        assert first.new
        assert found(elsewhere.root, "窃取茶叶") == 1
        again = take(elsewhere, place_of(str(disk)))
        assert (again.name, again.new) == (first.name, False)
        assert publish(IndexFolder(built), disk).new is False
        add_crimes(built, "b", "被告人盗走紫砂壶三把。")
        publish(IndexFolder(built), disk)
        assert take(elsewhere, place_of(str(disk))).new
        assert found(elsewhere.root, "盗走紫砂壶") == 1

    def test_only_the_last_two_stay_published(self, built: Path, tmp_path: Path) -> None:
        for name in ("b", "c"):
            add_crimes(built, name, f"被告人盗走紫砂壶{name}。")
            publish(IndexFolder(built), tmp_path / "disk")
        assert len(list((tmp_path / "disk" / "generations").iterdir())) == 2

    @pytest.mark.parametrize("harm", ["changed", "cut", "missing", "list", "pointer"])
    def test_a_broken_or_half_copy_is_refused_and_the_old_one_stays(
        self, built: Path, tmp_path: Path, harm: str
    ) -> None:
        elsewhere, disk = IndexFolder(tmp_path / "elsewhere"), tmp_path / "disk"
        take(elsewhere, place_of(str(disk)))
        add_crimes(built, "b", "被告人盗走紫砂壶三把。")
        name = publish(IndexFolder(built), disk).name
        whole = tmp_path / "whole"
        shutil.copytree(disk, whole)
        store = disk / "generations" / name / "store.db"
        content = store.read_bytes()
        if harm == "changed":
            store.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        elif harm == "cut":
            store.write_bytes(content[:4096])
        elif harm == "missing":
            store.unlink()
        else:
            broken = disk / published.POINTER if harm == "pointer" else store.with_name(published.LIST)
            broken.write_bytes(broken.read_bytes()[:-9])
        with pytest.raises(ConfigurationError) as caught:
            take(elsewhere, place_of(str(disk)))
        assert caught.value.fact.code in {"legal_places.broken", "legal_places.unreadable"}
        assert found(elsewhere.root, "窃取茶叶") == 1
        assert found(elsewhere.root, "盗走紫砂壶") == 0
        assert take(elsewhere, place_of(str(whole))).new  # whole again: what came over already is used
        assert found(elsewhere.root, "盗走紫砂壶") == 1

    @pytest.mark.parametrize("path", ["../outside", "/outside", "cases/../../outside", "a\\b"])
    @pytest.mark.usefixtures("built")
    def test_a_list_cannot_lead_out_of_the_folder(self, tmp_path: Path, path: str) -> None:
        disk = tmp_path / "disk"
        pointer = json.loads((disk / published.POINTER).read_bytes())
        listed = disk / "generations" / pointer["generation"] / published.LIST
        content = json.loads(listed.read_bytes())
        content["files"][0]["path"] = path
        listed.write_text(json.dumps(content), "utf-8")
        pointer["list_sha256"] = hashlib.sha256(listed.read_bytes()).hexdigest()
        (disk / published.POINTER).write_text(json.dumps(pointer), "utf-8")
        with pytest.raises(ConfigurationError) as caught:
            take(IndexFolder(tmp_path / "elsewhere"), place_of(str(disk)))
        assert caught.value.fact.code == "legal_places.broken"

    @pytest.mark.usefixtures("built")
    def test_another_version_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(published, "STORE_VERSION", 99)
        with pytest.raises(ConfigurationError) as caught:
            take(IndexFolder(tmp_path / "elsewhere"), place_of(str(tmp_path / "disk")))
        assert caught.value.fact.code == "legal_places.other_version"

    @pytest.mark.usefixtures("built")
    def test_from_an_address(self, tmp_path: Path) -> None:
        with file_server(tmp_path / "disk") as address:
            assert take(IndexFolder(tmp_path / "elsewhere"), place_of(address)).new
            with pytest.raises(ConfigurationError) as caught:
                take(IndexFolder(tmp_path / "elsewhere"), place_of(address + "/nothing"))
        assert caught.value.fact.code == "legal_places.unreadable"
        assert found(tmp_path / "elsewhere", "窃取茶叶") == 1


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    """Serve a folder as an object store does."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def serving(*indexes: Path) -> Iterator[list[httpx.Client]]:
    """Run a server over each of the index folders; all of them start at once."""
    with ExitStack() as stack:
        started = [stack.enter_context(_started(number, index)) for number, index in enumerate(indexes)]
        clients = []
        for process in started:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.search(r"http://\S+", line)
            assert address, line + process.stderr.read()
            threading.Thread(target=process.stderr.read, daemon=True).start()
            clients.append(stack.enter_context(httpx.Client(base_url=address[0], trust_env=False, timeout=60)))
        yield clients


@contextmanager
def _started(number: int, index: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {
        "QIUSUO_LANG": "en",
        "QIUSUO_LEGAL_DIR": str(index),
        "QIUSUO_LEGAL_MEANING": "false",
        "QIUSUO_DATABASE_URL": f"sqlite:///{index}-chat-{number}.db",
        "SEARXNG_URL": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-m", "qiusuo", "serve", "--port", "0"]
    with subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.kill()


def asked(client: httpx.Client, words: str) -> int:
    answer = client.post("/api/legal/cases", json={"query": words})
    assert answer.status_code == 200, answer.text
    return len([row for row in answer.json()["results"] if row["origin"] == "index"])


def held(client: httpx.Client) -> int:
    """Return how many judgments a server has."""
    return int(client.get("/api/legal/stats").json()["cases"])


def legal(index: Path, *arguments: str) -> tuple[int, str]:
    """Run ``qiusuo legal`` over an index folder."""
    environment = {**os.environ, "QIUSUO_LEGAL_DIR": str(index), "QIUSUO_LANG": "en"}
    command = [sys.executable, "-m", "qiusuo", "legal", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.programs
@pytest.mark.timeout(300)  # three servers start
def test_two_servers_over_one_folder_and_one_elsewhere(tmp_path: Path) -> None:
    one, disk, other = tmp_path / "one", tmp_path / "disk", tmp_path / "other"
    add_crimes(one, "a", "被告人窃取茶叶二十斤。")
    assert legal(one, "publish", str(disk))[0] == 0
    take(IndexFolder(other), place_of(str(disk)))
    with serving(one, one, other) as servers:
        elsewhere = servers[-1]
        assert [asked(client, "窃取茶叶") for client in servers] == [1, 1, 1]
        problems: list[BaseException] = []
        stop = threading.Event()

        def look(client: httpx.Client) -> None:
            try:
                while not stop.wait(0.1):
                    assert asked(client, "窃取茶叶") == 1
            except BaseException as error:  # noqa: BLE001 - a thread's failure must fail the test
                problems.append(error)

        threads = [threading.Thread(target=look, args=(client,)) for client in servers]
        for thread in threads:
            thread.start()
        # Three generations: the one that the servers began with is removed.
        add_crimes(one, "bb", "被告人盗走紫砂壶一把。")
        add_crimes(one, "cc", "被告人盗走紫砂壶两把。")
        source = tmp_path / "dd.jsonl"
        source.write_text(crime(7, "被告人盗走紫砂壶三把。"), "utf-8")
        assert legal(one, "import", str(source))[0] == 0
        publish(IndexFolder(one), disk)
        assert [held(client) for client in servers] == [4, 4, 1]
        assert [asked(client, "盗走紫砂壶") for client in servers[:2]] == [3, 3]
        # Half of a copy comes first, as a copy that is under way has it.
        half = tmp_path / "half"
        shutil.copytree(disk, half)
        newest = json.loads((half / "current.json").read_bytes())["generation"]
        (half / "generations" / newest / "store.db").unlink()
        code, said = legal(other, "take", str(half))
        assert (code != 0, "stays in use" in said) == (True, True)
        assert held(elsewhere) == 1
        code, said = legal(other, "take", str(disk))
        assert (code, "checked" in said) == (0, True)
        assert asked(elsewhere, "盗走紫砂壶") == 3
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []
