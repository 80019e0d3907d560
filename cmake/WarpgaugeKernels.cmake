# The functions for projects, warpgauge_add_kernels(), warpgauge_watch() and warpgauge_add_gtest(), and
# their parts. This repository and other projects use the same ones, installed or not.
#
# Functions see the variables of their callers, so these find this tree by the path of this file, and the
# rest in global properties: WARPGAUGE_VERSION, and WARPGAUGE_PROGRAMS_DIR, the folder of the Python
# programs.

# warpgauge_add_kernels(NAME <name> SOURCES <file.cu>... [BUDGETS <folder>] [LIBRARIES <target>...])
#
# Programs that gauge the kernels registered in the sources, and CTest tests:
#   <name>         the command line tool: <name> gate, list, explain, ...
#   <name>-check   each case as a GoogleTest test
#   <name>-bench   each case as a Google Benchmark benchmark
# and of each the emulated program, <program>-emulated, which needs no GPU. Tests: perf.<name> (label
# gpu;perf; skipped where there is no GPU), emulated.<name> (host;perf) and static.<name>.sm_NN
# (static;perf) for each architecture.
#
# The budgets of a family are in <folder>/<family>.toml or, without BUDGETS, in budgets.toml beside
# its source. LIBRARIES are what the kernels are linked with. Paths in facts are relative to the
# source folder of the project that calls this.
#
# LIBRARIES whose own kernels are to be gauged are given to warpgauge_watch() before.
function(warpgauge_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;BUDGETS" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpgauge_add_kernels(NAME <name> SOURCES <file.cu>... [BUDGETS <folder>] "
                        "[LIBRARIES <target>...]) was called with (${ARGV})")
  endif()
  warpgauge_kernels(TARGET ${arg_NAME}_kernels SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  set(program KERNELS ${arg_NAME}_kernels ${arg_LIBRARIES} BUDGETS "${arg_BUDGETS}")
  warpgauge_program(TARGET ${arg_NAME} MAIN gauge ${program})
  foreach(main check bench)
    warpgauge_program(TARGET ${arg_NAME}-${main} MAIN ${main} ${program})
  endforeach()
  warpgauge_add_run_tests(NAME ${arg_NAME} CHECK ${arg_NAME}-check FILTER "-sm_*/*")
  warpgauge_add_static_tests(PREFIX static.${arg_NAME} CHECK ${arg_NAME}-check)
endfunction()

# warpgauge_add_gtest(NAME <name> SOURCES <file>... [BUDGETS <folder>] [LIBRARIES <target>...])
#
# A GoogleTest program that measures kernels in its tests (<warpgauge/gtest.h>), those of the sources and
# of libraries that are watched. There are two: <name> runs on a GPU, and <name>-emulated on the
# emulator. Tests: perf.<name> (gpu;perf) and emulated.<name> (host;perf). Its main() is warpgauge's, or
# that of the sources, which calls warpgauge::prepare_to_measure() first, is given --gtest_filter=* and
# --skip-code 77 by the tests, and exits with 77 if it skipped. EXPECT_BUDGET() with the id of a
# case takes its budgets from <folder>/<family>.toml.
function(warpgauge_add_gtest)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;BUDGETS" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpgauge_add_gtest(NAME <name> SOURCES <file>... [BUDGETS <folder>] "
                        "[LIBRARIES <target>...]) was called with (${ARGV})")
  endif()
  warpgauge_kernels(TARGET ${arg_NAME}_kernels SOURCES ${arg_SOURCES}
                    LIBRARIES ${arg_LIBRARIES} warpgauge::gtest)
  warpgauge_program(TARGET ${arg_NAME} MAIN gtest KERNELS ${arg_NAME}_kernels ${arg_LIBRARIES}
                    BUDGETS "${arg_BUDGETS}")
  warpgauge_add_run_tests(NAME ${arg_NAME} CHECK ${arg_NAME} FILTER "*")
endfunction()

