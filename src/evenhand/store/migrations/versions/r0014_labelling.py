"""Labelling on a page: the draws that people work through, and each answer as it was given."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables; labels that are there stay as they are."""
    op.create_table(
        "label_batches",
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("batch", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("at", "content")),
    )
    op.create_table(
        "label_answers",
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("rater", TEXT, primary_key=True),
        *(sa.Column(name, sa.Integer, primary_key=True, autoincrement=False) for name in ("batch", "place", "round")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("sample", "variant", "at", "content")),
    )
