"""The first form of the database, with facts of the schema warpgauge.fact/1."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, nullable=False, autoincrement=False)


def upgrade() -> None:
    op.create_table(
        "runs",
        _number("id"),
        _text("name"),
        sa.Column("time", sa.BigInteger, nullable=False),
        _text("commit"),
        sa.Column("dirty", sa.Boolean, nullable=False),
        _text("toolkit"),
        _text("flags"),
        sa.Column("emulated", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name="runs_name"),
    )
    op.create_table(
        "devices",
        _number("run_id"),
        *map(_text, ("name", "chip", "compute_capability", "driver", "uuid_hash")),
        sa.Column("sm_clock_mhz", sa.Integer),
        sa.Column("memory_clock_mhz", sa.Integer),
        sa.PrimaryKeyConstraint("run_id", "name"),
    )
    key = ("family", "variant", "type", "size", "metric", "arch", "source", "device")
    op.create_table(
        "series",
        _number("id"),
        *map(_text, (*key, "unit")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(*key, name="series_key"),
    )
    op.create_table(
        "contexts",
        _number("id"),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        *map(_text, ("kernel", "launch", "file")),
        sa.Column("line", sa.Integer),
        *map(_text, ("sass_hash", "source_hash", "code_hash", "budget", "budget_reason")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="contexts_digest"),
    )
    op.create_table(
        "states",
        _number("id"),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        _number("series_id"),
        _number("context_id"),
        sa.Column("value", sa.Double),
        _text("word"),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        *map(_text, ("confidence", "confidence_reason", "verdict", "reason", "machine")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="states_digest"),
    )
    op.create_table(
        "observations",
        _number("run_id"),
        _number("series_id"),
        _number("state_id"),
        sa.PrimaryKeyConstraint("run_id", "series_id"),
        sqlite_with_rowid=False,
    )
