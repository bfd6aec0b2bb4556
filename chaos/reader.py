"""A reader that behaves as the page does: asks, reads, comes back after a break, and knows what it was told."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final

from chaos.doubles import question, recitation
from chaos.wire import Events, Front, Refused, Unreachable

FIRST_WAIT: Final = 0.3  # these as in turns.js
LONGEST_WAIT: Final = 5.0
POLL: Final = 1.0
NOT_SAVED: Final = "not_saved"


@dataclass
class Strike:
    """When the fault came; None: not yet."""

    at: float | None = None


@dataclass
class Reader:
    """One question and what became of it, as its reader has seen it."""

    front: Front
    name: str
    token: str
    source: str
    strike: Strike
    words: int = 200
    pace: float = 20.0
    break_after: int | None = None
    reload_after: float | None = None  # seconds after which the page is loaded again: read on by whichever server

    session: str = ""
    turn: str = ""
    asked: bool = False
    streamed: str = ""
    done: dict[str, Any] | None = None
    polled: dict[str, Any] | None = None
    notices: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    breaks: int = 0
    longest_silence: float = 0.0
    longest_doubt: float = 0.0
    first_word_after: float | None = None
    began: float = 0.0
    _last: int = -1
    _sign: float = 0.0
    _broke: float | None = None

    @property
    def question(self) -> str:
        return question(self.name, self.words, self.pace, break_after=self.break_after)

    @property
    def expected(self) -> str:
        return recitation(self.name, self.words)

    @property
    def told_as_saved(self) -> bool:
        """Whether it has seen the end of the answer, and no word that this could not be saved."""
        return self.done is not None and NOT_SAVED not in self.notices

    @property
    def path(self) -> str:
        return f"/api/chat/sessions/{self.session}"

    async def read(self) -> None:
        """Ask and read to the end, over as many connections as it takes."""
        self.began = self._sign = time.monotonic()
        try:
            made = await self._call("POST", "/api/chat/sessions", {"settings": {"search": False}})
            self.session = made["id"]
            self.asked = True
            body = {"text": self.question, "language": "en"}
            async with self.front.stream(
                "POST", f"{self.path}/turns", body, token=self.token, source=self.source
            ) as events:
                async for some in events:
                    self._take(some)
                    if self.reload_after is not None and time.monotonic() > self.began + self.reload_after:
                        break
        except (Refused, Unreachable) as error:
            self.trouble.append(str(error))
            if isinstance(error, Refused) or not self.session:
                return  # the page shows that the question did not get through
        await self._follow()

    async def _follow(self) -> None:
        wait = FIRST_WAIT
        while self.done is None and self.turn:
            self._broken()
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
            try:
                path = f"{self.path}/turns/{self.turn}/events"
                async with self.front.stream(
                    "GET", path, token=self.token, source=self.source, after=self._last
                ) as events:
                    async for some in events:
                        wait = FIRST_WAIT
                        if self._take(some):
                            break
            except Refused as error:
                self.trouble.append(str(error))
                if error.status == 404:
                    break  # no server that was asked has it: look at the conversation
            except Unreachable as error:
                self.trouble.append(str(error))
        if self.done is None:
            await self._poll()

    async def _poll(self) -> None:
        self._broken()
        while True:
            try:
                shown = await self._call("GET", self.path)
                self._seen()
                kept = next((turn for turn in shown["turns"] if turn["id"] == self.turn), None)
                kept = kept or (shown["turns"][-1] if shown["turns"] and not self.turn else None)
                if not shown["running"]:
                    self.polled = kept
                    self._known()
                    return
            except Refused as error:
                self.trouble.append(str(error))
                if error.status == 404:
                    return
            except Unreachable as error:
                self.trouble.append(str(error))
            await asyncio.sleep(POLL)

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        return await self.front.call(method, path, body, token=self.token, source=self.source)

    def _take(self, events: Events) -> bool:
        """Take in what has come; tell whether that was the end."""
        self._seen()
        for number, data in events:
            if 0 <= number <= self._last:
                continue
            self._last = max(self._last, number)
            self._known()
            match data["type"]:
                case "turn":
                    self.turn = data["id"]
                case "delta":
                    self.first_word_after = self.first_word_after or time.monotonic() - self.began
                    self.streamed += data["text"]
                case "retraction":
                    self.streamed = data["answer"]
                case "notice":
                    self.notices.append(data["code"])
                case "done":
                    self.done = data
        return self.done is not None

    def _seen(self) -> None:
        """Something came: until then, since the fault, the reader has looked at a page that stood still."""
        now = time.monotonic()
        if self.strike.at is not None and self._broke is None:
            self.longest_silence = max(self.longest_silence, now - max(self._sign, self.strike.at))
        self._sign = now

    def _broken(self) -> None:
        """The connection is gone, and the page says so: the reader is told, but does not know how it goes on."""
        if self._broke is None:
            self._seen()
            self._broke = time.monotonic()
            self.breaks += 1

    def _known(self) -> None:
        """The answer goes on, or has ended."""
        if self._broke is not None:
            if self.strike.at is not None:
                self.longest_doubt = max(self.longest_doubt, time.monotonic() - self._broke)
            self._broke = None
            self._sign = time.monotonic()
