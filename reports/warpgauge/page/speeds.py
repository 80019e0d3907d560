"""Times of GPUs: how fast the cases are, what share of a peak that is, and the roofline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from warpgauge.page.rows import Row

BYTES, FLOPS = "throughput.bytes_per_second", "throughput.flops_per_second"
PEAK, MEASURED_PEAK = "throughput.percent_of_peak", "throughput.percent_of_measured_peak"
FLOPS_PEAK = "throughput.percent_of_arithmetic_peak"
TIME = "time.median_us"
COLUMNS = (TIME, BYTES, PEAK, MEASURED_PEAK, FLOPS, FLOPS_PEAK, "time.relative_to")


@dataclass(frozen=True, slots=True)
class Speed:
    """A case on a GPU; `values` has the rows of COLUMNS that were measured, by metric."""

    id: str
    family: str
    device: str
    values: dict[str, Row]

    @property
    def is_copy(self) -> bool:
        """Whether it moves bytes by a call of the runtime or a library: it launches no kernel of
        its own, and does no arithmetic."""
        return FLOPS not in self.values and not any(
            row.last.kernels for row in self.values.values()
        )


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies, by GPU; those of a kind from the smallest on."""

    devices: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Speed | None, ...]], ...]  # id, and its speed on each GPU


@dataclass(frozen=True, slots=True)
class Beside:
    """The cases of a family on a GPU beside another one: how many times as fast they are there, as
    the median (a time may be a bad one), and the cases that gained least and most."""

    family: str
    cases: int
    median: float
    least: tuple[float, Row]
    most: tuple[float, Row]


@dataclass(frozen=True, slots=True)
class Placed:
    """A case on a roofline: operations a byte and a second, and the type in which they are done.
    `number` is that of the row with its operations a second."""

    id: str
    family: str
    type: str
    intensity: float
    flops: float
    number: int


@dataclass(frozen=True, slots=True)
class Roofline:
    """The cases of a GPU that do arithmetic: of sizes with the same intensity the fastest. Bytes
    and operations are those that any solution must move and do. `peak` and `measured_peak` are
    bytes a second, None where no case has them; `arithmetic_peaks` are operations a second of each
    type of which cases have shares; `best` is the case of each type that did the most operations a
    second, the fastest type first."""

    device: str
    cases: tuple[Placed, ...]
    peak: float | None
    measured_peak: float | None
    arithmetic_peaks: dict[str, float]
    best: tuple[Placed, ...]


def speeds(rows: Iterable[Row]) -> list[Speed]:
    """The cases that were timed, by device and case."""
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


def copies(all_speeds: Iterable[Speed]) -> Copies:
    found: dict[str, dict[str, Speed]] = defaultdict(dict)
    for speed in all_speeds:
        if speed.is_copy:
            found[speed.id][speed.device] = speed
    devices = sorted({device for by_device in found.values() for device in by_device})

    def by_size(id: str) -> tuple:
        name, _, size = id.partition("@")
        return name, int(size) if size.isdecimal() else 0, size

    rows = [
        (id, tuple(found[id].get(device) for device in devices))
        for id in sorted(found, key=by_size)
    ]
    return Copies(tuple(devices), tuple(rows))


def beside(all_speeds: Iterable[Speed]) -> list[tuple[str, str, list[Beside]]]:
    """Each GPU beside the first: the names of both, and the families that both have timed, those
    that gained most first. Copies are left out: those of the host are not the GPU's."""
    times: dict[str, dict[str, Row]] = defaultdict(dict)
    for speed in all_speeds:
        if not speed.is_copy and (row := speed.values.get(TIME)) and row.last.numeric > 0:
            times[speed.device][speed.id] = row
    found = []
    for device in sorted(times)[1:]:
        first = min(times)
        families: dict[str, list[tuple[float, Row]]] = defaultdict(list)
        for id, row in times[device].items():
            if old := times[first].get(id):
                families[row.key.family].append((old.last.numeric / row.last.numeric, row))
        rows = [_beside(*family) for family in families.items()]
        found.append(
            (first, device, sorted(rows, key=lambda family: (-family.median, family.family)))
        )
    return [entry for entry in found if entry[2]]


def _beside(family: str, ratios: list[tuple[float, Row]]) -> Beside:
    def ratio(pair: tuple[float, Row]) -> float:
        return pair[0]

    middle = median(map(ratio, ratios))
    return Beside(family, len(ratios), middle, min(ratios, key=ratio), max(ratios, key=ratio))


def rooflines(all_speeds: Iterable[Speed]) -> list[Roofline]:
    """A roofline for each GPU with cases that do arithmetic."""
    by_device: dict[str, list[Speed]] = defaultdict(list)
    for speed in all_speeds:
        by_device[speed.device].append(speed)
    found = []
    for device, group in by_device.items():
        cases = _fastest(_place(speed) for speed in group if _has_arithmetic(speed))
        if cases:
            peaks = (_peak(group, BYTES, PEAK), _peak(group, BYTES, MEASURED_PEAK))
            best = _best(cases)
            found.append(Roofline(device, cases, *peaks, _arithmetic_peaks(group, best), best))
    return found


def _arithmetic_peaks(group: list[Speed], best: tuple[Placed, ...]) -> dict[str, float]:
    """By type, the fastest first."""
    found = {}
    for type in (case.type for case in best):
        peak = _peak((speed for speed in group if _arithmetic_of(speed) == type), FLOPS, FLOPS_PEAK)
        if peak:
            found[type] = peak
    return found


def _fastest(cases: Iterable[Placed]) -> tuple[Placed, ...]:
    """Of sizes of a variant with the same intensity (to two digits) the one with the most
    operations a second: small ones are the time of a launch."""
    found: dict[tuple[str, str], Placed] = {}
    for case in cases:
        like = case.id.partition("@")[0], f"{case.intensity:.1e}"
        if like not in found or case.flops > found[like].flops:
            found[like] = case
    return tuple(found.values())


def _best(cases: Iterable[Placed]) -> tuple[Placed, ...]:
    best: dict[str, Placed] = {}
    for case in cases:
        if case.type not in best or case.flops > best[case.type].flops:
            best[case.type] = case
    return tuple(sorted(best.values(), key=lambda case: -case.flops))


def _has_arithmetic(speed: Speed) -> bool:
    rows = [speed.values.get(name) for name in (BYTES, FLOPS)]
    return all(row is not None and row.last.numeric > 0 for row in rows)


def _place(speed: Speed) -> Placed:
    row = speed.values[FLOPS]
    flops = row.last.numeric
    intensity = flops / speed.values[BYTES].last.numeric
    return Placed(speed.id, speed.family, _arithmetic_of(speed), intensity, flops, row.number)


def _arithmetic_of(speed: Speed) -> str:
    """ "f64" of a case of "f64_huge"."""
    return next(iter(speed.values.values())).key.type.partition("_")[0]


def _peak(group: Iterable[Speed], metric: str, share: str) -> float | None:
    """The peak in the unit of a metric, from values and their shares of it in percent; all cases
    agree."""
    found = [
        speed.values[metric].last.numeric / (speed.values[share].last.numeric / 100)
        for speed in group
        if metric in speed.values
        and share in speed.values
        and speed.values[share].last.numeric > 0
        and speed.values[share].last.run == speed.values[metric].last.run
    ]
    return median(found) if found else None
