# Finds lz4 as Debian installs it, and makes the target lz4::lz4.
include(PlainLibrary)
warpgauge_find_plain_library(lz4 lz4 lz4.h LZ4_VERSION)
