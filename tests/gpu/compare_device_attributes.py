"""Compares the attributes of the emulated GPU with those of the GPU of this machine, one by one.

    build/venv/bin/python tests/gpu/compare_device_attributes.py build/ci/lib/libcudart.so.13

Prints a table of those that differ, with the reason where it is meant so.
Exit codes: 0 none differs but those with a reason, 1 others do, 2 something could not be read.
"""

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

# Why the emulated GPU says something else than the GPU that it stands for.
MEANT = {
    "ClockRate": "nominal: times say nothing about a GPU",
    "MemoryClockRate": "nominal: times say nothing about a GPU",
    "PciBusId": "on no bus",
    "PciDeviceId": "on no bus",
    "PciDomainId": "on no bus",
    "GpuPciDeviceId": "on no bus",
    "GpuPciSubsystemId": "on no bus",
    "HostNumaId": "of no node",
    "NumaId": "of no node",
    "EccEnabled": "the host's memory",
    "DirectManagedMemAccessFromHost": "the host's memory",
    "PageableMemoryAccess": "the host's pageable memory has no bounds to check",
    "ClusterLaunch": "clusters are refused",
    "SparseCudaArraySupported": "sparse arrays are refused",
    "DeferredMappingCudaArraySupported": "deferred arrays are refused",
    "IpcEventSupport": "memory between processes is refused",
    "MemoryPoolSupportedHandleTypes": "memory between processes is refused",
    "TimelineSemaphoreInteropSupported": "external semaphores are refused",
    "GPUDirectRDMASupported": "no bus",
    "GPUDirectRDMAFlushWritesOptions": "no bus",
    "GPUDirectRDMAWritesOrdering": "no bus",
}


def names(header):
    """The attributes of a toolkit: name -> number."""
    text = header.read_text()
    found = re.findall(r"^ *cudaDevAttr(\w+) *= *(\d+)", text, re.MULTILINE)
    return {name: int(number) for name, number in found if not name.startswith("Reserved")}


def attributes(runtime, numbers):
    """What a CUDA runtime says, None for attributes it does not know."""
    library = ctypes.CDLL(runtime)
    values = {}
    for name, number in numbers.items():
        value = ctypes.c_int(0)
        error = library.cudaDeviceGetAttribute(ctypes.byref(value), number, 0)
        values[name] = value.value if error == 0 else None
    return values


def asked(runtime, arguments):
    """The same in a process of its own: two runtimes of one name do not mix."""
    command = [sys.executable, __file__, runtime, "--toolkit", arguments.toolkit, "--print"]
    environment = {**os.environ, "WARPGAUGE_EMULATED_ARCH": arguments.arch}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        raise OSError(f"{runtime}: {result.stderr.strip().splitlines()[-1:]}")
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("emulated", help="the emulated runtime")
    parser.add_argument("--toolkit", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    parser.add_argument("--arch", default="sm_90", help="the architecture of the GPU")
    parser.add_argument("--print", action="store_true", help="print one runtime's attributes")
    arguments = parser.parse_args()
    numbers = names(Path(arguments.toolkit) / "include" / "driver_types.h")
    if arguments.print:
        print(json.dumps(attributes(arguments.emulated, numbers)))
        return 0
    real = asked(str(Path(arguments.toolkit) / "lib64" / "libcudart.so"), arguments)
    emulated = asked(arguments.emulated, arguments)
    if not numbers or all(value is None for value in real.values()):
        raise OSError("no attribute could be read: is there a GPU and its driver?")
    wrong = 0
    print(f"{'attribute':40} {'GPU':>12} {'emulated':>12}  reason")
    for name, value in real.items():
        if value == emulated[name]:
            continue
        wrong += name not in MEANT
        print(f"{name:40} {value!s:>12} {emulated[name]!s:>12}  {MEANT.get(name, 'NONE')}")
    print(f"{len(real)} attributes, {wrong} differ without a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
