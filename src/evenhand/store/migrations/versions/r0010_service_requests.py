"""What a service was asked: runs that it is to carry out, and answers under the keys of callers."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing that was there is touched."""
    op.create_table(
        "run_requests",
        sa.Column("id", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("name", "state", "made")),
        *(sa.Column(name, TEXT) for name in ("why", "progress")),
        sa.Column("content", TEXT, nullable=False),
    )
    op.create_index("ix_run_requests_state", "run_requests", ["state"])
    op.create_table(
        "idempotency_keys",
        *(sa.Column(name, TEXT, primary_key=True) for name in ("caller", "key")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("digest", "expires")),
        sa.Column("answer", TEXT),
    )
    op.create_index("ix_idempotency_keys_expires", "idempotency_keys", ["expires"])
