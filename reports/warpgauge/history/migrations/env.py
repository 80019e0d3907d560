"""Runs migrations in the transaction of history/database.py; there is no other way to run them."""

from alembic import context
from warpgauge.history.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
