"""The steps of the history of the tables, done by Alembic. Loaded only where a database is behind.

One line of steps, ``versions/step_NNNN.py``, each with all that it needs written out: what the program looks like today
must not change what a step did. A new one names the step before it, and ``history.HEAD`` names the new one.
"""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from qiusuo.chat.stores.database.history import HEAD, REVISIONS_TABLE


def upgrade(connection: Connection, to: str = HEAD) -> None:
    """Do the steps that are missing, inside of the transaction that is open: all of them are done, or none."""
    steps = ScriptDirectory(str(Path(__file__).parent))

    def missing(revision: object, _context: MigrationContext) -> list[object]:
        return list(steps._upgrade_revs(to, revision))  # type: ignore[arg-type]  # noqa: SLF001 - as its own commands do

    with EnvironmentContext(Config(), steps, fn=missing, destination_rev=to) as environment:
        # SQLite changes columns only by a copy of the table.
        environment.configure(connection=connection, version_table=REVISIONS_TABLE, render_as_batch=True)
        environment.run_migrations()
