# Cases that fail while they run (tests/faulty), and what is not measured without a GPU, which is
# hidden where there is one. What a budget fails says: tests/data/summary.
# shellcheck shell=bash disable=SC2154

about "Kernels and launches that go wrong"
# Without progress and verdicts, which differ from build to build, and without the endless kernel, of
# which either the emulator or the gate is the first to have enough.
try_lines '/^ERROR faulty.endless/,/^$/d; /^ERROR/,/^$/p' "warpgauge-faulty-emulated gate --timeout 2 --filter 'faulty.*'"
try "warpgauge-faulty-emulated explain faulty.trap.f32@1024 --text"
try "warpgauge-faulty-emulated explain faulty.no_launch.f32@1024"

about "A gauge that counts nothing"
try "warpgauge-blind-emulated gate"

about "Without a GPU"
try "CUDA_VISIBLE_DEVICES= warpgauge-bench"
try_lines /unmeasured/p "CUDA_VISIBLE_DEVICES= warpgauge explain transpose.padded.f32@1024x1024 --device=gpu"
try_lines /MEASURED/p "CUDA_VISIBLE_DEVICES= warpgauge gate --require=cupti --filter 'hello.add.*'"
try_lines /MEASURED/p "CUDA_VISIBLE_DEVICES= warpgauge gate --device=gpu --filter 'hello.add.*'"
try "WARPGAUGE_EMULATED_ARCH=sm_1 warpgauge-emulated explain transpose.padded.f32@1024x1024"
try_lines /sse/p "WARPGAUGE_ISA=sse warpgauge-emulated explain transpose.padded.f32@1024x1024"
