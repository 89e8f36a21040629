"""How Alembic reaches the store: through the connection it is given, inside the transaction that is open."""

from alembic import context

from evenhand.store.tables import METADATA, VERSIONS

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSIONS.name,
    transactional_ddl=True,
)
context.run_migrations()
