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
        *_texts("name", "digest", "state", "started"),
        sa.Column("ended", TEXT),
        sa.Column("seed", sa.BigInteger, nullable=False),
        *_texts("fingerprint"),
        sa.Column("taken_from", TEXT),
        sa.Column("holder", TEXT),
        *_texts("keep"),
        sa.Column("summary", TEXT),
        *_texts("source", "setup"),
    )
    op.create_index("ix_runs_name", "runs", ["name"])
    op.create_table("samples", _run(), _place("position"), *_texts("id", "content"))
    _results()
    _calls()
    op.create_table(
        "made",
        _run(),
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        *_texts("variant"),
        sa.Column("repeat", sa.Integer, nullable=False),
        *_texts("at", "content"),
    )


def _results() -> None:
    op.create_table(
        "results",
        _run(),
        _place("position"),
        sa.Column("variant", TEXT, primary_key=True),
        _place("repeat"),
        *_texts("key", "state", "subject"),
        sa.Column("score", TEXT),
        sa.Column("composite", TEXT),
        sa.Column("number", sa.Double),
        *_texts("at", "content"),
    )
    op.create_index("ix_results_subject_variant", "results", ["subject", "variant"])


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("key", TEXT, primary_key=True),
        _run(),
        *_texts("judge"),
        sa.Column("position", sa.Integer, nullable=False),
        *_texts("variant"),
        sa.Column("repeat", sa.Integer, nullable=False),
        *_texts("kept"),
        sa.Column("input_tokens", sa.BigInteger),
        sa.Column("output_tokens", sa.BigInteger),
        sa.Column("cached_tokens", sa.BigInteger),
        sa.Column("cost", TEXT),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("cached_from", TEXT),
        *_texts("at"),
        sa.Column("failed", TEXT),
        sa.Column("reply", TEXT),
    )
    op.create_index("ix_calls_run_position", "calls", ["run", "position"])


def _run() -> sa.Column[str]:
    return sa.Column("run", TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _place(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, primary_key=True, autoincrement=False)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]
