"""Acknowledgements of values that got worse."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "acknowledgements",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("series_id", sa.Integer, nullable=False),
        sa.Column("covers", sa.BigInteger, nullable=False),
        sa.Column("until", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
