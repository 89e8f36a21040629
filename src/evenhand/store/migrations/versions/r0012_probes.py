"""Probes: labelled samples sealed with a judge's answers, and the looks at them."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing that was there is touched."""
    op.create_table(
        "probes",
        sa.Column("name", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("at", "judge", "content")),
    )
    op.create_table(
        "probe_looks",
        sa.Column("probe", TEXT, sa.ForeignKey("probes.name", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("at", "content")),
    )
