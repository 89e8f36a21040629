"""The tables of the store, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

VERSION = "0003"  # The newest file in migrations/versions.

METADATA = MetaData()
# Sorted by bytes in both, whatever the server's language.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _run() -> Column[str]:
    return Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, TEXT, nullable=null)


def _number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


# What can be long stands last: SQLite then reads the short columns without touching it.
RUNS = Table(
    "runs",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False, index=True),
    _text("digest"),
    _text("state"),
    _text("started"),
    _text("ended", null=True),
    _number("seed"),
    _text("fingerprint"),
    _text("taken_from", null=True),
    _text("holder", null=True),
    _text("keep"),
    _text("summary", null=True),
    _text("source"),
    _text("setup"),
)

SAMPLES = Table(
    "samples",
    METADATA,
    _run(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _text("id"),
    _text("content"),
)

RESULTS = Table(
    "results",
    METADATA,
    _run(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("variant", TEXT, primary_key=True),
    Column("repeat", Integer, primary_key=True, autoincrement=False),
    _text("key"),
    _text("state"),
    _text("subject"),
    _text("score", null=True),
    _text("composite", null=True),
    Column("number", Double),
    _text("at"),
    _text("content"),
    Index("ix_results_subject_variant", "subject", "variant"),
)

CALLS = Table(
    "calls",
    METADATA,
    Column("key", TEXT, primary_key=True),  # First, so that one index finds a key in all runs and in one.
    _run(),
    _text("judge"),
    Column("position", Integer, nullable=False),
    _text("variant"),
    Column("repeat", Integer, nullable=False),
    _text("kept"),
    _number("input_tokens", null=True),
    _number("output_tokens", null=True),
    _number("cached_tokens", null=True),
    _text("cost", null=True),
    Column("attempts", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    _text("cached_from", null=True),
    _text("at"),
    _text("failed", null=True),
    _text("reply", null=True),
    Index("ix_calls_run_position", "run", "position"),
)

MADE = Table(
    "made",
    METADATA,
    _run(),
    Column("key", TEXT, primary_key=True),
    Column("position", Integer, nullable=False),
    _text("variant"),
    Column("repeat", Integer, nullable=False),
    _text("at"),
    _text("content"),
)

# A run that goes takes all of these with it.
BASELINES = Table(
    "baselines",
    METADATA,
    Column("name", TEXT, primary_key=True),
    Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    _text("at"),
)

COLUMNS = Table("columns", METADATA, _run(), Column("content", LargeBinary, nullable=False))

LABELS = Table(
    "labels",
    METADATA,
    _run(),
    *(Column(name, TEXT, primary_key=True) for name in ("sample", "variant", "criterion", "rater")),
    _text("score"),
    _text("at"),
)

# Contests stand beside runs: neither knows of the other.
CONTESTS = Table(
    "contests",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False, index=True),
    _text("digest"),
    _text("state"),
    _text("started"),
    _text("ended", null=True),
    _text("touched"),
    _text("holder", null=True),
    _text("summary", null=True),
    _text("source"),
)

EVENTS = Table(
    "contest_events",
    METADATA,
    Column("contest", TEXT, ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("at"),
    _text("content"),
    _text("calls"),
)

VERSIONS = Table("evenhand_version", MetaData(), Column("version_num", Text, primary_key=True))
