"""Taking sources out of the store that stands in staging, so that what others hold too is there afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from qiusuo.legal.building.ranked import case_count
from qiusuo.legal.building.staging import RANKED_AS
from qiusuo.legal.building.writer import StoreWriter, stamp_of

Read = tuple[Path, str]
"""A file to read, and the label of its source."""

_UNREAD: Final = "unread"


def replace_sources(writer: StoreWriter, place: Path, given: list[Read]) -> None:
    """Take out what was read below ``place``, except the files given now, and note what is to be read again.

    An article does not tell from which of several sources it came. So the laws of all sources that can be read again
    are taken out together, and noted: whoever goes on after a kill reads them first. Judgments know their source
    themselves: one that has nothing else stays.
    """
    kept = {(str(file), stamp_of(file)) for file, _ in given}
    rows = writer.database.execute("SELECT id, path, laws, label, stamp FROM sources ORDER BY id").fetchall()
    gone = [row for row in rows if Path(row[1]).is_relative_to(place) and (row[1], row[4]) not in kept]
    if not gone:
        _note(writer, [*unread(writer), *(read for read in given if read not in unread(writer))])
        return
    gone_ids = {row[0] for row in gone}
    readable = [row for row in rows if row[0] not in gone_ids and row[2] and Path(row[1]).is_file()]
    writer.begin()
    try:
        writer.database.execute("CREATE TEMP TABLE IF NOT EXISTS out (id INTEGER PRIMARY KEY)")
        writer.database.execute("DELETE FROM out")
        writer.database.executemany("INSERT INTO out VALUES (?)", [(row[0],) for row in (*gone, *readable)])
        had = case_count(writer.database)
        for statement in _TAKE_OUT:
            writer.database.execute(statement)
        again = [(Path(row[1]), str(row[3])) for row in readable]
        _note(writer, [*again, *(read for read in given if read not in again)])
        if case_count(writer.database) < had:  # the ranking is only added to: where judgments went, it is made anew
            writer.set_meta(RANKED_AS, "")
        writer.database.execute("COMMIT")
    except BaseException:  # an interrupt too leaves nothing half done
        writer.database.execute("ROLLBACK")
        raise


_TAKE_OUT: Final = (
    # Citations and the like are derived anew from what is there at the end.
    "DELETE FROM citations",
    "DELETE FROM amended",
    "DELETE FROM amendments",
    "DELETE FROM repeals",
    "DELETE FROM articles WHERE version_id IN (SELECT id FROM versions WHERE source_id IN out)",
    "DELETE FROM versions WHERE source_id IN out",
    "DELETE FROM case_texts WHERE case_id IN (SELECT id FROM cases WHERE source_id IN out)",
    "DELETE FROM cases WHERE source_id IN out",
    "DELETE FROM rejected WHERE source_id IN out",
    "DELETE FROM sources WHERE id IN out",
    "DELETE FROM laws WHERE id NOT IN (SELECT law_id FROM versions)",
)


def unread(writer: StoreWriter) -> list[Read]:
    """Return the files that an interrupted replacement has still to read."""
    noted = json.loads(writer.meta(_UNREAD) or "[]")
    return [(Path(path), label) for path, label in noted if Path(path).is_file()]


def forget_unread(writer: StoreWriter) -> None:
    """Note that everything has been read."""
    writer.set_meta(_UNREAD, "[]")


def _note(writer: StoreWriter, files: list[Read]) -> None:
    writer.set_meta(_UNREAD, json.dumps([(str(file), label) for file, label in files]))
