"""How many questions are answered at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from qiusuo.chat.live.conversations import Conversations, LiveTurn
from qiusuo.chat.live.places import NO_USER, Places
from qiusuo.chat.stores.opening import open_store
from qiusuo.errors import InvalidQuery, ServerBusy, SessionNotFound, TooManyAtOnce
from tests.support.chat_world import ChatWorld
from tests.support.scripted_model import Gate, Reply


@dataclass(frozen=True)
class Server:
    """Conversations whose model waits at a gate."""

    conversations: Conversations
    gate: Gate

    async def ask(self, owner: str) -> LiveTurn:
        session = await self.conversations.store.create(owner)
        return await self.conversations.send(owner, session.id, "question")

    async def ask_at_once(self, owners: list[str]) -> list[LiveTurn | BaseException]:
        sessions = [await self.conversations.store.create(owner) for owner in owners]
        asked = [
            self.conversations.send(owner, session.id, "question")
            for owner, session in zip(owners, sessions, strict=True)
        ]
        return await asyncio.gather(*asked, return_exceptions=True)


@asynccontextmanager
async def server(places: Places) -> AsyncIterator[Server]:
    gate = Gate()
    async with ChatWorld() as world:
        world.model.otherwise = Reply.text(gate, "answer")
        conversations = Conversations(world.chat, open_store(":memory:"), places)
        try:
            yield Server(conversations, gate)
        finally:
            conversations.break_off()
            await conversations.aclose()


async def test_no_more_than_there_are_places_though_all_ask_at_once() -> None:
    async with server(Places(3, 3)) as it:
        outcomes = await it.ask_at_once([f"user {number}" for number in range(10)])
        assert sum(isinstance(outcome, LiveTurn) for outcome in outcomes) == 3
        refused = [outcome for outcome in outcomes if isinstance(outcome, ServerBusy)]
        assert len(refused) == 7
        assert refused[0].retry_after


async def test_one_user_leaves_places_for_others() -> None:
    async with server(Places(10, 2)) as it:
        outcomes = await it.ask_at_once(["ann"] * 5)
        assert sum(isinstance(outcome, LiveTurn) for outcome in outcomes) == 2
        assert sum(isinstance(outcome, TooManyAtOnce) for outcome in outcomes) == 3
        assert isinstance(await it.ask("bob"), LiveTurn)


async def test_where_nobody_has_a_token_all_places_are_for_all() -> None:
    async with server(Places(4, 2)) as it:
        outcomes = await it.ask_at_once([NO_USER] * 6)
        assert sum(isinstance(outcome, LiveTurn) for outcome in outcomes) == 4
        assert sum(isinstance(outcome, ServerBusy) for outcome in outcomes) == 2


async def test_a_place_is_free_again_when_the_turn_has_ended() -> None:
    async with server(Places(1, 1)) as it:
        first = await it.ask("ann")
        with pytest.raises(ServerBusy):
            await it.ask("bob")
        it.gate.open()
        await first.wait()
        assert isinstance(await it.ask("bob"), LiveTurn)


async def test_what_is_refused_takes_no_place() -> None:
    async with server(Places(1, 1)) as it:
        session = await it.conversations.store.create("ann")
        with pytest.raises(SessionNotFound):
            await it.conversations.send("ann", "unknown", "question")
        with pytest.raises(InvalidQuery):
            await it.conversations.send("ann", session.id, "  ")
        assert isinstance(await it.ask("ann"), LiveTurn)
