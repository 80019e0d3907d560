# Programs on the emulator. What it says of PTX that it cannot read or run: tests/emulator.
# shellcheck shell=bash disable=SC2154

about "Programs on the emulator"
try "warpgauge emulate"
try "warpgauge emulate -- ./missing"
try "warpgauge emulate -- true"
try "warpgauge emulate --arch sm_1 -- true"
try "warpgauge emulate --json missing/counts.jsonl -- true"
try "warpgauge emulate -- sh -c 'kill -TERM \$\$'"
try "warpgauge emulate -- sh -c 'echo \"{}\" >\"\$WARPGAUGE_EMULATED_REPORT\"'"
