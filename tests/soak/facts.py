"""The files of a run as the soak compares them: what is exact, what is estimated, how it ended."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

CATALOG = Path(__file__).resolve().parents[2] / "metrics/facts/catalog.toml"


class Broken(Exception):
    """A file is not what the formats promise."""


class Key(NamedTuple):
    """One value of a case, and where it belongs. `device` ran the case: empty for what the compiler
    says. `case` stands for the records of the case, by their hashes."""

    case: str
    arch: str
    device: str
    source: str = ""
    scope: str = ""
    node: int = -1
    kernel: str = ""
    metric: str = "case"
    place: str = ""

    def __str__(self) -> str:
        words = (self.case, self.arch, self.source, self.scope, self.kernel, self.place)
        return f"{self.metric} of {' '.join(filter(None, words))}"


Exact = dict[Key, list[Any]]  # all values of the key with their verdicts, mostly one


@dataclass
class Ran:
    """One run of a file of facts."""

    run: dict[str, Any]
    exact: Exact = field(default_factory=dict)
    estimates: set[Key] = field(default_factory=set)
    verdicts: dict[tuple[str, ...], set[str]] = field(default_factory=dict)  # of judged values
    end: dict[str, Any] | None = None
    torn: bool = False

    @property
    def id(self) -> str:
        return self.run["run"]

    def counts(self) -> Counter[str]:
        """The number of judged values by verdict."""
        for value, verdicts in self.verdicts.items():
            if len(verdicts) > 1:
                raise Broken(f"{' '.join(value)} has the verdicts {', '.join(sorted(verdicts))}")
        return Counter(verdict for verdicts in self.verdicts.values() for verdict in verdicts)


@dataclass(frozen=True)
class Sample:
    """What gates must find: the reference, and the choices to draw from."""

    exact: Exact
    estimates: set[Key]
    archs: tuple[str, ...]
    default_archs: tuple[str, ...]  # of the emulator, without --arch

    @property
    def cases(self) -> list[str]:
        return sorted({key.case for key in self.exact})

    def save(self, path: Path) -> None:
        document = {
            "archs": self.archs,
            "default_archs": self.default_archs,
            "estimates": sorted(self.estimates),
            "exact": [[*key, values] for key, values in sorted(self.exact.items())],
        }
        path.write_text(json.dumps(document, indent=0) + "\n", "utf-8")

    @staticmethod
    def load(path: Path) -> Sample:
        document = json.loads(path.read_text("utf-8"))
        return Sample(
            exact={Key(*row[:-1]): row[-1] for row in document["exact"]},
            estimates={Key(*row) for row in document["estimates"]},
            archs=tuple(document["archs"]),
            default_archs=tuple(document["default_archs"]),
        )


def runs_of(path: Path) -> list[Ran]:
    """The runs of a file; a last line without newline is torn, and anything else that is no record
    is Broken."""
    *lines, torn = path.read_text("utf-8").split("\n")
    runs: dict[str, Ran] = {}
    cases: dict[tuple[str, str], dict[str, Any]] = {}
    now: Ran | None = None
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            kind = record["record"]
            if kind == "run":
                now = runs.setdefault(record["run"], Ran(record))
                continue
            if now is None or now.end:
                raise Broken("belongs to no run")
            if kind == "end":
                now.end = record
            elif kind == "case":
                cases[now.id, record["case"]] = record
                if "code_hash" not in record:
                    continue  # of values that were not measured
                key = Key(_id(record), record.get("arch", ""), record.get("device", ""))
                known = now.exact.setdefault(key, [])
                known[:] = sorted({*known, record["case"]})
            else:
                _add_values(now, cases[now.id, record["case"]], record)
        except (ValueError, KeyError, TypeError) as error:
            raise Broken(f"{path}:{number}: {error!r}") from error
        except Broken as error:
            raise Broken(f"{path}:{number}: {error}") from error
    if now is not None:
        now.torn = torn != ""
    return list(runs.values())


def run_of(path: Path) -> Ran:
    """The only run of a file."""
    runs = runs_of(path)
    if len(runs) != 1:
        raise Broken(f"{path}: {len(runs)} runs, expected one")
    return runs[0]


def chosen(reference: Iterable[Key], glob: str, archs: Iterable[str]) -> set[Key]:
    """What a gate with --filter and these architectures must find. A GPU is always its own."""
    archs = set(archs)
    fits = cache(lambda case: fnmatchcase(case, glob))
    return {key for key in reference if fits(key.case) and (key.arch in archs or on_gpu(key))}


def on_gpu(key: Key) -> bool:
    return key.device != "" and not key.device.startswith("Emulated")


def differences(found: Exact, expected: Exact) -> list[str]:
    """A line for each exact fact that differs, is missing, or was added."""
    lines = []
    for key, values in expected.items():
        if key not in found:
            lines.append(f"missing: {key}")
        elif found[key] != values:
            lines.append(f"differs: {key}: {_text(found[key])}, reference {_text(values)}")
    lines += [f"added: {key}: {_text(found[key])}" for key in found if key not in expected]
    return lines


def _add_values(run: Ran, case: dict[str, Any], record: dict[str, Any]) -> None:
    scope = record.get("scope", "case")
    places = [f"{one['file']}:{one['line']}" for one in record.get("inlined", ())]
    own = record if "file" in record else case
    place = " < ".join([f"{own.get('file')}:{own.get('line')}", *places])
    for metric, value in record["values"].items():
        key = Key(
            case=_id(case),
            arch=case.get("arch", ""),
            device=case.get("device", ""),
            source=record.get("source", ""),
            scope=scope,
            node=record.get("node", -1),
            kernel=record.get("kernel", ""),
            metric=metric,
            place=place,
        )
        verdict = record.get("verdict", "unbudgeted") if scope == "case" else ""
        if verdict:
            run.verdicts.setdefault((key.case, key.arch, metric), set()).add(verdict)
        if "confidence" in record:
            if verdict:  # an estimate of a case need not repeat, but is there
                run.estimates.add(key._replace(place=""))
        elif _classes()[metric] == "exact":
            run.exact.setdefault(key, []).append([value, verdict])
            run.exact[key].sort(key=str)


def _id(case: dict[str, Any]) -> str:
    return f"{case['family']}.{case['variant']}.{case['type']}@{case['size']}"


def _text(values: list[Any]) -> str:
    return json.dumps(values[0] if len(values) == 1 else values)


@cache
def _classes() -> dict[str, str]:
    metrics = tomllib.loads(CATALOG.read_text("utf-8"))
    return {name: metric["class"] for name, metric in metrics.items()}
