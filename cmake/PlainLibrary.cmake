# warpgauge_find_plain_library(<name> <library> <header> <prefix>): the body of a find module for a C library that
# Debian installs without a CMake package. Makes the target <name>::<name> of lib<library>.a; the version is that of
# the macros <prefix>_MAJOR, _MINOR and _RELEASE or _REVISION in the header.
macro(warpgauge_find_plain_library name library header prefix)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY NAMES lib${library}.a ${library})
  if(${name}_INCLUDE_DIR)
    file(STRINGS "${${name}_INCLUDE_DIR}/${header}" _lines
         REGEX "#define ${prefix}_(MAJOR|MINOR|RELEASE|REVISION) ")
    string(REGEX REPLACE "[^;]* ([0-9]+)[^;]*" "\\1" ${name}_VERSION "${_lines}")
    string(REPLACE ";" "." ${name}_VERSION "${${name}_VERSION}")
  endif()
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)

  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR
                                    VERSION_VAR ${name}_VERSION)

  if(${name}_FOUND AND NOT TARGET ${name}::${name})
    add_library(${name}::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(${name}::${name} PROPERTIES
      IMPORTED_LOCATION "${${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endmacro()
