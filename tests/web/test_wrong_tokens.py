"""Wrong tokens: slow, counted, told of in the log; and right ones, which are served all the while."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Self

import httpx
import pytest
from pydantic import SecretStr

import qiusuo.web.entrance.door as door_module
from qiusuo.web.entrance.auth import Tokens
from qiusuo.web.entrance.door import AT_ONCE, LATE_SECONDS, MOST, Door
from qiusuo.web.errors import Refusal
from qiusuo.web.watching.metrics import Metrics
from tests.support.web_server import WebServer

TOKENS = "alice:tok-alice-0123456789,tok-bare-0123456789"
ALICE = {"Authorization": "Bearer tok-alice-0123456789"}


class Guessers:
    """Threads that send one wrong token after another, until told to stop."""

    def __init__(self, server: WebServer, threads: int) -> None:
        self.statuses: list[int] = []
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._guess, args=[number]) for number in range(threads)]

    def _guess(self, number: int) -> None:
        with httpx.Client(base_url=self._server.url, trust_env=False, timeout=20) as client:
            for turn in itertools.count():
                if self._stop.is_set():
                    return
                headers = {"Authorization": f"Bearer guess-{number}-{turn}"}
                self.statuses.append(client.get("/api/engines", headers=headers).status_code)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


class TestGuesses:
    def test_many_wrong_tokens_are_slow_and_a_right_one_is_served(self) -> None:
        with WebServer.over("tavily", tokens=TOKENS) as server:
            started = time.monotonic()
            with Guessers(server, 40) as guesses:
                while len(guesses.statuses) < AT_ONCE + 60:
                    assert server.client.get("/api/engines", headers=ALICE).status_code == 200
                    time.sleep(0.05)  # the guesses come meanwhile
            seconds = time.monotonic() - started
            # Each thread waits for its answer.
            assert len(guesses.statuses) <= AT_ONCE + 40 * (seconds / LATE_SECONDS + 1)
            assert guesses.statuses[:AT_ONCE] == [401] * AT_ONCE
            assert guesses.statuses[-1] == 429
            answer = server.client.get("/api/engines", headers={"Authorization": "Bearer one-more"})
            assert answer.status_code == 429
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            metrics = server.client.get("/metrics", headers=ALICE).text
            assert f'qiusuo_wrong_tokens_total{{limited="false"}} {MOST}.0' in metrics
            assert 'qiusuo_wrong_tokens_total{limited="true"}' in metrics

    @pytest.mark.parametrize("by", ["header", "body", "header, with a body that cannot be read"])
    def test_tokens_in_a_body_count_too(self, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(door_module, "LATE_SECONDS", 0.0)
        with WebServer.over("tavily", tokens=TOKENS) as server:

            def guess(token: str) -> httpx.Response:
                if by == "body":
                    return server.client.post("/tavily/search", json={"query": "x", "api_key": token})
                headers = {"Authorization": f"Bearer {token}"}
                content = b'{"query": "x"}' if by == "header" else b"{"
                return server.client.post("/tavily/search", content=content, headers=headers)

            answers = [guess(f"guess-{number}") for number in range(MOST + 1)]
            assert [answer.status_code for answer in answers] == [401] * MOST + [429]
            assert "token" in answers[0].json()["detail"]["error"]
            assert "token" in answers[-1].json()["detail"]["error"]
            assert guess("tok-alice-0123456789").status_code in {200, 400}

    def test_no_token_is_no_guess(self) -> None:
        with WebServer.over("tavily", tokens=TOKENS) as server:
            for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Digest eDp5"}):
                statuses = {server.client.get("/api/engines", headers=headers).status_code for _ in range(MOST + 1)}
                assert statuses == {401}
            assert "wrong_tokens_total{" not in server.client.get("/metrics", headers=ALICE).text

    @pytest.mark.parametrize("token", [b"\xff\xfe\xfd", "令牌".encode(), b"a\tb", b"x" * 6000])
    def test_odd_ones_are_only_wrong(self, token: bytes) -> None:
        headers = [(b"Authorization", b"Bearer " + token)]
        with WebServer.over("tavily", tokens=TOKENS) as server:
            assert server.client.get("/api/engines", headers=headers).status_code == 401

    async def test_the_log_names_addresses_and_never_tokens(self, caplog: pytest.LogCaptureFixture) -> None:
        timers: list[Callable[[], None]] = []
        now = 0.0

        async def at_once(_seconds: float) -> None:
            return

        door = Door(
            Tokens([SecretStr("tok-alice-0123456789")]),
            Metrics(),
            clock=lambda: now,
            sleep=at_once,
            later=lambda _seconds, call: timers.append(call),
        )

        async def guess(address: str) -> int:
            with pytest.raises(Refusal) as refusal:
                await door.person("guess-0123456789", {"type": "http", "client": (address, 1)})
            return refusal.value.http_status

        for _ in range(500):
            await guess("192.0.2.1")
        # One customer has a whole network of these.
        assert {await guess(f"2001:db8::{number:x}") for number in range(MOST)} == {401}
        assert await guess("2001:db8::ffff:1") == 429
        assert await guess("2001:db8:0:1::1") == 401
        assert await guess("::ffff:192.0.2.1") == 429
        for number in range(10_000):  # from everywhere
            await guess(f"198.18.{number // 250}.{number % 250}")
        lines = [record.message for record in caplog.records]
        assert len(lines) == 30
        assert lines[:2] == ["a wrong token was sent from 192.0.2.1", "a wrong token was sent from 2001:db8::/64"]
        [sum_up] = timers
        sum_up()
        told = [record.message for record in caplog.records][30:]
        assert told[0] == "501 wrong tokens were sent from 192.0.2.1 within a minute"
        assert told[-1] == "9973 wrong tokens were sent from other addresses within a minute"
        assert "guess" not in caplog.text
        # The next minute begins anew, and no more addresses are known than a few thousand.
        now = 61.0
        assert await guess("192.0.2.1") == 401
        assert len(door._callers) <= 4096
