"""Contests, kept beside runs: what each is, and the log of its events."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the two tables; nothing that was there is touched."""
    op.create_table(
        "contests",
        sa.Column("id", TEXT, primary_key=True),
        *_sql_text_columns("name", "digest", "state", "started"),
        sa.Column("ended", TEXT),
        *_sql_text_columns("touched"),
        sa.Column("holder", TEXT),
        sa.Column("summary", TEXT),
        *_sql_text_columns("source"),
    )
    op.create_index("ix_contests_name", "contests", ["name"])
    op.create_table(
        "contest_events",
        sa.Column("contest", TEXT, sa.ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *_sql_text_columns("at", "content", "calls"),
    )


def _sql_text_columns(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]
