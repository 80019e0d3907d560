# Finds zlib as Debian installs it, and makes the target zlib::zlib.
include(PlainLibrary)
warpgauge_find_plain_library(zlib z zlib.h ZLIB_VER)
