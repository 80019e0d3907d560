"""Facts out of the database again, as they were read."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from warpgauge.facts.case_filter import CaseFilter
from warpgauge.facts.records import Fact
from warpgauge.history import rows
from warpgauge.history.reader import Selection, read_keys, read_runs
from warpgauge.history.run_filter import RunChoice
from warpgauge.history.tables import cases, columns_of, contexts, observations, runs, series, states


def read_facts(
    connection: Connection, selection: Selection, of_cases: CaseFilter, of_runs: RunChoice
) -> Iterator[Fact]:
    """The facts that all three take, those of the oldest run first."""
    keys = read_keys(connection, selection)
    wanted = {number for number, key in keys.items() if of_cases.takes(key.id)}
    question = _question()
    for number in read_runs(connection, of_runs):
        row = connection.execute(sa.select(runs).where(runs.c.id == number)).one()
        of_run = rows.run_from(row.record, row.exit_code)
        found = connection.execution_options(yield_per=5000).execute(question, {"run": number})
        for members in found.mappings():
            if members["series_id"] in wanted:
                yield rows.fact_from(dict(members), of_run)


def _question() -> sa.Select:
    tables = (
        observations.join(series, series.c.id == observations.c.series_id)
        .join(states, states.c.id == observations.c.state_id)
        .join(contexts, contexts.c.id == states.c.context_id)
        .join(cases, cases.c.id == contexts.c.case_id)
    )
    return (
        sa.select(
            observations.c.series_id,
            *columns_of(series),
            *columns_of(states),
            contexts.c.record.label("context"),
            cases.c.record.label("case_record"),
        )
        .select_from(tables)
        .where(observations.c.run_id == sa.bindparam("run"))
        .order_by(observations.c.series_id)
    )
