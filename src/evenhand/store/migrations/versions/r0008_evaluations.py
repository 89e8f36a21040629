"""Evaluations of subjects, kept beside runs and contests."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nothing that was there is touched."""
    op.create_table(
        "evaluations",
        sa.Column("id", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("subject", "at", "fingerprint", "digest", "content")),
    )
    op.create_index("ix_evaluations_subject", "evaluations", ["subject"])
