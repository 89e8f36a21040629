"""The tables of the store, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

SCHEMA_VERSION = "0003"  # The newest file in migrations/versions.

METADATA = MetaData()
# Sorted by bytes in both, whatever the server's language.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _run_table_column() -> Column[str]:
    return Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _text_column(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, TEXT, nullable=null)


def _number_column(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


# What can be long stands last: SQLite then reads the short columns without touching it.
RUNS = Table(
    "runs",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False, index=True),
    _text_column("digest"),
    _text_column("state"),
    _text_column("started"),
    _text_column("ended", null=True),
    _number_column("seed"),
    _text_column("fingerprint"),
    _text_column("taken_from", null=True),
    _text_column("holder", null=True),
    _text_column("keep"),
    _text_column("summary", null=True),
    _text_column("source"),
    _text_column("setup"),
)

SAMPLES = Table(
    "samples",
    METADATA,
    _run_table_column(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text_column("id"),
    _text_column("content"),
)

RESULTS = Table(
    "results",
    METADATA,
    _run_table_column(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("variant", TEXT, primary_key=True),
    Column("repeat", Integer, primary_key=True, autoincrement=False),
    _text_column("key"),
    _text_column("state"),
    _text_column("subject"),
    _text_column("score", null=True),
    _text_column("composite", null=True),
    Column("number", Double),
    _text_column("at"),
    _text_column("content"),
    Index("ix_results_subject_variant", "subject", "variant"),
)

CALLS = Table(
    "calls",
    METADATA,
    Column("key", TEXT, primary_key=True),  # First, so that one index finds a key in all runs and in one.
    _run_table_column(),
    _text_column("judge"),
    Column("position", Integer, nullable=False),
    _text_column("variant"),
    Column("repeat", Integer, nullable=False),
    _text_column("kept"),
    _number_column("input_tokens", null=True),
    _number_column("output_tokens", null=True),
    _number_column("cached_tokens", null=True),
    _text_column("cost", null=True),
    Column("attempts", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    _text_column("cached_from", null=True),
    _text_column("at"),
    _text_column("failed", null=True),
    _text_column("reply", null=True),
    Index("ix_calls_run_position", "run", "position"),
)

MADE = Table(
    "made",
    METADATA,
    _run_table_column(),
    Column("key", TEXT, primary_key=True),
    Column("position", Integer, nullable=False),
    _text_column("variant"),
    Column("repeat", Integer, nullable=False),
    _text_column("at"),
    _text_column("content"),
)

# A run that goes takes all of these with it.
BASELINES = Table(
    "baselines",
    METADATA,
    Column("name", TEXT, primary_key=True),
    Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    _text_column("at"),
)

COLUMNS = Table("columns", METADATA, _run_table_column(), Column("content", LargeBinary, nullable=False))

LABELS = Table(
    "labels",
    METADATA,
    _run_table_column(),
    *(Column(name, TEXT, primary_key=True) for name in ("sample", "variant", "criterion", "rater")),
    _text_column("score"),
    _text_column("at"),
)

# Contests stand beside runs: neither knows of the other.
CONTESTS = Table(
    "contests",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False, index=True),
    _text_column("digest"),
    _text_column("state"),
    _text_column("started"),
    _text_column("ended", null=True),
    _text_column("touched"),
    _text_column("holder", null=True),
    _text_column("summary", null=True),
    _text_column("source"),
)

EVENTS = Table(
    "contest_events",
    METADATA,
    Column("contest", TEXT, ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text_column("at"),
    _text_column("content"),
    _text_column("calls"),
)

VERSIONS = Table("evenhand_version", MetaData(), Column("version_num", Text, primary_key=True))
