# Finds zstd as Debian installs it, and makes the target zstd::zstd.
include(PlainLibrary)
warpgauge_find_plain_library(zstd zstd zstd.h ZSTD_VERSION)
