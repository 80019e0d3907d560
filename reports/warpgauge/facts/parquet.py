"""Facts as a Parquet file, a row for each value; needs pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from warpgauge.facts import table
from warpgauge.facts.records import Fact

_ROWS_AT_ONCE = 20_000  # 100 MB in memory

# The types of columns that are no texts.
_TYPES = {
    "run_time": pa.timestamp("s", "UTC"),
    "limit_until": pa.date32(),
    "machine_temperature_c": pa.list_(pa.int64()),
    "machine_throttling": pa.list_(pa.string()),
    **dict.fromkeys(("run_dirty", "stable"), pa.bool_()),
    **dict.fromkeys(("line", "machine_other_processes"), pa.int64()),
    **dict.fromkeys(("value", "low", "high"), pa.float64()),
    **dict.fromkeys(("limit_max", "limit_min", "limit_tolerance", "limit_reference"), pa.float64()),
}
# Numbers and words are in columns of their own.
_WORDS = {"value": "word", "limit_equal": "limit_word"}
_TYPES["limit_equal"] = pa.float64()
_COLUMNS = [*table.columns("_"), *_WORDS.values()]
_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in _COLUMNS])


def parts_of(facts: Iterable[Fact]) -> Iterator[bytes]:
    """The file in parts, of which one is in memory."""
    sink, facts = _Sink(), iter(facts)
    with ParquetWriter(sink, _SCHEMA, compression="zstd") as writer:
        while rows := list(islice(facts, _ROWS_AT_ONCE)):
            writer.write_table(_table(rows))
            yield sink.taken()
    yield sink.taken()


def _table(facts: list[Fact]) -> pa.Table:
    names = table.columns("_")
    found = dict(zip(names, map(list, zip(*map(table.cells, facts), strict=True)), strict=True))
    for number, word in _WORDS.items():
        both = found[number]
        found[number] = [None if isinstance(value, str) else value for value in both]
        found[word] = [value if isinstance(value, str) else None for value in both]
    found["run_time"] = list(map(datetime.fromisoformat, found["run_time"]))
    found["limit_until"] = [day and date.fromisoformat(day) for day in found["limit_until"]]
    arrays = [pa.array(found[field.name], field.type) for field in _SCHEMA]
    return pa.Table.from_arrays(arrays, schema=_SCHEMA)


class _Sink(io.RawIOBase):
    """A file that is taken away part by part while it is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._parts.append(bytes(content))
        self._size += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """What was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
