"""The database that keeps conversations."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Final

from qiusuo.chat.store import open_store
from qiusuo.doctor.context import Context
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import SearchError

ANSWER_SECONDS: Final = 3.0


async def check_database(context: Context) -> list[Finding]:
    """Look whether conversations can be kept: driver, connection, rights, version of the tables. Creates nothing."""
    secret = context.settings.database_url
    if secret is None and find_spec("sqlalchemy") is None:
        return []  # conversations are not installed, and nobody asked for them
    try:
        store = open_store(secret.get_secret_value() if secret else None, environ=context.environ)
    except SearchError as error:
        return [_failed(error.message, error.fix)]
    address = store.database.address
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await store.database.look()
    except TimeoutError:
        words = f"The database of conversations ({address.shown}) gives no answer within {ANSWER_SECONDS:g} s."
        command = "pg_isready" if address.kind == "postgresql" else ""
        return [_failed(words, "Start it, or correct QIUSUO_DATABASE_URL.", *filter(None, [command]))]
    except SearchError as error:
        return [_failed(error.message, error.fix)]
    finally:
        await store.aclose()
    return [Finding("database.ok", Level.OK, {"address": address.shown})]


def _failed(message: str, fix: str, *commands: str) -> Finding:
    if fix.startswith("pip "):
        commands = (fix,)
    return Finding("database.failed", Level.PROBLEM, {"message": message, "fix": fix}, commands)
