# The scripts of ci/, and the functions for CMake.
# shellcheck shell=bash disable=SC2154

about "Scripts"
try "'$root/ci/test' --preset ''"
try "'$root/ci/nightly' --fliter x"
try "'$root/ci/nightly' --device=none"

about "The build"
printf 'include("%s/cmake/WarpgaugeKernels.cmake")\nwarpgauge_add_kernels(SOURCES a.cu)\n' "$root" >misuse.cmake
try "cmake -P misuse.cmake"
