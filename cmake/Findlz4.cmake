# Finds lz4 as Debian installs it, with no CMake package of its own that all releases have, and makes
# the target warpgauge::lz4.
find_path(lz4_INCLUDE_DIR lz4.h)
find_library(lz4_LIBRARY lz4)
mark_as_advanced(lz4_INCLUDE_DIR lz4_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(lz4 REQUIRED_VARS lz4_LIBRARY lz4_INCLUDE_DIR)

if(lz4_FOUND AND NOT TARGET warpgauge::lz4)
  add_library(warpgauge::lz4 UNKNOWN IMPORTED GLOBAL)
  set_target_properties(warpgauge::lz4 PROPERTIES
    IMPORTED_LOCATION "${lz4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${lz4_INCLUDE_DIR}")
endif()
