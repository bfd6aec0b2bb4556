"""Two server processes over one database: a token is known to both within seconds, and they count into one sum."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from qiusuo.cli.database import people as commands
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.server_process import ServerProcess, database, server_process

__all__ = ["database"]

pytestmark = pytest.mark.programs

WITHIN = 20.0
"""Much more than the five seconds that are promised: the machine of the tests may be busy."""
OPERATOR = "operator-0123456789abcdef"


def search(server: ServerProcess, token: str, query: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return server.client.post("/api/search", json={"query": query}, headers=headers).status_code


def soon(told: Callable[[], bool], seconds: float = WITHIN) -> None:
    """Wait until something is so; processes of others have clocks of their own."""
    end = time.monotonic() + seconds
    while not told():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_without_a_restart(database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("QIUSUO_DATABASE_URL", database)
    with ScriptedModel(Reply.text("甲。")) as model, ProviderServer(Searxng()) as upstream:
        tokens = f"root:{OPERATOR}:operator"
        start = partial(server_process, model, database, SEARXNG_URL=upstream.url, QIUSUO_TOKENS=tokens)
        with start() as first, start() as other:
            assert commands.run_add("bob", {"searches": "10"}, as_json=False) == 0
            token = capsys.readouterr().out.strip()
            for server in (first, other):
                soon(lambda server=server: search(server, token, "same") == 200)  # type: ignore[misc]  # bound now
            # Each had its own cache: two searches. Five more on the first, and the other knows of them.
            assert [search(first, token, f"q{number}") for number in range(5)] == [200] * 5
            headers = {"Authorization": f"Bearer {token}"}

            def used(server: ServerProcess) -> str:
                return server.client.get("/api/engines", headers=headers).headers["x-qiusuo-searches-used"]

            soon(lambda: used(other) == "7")
            assert [search(other, token, f"r{number}") for number in range(4)] == [200, 200, 200, 429]
            soon(lambda: used(first) == "10")
            assert search(first, token, "s") == 429
            root = {"Authorization": f"Bearer {OPERATOR}"}
            soon(lambda: first.client.get("/api/people", headers=root).json()["people"][0]["usedAt"] is not None)
            # What is changed on one server holds on the other.
            changed = first.client.patch("/api/people/bob", json={"searches": 1000}, headers=root)
            assert changed.json()["person"]["usedSearches"] == 10
            soon(lambda: search(other, token, "t") == 200)
            rotated = other.client.post("/api/people/bob/rotate", headers=root).json()["secret"]
            assert search(other, token, "same") == 401
            soon(lambda: search(first, token, "same") == 401)
            assert search(first, rotated, "same") == 200
            assert commands.run_revoke("bob") == 0
            for server in (first, other):
                soon(lambda server=server: search(server, rotated, "same") == 401)  # type: ignore[misc]  # the same
        # A server that is told to stop has written all it counted; nobody was counted twice.
        assert commands.run_add("bob", {}, as_json=False) == 0
        capsys.readouterr()
        assert commands.run_list(as_json=True) == 0
        assert '"usedSearches": 11' in capsys.readouterr().out
