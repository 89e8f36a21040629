"""Who holds a run beats and has a token, and questions under way are claimed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
CLOCKS = {
    "postgresql": "extract(epoch FROM clock_timestamp())",
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
}


def upgrade() -> None:
    """Add both tables; a process that is at work on a run now has as long as any to give its next sign of life."""
    op.create_table(
        "run_holds",
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("beat", sa.Double, nullable=False),
    )
    op.create_table(
        "reply_claims",
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    )
    clock = CLOCKS[op.get_bind().dialect.name]
    op.execute(f"INSERT INTO run_holds SELECT id, 1, {clock} FROM runs WHERE state = 'running'")
