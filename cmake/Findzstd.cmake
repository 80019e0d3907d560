# Finds zstd as Debian installs it, with no CMake package of its own that all releases have, and makes
# the target warpgauge::zstd.
find_path(zstd_INCLUDE_DIR zstd.h)
find_library(zstd_LIBRARY zstd)
mark_as_advanced(zstd_INCLUDE_DIR zstd_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(zstd REQUIRED_VARS zstd_LIBRARY zstd_INCLUDE_DIR)

if(zstd_FOUND AND NOT TARGET warpgauge::zstd)
  add_library(warpgauge::zstd UNKNOWN IMPORTED GLOBAL)
  set_target_properties(warpgauge::zstd PROPERTIES
    IMPORTED_LOCATION "${zstd_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${zstd_INCLUDE_DIR}")
endif()
