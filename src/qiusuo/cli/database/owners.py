"""``qiusuo export``, ``qiusuo forget`` and ``qiusuo retention``: what is kept about one person."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from qiusuo.chat.live.places import NO_USER
from qiusuo.chat.stores.opening import servers_folder
from qiusuo.chat.stores.presence import living
from qiusuo.cli.database.data import DataWords, guarded, opened_store, say
from qiusuo.cli.exits import Exit
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError, InvalidQuery
from qiusuo.folders import data_folder
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.chat.stores.sql import SqlSessionStore
    from qiusuo.data.forgetting import Forgotten


def run_export(owner: str, target: Path, *, force: bool) -> Exit:
    """Write what is kept about somebody into a file."""

    async def work(words: DataWords) -> Exit:
        store = _opened()
        from qiusuo.data.export import export_owner  # noqa: PLC0415 - an extra
        from qiusuo.data.writing import written  # noqa: PLC0415 - the same

        try:
            with written(target, force=force) as place, place.open("wb") as out:
                counts = await export_owner(store, owner, out)
                _check_any(counts)
        except _NothingThere:
            say(words("nothing_about", owner=owner))
            return Exit.NOTHING_FOUND
        finally:
            await store.database.aclose()
        say(words("exported", owner=owner, file=str(target), conversations=counts["conversations"]))
        return Exit.OK

    return guarded(lambda words: asyncio.run(work(words)))


def run_forget(owner: str, *, yes: bool, as_json: bool) -> Exit:
    """Delete what is kept about somebody."""

    async def work(words: DataWords) -> Exit:
        if not yes and not _agreed(words, owner):
            return Exit.USAGE
        store = _opened()
        try:
            done, clean = await _forget(store, owner, words)
        finally:
            await store.database.aclose()
        if owner == NO_USER:
            from qiusuo.cli.chat.prompt import HISTORY_FILE  # noqa: PLC0415 - an extra

            (data_folder() / HISTORY_FILE).unlink(missing_ok=True)
        if as_json:
            say(json.dumps({"owner": owner, **done.shape(clean=clean)}, ensure_ascii=False))
            return Exit.OK
        noted = done.stays.get("qiusuo_audit", 0)
        if not done.total:
            say(words("nothing_to_delete" if noted else "nothing_about", owner=owner))
            _tell_noted(words, noted)
            return Exit.NOTHING_FOUND
        say(words("forgotten", owner=owner))
        for name, count in done.rows.items():
            say(words("rows_deleted", table=name, count=count))
        if done.counted:
            say(words("counts_unnamed", count=done.counted))
        if "qiusuo_people_tokens" in done.rows:
            say(words("token_ended", owner=owner))
        _tell_noted(words, noted)
        say(words("some_trace" if not clean else "nothing_else" if done.stays else "no_trace"))
        return Exit.OK

    return guarded(lambda words: asyncio.run(work(words)))


def run_retention(owner: str | None, *, days: int | None, off: bool) -> Exit:
    """Show or change how long conversations of some owners are kept."""

    async def work(words: DataWords) -> None:
        if (owner is None) != (days is None and not off) or (days is not None and off):
            raise InvalidQuery(Fact("data.retention_usage"))
        store = _opened()
        try:
            if owner is not None:
                await store.retention.put(owner, days)
            rules = await store.retention.rules()
        finally:
            await store.database.aclose()
        for name, count in rules.items():
            say(words("kept_days", owner=name, days=count))
        if not rules:
            say(words("no_rules"))

    return guarded(lambda words: asyncio.run(work(words)))


def _tell_noted(words: DataWords, count: int) -> None:
    if count:
        say(words("audit_stays", count=count, days=Settings.load().audit_days))


class _NothingThere(Exception):
    """There is nothing to write, so no file is made."""


def _check_any(counts: Mapping[str, int]) -> None:
    if not any(counts.values()):
        raise _NothingThere


def _opened() -> SqlSessionStore:
    """Open the store of the settings; to look must not create a database."""
    store = opened_store()
    path = store.database.address.path
    if store.database.address.kind == "sqlite" and (path is None or not path.exists()):
        raise ConfigurationError(Fact("data.no_database"), place=store.database.address.shown)
    return store


def _agreed(words: DataWords, owner: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidQuery(Fact("data.say_yes"))
    sys.stdout.write(words("really_forget", owner=owner))
    sys.stdout.flush()
    return sys.stdin.readline().strip() == owner


async def _forget(store: SqlSessionStore, owner: str, words: DataWords) -> tuple[Forgotten, bool]:
    from qiusuo.data.forgetting import Forgotten, forget, leave_no_trace  # noqa: PLC0415 - an extra
    from qiusuo.people.audit import TERMINAL  # noqa: PLC0415 - loaded when used
    from qiusuo.people.store import Author  # noqa: PLC0415 - the same
    from qiusuo.usage.keeping import WRITE_SECONDS  # noqa: PLC0415 - the same

    database = store.database
    folder = servers_folder(database.address)
    by = Author(TERMINAL, noted=Settings.load().audit_days > 0)
    done = await forget(database, owner, by)
    in_use = folder is not None and bool(living(folder))
    if in_use:  # what they have counted of the last seconds has the name on it still
        say(words("waiting_for_servers"))
        await asyncio.sleep(2 * WRITE_SECONDS)
        later = await forget(database, owner, None if done.total else by)
        done = Forgotten({**later.rows, **done.rows}, done.counted + later.counted, later.stays)
    return done, await leave_no_trace(database, in_use=in_use)
