"""Labels say which text they are about and with which chance it was drawn; those before say neither."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns; labels that are there stay as they are."""
    for name in ("output", "chance"):
        op.add_column("labels", sa.Column(name, TEXT))
    for name in ("batch", "schema"):
        op.add_column("labels", sa.Column(name, sa.Integer))
