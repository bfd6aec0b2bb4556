"""Which parts of the program have tables in the database of conversations.

A part that gets tables of its own adds the module that has their ``metadata`` to :data:`PARTS`, and a step to
``migrations``. From then on they are made at the start, saved, copied, exported and deleted with the others.

Whose a row is tells a column called ``owner`` (or marked with ``info={"owner": True}``), else the foreign key to a row
that does. A column of JSON marked with ``info={"about": KEY}`` names somebody under that key. What must not be given
away, such as digests of secrets, is marked with ``info={"secret": True}``. A table whose rows stay when all about
somebody is deleted, such as the audit log, is marked with ``info={"outlives": True}``; one of what the operator has set
for somebody, which they cannot delete themselves, with ``info={"operators": True}``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from sqlalchemy import ColumnElement, MetaData, Table, or_, select, tuple_

# By name: these modules stand above this one.
PARTS: Final = (
    "qiusuo.chat.stores.database.schema",
    "qiusuo.usage.schema",
    "qiusuo.people.schema",
    "qiusuo.people.sign_ins",
)


def all_metadata() -> list[MetaData]:
    """Return the tables of each part."""
    return [import_module(name).metadata for name in PARTS]


def all_tables() -> list[Table]:
    """Return all tables, each behind those that it refers to."""
    return [table for metadata in all_metadata() for table in metadata.sorted_tables]


def owned_by(table: Table, owner: str) -> ColumnElement[bool] | None:
    """Return the condition for the rows that are about somebody; None for a table in which none are."""
    found: list[ColumnElement[bool]] = []
    for column in table.columns:
        if column.name == "owner" or column.info.get("owner"):
            found.append(column == owner)
        elif "about" in column.info:
            found.append(column[column.info["about"]].as_string() == owner)
    if found:
        return or_(*found)
    for key in table.foreign_key_constraints:
        above = owned_by(key.referred_table, owner)
        if above is not None:
            mine, theirs = [each.parent for each in key.elements], [each.column for each in key.elements]
            return tuple_(*mine).in_(select(*theirs).where(above))
    return None
