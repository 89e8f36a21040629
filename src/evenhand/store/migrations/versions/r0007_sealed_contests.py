"""The seal of a contest covers its name, state, key and task too."""

import json
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

SEALED = ("id", "name", "digest", "state", "key", "source", "summary")


def upgrade() -> None:
    """Seal anew what fits its seal; what does not was changed by something else, and stays so."""
    database = op.get_bind()
    for row in list(database.execute(sa.text("SELECT * FROM contests")).mappings()):
        query = sa.text("SELECT hash FROM contest_events WHERE contest = :id ORDER BY number DESC LIMIT 1")
        head = database.execute(query, {"id": row["id"]}).scalar() or ""
        unused = row["seal"] is None and not head and row["summary"] is None
        if unused or row["seal"] == _hash_parts(head, row["summary"] or ""):
            seal = _hash_parts(head, *(row[name] for name in SEALED))
            change = sa.text("UPDATE contests SET seal = :seal WHERE id = :id")
            database.execute(change, {"id": row["id"], "seal": seal})


def _hash_parts(*parts: object) -> str:
    return sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()
