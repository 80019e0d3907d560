"""The option --db, which the commands on the history share."""

from __future__ import annotations

import argparse


def add_database_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--db",
        default="history.db",
        metavar="URL",
        help="the history: path of an SQLite file, or postgresql://HOST/NAME; keep passwords in "
        "PGPASSWORD or ~/.pgpass (default: %(default)s)",
    )
