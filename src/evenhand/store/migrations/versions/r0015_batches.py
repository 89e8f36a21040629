"""Batches of questions that a run has handed to a provider."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nothing that was there is touched."""
    op.create_table(
        "batches",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("judge", "state", "at")),
        sa.Column("provider_id", TEXT, nullable=True),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("lines", "answered")),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("money", "content")),
    )
    op.create_index("ix_batches_run", "batches", ["run"])
    op.create_index("ix_batches_state", "batches", ["state"])
