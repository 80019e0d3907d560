# `cmake --build BUILD --target docs` makes the reference of the headers, BUILD/reference/html/index.html, with
# Doxygen. What is public and has no documentation is an error.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(reference "${PROJECT_BINARY_DIR}/reference")
file(MAKE_DIRECTORY "${reference}")
configure_file(docs/Doxyfile.in "${reference}/Doxyfile" @ONLY)
find_program(WARPGAUGE_DOXYGEN doxygen)
mark_as_advanced(WARPGAUGE_DOXYGEN)
if(WARPGAUGE_DOXYGEN)
  add_custom_target(docs COMMAND "${WARPGAUGE_DOXYGEN}" "${reference}/Doxyfile"
                    COMMENT "Making ${reference}/html/index.html" VERBATIM)
else()
  add_custom_target(docs COMMAND "${CMAKE_COMMAND}" -E echo
                    "Doxygen is missing: install it (Debian's package is doxygen), and configure again"
                    COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
endif()
