"""``qiusuo serve`` as a process over a database and a scripted model; it can be killed and started again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.postgres_process import PostgresProcess, with_postgres
from tests.support.scripted_model import ScriptedModel


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=with_postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chat.db'}"
    postgres: PostgresProcess = request.getfixturevalue("postgres")
    return postgres.url(postgres.create())


class ServerProcess:
    """A running server; ``client`` talks to it."""

    def __init__(self, process: subprocess.Popen[str], client: httpx.Client) -> None:
        self.process = process
        self.client = client

    def new(self, **settings: Any) -> str:
        made = self.client.post("/api/chat/sessions", json={"settings": settings})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def show(self, session: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get(f"/api/chat/sessions/{session}").json()
        return shown

    def ask(self, session: str, text: str, **more: Any) -> list[dict[str, Any]]:
        with self.asking(session, text, **more) as events:
            return list(events)

    @contextmanager
    def asking(self, session: str, text: str, **more: Any) -> Iterator[Iterator[dict[str, Any]]]:
        path, body = f"/api/chat/sessions/{session}/turns", {"text": text, **more}
        with self.client.stream("POST", path, json=body) as answer:
            assert answer.status_code == 200, answer.read()
            yield (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))


@contextmanager
def server_process(model: ScriptedModel, database: str, *, port: int = 0, **more: str) -> Iterator[ServerProcess]:
    """Serve over a database; ``more`` goes into the environment."""
    environment = {
        "QIUSUO_LANG": "en",
        "QIUSUO_DATABASE_URL": database,
        "QIUSUO_MODEL": "openai:scripted",
        "QIUSUO_MODEL_BASE_URL": model.base_url,
        "QIUSUO_MODEL_API_KEY": model.key,
        "QIUSUO_MODEL_SEARCH": "off",
        "SEARXNG_URL": "http://127.0.0.1:9",
        **more,
    }
    process = subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-m", "qiusuo", "serve", "--port", str(port)],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        with httpx.Client(base_url=found[0], trust_env=False, timeout=30) as client:
            yield ServerProcess(process, client)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
