"""The first schema: runs, samples, results, calls, and what live variants made."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the five tables."""
    op.create_table(
        "runs",
        sa.Column("id", TEXT, primary_key=True),
        *_sql_text_columns("name", "digest", "state", "started"),
        sa.Column("ended", TEXT),
        sa.Column("seed", sa.BigInteger, nullable=False),
        *_sql_text_columns("fingerprint"),
        sa.Column("taken_from", TEXT),
        sa.Column("holder", TEXT),
        *_sql_text_columns("keep"),
        sa.Column("summary", TEXT),
        *_sql_text_columns("source", "setup"),
    )
    op.create_index("ix_runs_name", "runs", ["name"])
    op.create_table(
        "samples", _run_foreign_key_column(), _integer_key_column("position"), *_sql_text_columns("id", "content")
    )
    _create_results_table()
    _create_calls_table()
    op.create_table(
        "made",
        _run_foreign_key_column(),
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        *_sql_text_columns("variant"),
        sa.Column("repeat", sa.Integer, nullable=False),
        *_sql_text_columns("at", "content"),
    )


def _create_results_table() -> None:
    op.create_table(
        "results",
        _run_foreign_key_column(),
        _integer_key_column("position"),
        sa.Column("variant", TEXT, primary_key=True),
        _integer_key_column("repeat"),
        *_sql_text_columns("key", "state", "subject"),
        sa.Column("score", TEXT),
        sa.Column("composite", TEXT),
        sa.Column("number", sa.Double),
        *_sql_text_columns("at", "content"),
    )
    op.create_index("ix_results_subject_variant", "results", ["subject", "variant"])


def _create_calls_table() -> None:
    op.create_table(
        "calls",
        sa.Column("key", TEXT, primary_key=True),
        _run_foreign_key_column(),
        *_sql_text_columns("judge"),
        sa.Column("position", sa.Integer, nullable=False),
        *_sql_text_columns("variant"),
        sa.Column("repeat", sa.Integer, nullable=False),
        *_sql_text_columns("kept"),
        sa.Column("input_tokens", sa.BigInteger),
        sa.Column("output_tokens", sa.BigInteger),
        sa.Column("cached_tokens", sa.BigInteger),
        sa.Column("cost", TEXT),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("cached_from", TEXT),
        *_sql_text_columns("at"),
        sa.Column("failed", TEXT),
        sa.Column("reply", TEXT),
    )
    op.create_index("ix_calls_run_position", "calls", ["run", "position"])


def _run_foreign_key_column() -> sa.Column[str]:
    return sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _integer_key_column(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, primary_key=True, autoincrement=False)


def _sql_text_columns(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]
