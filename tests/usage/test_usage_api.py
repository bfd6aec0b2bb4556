"""``/api/usage`` and ``/api/board`` on a real server: what a load did is what they tell, to whom it belongs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.testing import Fault
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.mcp.routes import mcp_extension
from qiusuo.web.openai.routes import openai_extension
from qiusuo.web.watching.usage import usage_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel, Step
from tests.support.web_server import WebServer

AMY, BOB, EVE = ("amy-0123456789abcdef", "bob-0123456789abcdef", "eve-0123456789abcdef")
TOKENS = f"amy:{AMY},bob:{BOB},=eve:{EVE}"


class Board:
    """A server that counts, and its people."""

    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.world = server.world

    def get(self, path: str, token: str = EVE, **params: Any) -> httpx.Response:
        # A proxy brings people; without its header everybody here sits at this machine.
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.1"}
        return self.server.client.get(path, params=params, headers=headers)

    def post(self, path: str, token: str, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        return self.server.client.post(path, json=body, headers=headers)

    def search(self, query: str, token: str = AMY, **more: Any) -> int:
        return self.post("/api/search", token, query=query, **more).status_code

    def figures(self, **params: Any) -> dict[str, Any]:
        answer = self.get("/api/board", **params)
        assert answer.status_code == 200, answer.text
        data: dict[str, Any] = answer.json()
        return data

    def own(self, token: str) -> dict[str, Any]:
        data: dict[str, Any] = self.get("/api/usage", token).json()
        return data

    def by_mcp(self, query: str, token: str) -> None:
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        opened = self.post("/mcp", token, jsonrpc="2.0", id=1, method="initialize", params=about)
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Mcp-Session-Id": opened.headers["mcp-session-id"],
        }
        call = {"name": "web_search", "arguments": {"query": query}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        answer = self.server.client.post("/mcp", json=body, headers=headers)
        assert '"results"' in answer.text


@contextmanager
def board(*script: Step, **settings: Any) -> Iterator[Board]:
    usual = {"tokens": TOKENS, "operators": "=eve", "hedge_delay": 0, **settings}
    with ScriptedModel(*script) as model:
        chat = chat_extension(scripted(model), open_store("sqlite://"))
        extensions = [mcp_extension, chat, openai_extension, usage_extension()]
        with WebServer.over("brave", "searxng", extensions=extensions, **usual) as server:
            yield Board(server)


def sheet(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def test_the_figures_are_what_a_load_did() -> None:
    replies = (Reply.text("一 [1]。"), Reply.text("Two."), Reply.text("Tea is hot."), Reply.error(401))
    with board(*replies) as it:
        assert [it.search(query) for query in ("a", "b", "c", "a", "a")] == [200] * 5  # two of them from the cache
        it.get("/search", BOB, q="d", format="json")
        it.by_mcp("e", BOB)
        # The first engine fails, the second has it.
        it.world["brave"].fault = Fault.SERVER_ERROR
        assert it.search("f", BOB) == 200
        it.world["searxng"].fault = Fault.SERVER_ERROR
        assert it.search("g", BOB) == 502
        it.world["brave"].fault = it.world["searxng"].fault = None
        # Answers: on the page (which searches), over /v1, beside Tavily's results, and one that fails.
        made = it.post("/api/chat/sessions", AMY, settings={"search": True})
        asked = it.post(f"/api/chat/sessions/{made.json()['id']}/turns", AMY, text="what is tea")
        assert json.loads(asked.text.splitlines()[-2][6:])["state"] == "done"
        chat = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "hello there, who are you"}]}
        assert it.post("/v1/chat/completions", BOB, **chat).status_code == 200
        tavily = it.post("/tavily/search", BOB, query="what is tea", include_answer=True)
        assert tavily.json()["answer"] == "Tea is hot."
        assert it.post("/v1/chat/completions", BOB, **chat).status_code >= 400

        told = it.figures()
        searches = {row["outcome"]: row["searches"] for row in told["outcomes"]}
        assert searches == {"ok": 8, "cached": 4, "failed": 1}
        assert told["total"]["searches"] == 13
        assert told["total"]["cached"] == 4
        assert told["total"]["saved"] == 1
        assert told["total"]["answers"] == 4
        assert (told["total"]["tokensIn"], told["total"]["tokensOut"]) == (33, 21)
        assert told["models"][0]["outcomes"] == {"done": 3, "failed": 1}
        engines = {row["name"]: row for row in told["engines"]}
        assert engines["brave"]["requests"] == it.world.requests("brave") == 9
        assert engines["searxng"]["requests"] == it.world.requests("searxng") == 2
        assert engines["brave"]["requestsFailed"] == 2
        assert engines["searxng"]["saved"] == 1
        assert engines["brave"]["outcomes"] == {"ok": 7, "unavailable": 2}
        assert told["total"]["cost"] == [{"currency": "USD", "amount": 0.035}]
        assert engines["searxng"]["cost"] is None
        assert told["total"]["median"] is not None
        # The slots of time have the same sums.
        for name in ("searches", "cached", "failed", "saved", "answers", "tokensIn", "tokensOut"):
            assert sum(slot[name] for slot in told["time"]) == told["total"][name], name
        people = {row["name"]: row["searches"] for row in told["people"]}
        assert people == {"amy": 6, "bob": 7}
        assert told["queries"] == []
        assert told["queriesKept"] is False
        assert {state["name"] for state in told["states"]} == {"brave", "searxng"}


def test_a_person_sees_their_own_alone() -> None:
    with board() as it:
        it.search("a", AMY)
        it.search("b", AMY)
        it.search("c", BOB)
        own = it.own(AMY)
        assert own["total"]["searches"] == 2
        assert (own["operator"], it.own(EVE)["operator"]) == (False, True)
        assert {"people", "queries", "states"} & set(own) == set()
        assert "cost" not in own["total"]
        assert it.own(BOB)["total"]["searches"] == 1
        assert it.own(EVE)["total"]["searches"] == 0
        for path in ("/api/board", "/api/board/people.csv"):
            refused = it.get(path, AMY)
            assert refused.status_code == 403
            assert refused.json()["code"] == "usage.for_operators"
        assert it.get("/api/usage/people.csv", AMY).status_code == 404
        assert sheet(it.get("/api/usage/engines.csv", AMY))[0]["searches"] == "2"
        assert it.server.client.get("/api/usage").status_code == 401


def test_tables_are_no_formulas() -> None:
    with board(board_queries=True) as it:
        it.search("=1+1", EVE)
        it.search("@SUM(A1)", EVE)
        rows = sheet(it.get("/api/board/queries.csv"))
        assert {row["query"] for row in rows} == {"'=1+1", "'@SUM(A1)"}
        assert [row["name"] for row in sheet(it.get("/api/board/people.csv"))] == ["'=eve"]
        slots = sheet(it.get("/api/board/time.csv", days=2))
        assert len(slots) == 48
        last = slots[-1] if slots[-1]["searches"] != "0" else slots[-2]  # the hour may just have ended
        assert (last["engine brave"], last["outcome ok"]) == ("2", "2")
        assert sheet(it.get("/api/board/engines.csv"))[0]["currency"] == "USD"
        for name in ("outcomes", "models"):
            assert it.get(f"/api/board/{name}.csv").status_code == 200


@pytest.mark.parametrize("params", [{"days": "x"}, {"days": "0"}, {"days": "-1"}, {"days": "٣"}, {"by": "week"}])
def test_a_range_that_is_none_is_refused(params: dict[str, str]) -> None:
    with board() as it:
        assert it.get("/api/board", **params).status_code == 400


def test_own_prices_and_engines_that_rest() -> None:
    settings = {"engines": {"brave": {"price": "0.03 CNY"}, "searxng": {"price": 0.5}}}
    with board(**settings) as it:
        it.search("a")
        it.world["brave"].fault = Fault.QUOTA
        it.search("b")
        it.search("c")
        told = it.figures()
        engines = {row["name"]: row for row in told["engines"]}
        assert engines["brave"]["price"] == {"amount": 0.03, "currency": "CNY", "asOf": "", "source": "settings"}
        assert told["total"]["cost"] == [{"currency": "CNY", "amount": 0.03}, {"currency": "USD", "amount": 1.0}]
        assert (engines["brave"]["requests"], engines["brave"]["skipped"]) == (2, 1)
        assert told["total"]["saved"] == 2, "one after a failure, one while the engine rests for it"
        states = {state["name"]: state for state in told["states"]}
        assert states["brave"]["state"] == "resting"
        assert states["brave"]["retryAfter"] > 0


def test_nothing_is_counted_where_that_is_switched_off() -> None:
    with board(usage_days=0) as it:
        it.search("a")
        told = it.figures()
        assert (told["keptDays"], told["total"]["searches"]) == (0, 0)


def test_a_database_that_fails_fails_no_search(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "chat.db"
    file.write_bytes(b"this is no database" * 100)
    with ScriptedModel(Reply.text("Yes.")) as model:
        chat = chat_extension(scripted(model), open_store(f"sqlite:///{file}"))
        extensions = [chat, openai_extension, usage_extension()]
        with WebServer.over("brave", extensions=extensions) as server:
            assert server.search("a").status_code == 200
            body = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "hello there, who are you"}]}
            assert server.client.post("/v1/chat/completions", json=body).status_code == 200
            assert server.client.get("/api/board").status_code == 503
    assert "usage is not written for now" in caplog.text


def test_the_document_tells_of_them() -> None:
    with board() as it:
        paths = it.get("/openapi.json").json()["paths"]
        for path in ("/api/usage", "/api/usage/{table}.csv", "/api/board", "/api/board/{table}.csv"):
            assert {each["name"] for each in paths[path]["get"]["parameters"]} >= {"days", "by"}
