"""A database with something of each kind in it, of one owner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from qiusuo.chat.sessions.feedback import Feedback, Reason, Verdict
from qiusuo.chat.sessions.shares import snapshot_of
from qiusuo.chat.stores.opening import open_store
from qiusuo.chat.stores.sql import SqlSessionStore
from qiusuo.files import FileKind, FileText, Part
from qiusuo.usage.histogram import PARTS
from qiusuo.usage.recorder import Batch, Key, QueryCount, QueryKey
from qiusuo.usage.schema import SUMS
from qiusuo.usage.store import UsageStore
from tests.support.stores import START, whole_turn

T = TypeVar("T")
HOUR = int(START) // 3600 * 3600


async def fill(store: SqlSessionStore, owner: str, words: str) -> str:
    """Put something of ``owner`` into every table, with ``words`` wherever people put words; return a conversation."""
    info = await store.create(owner, title=f"About {words}")
    first = await whole_turn(store, owner, info.id, f"What is {words}?", f"{words} is a plant.")
    second = await whole_turn(store, owner, info.id, f"And {words} 茶?", "The same.")
    await store.feedback.put(owner, info.id, first.id, Feedback(Verdict.BAD, (Reason.WRONG,), f"{words} too short"))
    await store.shares.begin(owner, info.id, f"About {words}", snapshot_of([first, second]), days=None)
    await store.branches.begin(owner, info.id, second.id)
    text = [Part(f"notes about {words}", 1)]
    file = FileText(f"file-{owner}", f"{words}.txt", FileKind.TEXT, 5, text, 1, cut=False)
    await store.files.add(owner, info.id, file)
    sums = {
        Key(HOUR, kind, name, "ok", owner): [1] * len(SUMS) for kind, name in (("search", "brave"), ("answer", "m"))
    }
    assert len(SUMS) == 4 + PARTS
    queries = {QueryKey(HOUR // 86400 * 86400, "slow", f"{words} tea"): QueryCount(1, 900, "ok")}
    await UsageStore(store.database, clock=lambda: START).add(Batch(1, sums, queries))
    return info.id


def with_store(url: str, work: Callable[[SqlSessionStore], Awaitable[T]], **options: Any) -> T:
    """Do something with a store that is opened for it alone."""

    async def run() -> T:
        store = open_store(url, **options)
        try:
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(run())
