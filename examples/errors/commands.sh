# Commands, their options, the cases that they name, and where results go.
# shellcheck shell=bash disable=SC2154

about "Commands and options"
try_lines "/^name/p" warpgauge
try "warpgauge gaet"
try "warpgauge gate --fliter x"
try "warpgauge gate --device=gup"
try "warpgauge gate --arch sm_91"
try "warpgauge gate --require=cutpi"
try "warpgauge gate --require=cupti --device=emulated"
try "warpgauge doctor --require=cupti --device=emulated"
try "warpgauge gate --timeout 0"
try "warpgauge list --archs --rows --filter x"
try "warpgauge completion tcsh"
try "warpgauge-bench --precision 2"
try_lines "/select/p; /times/p" "warpgauge-bench-emulated --filter 'hello.*' --benchmark_filter=transpoze"
try "warpgauge-check --require-cutpi"
try_lines /description/p "CTEST_RESOURCE_GROUP_0_GPUS=first warpgauge-check --gtest_filter='hello.add.*'"

about "Cases"
try "warpgauge list --filter 'transpoze.*'"
try "warpgauge list --filter 'transpose.*@16384x16384'"
try "warpgauge explain transpose.paded.f32@1024x1024 --device=emulated"
try "warpgauge explain transpose.padded.f32@1024x1024 --line 85"
try "warpgauge explain transpose.padded.f32@1024x1024 --picture access.png"
try "warpgauge explain transpose.padded.f32@1024x1024 --text --device=gpu"
try "warpgauge explain transpose.padded.f32@1024x1024 --text --line first"
try "warpgauge explain transpose.padded.f32@1024x1024 --text --line nowhere.cu:1"
try "warpgauge-check-emulated --gtest_filter=transpoze.*"

about "Where results go"
touch taken
mkdir locked folder
exec {lock}>locked/.lock
flock "$lock"
hello="warpgauge gate --device=emulated --filter 'hello.*'"
try "$hello --out taken"
try "$hello --out ''"
try "$hello --out /proc/none"
try "$hello --out locked"
mkdir -p none/.lock
try "$hello --out none"
exec {lock}>&-
try "warpgauge explain transpose.padded.f32@1024x1024 --picture missing/access.svg"
try "warpgauge emulate --json folder -- true"

about "A build that is not whole"
mkdir alone
cp "$bin/warpgauge" alone
try "alone/warpgauge explain transpose.padded.f32@1024x1024 --device=emulated"
rm alone/warpgauge
cp "$bin/warpgauge-emulated" alone
try "alone/warpgauge-emulated explain transpose.padded.f32@1024x1024 --device=gpu"
