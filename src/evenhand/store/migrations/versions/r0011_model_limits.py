"""Limits of models that all processes of a store keep together."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nothing that was there is touched."""
    op.create_table(
        "model_limits",
        sa.Column("model", TEXT, primary_key=True),
        sa.Column("content", TEXT, nullable=False),
    )
