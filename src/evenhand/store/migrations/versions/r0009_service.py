"""Contests that a service plays: an inbox, an outbox and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables; contests that are here have nobody to tell."""
    for name in ("hooks", "wakes"):
        op.add_column("contests", sa.Column(name, TEXT))
    op.create_index("ix_contests_wakes", "contests", ["wakes"])
    op.create_table(
        "contest_inbox",
        sa.Column("contest", TEXT, sa.ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("kind", "id", "author", "at", "content")),
    )
    op.create_index("ix_contest_inbox_id", "contest_inbox", ["contest", "kind", "id"], unique=True)
    op.create_table(
        "outbox",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("contest", TEXT, sa.ForeignKey("contests.id", ondelete="CASCADE"), nullable=False, index=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("kind", "target", "state", "made", "due")),
        *(sa.Column(name, TEXT) for name in ("delivered", "failure")),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("body", TEXT, nullable=False),
    )
    op.create_index("ix_outbox_due", "outbox", ["state", "due"])
    op.create_table(
        "tokens",
        sa.Column("id", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("hash", "role", "name", "made")),
        *(sa.Column(name, TEXT) for name in ("expires", "revoked")),
    )
    op.create_index("ix_tokens_hash", "tokens", ["hash"], unique=True)
