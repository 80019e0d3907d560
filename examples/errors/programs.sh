# Programs that `warpgauge emulate` and `warpgauge attach` run. attach needs no GPU here: a stand-in for the
# program hands over counts that were recorded on one.
# shellcheck shell=bash disable=SC2154

about "Programs on the emulator"
try "warpgauge emulate -- ./missing"
try "warpgauge emulate -- true"
try "warpgauge emulate --arch sm_1 -- true"

about "Programs that are attached"
played=$root/tests/data/attach/arrays.py
try "CUDA_INJECTION64_PATH=other.so warpgauge attach -- true"
try "warpgauge attach -- true"
try "warpgauge attach -- false"
try "warpgauge attach --kernels by_rows -- python3 '$played'"
