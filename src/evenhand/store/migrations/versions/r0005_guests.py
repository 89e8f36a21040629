"""Runs that came from elsewhere are marked; those that are here already count as made here."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
GUEST = sa.text("imported = 'guest'")


def upgrade() -> None:
    """Add the mark, and find the few that have it without reading all runs."""
    op.add_column("runs", sa.Column("imported", TEXT))
    op.create_index("ix_runs_guests", "runs", ["id"], sqlite_where=GUEST, postgresql_where=GUEST)
