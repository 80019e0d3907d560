"""The first form of the database."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, nullable=False, autoincrement=False)


def _digest() -> sa.Column:
    return sa.Column("digest", sa.LargeBinary, nullable=False)


def upgrade() -> None:
    op.create_table(
        "runs",
        _number("id"),
        _text("name"),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("emulated", sa.Boolean, nullable=False),
        sa.Column("exit_code", sa.Integer),
        _text("record"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name="runs_name"),
    )
    key = ("family", "variant", "type", "size", "metric", "arch", "source", "device")
    op.create_table(
        "series",
        _number("id"),
        *map(_text, key),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(*key, name="series_key"),
    )
    op.create_table(
        "cases",
        _number("id"),
        _digest(),
        _text("record"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="cases_digest"),
    )
    op.create_table(
        "contexts",
        _number("id"),
        _digest(),
        _number("case_id"),
        _text("record"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="contexts_digest"),
    )
    op.create_table(
        "states",
        _number("id"),
        _digest(),
        _number("series_id"),
        _number("context_id"),
        sa.Column("value", sa.Double),
        _text("word"),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("stable", sa.Boolean),
        *map(_text, ("confidence", "confidence_reason", "verdict", "would", "cause", "reason")),
        _text("machine"),
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
    op.create_table(
        "acknowledgements",
        _number("id"),
        _number("series_id"),
        sa.Column("covers", sa.BigInteger, nullable=False),
        *map(_text, ("until", "reason")),
        sa.PrimaryKeyConstraint("id"),
    )
