"""The one reader of facts (JSON lines). The contract is metrics/facts/fact.schema.json."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
import zlib
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from warpgauge.errors import FactError
from warpgauge.facts import contract
from warpgauge.facts.catalog import catalog
from warpgauge.facts.limit import Limit
from warpgauge.facts.records import (
    Call,
    Case,
    Device,
    Fact,
    Kernel,
    Launch,
    MachineState,
    Run,
)
from warpgauge.files import read_whole
from warpgauge.text import printable

DIGEST_BYTES = 16
# How warpgauge begins and ends a record of values.
_VALUES, _OF_METRICS, _END = b'{"record":"values","case":"', b',"values":{', b"}}"
_SHARED = b',"shared":"'


def read_facts(path: str | Path) -> list[Fact]:
    """Reads all values of a file of facts.

    A last line without newline (a crash while it was written) is left out, with a warning; anything
    else that is not a record of the schema raises FactError with file:line.
    """
    file = FactFile(path)
    return [file.fact(value) for value in file.values]


def metric_names() -> list[str]:
    """The metrics that values can have."""
    return list(catalog())


@dataclass(frozen=True, slots=True)
class Value:
    """The place of a value: its line from 1, its run, case and metric, and a digest of all that the
    line and the case say of it."""

    number: int
    run: str
    case: Case
    metric: str
    digest: bytes


class FactFile:
    """A file of facts: `runs` by id, and `values`, which are parsed only by fact().

    A value whose digest is known need not be read again: the same digest is the same value of the
    same case.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises FactError with file and line."""
        self.path = path
        self.runs: dict[str, Run] = {}
        self.values: list[Value] = []
        self._run: str | None = None
        self._last: tuple[int, dict[str, Any]] | None = None  # the record read last, by its line
        self._cases: dict[str | None, dict[str, tuple[Case, Any]]] = {}
        # Members that values share, by run and name, and their text.
        self._shared: dict[str | None, dict[str, tuple[dict[str, Any], bytes]]] = {}
        *self._lines, torn = _content(path).split(b"\n")
        for number, line in enumerate(self._lines, start=1):
            try:
                self._take(number, line)
            except ValueError as error:
                raise FactError(f"{path}:{number}: {error}") from error

        if torn:
            where = printable(f"{path}:{len(self._lines) + 1}")
            print(f"{where}: the last line was cut off, and is left out", file=sys.stderr)
        if torn and self._run is not None:  # it may have been a line of the run
            self.runs[self._run] = replace(self.runs[self._run], exit_code=None)

    def fact(self, value: Value) -> Fact:
        """The value in full. Raises FactError with file:line if it is none."""
        try:
            return self._fact(value)
        except ValueError as error:
            raise FactError(f"{self.path}:{value.number}: {error}") from error

    def _take(self, number: int, line: bytes) -> None:
        """Takes a record; values in the form that warpgauge writes are only parted."""
        shared, values = _parted(line)
        if values:
            key, _, rest = shared[len(_VALUES) :].partition(b'"')
            if rest.startswith(_SHARED):
                _, shared = self._shared_of(self._run, rest[len(_SHARED) : -1].decode())
            self._take_values(number, key.decode("utf-8", "replace"), shared, values)
            return
        members = contract.checked(contract.parsed(line))
        match members["record"]:
            case "values":
                members = self._whole(self._run, members)
                values = members.pop("values")
                self._take_values(number, members["case"], repr(members).encode(), values)
            case "shared":
                self._take_shared(members)
            case "run":
                self._begin(run_of(members))
            case "case":
                self._take_case(members)
            case "end":
                self._end(members)

    def _begin(self, run: Run) -> None:
        """A repeated run record continues its run, perhaps with other devices."""
        if known := self.runs.get(run.id):
            devices = {device.name: device for device in (*known.devices, *run.devices)}
            run = replace(run, devices=tuple(devices.values()), exit_code=known.exit_code)
        self._run, self.runs[run.id] = run.id, run
        self._cases.setdefault(run.id, {})
        self._shared.setdefault(run.id, {})

    def _take_values(self, number: int, key: str, shared: bytes, values: dict[str, Any]) -> None:
        of_run, cases = self._cases_of_run()
        known = cases.get(key)
        if known is None:
            raise ValueError(f"there is no case '{key}' above this line, in the same run")
        case, start = known
        start = start.copy()
        start.update(shared + b"\n")
        for metric, value in values.items():
            digest = start.copy()
            digest.update(f"{metric} {value!r}".encode("utf-8", "surrogatepass"))
            self.values.append(Value(number, of_run.id, case, metric, digest.digest()))

    def _take_case(self, members: dict[str, Any]) -> None:
        case = case_of(members)
        _, cases = self._cases_of_run()
        known = cases.get(case.key)
        if known is None:
            start = blake2b(digest_size=DIGEST_BYTES, key=contract.digest())
            start.update(repr(members).encode())
            cases[case.key] = (case, start)
        elif known[0] != case:
            raise ValueError(f"the case '{case.key}' occurs above with other members")

    def _take_shared(self, members: dict[str, Any]) -> None:
        run, _ = self._cases_of_run()
        name = members.pop("shared")
        del members["record"]
        known, _ = self._shared[run.id].setdefault(name, (members, repr(members).encode()))
        if known != members:
            raise ValueError(f"the members shared as '{name}' occur above as others")

    def _shared_of(self, run: str | None, name: str) -> tuple[dict[str, Any], bytes]:
        """The members with this name, and their text."""
        if known := self._shared.get(run, {}).get(name):
            return known
        raise ValueError(f"there are no shared members '{name}' above this line, in the same run")

    def _whole(self, run: str | None, members: dict[str, Any]) -> dict[str, Any]:
        """The members of a record of values, with those that it shares in place of their name."""
        if "shared" not in members:
            return members
        shared, _ = self._shared_of(run, members["shared"])
        if both := shared.keys() & members.keys():
            raise ValueError(f"key '{min(both)}' occurs in what is shared, too")
        return {key: value for key, value in members.items() if key != "shared"} | shared

    def _cases_of_run(self) -> tuple[Run, dict[str, tuple[Case, Any]]]:
        """The run that the line belongs to, and its cases with the starts of their digests."""
        if self._run is None:
            raise ValueError("key 'record' must be 'run' before any other")
        run = self.runs[self._run]
        if run.exit_code is not None:
            raise ValueError("the run has ended above this line")
        return run, self._cases[run.id]

    def _end(self, members: dict[str, Any]) -> None:
        run, _ = self._cases_of_run()  # there is one, and it goes on
        if members["run"] != run.id:
            raise ValueError("key 'run' is not the run above")
        self.runs[run.id] = replace(run, exit_code=members["exit_code"])

    def _fact(self, value: Value) -> Fact:
        members = dict(self._members(value))
        del members["record"], members["case"]
        content = members.pop("values")[value.metric]
        members["metric"] = value.metric
        if content is not None:
            members["value"] = content
        return fact_of(self.runs[value.run], value.case, members)

    def _members(self, value: Value) -> dict[str, Any]:
        """The record of a value; those of one record are mostly read one after another."""
        if self._last is None or self._last[0] != value.number:
            members = contract.checked(contract.parsed(self._lines[value.number - 1]))
            if "shared" in members:
                members = contract.checked(self._whole(value.run, members))
            contract.check_values(members)
            self._last = (value.number, members)
        return self._last[1]


def _parted(line: bytes) -> tuple[bytes, dict[str, Any]]:
    """A record of values in the form that warpgauge writes: what the values share, and the values
    by metric. Nothing of another line."""
    if line.startswith(_VALUES) and line.endswith(_END):
        shared, _, values = line.rpartition(_OF_METRICS)
        try:
            found = json.loads(b"{" + values[:-1])
            # Otherwise a key occurs twice, or members stand beside the name of shared ones.
            if len(found) == values.count(b'":') and not _is_mixed(shared):
                return shared, found
        except (ValueError, RecursionError):
            pass  # the reader of all records says what is wrong
    return b"", {}


def _is_mixed(shared: bytes) -> bool:
    before, name, rest = shared.partition(_SHARED)
    return bool(name) and (before.count(b'"') != 8 or rest.find(b'"') != len(rest) - 1)


# A compressed file, unpacked, takes at most this; it is a hundred nights of 300 cases.
_MOST_BYTES, _PART_BYTES = 4 << 30, 1 << 24

# By how a compressed file begins: its name may say anything.
_COMPRESSIONS = {b"\x1f\x8b": gzip, b"\xfd7zXZ\0": lzma}


def _content(path: str | Path) -> bytes:
    """The bytes of a file, compressed (gzip, xz) or not. Raises FactError if it cannot be read."""
    try:
        content = read_whole(path)
        for start, library in _COMPRESSIONS.items():
            if content.startswith(start):
                with library.open(io.BytesIO(content)) as packed:
                    content = _unpacked(packed, path)
        return content
    except OSError as error:  # gzip's errors are such as well
        why = error.strerror or f"damaged: {error}"
        raise FactError(f"{path}: cannot be read: {why}") from error
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise FactError(f"{path}: cannot be read: damaged: {error}") from error


def _unpacked(packed: IO[bytes], path: str | Path) -> bytes:
    parts, size = [], 0
    while part := packed.read(_PART_BYTES):
        parts.append(part)
        size += len(part)
        if size > _MOST_BYTES:
            raise FactError(f"{path}: unpacks to more than {_MOST_BYTES >> 20} MiB: split the runs")
    return b"".join(parts)


def run_of(members: dict[str, Any]) -> Run:
    """The run of a record."""
    devices = tuple(_shared_device(**device) for device in members.get("devices", ()))
    kept = {key: members[key] for key in members.keys() & _names(Run)}
    return Run(**{**kept, "id": members["run"], "devices": devices})


def case_of(members: dict[str, Any]) -> Case:
    """The case of a record."""
    kernels = tuple(map(_kernel, members.get("kernels", ())))
    kept = {key: members[key] for key in members.keys() & _names(Case)}
    return Case(**{**kept, "key": members["case"], "kernels": kernels})


def _kernel(members: dict[str, Any]) -> Kernel:
    launches = tuple(_shared_launch(**_frozen(launch)) for launch in members.get("launches", ()))
    return Kernel(**{**members, "launches": launches})


def fact_of(run: Run, case: Case, members: dict[str, Any]) -> Fact:
    """A value with what its record says beside it, and the defaults of what is absent."""
    kept = dict(members)
    if "value" in kept:
        kept.setdefault("confidence", "exact")
    if "scope" not in kept:
        kept.setdefault("verdict", "unbudgeted")
    if "file" not in kept and kept.get("scope") != "line":
        kept["file"], kept["line"] = case.file, case.line
    if "kernel" not in kept and len(case.kernels) == 1:
        kept["kernel"] = case.kernels[0].name
    if limit := kept.get("limit"):
        kept["limit"] = _shared_limit(**limit)
    if machine := kept.get("machine"):
        kept["machine"] = MachineState(**_frozen(machine))
    if interval := kept.get("interval"):
        kept["interval"] = tuple(interval)
    if inlined := kept.get("inlined"):
        kept["inlined"] = tuple(Call(**call) for call in inlined)
    return Fact(run, case, **kept)


def _frozen(members: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in members.items()
    }


@lru_cache(None)
def _names(of: type) -> frozenset[str]:
    return frozenset(member.name for member in fields(of))


_shared_device, _shared_launch, _shared_limit = map(lru_cache(4096), (Device, Launch, Limit))
