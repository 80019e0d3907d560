"""Records as in warpgauge.fact/2, in place of columns for the members of warpgauge.fact/1.

All values come over, with their series, runs and devices. What the first form did not have:

- How a run ended. Its exit code is the one that its verdicts give; a run that was cut off is not
  told from one that was not.
- Kernels of a case besides the one of each value, and launches of several shapes. Values of one
  case with different kernels become those of two case records.
- Where a limit is written, but for built-in ones: the origin says that it is not known.
- Branches, labels and commands of runs; inputs, registrations and kinds of cases; whether a time is
  stable; the cures.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

Row = dict[str, Any]
Tables = dict[str, sa.Table]
_CASE = ("family", "variant", "type", "size", "arch", "device")
_AT_ONCE = 5000
_BUILT_IN = "built-in default: "
_OF_RANGES = (  # metrics of CUPTI's range profiler, which is a source of its own now
    *("time.profiled_us", "occupancy.achieved", "dram.bytes", "dram.percent_of_peak"),
    *("l2.hit_percent", "shared.raw_bank_conflicts"),
)


def upgrade() -> None:
    old = {name: _set_aside(name) for name in ("runs", "series", "contexts", "states")}
    old["devices"] = _table("devices")
    _create_tables()  # but for observations, which stay as they are
    _insert("runs", _runs(old))
    _insert("series", _series(old))
    context_ids = _write_contexts(old)
    _insert("states", _states(old, context_ids))
    for table in old.values():
        op.drop_table(table.name)


# ---- the new tables


def _text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, nullable=False, autoincrement=False)


def _digest() -> sa.Column:
    return sa.Column("digest", sa.LargeBinary, nullable=False)


def _create_tables() -> None:
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


# ---- the old tables


def _set_aside(name: str) -> sa.Table:
    """Renames a table. (In PostgreSQL its constraints would keep their names from the new one.)"""
    if op.get_context().dialect.name == "postgresql":
        made = sa.inspect(op.get_bind())
        for constraint in (*made.get_unique_constraints(name), made.get_pk_constraint(name)):
            op.drop_constraint(constraint["name"], name)
    op.rename_table(name, f"old_{name}")
    return _table(f"old_{name}")


def _table(name: str) -> sa.Table:
    return sa.Table(name, sa.MetaData(), autoload_with=op.get_bind())


def _rows(question: sa.Select) -> Iterable[sa.Row]:
    return op.get_bind().execute(question, execution_options={"yield_per": _AT_ONCE})


def _insert(name: str, rows: Iterable[Row]) -> None:
    table, rows = _table(name), iter(rows)
    while part := list(islice(rows, _AT_ONCE)):
        op.bulk_insert(table, part)


# ---- runs


def _runs(old: Tables) -> Iterator[Row]:
    devices = defaultdict(list)
    for row in _rows(sa.select(old["devices"])):
        devices[row.run_id].append(_present(row, leave_out=("run_id",)))
    codes = _exit_codes(old["states"])
    for row in _rows(sa.select(old["runs"])):
        time = datetime.fromtimestamp(row.time, UTC)
        record = {"record": "run", "schema": "warpgauge.fact/2", "run": row.name}
        record |= {"time": f"{time:%Y-%m-%dT%H:%M:%SZ}"}
        record |= _present(row, leave_out=("id", "name", "time", "emulated"))
        if devices[row.id]:
            record["devices"] = devices[row.id]
        kept = {"id": row.id, "name": row.name, "time": row.time, "emulated": row.emulated}
        yield kept | {"exit_code": codes[row.id], "record": _compact(record)}


def _exit_codes(states: sa.Table) -> dict[int, int]:
    seen = _table("observations")
    question = (
        sa.select(seen.c.run_id, states.c.verdict)
        .join_from(seen, states, states.c.id == seen.c.state_id)
        .where(states.c.verdict.in_(("error", "fail")))
        .distinct()
    )
    codes: dict[int, int] = defaultdict(int)
    for run, verdict in _rows(question):
        codes[run] = max(codes[run], 2 if verdict == "error" else 1)
    return codes


# ---- values


def _series(old: Tables) -> Iterator[Row]:
    for row in _rows(sa.select(old["series"])):
        members = dict(row._mapping)
        del members["unit"]  # the metric's
        yield members | {"source": _source(row.source, row.metric)}


def _source(source: str, metric: str) -> str:
    if source == "harness" and not metric.startswith("result."):
        return "clock"
    return "cupti-range" if source == "cupti" and metric in _OF_RANGES else source


def _write_contexts(old: Tables) -> dict[tuple[str, ...], int]:
    """Writes cases and contexts; the ids of the contexts by the old id and the case that they are
    of. (The old ones were those of any case.)"""
    states, series, contexts = old["states"], old["series"], old["contexts"]
    of_case = [series.c[name] for name in _CASE]
    used = (
        sa.select(states.c.context_id, *of_case)
        .join_from(states, series, series.c.id == states.c.series_id)
        .distinct()
        .subquery()
    )
    question = sa.select(used, contexts).join_from(
        used, contexts, contexts.c.id == used.c.context_id
    )
    ids: dict[tuple[str, ...], int] = {}
    cases: dict[bytes, Row] = {}
    added = []
    for number, row in enumerate(_rows(question), start=1):
        record = _case_record(row)
        case = _with_digest({"record": _compact(record)})
        case = cases.setdefault(case["digest"], {"id": len(cases) + 1} | case)
        context = _with_digest({"case": record["case"], "record": _compact(_context_record(row))})
        del context["case"]
        added.append({"id": number, "case_id": case["id"]} | context)
        ids[_place(row)] = number
    _insert("cases", cases.values())
    _insert("contexts", added)
    return ids


def _place(row: sa.Row) -> tuple[str, ...]:
    return (row.context_id, *(getattr(row, name) for name in _CASE))


def _case_record(row: sa.Row) -> Row:
    case = {name: getattr(row, name) for name in _CASE if getattr(row, name)}
    if row.code_hash:
        case["code_hash"] = row.code_hash
    if row.kernel:
        hashes = {"sass_hash": row.sass_hash, "source_hash": row.source_hash}
        kernel = {"name": row.kernel} | {name: text for name, text in hashes.items() if text}
        case["kernels"] = [kernel | ({"launches": [_launch(row)]} if row.launch else {})]
    key = blake2b(_compact(case).encode(), digest_size=6).hexdigest()
    return {"record": "case", "case": key} | case


def _launch(row: sa.Row) -> Row:
    usual = {"dynamic_shared_bytes": 0, "count": 1}
    return {name: one for name, one in json.loads(row.launch).items() if one != usual.get(name)}


def _context_record(row: sa.Row) -> Row:
    place = {"file": row.file, "line": row.line} if row.file else {}
    return place | ({"limit": _limit(row.budget, row.budget_reason)} if row.budget else {})


def _limit(budget: str, reason: str) -> Row:
    """The limit of a text such as ">= 1 and <= 2 ± 5% until 2027-01-31"."""
    text, _, until = budget.partition(" until ")
    text, _, tolerance = text.partition(" ± ")
    limit: Row = {}
    for bound in text.split(" and "):
        sign, _, number = bound.partition(" ")
        limit[{"=": "equal", "<=": "max", ">=": "min"}[sign]] = _number_or_word(number)
    if tolerance:
        limit["tolerance"] = float(tolerance.removesuffix("%")) / 100
    if until:
        limit["until"] = until
    is_built_in = reason.startswith(_BUILT_IN)
    if reason:
        limit["reason"] = reason.removeprefix(_BUILT_IN)
    return limit | {"origin": "built-in" if is_built_in else "not known"}


def _number_or_word(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _states(old: Tables, context_ids: dict[tuple[str, ...], int]) -> Iterator[Row]:
    states, series, contexts = old["states"], old["series"], old["contexts"]
    question = (
        sa.select(states, *(series.c[name] for name in _CASE), contexts.c.budget)
        .join_from(states, series, series.c.id == states.c.series_id)
        .join(contexts, contexts.c.id == states.c.context_id)
    )
    names = [column.name for column in states.c]
    for row in _rows(question):
        new = {name: getattr(row, name) for name in names}
        new |= {"context_id": context_ids[_place(row)], "stable": None, "would": "", "cause": ""}
        if row.verdict == "environment":
            new |= {"verdict": "moved", "cause": "environment"}
        said = f", which budget {row.budget} would fail; "
        if row.verdict == "unmeasured" and said in row.reason:
            new["would"] = "fail"
        if row.machine:
            machine = json.loads(row.machine).items()
            new["machine"] = _compact({name: one for name, one in machine if one is not None})
        yield new


# ---- records


def _present(row: sa.Row, leave_out: tuple[str, ...]) -> Row:
    """The members that say something."""
    members = row._mapping.items()
    return {name: one for name, one in members if name not in leave_out and one not in (None, "")}


def _with_digest(row: Row) -> Row:
    return row | {"digest": blake2b(repr(row).encode(), digest_size=16).digest()}


def _compact(members: Row) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))
