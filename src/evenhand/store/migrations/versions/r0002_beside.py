"""What is kept beside a run: the names it is pinned under, its columns, and what people said of its outputs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the three tables; nothing that was there is touched."""
    op.create_table(
        "baselines",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("at", TEXT, nullable=False),
    )
    op.create_table("columns", _run_foreign_key_column(), sa.Column("content", sa.LargeBinary, nullable=False))
    op.create_table(
        "labels",
        _run_foreign_key_column(),
        *(sa.Column(name, TEXT, primary_key=True) for name in ("sample", "variant", "criterion", "rater")),
        sa.Column("score", TEXT, nullable=False),
        sa.Column("at", TEXT, nullable=False),
    )


def _run_foreign_key_column() -> sa.Column[str]:
    return sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
