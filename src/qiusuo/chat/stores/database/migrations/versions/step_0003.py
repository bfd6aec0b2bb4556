"""The tables of version 3, as they were when this history began. What is there already is left as it is."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
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

revision = "0003"
down_revision = None

_SUMS = ("n", "saved", "tokens_in", "tokens_out", *(f"h{part:02}" for part in range(21)))

metadata = MetaData()

versions = Table("qiusuo_schema", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

sessions = Table(
    "qiusuo_sessions",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("title", Text, nullable=False),
    Column("title_words", Text, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("memory", JSON, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    Column("running", String(200)),
    Column("alive_at", Double),
    Column("holder", String(200)),
    Index("qiusuo_sessions_of_owner", "owner", "updated_at"),
)
held_sessions = Index("qiusuo_sessions_held", sessions.c.holder, sessions.c.running)

holders = Table(
    "qiusuo_holders",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("alive_at", Double, nullable=False),
)

turns = Table(
    "qiusuo_turns",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("words", Text, nullable=False),
    Column("record", JSON, nullable=False),
    Index("qiusuo_turns_in_order", "session_id", "position", unique=True),
)

pieces = Table(
    "qiusuo_pieces",
    metadata,
    Column("session_id", String(200), primary_key=True),
    Column("turn_id", String(200), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("start", Integer, nullable=False),
    Column("text", Text, nullable=False),
    ForeignKeyConstraint(["session_id", "turn_id"], [turns.c.session_id, turns.c.id], ondelete="CASCADE"),
)

files = Table(
    "qiusuo_files",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(200), primary_key=True),
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

shares = Table(
    "qiusuo_shares",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("owner", String(200), nullable=False),
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), nullable=False),
    Column("snapshot", JSON, nullable=False),
    Column("title", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("ends_at", Double),
    Index("qiusuo_shares_of_owner", "owner"),
    Index("qiusuo_shares_of_session", "session_id"),
)

branches = Table(
    "qiusuo_branches",
    metadata,
    Column("session_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("origin_id", ForeignKey("qiusuo_sessions.id", ondelete="CASCADE"), nullable=False),
    Column("turn_id", String(200), nullable=False),
    Column("created_at", String(40), nullable=False),
    Index("qiusuo_branches_of_origin", "origin_id"),
)

feedback = Table(
    "qiusuo_feedback",
    metadata,
    Column("session_id", String(200), primary_key=True),
    Column("turn_id", String(200), primary_key=True),
    Column("verdict", String(20), nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    ForeignKeyConstraint(["session_id", "turn_id"], [turns.c.session_id, turns.c.id], ondelete="CASCADE"),
    Index("qiusuo_feedback_by_time", "created_at"),
)

usage = Table(
    "qiusuo_usage",
    metadata,
    Column("span", Integer, primary_key=True, autoincrement=False),
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("outcome", String(40), primary_key=True),
    Column("owner", String(200), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in _SUMS),
    Index("qiusuo_usage_in_time", "bucket"),
)

queries = Table(
    "qiusuo_usage_queries",
    metadata,
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(20), primary_key=True),
    Column("query", Text, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("ms", BigInteger, nullable=False),
    Column("outcome", String(40), nullable=False),
)

writers = Table(
    "qiusuo_usage_writers",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("batch", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
)


def upgrade() -> None:
    """Create what is missing."""
    metadata.create_all(op.get_bind())
