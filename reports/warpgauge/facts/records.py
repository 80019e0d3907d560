"""The records of a file of facts as objects: runs, cases, and values with their run and case.

Members have the names of metrics/facts/fact.schema.json, which defines them. What a record leaves
out is None here, or the default that the schema names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from warpgauge.facts.catalog import Metric, catalog
from warpgauge.facts.limit import Limit

EMULATOR = "emulator"  # the driver of emulated devices, and the source of their counts


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or the emulator in its place. Clocks in MHz, as found."""

    name: str
    chip: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    uuid_hash: str | None = None
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None

    @property
    def is_emulated(self) -> bool:
        return self.driver == EMULATOR


@dataclass(frozen=True)
class Run:
    """A run of the program; the devices are all that its records name. `exit_code` is that of
    its end; a run without one was cut off."""

    id: str
    time: str
    dirty: bool
    command: str | None = None
    program: str | None = None
    version: str | None = None
    commit: str | None = None
    branch: str | None = None
    label: str | None = None
    toolkit: str | None = None
    flags: str | None = None
    source_root: str | None = None
    budgets: str | None = None
    devices: tuple[Device, ...] = ()
    asked: dict = field(default_factory=dict, compare=False)
    exit_code: int | None = None

    def device(self, name: str | None) -> Device | None:
        """The device of that name; one of which nothing else is known if no record names it."""
        if name is None:
            return None
        return self._by_name.get(name) or Device(name)

    @cached_property
    def _by_name(self) -> dict[str, Device]:
        return {device.name: device for device in self.devices}


@dataclass(frozen=True, slots=True)
class Launch:
    """Launches of one shape: blocks, threads of a block, and how many there were."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int = 0
    count: int = 1
    cluster: tuple[int, int, int] = (1, 1, 1)
    # Fewest and most of launches with equal arguments.
    unequal_sectors: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a case, by its mangled name."""

    name: str
    sass_hash: str | None = None
    source_hash: str | None = None
    launches: tuple[Launch, ...] = ()


@dataclass(frozen=True)
class Case:
    """A case on one architecture and device; `key` is the name that values refer to."""

    key: str
    family: str
    variant: str
    type: str
    size: str
    kind: str = "catalogue"
    arch: str | None = None
    device: str | None = None
    kernels: tuple[Kernel, ...] = ()
    code_hash: str | None = None
    file: str | None = None
    line: int | None = None

    @cached_property
    def id(self) -> str:
        """The id that everything else calls the case by."""
        return f"{self.family}.{self.variant}.{self.type}@{self.size}"

    @property
    def is_of_program(self) -> bool:
        """Whether it is a kernel of a program or a file of which nothing is registered."""
        return self.kind in ("attached", "emulated", "inspected")

    def kernel(self, name: str | None) -> Kernel | None:
        """The kernel of that name; without a name the only one."""
        if name is None:
            return self.kernels[0] if len(self.kernels) == 1 else None
        return next((kernel for kernel in self.kernels if kernel.name == name), None)


@dataclass(frozen=True, slots=True)
class MachineState:
    """The state of the GPU around a timing: pairs are before and after; MHz, degrees Celsius."""

    sm_clock_mhz: tuple[int | None, int | None]
    memory_clock_mhz: tuple[int | None, int | None]
    temperature_c: tuple[int | None, int | None]
    throttling: tuple[str, ...]
    other_processes: int | None = None
    disturbance: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the chain of calls that code was inlined through: its own, or that of a call."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with its run and its case. `file` and `line` are those of the registration where the
    record names none."""

    run: Run
    case: Case
    metric: str
    value: float | str | None = None
    source: str | None = None
    scope: str = "case"
    node: int | None = None
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    inlined: tuple[Call, ...] = ()
    interval: tuple[float, float] | None = None
    stable: bool | None = None
    confidence: str | None = None
    confidence_reason: str | None = None
    leaves_out: int | None = None
    machine: MachineState | None = None
    limit: Limit | None = None
    verdict: str | None = None
    would: str | None = None
    rule: str | None = None
    other: str | None = None
    cause: str | None = None
    cure: str | None = None
    reason: str | None = None

    @property
    def id(self) -> str:
        return self.case.id

    @property
    def family(self) -> str:
        return self.case.family

    @property
    def arch(self) -> str | None:
        return self.case.arch

    @property
    def device(self) -> Device | None:
        return self.run.device(self.case.device)

    @property
    def row(self) -> Metric:
        """The metric's row of the catalog."""
        return catalog()[self.metric]

    @property
    def unit(self) -> str:
        return self.row.unit

    @property
    def numeric(self) -> float:
        """The value, of a metric that has numbers alone."""
        assert isinstance(self.value, int | float)
        return self.value

    @property
    def sass_hash(self) -> str | None:
        kernel = self.case.kernel(self.kernel)
        return kernel.sass_hash if kernel else None

    @property
    def source_hash(self) -> str | None:
        kernel = self.case.kernel(self.kernel)
        return kernel.source_hash if kernel else None

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Those of its kernel; empty where the case has several and the value names none."""
        kernel = self.case.kernel(self.kernel)
        return kernel.launches if kernel else ()
