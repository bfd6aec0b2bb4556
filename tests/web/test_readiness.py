"""``/livez``, ``/readyz``, ``/api/health``: the database goes away, the disk fills up, the server is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.engines.base import EngineOptions, SearchEngine
from qiusuo.engines.searxng import SearxngEngine
from qiusuo.errors import Unavailable
from qiusuo.http import HttpClient
from qiusuo.models import Attempt, Outcome, Query, SearchResultItem, SearchType
from qiusuo.service import SearchService
from qiusuo.testing import Fault, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.schemas import HealthAnswer, ReadyAnswer
from qiusuo.web.watching.outcomes import FAILED_FOR, LastAttempts
from qiusuo.words import Fact
from tests.support.chat_world import scripted
from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.server_process import ServerProcess, server_process
from tests.support.web_server import WebServer


class PlainEngine(SearchEngine):
    """One that has no free probe."""

    name = "plain"

    @classmethod
    def from_options(cls, options: EngineOptions, http: HttpClient) -> Self:  # noqa: ARG003 - it needs none
        return cls()

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - finds nothing
        return []


class OtherEngine(PlainEngine):
    """Another one."""

    name = "other"


def until(look: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.1)


def reason(client: httpx.Client) -> str:
    answer = client.get("/readyz")
    told = ReadyAnswer.model_validate_json(answer.content, extra="forbid", strict=True)
    assert answer.status_code == (503 if told.reason else 200)
    assert told.status == ("unready" if told.reason else "ready")
    return told.reason


def failing(server: ServerProcess, *secrets: str) -> dict[str, Any]:
    """See that the server tells of its database everywhere, though not where it is; return the finding in Chinese."""
    until(lambda: reason(server.client) == "database")
    assert server.client.get("/livez").text == server.client.get("/healthz").text == "OK"
    health = server.client.get("/api/health?lang=zh")
    told = HealthAnswer.model_validate_json(health.content, extra="forbid", strict=True)
    assert told.status in {"degraded", "down"}
    assert "对话数据库" in told.message
    assert "database of conversations" in server.client.get("/api/health").json()["message"]
    assert told.fix
    [finding] = [one for one in health.json()["findings"] if one["code"] == "database.failed"]
    assert finding["level"] == "problem"
    refused = server.client.post("/api/chat/sessions", json={})
    assert refused.status_code >= 500
    for secret in secrets:
        assert secret not in health.text + refused.text + server.client.get("/readyz").text
    found: dict[str, Any] = finding
    return found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:  # noqa: S603 - ours
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607 - ours


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


@pytest.mark.programs
def test_a_full_disk(small_disk: Path) -> None:
    with ScriptedModel() as model, server_process(model, f"sqlite:///{small_disk}/chat.db") as server:
        session = server.new()
        assert reason(server.client) == ""
        filler = small_disk / "filler"
        fill(filler)
        finding = failing(server, str(small_disk))
        assert "磁盘已满" in finding["what"]
        assert "腾出空间" in finding["fix"]
        assert server.show(session)["turns"] == [], "what is there can be read"
        filler.unlink()
        until(lambda: reason(server.client) == "")
        assert all(one["check"] != "database" for one in server.client.get("/api/health").json()["findings"])


class TestPostgres:
    pytestmark = with_postgres

    def test_stopped_and_started(self) -> None:
        postgres = PostgresProcess()
        try:
            with ScriptedModel() as model, server_process(model, postgres.url(postgres.create())) as server:
                server.new()
                assert reason(server.client) == ""
                postgres.stop()
                finding = failing(server, str(postgres.port))
                assert "没有应答" in finding["what"]
                postgres.start()
                until(lambda: reason(server.client) == "")
                server.new()
        finally:
            postgres.remove()

    def test_a_frozen_database_does_not_hold_up_the_answer(self) -> None:
        postgres = PostgresProcess()
        try:
            with ScriptedModel() as model, server_process(model, postgres.url(postgres.create())) as server:
                server.new()
                with postgres.frozen():
                    started = time.monotonic()
                    assert server.client.get("/api/health", timeout=30).json()["status"] in {"degraded", "down"}
                    assert time.monotonic() - started < 6
        finally:
            postgres.remove()

    def test_who_starts_before_the_database_serves_once_it_is_there(self) -> None:
        postgres = PostgresProcess()
        try:
            url = postgres.url(postgres.create())
            postgres.stop()
            with ScriptedModel() as model, server_process(model, url) as server:
                assert reason(server.client) == "database"
                postgres.start()
                until(lambda: reason(server.client) == "")
                server.new()
        finally:
            postgres.remove()


def stop_told(server: ServerProcess) -> dict[str, Any]:
    """Tell a server to stop that is answering; return what it says of itself meanwhile."""
    server.process.send_signal(signal.SIGTERM)
    until(lambda: reason(server.client) == "stopping", 2)
    refused = server.client.post("/api/chat/sessions/x/turns", json={"text": "太晚"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    program = server.client.post("/v1/chat/completions", json={"model": "qiusuo-chat", "messages": []})
    assert (program.status_code, program.json()["error"]["code"]) == (503, "server_stopping")
    assert server.client.get("/livez").status_code == 200
    told: dict[str, Any] = refused.json()
    return told


ASKED: dict[str, Any] = {
    "model": "qiusuo-chat",
    "messages": [{"role": "user", "content": "你好"}],
    "extra_body": {"search": False},
}


@pytest.mark.programs
def test_told_to_stop(tmp_path: Path) -> None:
    with (
        ScriptedModel(otherwise=Reply.hang("开头")) as model,
        server_process(model, f"sqlite:///{tmp_path}/chat.db") as server,
    ):
        session = server.new()
        with server.asking(session, "你好") as events:
            next(event for event in events if event["type"] == "delta")
            assert stop_told(server)["error"] == "ServerBusy"
            rest = list(events)
        assert [event["code"] for event in rest if event["type"] == "notice"] == ["server_stopping"]
        assert "停止" in next(event["title"] for event in rest if event["type"] == "notice")
        assert (rest[-1]["state"], rest[-1]["finish"], rest[-1]["answer"]) == ("stopped", "server_stopping", "开头")
        assert server.process.wait(20) == -signal.SIGTERM


@pytest.mark.programs
async def test_a_program_hears_that_its_answer_is_not_whole(tmp_path: Path) -> None:
    openai = pytest.importorskip("openai")
    with (
        ScriptedModel(otherwise=Reply.hang("开头")) as model,
        server_process(model, f"sqlite:///{tmp_path}/chat.db") as server,
    ):
        async with openai.AsyncOpenAI(base_url=f"{server.client.base_url}/v1", api_key="x", max_retries=0) as client:

            async def streamed() -> list[Any]:
                return [chunk async for chunk in await client.chat.completions.create(**ASKED, stream=True)]

            answers = asyncio.gather(streamed(), client.chat.completions.create(**ASKED))
            await asyncio.to_thread(until, lambda: len(model.requests) == 2)
            await asyncio.to_thread(stop_told, server)
            chunks, whole = await answers
        for answer, last in ((whole, whole.choices[0]), (chunks[-1], chunks[-1].choices[0])):
            # A reason that every client knows, and one that says which.
            assert last.finish_reason == "length"
            assert answer.qiusuo["finish"] == "server_stopping"
            # Strict clients take the whole answer apart once more.
            type(answer).model_validate(answer.model_dump())
        assert whole.choices[0].message.content.startswith("开头")
        assert "服务器" in whole.choices[0].message.content, "most programs show the text alone"


@pytest.mark.programs
async def test_a_program_that_has_heard_nothing_may_ask_again(tmp_path: Path) -> None:
    openai = pytest.importorskip("openai")
    with (
        ScriptedModel(otherwise=Reply.hang()) as model,
        server_process(model, f"sqlite:///{tmp_path}/chat.db") as server,
    ):
        async with openai.AsyncOpenAI(base_url=f"{server.client.base_url}/v1", api_key="x", max_retries=0) as client:
            answers = asyncio.gather(
                client.chat.completions.create(**ASKED),
                client.chat.completions.create(**ASKED, stream=True),
                return_exceptions=True,
            )
            await asyncio.to_thread(until, lambda: len(model.requests) == 2)
            await asyncio.to_thread(stop_told, server)
            for error in await answers:
                assert isinstance(error, openai.InternalServerError)
                assert (error.status_code, error.code) == (503, "server_stopping")
                assert error.response.headers["retry-after"] == "5"


def test_without_a_token_nothing_else_is_told() -> None:
    with ScriptedModel() as model:
        extension = chat_extension(scripted(model), open_store(":memory:"))
        with WebServer.over("searxng", extensions=[extension], tokens="ann:0123456789abcdef") as server:
            for path in ("/livez", "/healthz", "/readyz"):
                assert server.client.get(path).status_code == 200
                assert server.client.post(path).status_code in {401, 405}
            assert server.client.get("/readyz").json() == {"status": "ready", "reason": ""}
            assert server.client.get("/api/health").status_code == 401


def test_without_conversations_there_is_no_database_to_wait_for() -> None:
    with WebServer.over("searxng", database_url="postgresql://a:b@127.0.0.1:1/x") as server:
        assert reason(server.client) == ""


def test_no_engine_worked_and_then_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qiusuo.web.watching.outcomes.PROBE_EVERY", 0.0)
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    with ProviderServer(Searxng()) as provider:
        monkeypatch.setenv("SEARXNG_URL", provider.url)
        with WebServer(SearchService.from_settings()) as server:
            assert reason(server.client) == "", "nothing was tried yet"
            provider.fault = Fault.SERVER_ERROR
            assert server.client.get("/api/health").json()["attempts"] == {}
            assert server.search("tea").status_code == 502
            assert reason(server.client) == "search"
            assert server.client.get("/readyz?search=no").json() == {"status": "ready", "reason": ""}
            health = server.client.get("/api/health")
            told = HealthAnswer.model_validate_json(health.content, extra="forbid", strict=True)
            assert (health.status_code, told.status) == (503, "down")
            last = told.attempts["searxng"]
            assert (last.outcome, last.code, last.failures >= 1) == ("unavailable", "searxng.broken", True)
            assert told.message
            assert server.client.get("/healthz").status_code == server.client.get("/livez").status_code == 200
            # Whoever is not ready is sent no searches: it learns by itself that the engine is back.
            provider.fault = None
            assert reason(server.client) == ""
            assert server.client.get("/api/health").json()["attempts"]["searxng"]["outcome"] == "ok"


class StatutesEngine(PlainEngine):
    """One that lies on this machine and knows a single subject."""

    name = "statutes"
    local = True
    search_types = frozenset({SearchType.REGULATION})
    broken = False

    async def search(self, query: Query, num_results: int) -> list[SearchResultItem]:  # noqa: ARG002 - one is enough
        if self.broken:
            raise Unavailable(Fact("http.refused", host="x"), engine=self.name)
        return [SearchResultItem("民法典", "https://law.example/1", "第一条", source=self.name)]


def test_where_the_web_fails_statutes_still_count() -> None:
    statutes = StatutesEngine()
    with ProviderServer(Searxng(), fault=Fault.SERVER_ERROR) as provider:
        service = SearchService([SearxngEngine(base_url=provider.url), statutes])
        with WebServer(service) as server:
            assert server.client.get("/api/health").json()["engines"] == {"searxng": "ready", "statutes": "ready"}
            assert server.search("tea").status_code == 502
            health = server.client.get("/api/health")
            assert (health.status_code, health.json()["status"]) == (200, "degraded")
            assert health.json()["engines"] == {"searxng": "failed", "statutes": "ready"}
            assert [each["engine"] for each in health.json()["problems"]] == ["searxng"]
            assert reason(server.client) == ""
            assert server.search("民法典", type="regulation").status_code == 200
            assert server.client.get("/api/health").json()["attempts"]["statutes"]["outcome"] == "ok"
            statutes.broken = True
            assert server.search("合同法", type="regulation").status_code == 502
            health = server.client.get("/api/health")
            assert (health.status_code, health.json()["status"]) == (503, "down")
            assert {each["engine"] for each in health.json()["problems"]} == {"searxng", "statutes"}
            assert reason(server.client) == "search"


async def test_an_engine_that_cannot_be_asked_for_free_gets_another_chance() -> None:
    now = 1000.0
    engine = PlainEngine()
    attempts = LastAttempts(clock=lambda: now)
    assert not await attempts.none_works([engine])
    attempts.attempt_ended(Attempt("plain", Outcome.UNAVAILABLE, 1, Fact("http.refused", host="x"), skipped=True))
    attempts.attempt_ended(Attempt("plain", Outcome.TIMEOUT, 1, Fact("search.overtaken", seconds="1", winner="y")))
    assert attempts.of("plain") is None
    attempts.attempt_ended(Attempt("plain", Outcome.UNAVAILABLE, 1, Fact("http.refused", host="x")))
    assert await attempts.none_works([engine])
    assert not await attempts.none_works([engine, OtherEngine()]), "one that was not tried may work"
    now += FAILED_FOR + 1
    assert not await attempts.none_works([engine])
