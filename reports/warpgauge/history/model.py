"""The content of the history, without the database: runs, and series of values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from itertools import accumulate
from typing import NamedTuple

from warpgauge.facts.catalog import catalog
from warpgauge.facts.records import Launch


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, without its clocks: those are the state of a night, not the GPU."""

    name: str
    chip: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    uuid_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program (a night). `device` is the GPU it measured on, None where it had none;
    `emulated` says that some of its values come from the emulator. `time` is in UTC. `exit_code` is
    None for a run that was cut off."""

    id: str
    time: datetime
    commit: str | None
    dirty: bool
    toolkit: str | None
    flags: str | None
    device: Device | None
    emulated: bool
    branch: str | None = None
    label: str | None = None
    exit_code: int | None = 0


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """The key of values that are comparable from night to night: one line of a chart.

    `source` is None for values that were never measured. Values of the compiler and the emulator do
    not depend on the GPU: their `device_name` is None.
    """

    family: str
    variant: str
    type: str
    size: str
    metric: str
    arch: str | None
    source: str | None
    device_name: str | None

    @property
    def id(self) -> str:
        """The case, as everything else calls it."""
        return f"{self.kernel}@{self.size}"

    @property
    def kernel(self) -> str:
        """The case without its size."""
        return f"{self.family}.{self.variant}.{self.type}"

    @property
    def unit(self) -> str:
        return catalog()[self.metric].unit

    @property
    def name(self) -> str:
        """ "transpose.padded.f32@64x64/time.median_us/sm_90/NVIDIA L4", for `report ack`."""
        return self.names[-1]

    @property
    def names(self) -> list[str]:
        """The name, and before it those without the device, and without the architecture."""
        parts = filter(None, (self.arch, self.device_name or self.source))
        return list(accumulate(parts, "{}/{}".format, initial=f"{self.id}/{self.metric}"))


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Someone knows that a series got worse: until the end of a day, and for as long as it is the
    change that the runs up to the time `covers` showed."""

    covers: datetime
    until: date
    reason: str


class Point(NamedTuple):
    """One value of a series. Of value (a number, in the unit of the series) and text (a word)
    at most one is there; neither where it was not measured. `interval` is the 95 % confidence
    interval. `disturbance` is what made a time unfit to be compared. `code_hash` is that of the
    machine code and launches of a whole case, and `kernels` how many it
    has; `launches` are those of the kernel of the value. `sources` are the files that its fact
    blames, the likeliest first, and `registered` is that of the registration.

    (A named tuple: millions are made for a report, and a frozen dataclass takes 5 times as long.)
    """

    run: Run
    value: float | None = None
    text: str | None = None
    interval: tuple[float, float] | None = None
    verdict: str = "unbudgeted"
    budget: str | None = None
    reason: str | None = None
    confidence: str | None = None
    sass_hash: str | None = None
    source_hash: str | None = None
    file: str | None = None
    line: int | None = None
    disturbance: str | None = None
    code_hash: str | None = None
    launches: tuple[Launch, ...] = ()
    kernels: int = 0
    sources: tuple[str, ...] = ()
    registered: str | None = None

    @property
    def numeric(self) -> float:
        """The value, of a series that has numbers alone."""
        assert self.value is not None
        return self.value


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one key, oldest run first, at most one a run. `has_occupancy` says that the
    history has the occupancy of its case, too."""

    key: SeriesKey
    points: tuple[Point, ...]
    has_occupancy: bool = False
