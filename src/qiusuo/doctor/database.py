"""The database that keeps conversations."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Final

from qiusuo.chat.stores.opening import open_store
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import SearchError, Unavailable
from qiusuo.words import Fact

ANSWER_SECONDS: Final = 3.0


async def check_database(context: Examination) -> list[Finding]:
    """Look whether conversations can be kept: driver, connection, rights, version of the tables. Creates nothing."""
    secret = context.settings.database_url
    if secret is None and find_spec("sqlalchemy") is None:
        return []  # conversations are not installed, and nobody asked for them
    try:
        store = open_store(secret.get_secret_value() if secret else None, environ=context.environ)
    except SearchError as error:
        return [database_failed(error)]
    address = store.database.address
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await store.database.look()
    except TimeoutError:
        late = Fact("database.late", seconds=ANSWER_SECONDS)
        return [database_failed(Unavailable(late, place=address.shown))]
    except SearchError as error:
        return [database_failed(error)]
    finally:
        await store.aclose()
    return [Finding("database.ok", Level.OK, {"address": address.shown})]


def database_failed(error: SearchError) -> Finding:
    """Return what is found of a database that cannot be used."""
    return Finding("database.failed", Level.PROBLEM, {"reason": error.told}, error.commands, place=error.place)
