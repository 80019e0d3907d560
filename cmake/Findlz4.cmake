# Finds lz4 as Debian installs it, with no CMake package of its own that all releases have, and makes
# the target lz4::lz4.
find_path(lz4_INCLUDE_DIR lz4.h)
find_library(lz4_LIBRARY NAMES liblz4.a lz4)
if(lz4_INCLUDE_DIR)
  file(STRINGS "${lz4_INCLUDE_DIR}/lz4.h" lines REGEX "#define LZ4_VERSION_(MAJOR|MINOR|RELEASE) ")
  string(REGEX REPLACE "[^;]* ([0-9]+)[^;]*" "\\1" lz4_VERSION "${lines}")
  string(REPLACE ";" "." lz4_VERSION "${lz4_VERSION}")
endif()
mark_as_advanced(lz4_INCLUDE_DIR lz4_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(lz4 REQUIRED_VARS lz4_LIBRARY lz4_INCLUDE_DIR
                                  VERSION_VAR lz4_VERSION)

if(lz4_FOUND AND NOT TARGET lz4::lz4)
  add_library(lz4::lz4 UNKNOWN IMPORTED GLOBAL)
  set_target_properties(lz4::lz4 PROPERTIES
    IMPORTED_LOCATION "${lz4_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${lz4_INCLUDE_DIR}")
endif()
