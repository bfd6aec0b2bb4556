"""How long the conversations of one owner are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "qiusuo_retention",
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("days", sa.Integer, nullable=False),
        if_not_exists=True,
    )
