"""People: their tokens, what they have used, who has signed in, and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "qiusuo_audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("who", sa.String(200), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("code", sa.String(80), nullable=False),
        sa.Column("told", sa.JSON, nullable=False),
        if_not_exists=True,
    )
    op.create_index("qiusuo_audit_in_time", "qiusuo_audit", ["at"], if_not_exists=True)
    op.create_table(
        "qiusuo_people_tokens",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("mark", sa.String(20), nullable=False, unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("ends_at", "per_minute", "searches", "tokens")),
        sa.Column("engines", sa.JSON(none_as_null=True)),
        sa.Column("models", sa.JSON(none_as_null=True)),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
        if_not_exists=True,
    )
    op.create_table(
        "qiusuo_people_changes",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "qiusuo_people_used",
        sa.Column("month", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("searches", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        if_not_exists=True,
    )
    _sign_ins()


def _sign_ins() -> None:
    op.create_table(
        "qiusuo_sign_in_people",
        sa.Column("issuer", sa.String(200), primary_key=True),
        sa.Column("subject", sa.String(200), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("name"),
        if_not_exists=True,
    )
    op.create_table(
        "qiusuo_sign_ins",
        sa.Column("id", sa.String(64), primary_key=True),
        *(sa.Column(name, sa.String(200), nullable=False) for name in ("issuer", "subject", "name", "email")),
        sa.Column("groups", sa.Text, nullable=False),
        sa.Column("began", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("id_token", sa.Text, nullable=False),
        if_not_exists=True,
    )
    op.create_index("qiusuo_sign_ins_of_one", "qiusuo_sign_ins", ["issuer", "subject"], if_not_exists=True)
    op.create_index("qiusuo_sign_ins_in_time", "qiusuo_sign_ins", ["began"], if_not_exists=True)
