# Cases that fail while they run (tests/faulty), and counts that are missing without a GPU. The texts of a
# broken budget are in tests/data/outcome.
# shellcheck shell=bash disable=SC2154

about "Kernels and launches that go wrong"
# Without progress and verdicts, which differ from build to build, and without the endless kernel, which
# either the emulator or the gate stops first.
try_lines '/^ERROR faulty.endless/,/^$/d; /^ERROR/,/^$/p' \
  "warpgauge-faulty-emulated gate --timeout 2 --filter 'faulty.*'"

about "A gauge that counts nothing"
try "warpgauge-blind-emulated gate"

about "Without a GPU"
try "CUDA_VISIBLE_DEVICES= warpgauge-bench"
try_lines /MEASURED/p "CUDA_VISIBLE_DEVICES= warpgauge gate --require=cupti --filter 'hello.add.*'"
