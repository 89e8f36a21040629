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
        *_texts("name", "digest", "state", "started"),
        sa.Column("ended", TEXT),
        *_texts("touched"),
        sa.Column("holder", TEXT),
        sa.Column("summary", TEXT),
        *_texts("source"),
    )
    op.create_index("ix_contests_name", "contests", ["name"])
    op.create_table(
        "contest_events",
        sa.Column("contest", TEXT, sa.ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *_texts("at", "content", "calls"),
    )


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]
