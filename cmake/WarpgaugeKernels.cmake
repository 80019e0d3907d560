# warpgauge_kernels(TARGET <name> SOURCES <file.cu>...)
#
# An OBJECT library of kernels that can be gauged: with line tables, with fat binaries that are not
# compressed (the program reads its own), and with ptxas' report of each source kept beside the
# objects in <build>/ptxas/<name>/<path of the source>.ptxas.txt. An OBJECT library because a static one
# would drop the registrations, which nothing refers to. Who links it is told the folder of the
# reports by the definition WARPGAUGE_PTXAS_DIR. The kernels of the self test (harness/self_test.h)
# are among them, built as they are.

set(WARPGAUGE_KEEP_PTXAS "${CMAKE_CURRENT_LIST_DIR}/keep_ptxas")
cmake_path(SET WARPGAUGE_SELF_TEST NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../harness/self_test.cu")
set(WARPGAUGE_PTXAS_DIR "${PROJECT_BINARY_DIR}/ptxas")

function(warpgauge_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpgauge_kernels(TARGET <name> SOURCES <file.cu>...) was called with "
                        "(${ARGV})")
  endif()
  list(APPEND arg_SOURCES "${WARPGAUGE_SELF_TEST}")
  add_library(${arg_TARGET} OBJECT ${arg_SOURCES})
  target_compile_options(${arg_TARGET} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;--no-compress;SHELL:-Xptxas -v>")
  target_include_directories(${arg_TARGET} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${arg_TARGET} INTERFACE
    "WARPGAUGE_PTXAS_DIR=\"${WARPGAUGE_PTXAS_DIR}/${arg_TARGET}\"")
  target_link_libraries(${arg_TARGET} PUBLIC warpgauge::harness)
  set_property(TARGET ${arg_TARGET} PROPERTY CUDA_COMPILER_LAUNCHER
    "${WARPGAUGE_KEEP_PTXAS}" "${WARPGAUGE_PTXAS_DIR}/${arg_TARGET}" "${PROJECT_SOURCE_DIR}"
    ${CMAKE_CUDA_COMPILER_LAUNCHER})

  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${source}" inside)
    if(NOT inside)
      message(FATAL_ERROR "${source} is not below ${PROJECT_SOURCE_DIR}")
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${WARPGAUGE_KEEP_PTXAS}")
    set_property(TARGET ${arg_TARGET} APPEND PROPERTY ADDITIONAL_CLEAN_FILES
      "${WARPGAUGE_PTXAS_DIR}/${arg_TARGET}/${path}.ptxas.txt")
    set_property(GLOBAL APPEND PROPERTY WARPGAUGE_PTXAS_TEXTS "${arg_TARGET}/${path}.ptxas.txt")
  endforeach()
endfunction()

# Removes the reports of sources that are gone, so that nobody judges a kernel that is no more.
function(warpgauge_prune_ptxas)
  get_property(known GLOBAL PROPERTY WARPGAUGE_PTXAS_TEXTS)
  file(GLOB_RECURSE texts RELATIVE "${WARPGAUGE_PTXAS_DIR}" "${WARPGAUGE_PTXAS_DIR}/*.ptxas.txt")
  list(REMOVE_ITEM texts ${known})
  foreach(text IN LISTS texts)
    file(REMOVE "${WARPGAUGE_PTXAS_DIR}/${text}")
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL warpgauge_prune_ptxas)
