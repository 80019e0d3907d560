"""Times of GPUs: how fast the cases are, what share of a peak that is, and the roofline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from warpgauge_report.page.rows import Row

COPIES = "copies"  # the family that measures the copies of the runtime
BYTES, FLOPS = "throughput.bytes_per_second", "throughput.flops_per_second"
PEAK, MEASURED_PEAK = "throughput.percent_of_peak", "throughput.percent_of_measured_peak"
COLUMNS = ("time.median_us", BYTES, PEAK, MEASURED_PEAK, FLOPS, "time.relative_to")


@dataclass(frozen=True, slots=True)
class Speed:
    """A case on a GPU; `values` has the rows of COLUMNS that were measured, by metric."""

    id: str
    family: str
    device: str
    values: dict[str, Row]


@dataclass(frozen=True, slots=True)
class Roofline:
    """The cases of a GPU that do arithmetic. Bytes and operations are those that any solution must
    move and do. `peak` and `measured_peak` are bytes a second, None where no case tells them;
    `best` is the most operations a second that any case reached."""

    device: str
    cases: tuple[tuple[Speed, float, float], ...]  # operations a byte, operations a second
    peak: float | None
    measured_peak: float | None
    best: float


def speeds(rows: Iterable[Row]) -> list[Speed]:
    """What was timed, by device and case."""
    found: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.key.metric in COLUMNS and row.key.device_name and row.last.value is not None:
            known = found[row.key.device_name, row.key.id].get(row.key.metric)
            if known is None or row.age < known.age:
                found[row.key.device_name, row.key.id][row.key.metric] = row
    return [
        Speed(id, next(iter(values.values())).key.family, device, values)
        for (device, id), values in sorted(found.items())
    ]


def rooflines(all_speeds: Iterable[Speed]) -> list[Roofline]:
    """A roofline for each GPU with cases that do arithmetic."""
    by_device: dict[str, list[Speed]] = defaultdict(list)
    for speed in all_speeds:
        by_device[speed.device].append(speed)
    found = []
    for device, group in by_device.items():
        cases = tuple(_place(speed) for speed in group if _has_arithmetic(speed))
        if cases:
            best = max(flops for _, _, flops in cases)
            peaks = (_peak(group, PEAK), _peak(group, MEASURED_PEAK))
            found.append(Roofline(device, cases, *peaks, best))
    return found


def _has_arithmetic(speed: Speed) -> bool:
    return all(
        name in speed.values and speed.values[name].last.value > 0 for name in (BYTES, FLOPS)
    )


def _place(speed: Speed) -> tuple[Speed, float, float]:
    flops = speed.values[FLOPS].last.value
    return speed, flops / speed.values[BYTES].last.value, flops


def _peak(group: Iterable[Speed], metric: str) -> float | None:
    """The peak in bytes a second that shares of it tell; all cases of a GPU tell the same."""
    found = [
        speed.values[BYTES].last.value / (speed.values[metric].last.value / 100)
        for speed in group
        if BYTES in speed.values
        and metric in speed.values
        and speed.values[metric].last.value > 0
        and speed.values[metric].last.run == speed.values[BYTES].last.run
    ]
    return median(found) if found else None
