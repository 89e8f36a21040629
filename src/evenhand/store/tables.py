"""The tables of the store, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text, text

SCHEMA_VERSION = "0015"  # The newest file in migrations/versions.

METADATA = MetaData()
# Sorted by bytes in both, whatever the server's language.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _table_key_columns(type: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, type, primary_key=True, autoincrement=False) for name in names]


def _sql_table_columns(type: Any, *names: str) -> list[Column[Any]]:
    """Columns of one type; where a name ends in ?, the value may be missing."""
    return [Column(name.removesuffix("?"), type, nullable=name.endswith("?")) for name in names]


def _run_foreign_key_column() -> Column[str]:
    """The run that rows belong to: when it goes, it takes them with it."""
    return Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


GUEST = text("imported = 'guest'")  # Written out, so that the index is known to fit.
# What can be long stands last: SQLite then reads the short columns without touching it.
RUNS = Table(
    "runs",
    METADATA,
    *_table_key_columns(TEXT, "id"),
    Column("name", TEXT, nullable=False, index=True),
    *_sql_table_columns(TEXT, "digest", "state", "started", "ended?"),
    *_sql_table_columns(BigInteger, "seed"),
    *_sql_table_columns(
        TEXT, "fingerprint", "taken_from?", "holder?", "keep", "imported?", "summary?", "source", "setup"
    ),
    Index("ix_runs_guests", "id", sqlite_where=GUEST, postgresql_where=GUEST),
)

# Beside the run and not in it: a beat rewrites a row of three numbers and no eval.
HOLDS = Table(
    "run_holds",
    METADATA,
    _run_foreign_key_column(),
    *_sql_table_columns(BigInteger, "token"),  # One more each time a process takes the run up.
    *_sql_table_columns(Double, "beat"),  # When its process last gave a sign of life, in seconds of the database.
)

# Questions that a run is asking now, so that no other run asks them too. Few at a time: no index by run.
CLAIMS = Table(
    "reply_claims",
    METADATA,
    *_table_key_columns(TEXT, "key"),
    Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
)

SAMPLES = Table(
    "samples",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(Integer, "position"),
    *_sql_table_columns(TEXT, "id", "content"),
)

RESULTS = Table(
    "results",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(Integer, "position"),
    *_table_key_columns(TEXT, "variant"),
    *_table_key_columns(Integer, "repeat"),
    *_sql_table_columns(TEXT, "key", "state", "subject", "score?", "composite?"),
    *_sql_table_columns(Double, "number?"),
    *_sql_table_columns(TEXT, "at", "content"),
    Index("ix_results_subject_variant", "subject", "variant"),
)

CALLS = Table(
    "calls",
    METADATA,
    *_table_key_columns(TEXT, "key"),  # First, so that one index finds a key in all runs and in one.
    _run_foreign_key_column(),
    *_sql_table_columns(TEXT, "judge"),
    *_sql_table_columns(Integer, "position"),
    *_sql_table_columns(TEXT, "variant"),
    *_sql_table_columns(Integer, "repeat"),
    *_sql_table_columns(TEXT, "kept"),
    *_sql_table_columns(BigInteger, "input_tokens?", "output_tokens?", "cached_tokens?"),
    *_sql_table_columns(TEXT, "cost?"),
    *_sql_table_columns(Integer, "attempts"),
    *_sql_table_columns(Double, "seconds"),
    *_sql_table_columns(TEXT, "cached_from?", "at", "failed?", "reply?"),
    Index("ix_calls_run_position", "run", "position"),
)

# Batches of questions that a run has handed to a provider, each written down before it is paid for.
BATCHES = Table(
    "batches",
    METADATA,
    *_table_key_columns(TEXT, "id"),  # The mark under which the provider has it.
    Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    *_sql_table_columns(TEXT, "judge", "state", "at", "provider_id?"),
    *_sql_table_columns(Integer, "lines", "answered"),
    *_sql_table_columns(BigInteger, "tokens"),  # That it may use, and what they cost: set aside until it is read.
    *_sql_table_columns(TEXT, "money", "content"),  # The key and the place of every question.
    Index("ix_batches_state", "state"),
)

MADE = Table(
    "made",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(TEXT, "key"),
    *_sql_table_columns(Integer, "position"),
    *_sql_table_columns(TEXT, "variant"),
    *_sql_table_columns(Integer, "repeat"),
    *_sql_table_columns(TEXT, "at", "content"),
)

BASELINES = Table(
    "baselines",
    METADATA,
    *_table_key_columns(TEXT, "name"),
    Column("run", TEXT, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    *_sql_table_columns(TEXT, "at"),
)

COLUMNS = Table("columns", METADATA, _run_foreign_key_column(), *_sql_table_columns(LargeBinary, "content"))

LABELS = Table(
    "labels",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(TEXT, "sample", "variant", "criterion", "rater"),
    *_sql_table_columns(TEXT, "score", "at"),
    # The text that it is about, and the draw that chose it: `batch` counts draws, `chance` is exact, as scores are.
    *_sql_table_columns(TEXT, "output?", "chance?"),
    *_sql_table_columns(Integer, "batch?", "schema?"),
)

# What people label on a page: draws of outputs, and each answer as it was given, a second look among them.
LABEL_BATCHES = Table(
    "label_batches",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(Integer, "batch"),
    *_sql_table_columns(TEXT, "at", "content"),
)

LABEL_ANSWERS = Table(
    "label_answers",
    METADATA,
    _run_foreign_key_column(),
    *_table_key_columns(TEXT, "rater"),
    *_table_key_columns(Integer, "batch", "place", "round"),
    *_sql_table_columns(TEXT, "sample", "variant", "at", "content"),
)

# Contests stand beside runs: neither knows of the other.
CONTESTS = Table(
    "contests",
    METADATA,
    *_table_key_columns(TEXT, "id"),
    Column("name", TEXT, nullable=False, index=True),
    *_sql_table_columns(TEXT, "digest", "state", "started", "ended?", "touched", "holder?", "summary?", "source"),
    # The task that it is the contest of: no two share one. Rehearsals have none.
    Column("key", TEXT, nullable=True),
    # Of contests that a service plays: whom to tell, as JSON, and when something is due next.
    *_sql_table_columns(TEXT, "hooks?", "wakes?"),
    Column("seal", TEXT, nullable=True),  # Binds the row to the last event of the log, and that to the contest.
    Index("ix_contests_key", "key", unique=True),
    Index("ix_contests_wakes", "wakes"),
)

EVENTS = Table(
    "contest_events",
    METADATA,
    Column("contest", TEXT, ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
    *_table_key_columns(Integer, "number"),
    *_sql_table_columns(TEXT, "at", "content", "calls", "hash?"),
)

RECEIPTS = Table(
    "contest_receipts",
    METADATA,
    *_table_key_columns(
        TEXT, "key", "file"
    ),  # Of the task, as contests have it: a file may come before the contest begins.
    *_sql_table_columns(TEXT, "digest", "at"),
)

# What `evenhand score` and `evenhand judge` found of a subject that is evaluated again and again.
EVALUATIONS = Table(
    "evaluations",
    METADATA,
    *_table_key_columns(TEXT, "id"),
    Column("subject", TEXT, nullable=False, index=True),
    *_sql_table_columns(TEXT, "at", "fingerprint", "digest", "content"),
)

# What came for a contest that is played by a service: each takes its number when it comes.
INBOX = Table(
    "contest_inbox",
    METADATA,
    Column("contest", TEXT, ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
    *_table_key_columns(Integer, "number"),
    *_sql_table_columns(TEXT, "kind", "id", "author", "at", "content"),
    Index("ix_contest_inbox_id", "contest", "kind", "id", unique=True),
)

# What others are to be told, written with the event that it tells of; delivered at least once.
OUTBOX = Table(
    "outbox",
    METADATA,
    *_table_key_columns(TEXT, "id"),  # The idempotency key of whoever is told.
    Column("contest", TEXT, ForeignKey("contests.id", ondelete="CASCADE"), nullable=False, index=True),
    *_sql_table_columns(TEXT, "kind", "target", "state", "made", "due", "delivered?", "failure?"),
    *_sql_table_columns(Integer, "attempts"),
    *_sql_table_columns(TEXT, "body"),
    Index("ix_outbox_due", "state", "due"),
)

TOKENS = Table(
    "tokens",
    METADATA,
    *_table_key_columns(TEXT, "id"),
    *_sql_table_columns(TEXT, "hash", "role", "name", "made", "expires?", "revoked?"),
    Index("ix_tokens_hash", "hash", unique=True),
)

# Runs that a service was asked for, until they are finished: whoever starts again finds what is to be done.
RUN_REQUESTS = Table(
    "run_requests",
    METADATA,
    *_table_key_columns(TEXT, "id"),  # Of the run, which may not have begun.
    *_sql_table_columns(TEXT, "name", "state", "made", "why?", "progress?", "content"),
    Index("ix_run_requests_state", "state"),
)

# What was answered under the keys that callers gave, so that a request that is sent again is done once.
IDEMPOTENCY_KEYS = Table(
    "idempotency_keys",
    METADATA,
    *_table_key_columns(TEXT, "caller", "key"),
    *_sql_table_columns(TEXT, "digest", "expires", "answer?"),
    Index("ix_idempotency_keys_expires", "expires"),
)

# Labelled samples, sealed with the answers that a judge gave; a look asks some of them again.
PROBES = Table(
    "probes", METADATA, *_table_key_columns(TEXT, "name"), *_sql_table_columns(TEXT, "at", "judge", "content")
)

PROBE_LOOKS = Table(
    "probe_looks",
    METADATA,
    Column("probe", TEXT, ForeignKey("probes.name", ondelete="CASCADE"), primary_key=True),
    *_table_key_columns(Integer, "number"),
    *_sql_table_columns(TEXT, "at", "content"),
)

# What has been handed out of the limits of each model to the processes that work on this store.
MODEL_LIMITS = Table(
    "model_limits",
    METADATA,
    *_table_key_columns(TEXT, "model"),
    *_sql_table_columns(TEXT, "content"),
)

VERSIONS = Table("evenhand_version", MetaData(), Column("version_num", Text, primary_key=True))
