# Options and what they select, compilers, and where results go.
# shellcheck shell=bash disable=SC2154

about "Commands and options"
try "warpgauge gaet"
try "warpgauge gate --fliter x"
try "warpgauge gate --device=gup"
try "warpgauge gate --arch sm_91"
try "warpgauge gate --require=cupti --device=emulated"

about "Cases"
try "warpgauge list --filter 'transpoze.*'"
try "warpgauge list --filter 'transpose.*@16384x16384'"
try "warpgauge explain transpose.paded.f32@1024x1024 --device=emulated"
try "warpgauge explain transpose.padded.f32@1024x1024 --text --line nowhere.cu:1"

about "Compilers"
echo '.version 9.0' >k.ptx
try "warpgauge toolchain --with nowhere --with nowhere --arch sm_90 k.ptx"
try "warpgauge toolchain --with a --with b --arch sm_90 --emulate k.ptx"
try "warpgauge toolchain --with a --with b --arch sm_90 k.ptx -- -O3 -- --size 64"

about "Where results go"
touch taken
mkdir locked
exec {lock}>locked/.lock
flock "$lock"
try "warpgauge gate --device=emulated --filter 'hello.*' --out taken"
try "warpgauge gate --device=emulated --filter 'hello.*' --out locked"
exec {lock}>&-

about "A build that is not whole"
mkdir alone
cp "$bin/warpgauge" alone
try "alone/warpgauge explain transpose.padded.f32@1024x1024 --device=emulated"
cp "$bin/warpgauge-faulty-emulated" alone/warpgauge-emulated
try "alone/warpgauge gate --device=emulated --filter 'hello.*'"
