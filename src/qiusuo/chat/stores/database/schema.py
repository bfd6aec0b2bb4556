"""The tables of the store of conversations, and what may stand in them. ``history`` tells how they come to be."""

from __future__ import annotations

import json
import math
from typing import Any, Final

import orjson
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

MAX_ID: Final = 200
_MAX_DEPTH: Final = 200

metadata: Final = MetaData()

versions: Final = Table("qiusuo_schema", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

sessions: Final = Table(
    "qiusuo_sessions",
    metadata,
    Column("id", String(MAX_ID), primary_key=True),
    Column("owner", String(MAX_ID), nullable=False),
    Column("title", Text, nullable=False),
    Column("title_words", Text, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("memory", JSON, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    # The turn that is being answered, and the process that answers it.
    Column("running", String(MAX_ID)),
    # The last sign of life, in seconds since 1970, of a turn of version 1; it names no process.
    Column("alive_at", Double),
    Column("holder", String(MAX_ID)),
    Index("qiusuo_sessions_of_owner", "owner", "updated_at"),
)
# Has all that a process reads every other second: the rows themselves are large.
held_sessions: Final = Index("qiusuo_sessions_held", sessions.c.holder, sessions.c.running)

holders: Final = Table(
    "qiusuo_holders",
    metadata,
    Column("id", String(MAX_ID), primary_key=True),
    Column("alive_at", Double, nullable=False),
)

turns: Final = Table(
    "qiusuo_turns",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(MAX_ID), primary_key=True),
    Column("position", Integer, nullable=False),
    # Question and answer, case-folded here: SQLite's own lower() knows ASCII only.
    Column("words", Text, nullable=False),
    Column("record", JSON, nullable=False),
    Index("qiusuo_turns_in_order", "session_id", "position", unique=True),
)

# The text of answers that are being written, in the pieces in which it came: ``start`` is where in the answer a piece
# begins; what stood behind that place is taken back. So a long turn is not written anew every other second.
pieces: Final = Table(
    "qiusuo_pieces",
    metadata,
    Column("session_id", String(MAX_ID), primary_key=True),
    Column("turn_id", String(MAX_ID), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("start", Integer, nullable=False),
    Column("text", Text, nullable=False),
    ForeignKeyConstraint(["session_id", "turn_id"], [turns.c.session_id, turns.c.id], ondelete="CASCADE"),
)

# The text of files that were added to conversations, in the parts that are cited. ``asked`` is how many questions had
# been asked before.
files: Final = Table(
    "qiusuo_files",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(MAX_ID), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("size", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("cut", Boolean, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("added_at", String(40), nullable=False),
    Column("parts", JSON, nullable=False),
)

# What was shared by a link, as it was then; the link's secret itself is not here. Of no version of its own: servers
# that do not know the table leave it alone, and what they delete takes it along.
shares: Final = Table(
    "qiusuo_shares",
    metadata,
    Column("id", String(MAX_ID), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True, info={"secret": True}),
    Column("owner", String(MAX_ID), nullable=False),
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), nullable=False),
    Column("snapshot", JSON, nullable=False),
    Column("title", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("ends_at", Double),
    Index("qiusuo_shares_of_owner", "owner"),
    Index("qiusuo_shares_of_session", "session_id"),
)

# Which conversation another one went off from, and at which of its questions. Of no version of its own, as shares.
branches: Final = Table(
    "qiusuo_branches",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("origin_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), nullable=False),
    Column("turn_id", String(MAX_ID), nullable=False),
    Column("created_at", String(40), nullable=False),
    Index("qiusuo_branches_of_origin", "origin_id"),
)

# How many days the conversations of an owner are kept, where that was said for one alone.
retention: Final = Table(
    "qiusuo_retention",
    metadata,
    Column("owner", String(MAX_ID), primary_key=True),
    Column("days", Integer, nullable=False),
    info={"operators": True},
)

# What readers thought of answers. Goes with the turn, also where that is replaced.
feedback: Final = Table(
    "qiusuo_feedback",
    metadata,
    Column("session_id", String(MAX_ID), primary_key=True),
    Column("turn_id", String(MAX_ID), primary_key=True),
    Column("verdict", String(20), nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    ForeignKeyConstraint(["session_id", "turn_id"], [turns.c.session_id, turns.c.id], ondelete="CASCADE"),
    Index("qiusuo_feedback_by_time", "created_at"),
)


def storable(text: str) -> str:
    """Return text that every database takes: without NUL, halves of surrogate pairs joined or replaced."""
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_storable(text: str) -> bool:
    """Tell whether an id can be stored as it is. Ids are never made to fit: two of them could become one."""
    return len(text) <= MAX_ID and storable(text) == text


def to_json(value: Any) -> str:
    """Return JSON that every database takes. NUL stays: a column of the type JSON holds it as an escape."""
    try:
        return orjson.dumps(value).decode()
    except (
        TypeError
    ):  # half a surrogate pair, an integer of more than 64 bits, a key that is no text, hundreds of levels
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str)


def from_json(text: str | bytes) -> Any:
    """Read what :func:`to_json` wrote."""
    return orjson.loads(text)


def _plain(value: Any, depth: int = 0) -> Any:
    match value:
        case dict() | list() | tuple() if depth > _MAX_DEPTH:
            return "…"
        case str():
            return "\0".join(storable(part) for part in value.split("\0"))
        case dict():
            return {_plain(str(key)): _plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