# warpgauge_kernels(TARGET <name> [SOURCES <file.cu>...] [LIBRARIES <target>...])
#
# Kernels and their registrations. An OBJECT library, because a static one would drop the
# registrations, which nothing refers to. The kernels of the self test (harness/self_test.h) are among
# them, built as they are.
function(warpgauge_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET)
    message(FATAL_ERROR "warpgauge_kernels(TARGET <name> [SOURCES <file.cu>...] [LIBRARIES <target>...]) "
                        "was called with (${ARGV})")
  endif()
  cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  add_library(${arg_TARGET} OBJECT ${arg_SOURCES} "${root}harness/self_test.cu")
  set_source_files_properties("${root}harness/self_test.cu" PROPERTIES INCLUDE_DIRECTORIES "${root}")
  target_link_libraries(${arg_TARGET} PUBLIC warpgauge::api ${arg_LIBRARIES})
  # The headers are C++20. CMake before 3.25.2 lacks nvcc's option for it (12.0 and newer).
  if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION AND NOT CMAKE_CUDA_STANDARD GREATER 20)
    set_target_properties(${arg_TARGET} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  elseif(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set_property(TARGET ${arg_TARGET} PROPERTY CUDA_STANDARD)
    target_compile_options(${arg_TARGET} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
  warpgauge_watch(${arg_TARGET})
endfunction()

# warpgauge_watch(<target>)
#
# Lets the kernels of a library be gauged wherever they are launched from: built with line tables, in
# fat binaries that are not compressed (programs read their own), and with ptxas' report of each source
# kept in <build>/ptxas/<target>/<path of the source>.ptxas.txt. Call it when the target has its sources.
function(warpgauge_watch target)
  if("${PROJECT_SOURCE_DIR}${PROJECT_BINARY_DIR}" MATCHES "[#$]")
    message(FATAL_ERROR "CMake and nvcc cannot build in a folder with a '#' or '$' in its path: rename "
                        "${PROJECT_SOURCE_DIR} or ${PROJECT_BINARY_DIR}")
  endif()
  set(keep_ptxas "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/keep_ptxas")
  set(texts "${PROJECT_BINARY_DIR}/ptxas/${target}")
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;--no-compress;SHELL:-Xptxas -v>")
  set_target_properties(${target} PROPERTIES WARPGAUGE_PTXAS_DIR "${texts}")
  set_property(TARGET ${target} PROPERTY CUDA_COMPILER_LAUNCHER
    "${keep_ptxas}" "${texts}" "${PROJECT_SOURCE_DIR}" ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set(known "")
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target}
                 APPEND PROPERTY OBJECT_DEPENDS "${keep_ptxas}")
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${source}" inside)
    if(inside)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    endif()
    cmake_path(SET text NORMALIZE "${texts}/${source}.ptxas.txt")
    list(APPEND known "${text}")
  endforeach()
  set_property(TARGET ${target} APPEND PROPERTY ADDITIONAL_CLEAN_FILES ${known})
  # Remove the reports of removed sources, so that no kernel is judged that no longer exists.
  file(GLOB_RECURSE stale "${texts}/*.ptxas.txt")
  list(REMOVE_ITEM stale ${known})
  if(stale)
    file(REMOVE ${stale})
  endif()
endfunction()

# warpgauge_program(TARGET <name> MAIN gauge|check|bench|gtest KERNELS <target>... [BUDGETS <folder>]
#                   [GPU_ONLY <target>...])
#
# A program that gauges the kernels of targets made by warpgauge_kernels(), or watched: `gauge` is the
# command line tool, `check` the GoogleTest program, `bench` the Google Benchmark program, `gtest` what
# runs tests of others. There are two of it, of the same objects: <name> runs on a GPU, with what
# GPU_ONLY adds to it, <name>-emulated on the emulator.
function(warpgauge_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;MAIN;BUDGETS" "KERNELS;GPU_ONLY")
  foreach(target ${arg_TARGET} ${arg_TARGET}-emulated)
    add_executable(${target})
    target_link_libraries(${target} PRIVATE warpgauge::${arg_MAIN}_main ${arg_KERNELS})
    warpgauge_add_build_info(${target} KERNELS ${arg_KERNELS} BUDGETS "${arg_BUDGETS}")
    foreach(library emulated_cudart injection)  # `emulate` and `attach` hand them to programs
      if(TARGET warpgauge_${library})
        add_dependencies(${target} warpgauge_${library})
      endif()
    endforeach()
  endforeach()
  warpgauge_emulate(${arg_TARGET}-emulated)
  target_link_libraries(${arg_TARGET} PRIVATE ${arg_GPU_ONLY})
  add_dependencies(${arg_TARGET} ${arg_TARGET}-emulated)  # which it continues in without a GPU
endfunction()

# warpgauge_add_run_tests(NAME <name> CHECK <program> FILTER <GoogleTest filter>): tests that hold what
# cases cost against their budgets, perf.<name> on a GPU, emulated.<name> on the emulator.
function(warpgauge_add_run_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;CHECK;FILTER" "")
  add_test(NAME perf.${arg_NAME}
           COMMAND ${arg_CHECK} "--gtest_filter=${arg_FILTER}" --skip-code 77)
  add_test(NAME emulated.${arg_NAME}
           COMMAND ${arg_CHECK}-emulated "--gtest_filter=${arg_FILTER}" --skip-code 77)
  set_tests_properties(perf.${arg_NAME} PROPERTIES LABELS "gpu;perf" RESOURCE_GROUPS "gpus:1")
  set_tests_properties(emulated.${arg_NAME} PROPERTIES LABELS "host;perf")
  set_tests_properties(perf.${arg_NAME} emulated.${arg_NAME} PROPERTIES
    SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

# warpgauge_add_static_tests(PREFIX <prefix> CHECK <program>): a test for each architecture that there is
# machine code for, <prefix>.sm_NN or <prefix>.sm_NNa, that holds what the compiler decided against budgets.
function(warpgauge_add_static_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PREFIX;CHECK" "")
  set(archs ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER archs EXCLUDE REGEX "-virtual$")  # PTX for the driver: ptxas does not see it
  list(TRANSFORM archs REPLACE "-real$" "")
  list(REMOVE_DUPLICATES archs)
  foreach(arch IN LISTS archs)
    set(name "sm_${arch}")
    if(NOT arch MATCHES "^[0-9]+[af]?$")  # native, all, all-major: known when they have been compiled
      set(name "sm_*")
    endif()
    add_test(NAME ${arg_PREFIX}.${name} COMMAND ${arg_CHECK} "--gtest_filter=${name}/*")
    set_tests_properties(${arg_PREFIX}.${name} PROPERTIES LABELS "static;perf")
  endforeach()
endfunction()

# warpgauge_add_build_id(<target> KERNELS <target>...): compiles a hash of the kernels' objects into a
# program. By it a program sees whether the emulated program beside it is of the same build.
function(warpgauge_add_build_id target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "KERNELS")
  set(files "")
  foreach(kernels IN LISTS arg_KERNELS)
    set(type "")
    if(TARGET ${kernels})  # not a library by its file
      get_target_property(type ${kernels} TYPE)
      get_target_property(imported ${kernels} IMPORTED)
    endif()
    if(type STREQUAL "OBJECT_LIBRARY" AND NOT imported)
      list(APPEND files "$<TARGET_OBJECTS:${kernels}>")
    elseif(type MATCHES "^(STATIC|SHARED)_LIBRARY$" AND NOT imported)
      list(APPEND files "$<TARGET_FILE:${kernels}>")
    endif()
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/build_id_$<CONFIG>.cpp")
  add_custom_command(OUTPUT "${source}"
    COMMAND "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/build_id" "${source}" ${files}
    DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/build_id" ${files}
    COMMENT "Naming the build of ${target}" VERBATIM COMMAND_EXPAND_LISTS)
  target_sources(${target} PRIVATE "${source}")
endfunction()

# warpgauge_add_build_info(<target> KERNELS <target>... [BUDGETS <folder>]): compiles facts of the build
# into a program of kernels. Watched targets among the KERNELS are found.
function(warpgauge_add_build_info target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BUDGETS" "KERNELS")
  cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  get_property(version GLOBAL PROPERTY WARPGAUGE_VERSION)
  get_property(programs GLOBAL PROPERTY WARPGAUGE_PROGRAMS_DIR)
  set(texts "")
  foreach(kernels IN LISTS arg_KERNELS)
    set(folder "")
    if(TARGET ${kernels})  # not a library by its file
      get_target_property(folder ${kernels} WARPGAUGE_PTXAS_DIR)
    endif()
    if(folder)
      list(APPEND texts "${folder}")
    endif()
  endforeach()
  list(JOIN texts "\\n" texts)  # as a string of C++ has it
  set(budgets "")
  if(arg_BUDGETS)
    cmake_path(ABSOLUTE_PATH arg_BUDGETS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
               OUTPUT_VARIABLE budgets)
    if(NOT IS_DIRECTORY "${budgets}")
      message(FATAL_ERROR "BUDGETS ${arg_BUDGETS}: there is no folder ${budgets}")
    endif()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}} -lineinfo" flags)
  string(REGEX REPLACE "-emulated$" "" gate "${target}")  # which finds the emulated program
  string(APPEND gate " gate")
  cmake_path(APPEND PROJECT_SOURCE_DIR "" OUTPUT_VARIABLE here)
  if(here STREQUAL root)  # the kernels of this tree, which has a script
    set(gate ci/gate)
  endif()
  set(injection "")
  if(TARGET warpgauge::injection)
    set(injection "$<TARGET_FILE:warpgauge::injection>")
  endif()
  target_sources(${target} PRIVATE "${root}harness/build_info.cpp")
  warpgauge_add_build_id(${target} KERNELS ${arg_KERNELS})
  set_source_files_properties("${root}harness/build_info.cpp" PROPERTIES
    INCLUDE_DIRECTORIES "${root}")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE
    "WARPGAUGE_VERSION=\"${version}\""
    "WARPGAUGE_SOURCE_ROOT=\"${PROJECT_SOURCE_DIR}\""
    "WARPGAUGE_PTXAS_DIRS=\"${texts}\""
    "WARPGAUGE_BUDGETS_DIR=\"${budgets}\""
    "WARPGAUGE_CUDA_FLAGS=\"${flags}\""
    "WARPGAUGE_GATE_COMMAND=\"${gate}\""
    "WARPGAUGE_PROGRAMS_DIR=\"${programs}\""
    "WARPGAUGE_EMULATED_CUDART=\"$<TARGET_SONAME_FILE:warpgauge::emulated_cudart>\""
    "WARPGAUGE_INJECTION=\"${injection}\"")
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# warpgauge_emulate(<target>): links a program of kernels with the emulator instead of cudart.
function(warpgauge_emulate target)
  set_target_properties(${target} PROPERTIES WARPGAUGE_EMULATED ON CUDA_RUNTIME_LIBRARY None)
endfunction()
