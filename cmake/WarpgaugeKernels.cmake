# The functions for projects, warpgauge_add_kernels(), warpgauge_watch() and warpgauge_add_gtest(), and
# their parts. This repository and other projects use the same ones, installed or not.
#
# Functions see the variables of their callers, so these find this tree by the path of this file, and the
# rest in global properties: WARPGAUGE_VERSION, WARPGAUGE_NEWEST_CUDA, and WARPGAUGE_PROGRAMS_DIR, the folder
# of the Python programs.

if(POLICY CMP0174)  # CMake 3.31 warns of an empty BUDGETS, which is none
  cmake_policy(SET CMP0174 NEW)
endif()

# warpgauge_add_kernels(NAME <name> SOURCES <file.cu>... [BUDGETS <folder>] [PROJECT <file>]
#                       [LIBRARIES <target>...])
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
# its source. Below them stand those of the whole project, in <file> or, without PROJECT, in
# warpgauge.toml in the source folder of the project that calls this. Paths in facts are relative to
# that folder. LIBRARIES are what the kernels are linked with.
#
# <name> is a target like any other: what target_include_directories(), target_compile_definitions(),
# target_compile_options(), target_link_libraries() and target_link_options() say of it, also later, holds for
# the kernels and for all of these programs.
#
# Libraries whose own kernels are to be gauged are given to warpgauge_watch().
function(warpgauge_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;BUDGETS;PROJECT" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpgauge_add_kernels(NAME <name> SOURCES <file.cu>... [BUDGETS <folder>] "
                        "[PROJECT <file>] [LIBRARIES <target>...]) was called with (${ARGV})")
  endif()
  warpgauge_kernels(TARGET ${arg_NAME}_kernels SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES}
                    OF ${arg_NAME})
  warpgauge_program(TARGET ${arg_NAME} MAIN gauge KERNELS ${arg_NAME}_kernels ${arg_LIBRARIES}
                    BUDGETS "${arg_BUDGETS}" PROJECT "${arg_PROJECT}")
  foreach(main check bench)
    warpgauge_program(TARGET ${arg_NAME}-${main} MAIN ${main} AS ${arg_NAME}
                      BUDGETS "${arg_BUDGETS}" PROJECT "${arg_PROJECT}")
  endforeach()
  warpgauge_add_run_tests(NAME ${arg_NAME} CHECK ${arg_NAME}-check FILTER "-sm_*/*")
  warpgauge_add_static_tests(PREFIX static.${arg_NAME} CHECK ${arg_NAME}-check)
endfunction()

# warpgauge_add_gtest(NAME <name> SOURCES <file>... [BUDGETS <folder>] [PROJECT <file>]
#                     [LIBRARIES <target>...])
#
# A GoogleTest program that measures kernels in its tests (<warpgauge/gtest.h>), those of the sources and
# of libraries that are watched. There are two: <name> runs on a GPU, and <name>-emulated on the
# emulator. Tests: perf.<name> (gpu;perf) and emulated.<name> (host;perf). Its main() is warpgauge's, or
# that of the sources, which calls warpgauge::prepare_to_measure() first, is given --gtest_filter=* and
# --skip-code 77 by the tests, and exits with 77 if it skipped. EXPECT_BUDGET() with the id of a
# case takes its budgets from <folder>/<family>.toml; PROJECT is as for warpgauge_add_kernels().
function(warpgauge_add_gtest)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;BUDGETS;PROJECT" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpgauge_add_gtest(NAME <name> SOURCES <file>... [BUDGETS <folder>] "
                        "[PROJECT <file>] [LIBRARIES <target>...]) was called with (${ARGV})")
  endif()
  warpgauge_kernels(TARGET ${arg_NAME}_kernels SOURCES ${arg_SOURCES}
                    LIBRARIES ${arg_LIBRARIES} warpgauge::gtest OF ${arg_NAME})
  warpgauge_program(TARGET ${arg_NAME} MAIN gtest KERNELS ${arg_NAME}_kernels ${arg_LIBRARIES}
                    BUDGETS "${arg_BUDGETS}" PROJECT "${arg_PROJECT}")
  warpgauge_add_run_tests(NAME ${arg_NAME} CHECK ${arg_NAME} FILTER "*")
endfunction()

# warpgauge_kernels(TARGET <name> [SOURCES <file.cu>...] [LIBRARIES <target>...] [OF <program>])
#
# Kernels and their registrations. An OBJECT library, because a static one would drop the
# registrations, which nothing refers to. OF names the program whose include folders, definitions and
# options they have.
function(warpgauge_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;OF" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET)
    message(FATAL_ERROR "warpgauge_kernels(TARGET <name> [SOURCES <file.cu>...] [LIBRARIES <target>...] "
                        "[OF <program>]) was called with (${ARGV})")
  endif()
  add_library(${arg_TARGET} OBJECT ${arg_SOURCES})
  warpgauge_add_self_test(${arg_TARGET})
  target_link_libraries(${arg_TARGET} PUBLIC warpgauge::api ${arg_LIBRARIES})
  if(arg_OF)  # with those of the libraries that it is linked with
    foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
      set_property(TARGET ${arg_TARGET} APPEND PROPERTY ${property} "$<TARGET_PROPERTY:${arg_OF},${property}>")
    endforeach()
  endif()
  warpgauge_use_cuda20(${arg_TARGET})
  warpgauge_watch(${arg_TARGET})
endfunction()

# warpgauge_add_self_test(<target>): the kernels of the self test (harness/measuring/self_test.h), built as the
# target's own are.
function(warpgauge_add_self_test target)
  cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  target_sources(${target} PRIVATE "${root}harness/measuring/self_test.cu")
  set_property(SOURCE "${root}harness/measuring/self_test.cu" TARGET_DIRECTORY ${target}
               PROPERTY INCLUDE_DIRECTORIES "${root}")
endfunction()

# warpgauge_use_cuda20(<target>): the headers are C++20. CMake before 3.25.2 lacks nvcc's option for it
# (12.0 and newer).
function(warpgauge_use_cuda20 target)
  get_target_property(standard ${target} CUDA_STANDARD)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  elseif(NOT standard GREATER 20)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  endif()
endfunction()

# warpgauge_watch(<target>)
#
# Lets the kernels of a library be gauged wherever they are launched from: built with line tables, in
# fat binaries that are not compressed (programs read their own), and in objects that are the same when they are
# compiled again (without names of temporary files).
function(warpgauge_watch target)
  if("${PROJECT_SOURCE_DIR}${PROJECT_BINARY_DIR}" MATCHES "[#$]")
    message(FATAL_ERROR "CMake and nvcc cannot build in a folder with a '#' or '$' in its path: rename "
                        "${PROJECT_SOURCE_DIR} or ${PROJECT_BINARY_DIR}")
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if("${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}} " MATCHES "(^| )(-G|--device-debug) ")
    message(NOTICE "${target} is compiled with ${CMAKE_MATCH_2}, so without optimisation: its counts are not "
                   "those of the kernels that run elsewhere")
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;--no-compress;--objdir-as-tempdir>")
endfunction()

# warpgauge_program(TARGET <name> MAIN gauge|check|bench|gtest KERNELS <target>... [BUDGETS <folder>]
#                   [PROJECT <file>] [GPU_ONLY <target>...])
# warpgauge_program(TARGET <name> MAIN ... AS <program> [BUDGETS <folder>] [PROJECT <file>])
#
# A program that gauges the kernels of targets made by warpgauge_kernels(), or watched: `gauge` is the
# command line tool, `check` the GoogleTest program, `bench` the Google Benchmark program, `gtest` what
# runs tests of others. There are two of it, of the same objects: <name> runs on a GPU, with what
# GPU_ONLY adds to it, <name>-emulated on the emulator. AS names another program, whose kernels and
# libraries it has.
function(warpgauge_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;MAIN;AS;BUDGETS;PROJECT" "KERNELS;GPU_ONLY")
  foreach(target ${arg_TARGET} ${arg_TARGET}-emulated)
    add_executable(${target})
    set_target_properties(${target} PROPERTIES WARPGAUGE_MAIN ${arg_MAIN} LINKER_LANGUAGE CXX)
    warpgauge_add_build_info(${target} BUDGETS "${arg_BUDGETS}" PROJECT "${arg_PROJECT}")
    # `emulate` and `attach` hand them to programs. A build of all of warpgauge has them all the same.
    foreach(library emulated_driver audit environment injection)
      if(TARGET warpgauge_${library} AND NOT warpgauge_IS_TOP_LEVEL)
        add_dependencies(${target} warpgauge_${library})
      endif()
    endforeach()
  endforeach()
  if(arg_AS)
    warpgauge_link_as(${arg_TARGET} ${arg_AS})
  else()
    # As the program that is linked says, so that others can be linked as this one is. Only linked:
    # the kernels see nothing of our headers but those of warpgauge::api.
    target_link_libraries(${arg_TARGET} PRIVATE
      "$<LINK_ONLY:warpgauge::$<TARGET_PROPERTY:WARPGAUGE_MAIN>_main>" ${arg_KERNELS})
    foreach(library IN LISTS arg_GPU_ONLY)
      target_link_libraries(${arg_TARGET} PRIVATE
        "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:WARPGAUGE_EMULATED>>>:${library}>")
    endforeach()
  endif()
  warpgauge_emulate(${arg_TARGET}-emulated)
  warpgauge_link_as(${arg_TARGET}-emulated ${arg_TARGET})
  add_dependencies(${arg_TARGET} ${arg_TARGET}-emulated)  # which it continues in without a GPU
endfunction()

# warpgauge_link_as(<target> <program>): links a program with all that another one is linked with, also
# with what is said of that later.
function(warpgauge_link_as target program)
  set_property(GLOBAL APPEND PROPERTY WARPGAUGE_LINKED_AS ${target})
  set_target_properties(${target} PROPERTIES WARPGAUGE_LINKED_AS ${program})
endfunction()

# Called when the whole project has been read: what programs are linked with is known then.
function(warpgauge_complete_programs)
  warpgauge_complete_gtest_programs("${CMAKE_SOURCE_DIR}")
  get_property(targets GLOBAL PROPERTY WARPGAUGE_LINKED_AS)
  foreach(target IN LISTS targets)
    get_target_property(program ${target} WARPGAUGE_LINKED_AS)
    foreach(property LINK_LIBRARIES LINK_OPTIONS LINK_DIRECTORIES)
      get_property(of_program TARGET ${program} PROPERTY ${property})
      get_property(own TARGET ${target} PROPERTY ${property})
      set_property(TARGET ${target} PROPERTY ${property} ${of_program} ${own})
    endforeach()
  endforeach()
  get_property(targets GLOBAL PROPERTY WARPGAUGE_WITH_BUILD_INFO)
  foreach(target IN LISTS targets)
    warpgauge_complete_build_info(${target})
  endforeach()
endfunction()
if(NOT CMAKE_SCRIPT_MODE_FILE)
  get_property(is_called GLOBAL PROPERTY WARPGAUGE_COMPLETES_PROGRAMS)
  if(NOT is_called)
    set_property(GLOBAL PROPERTY WARPGAUGE_COMPLETES_PROGRAMS ON)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL warpgauge_complete_programs)
  endif()
endif()

# warpgauge_complete_gtest_programs(<folder>): the programs of this folder and those below that link
# warpgauge::gtest themselves get what counts, and an emulated program of the same objects beside them. The
# property WARPGAUGE_BUDGETS of a program names its folder for budgets; its tests get the label perf.
function(warpgauge_complete_gtest_programs folder)
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    warpgauge_complete_gtest_programs("${below}")
  endforeach()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT type STREQUAL "EXECUTABLE" OR NOT "warpgauge::gtest" IN_LIST libraries)
      continue()
    endif()
    foreach(library IN LISTS libraries)  # the emulated program is of the top folder
      if(library MATCHES "^[A-Za-z0-9_]+::[A-Za-z0-9_]+$" AND NOT TARGET ${library})
        message(FATAL_ERROR "${target} links ${library}, which find_package() has found for its folder alone: "
                            "call find_package() in the top CMakeLists.txt, or with GLOBAL")
      endif()
    endforeach()
    target_link_libraries(${target} PRIVATE "$<LINK_ONLY:warpgauge::gtest_cases>")
    target_compile_features(${target} PRIVATE cxx_std_20)
    warpgauge_add_self_test(${target})
    warpgauge_use_cuda20(${target})
    warpgauge_watch(${target})
    add_executable(${target}-emulated)
    set(objects "$<TARGET_OBJECTS:${target}>")
    if(CMAKE_GENERATOR MATCHES "Ninja")  # it knows files apart from their targets: ${target} links last
      target_link_options(${target}-emulated PRIVATE "${objects}")
      set_property(TARGET ${target}-emulated APPEND PROPERTY LINK_DEPENDS "${objects}")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "$<TARGET_FILE:${target}-emulated>")
    else()  # the objects are the target's, which has to come first
      target_sources(${target}-emulated PRIVATE "${objects}")
    endif()
    get_target_property(place ${target} RUNTIME_OUTPUT_DIRECTORY)
    if(NOT place)
      get_target_property(place ${target} BINARY_DIR)
    endif()
    get_target_property(name ${target} OUTPUT_NAME)
    if(NOT name)
      set(name ${target})
    endif()
    set_target_properties(${target}-emulated PROPERTIES LINKER_LANGUAGE CXX
      RUNTIME_OUTPUT_DIRECTORY "${place}" OUTPUT_NAME "${name}-emulated")
    warpgauge_emulate(${target}-emulated)
    warpgauge_link_as(${target}-emulated ${target})
    get_target_property(source ${target} SOURCE_DIR)
    get_target_property(budgets ${target} WARPGAUGE_BUDGETS)
    if(budgets)
      cmake_path(ABSOLUTE_PATH budgets BASE_DIRECTORY "${source}" NORMALIZE)
    else()
      set(budgets "")
    endif()
    foreach(program ${target} ${target}-emulated)
      warpgauge_add_build_info(${program} BUDGETS "${budgets}")
    endforeach()
    # The tests that gtest_discover_tests() has found, which leaves their names in a variable.
    set(labels "${CMAKE_BINARY_DIR}/CMakeFiles/${target}_labels.cmake")
    file(WRITE "${labels}" "foreach(test IN LISTS ${target}_TESTS)\n"
                           "  set_tests_properties(\"\${test}\" PROPERTIES LABELS perf)\nendforeach()\n")
    set_property(DIRECTORY "${source}" APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
  endforeach()
endfunction()

# warpgauge_linked_targets(<target> <out>): the targets of this project, and those that were found, that a target
# is linked with, directly or by others, without warpgauge's own.
function(warpgauge_linked_targets target out)
  get_property(ours GLOBAL PROPERTY WARPGAUGE_EXPORTED)
  set(known "")
  set(next ${target})
  while(next)
    list(POP_FRONT next linked)
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_property(libraries TARGET ${linked} PROPERTY ${property})
      list(TRANSFORM libraries REPLACE "^\\$<LINK_ONLY:([^$<>]+)>$" "\\1")
      foreach(library IN LISTS libraries)
        if(NOT TARGET "${library}" OR library MATCHES "^warpgauge::")
          continue()
        endif()
        get_target_property(aliased ${library} ALIASED_TARGET)
        if(aliased)
          set(library ${aliased})
        endif()
        if(NOT library IN_LIST known AND NOT library IN_LIST ours)
          list(APPEND known ${library})
          list(APPEND next ${library})
        endif()
      endforeach()
    endforeach()
  endwhile()
  set(${out} "${known}" PARENT_SCOPE)
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
  list(FILTER archs EXCLUDE REGEX "-virtual$")  # PTX for the driver: no machine code
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

# warpgauge_add_build_info(<target> [BUDGETS <folder>] [PROJECT <file>]): compiles facts of the build into
# a program of kernels, apart from the program's own sources and options.
function(warpgauge_add_build_info target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BUDGETS;PROJECT" "")
  cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  get_property(version GLOBAL PROPERTY WARPGAUGE_VERSION)
  get_property(programs GLOBAL PROPERTY WARPGAUGE_PROGRAMS_DIR)
  get_property(newest GLOBAL PROPERTY WARPGAUGE_NEWEST_CUDA)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" toolkit "${CMAKE_CUDA_COMPILER_VERSION}")
  set(budgets "")
  if(arg_BUDGETS)
    cmake_path(ABSOLUTE_PATH arg_BUDGETS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
               OUTPUT_VARIABLE budgets)
    if(EXISTS "${budgets}" AND NOT IS_DIRECTORY "${budgets}")  # it need not be there
      message(FATAL_ERROR "BUDGETS ${arg_BUDGETS}: ${budgets} is no folder")
    endif()
  endif()
  set(project "${PROJECT_SOURCE_DIR}/warpgauge.toml")  # which need not be there
  if(arg_PROJECT)
    cmake_path(ABSOLUTE_PATH arg_PROJECT BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
               OUTPUT_VARIABLE project)
    if(NOT EXISTS "${project}")
      message(FATAL_ERROR "PROJECT ${arg_PROJECT}: there is no file ${project}")
    endif()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}} -lineinfo" flags)
  string(REGEX REPLACE "-emulated$" "" gate "${target}")  # which finds the emulated program
  set(gate "$<TARGET_FILE:${gate}>")
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE is_inside)
  if(is_inside)  # people call it from the top of the project
    set(gate "$<PATH:RELATIVE_PATH,${gate},${PROJECT_SOURCE_DIR}>")
  endif()
  string(APPEND gate " gate")
  cmake_path(APPEND PROJECT_SOURCE_DIR "" OUTPUT_VARIABLE here)
  if(here STREQUAL root)  # the kernels of this tree, which has a script
    set(gate ci/gate)
  endif()
  set(injection "")
  if(TARGET warpgauge::injection)
    set(injection "$<TARGET_FILE:warpgauge::injection>")
  endif()
  set(info ${target}_build_info)
  add_library(${info} OBJECT "${root}harness/build_info.cpp")
  warpgauge_add_built_from(${info})
  target_include_directories(${info} PRIVATE "${root}")
  target_compile_features(${info} PRIVATE cxx_std_20)
  target_compile_definitions(${info} PRIVATE
    "WARPGAUGE_VERSION=\"${version}\""
    "WARPGAUGE_TOOLKIT=\"${toolkit}\""
    "WARPGAUGE_NEWEST_TOOLKIT=\"${newest}\""
    "WARPGAUGE_SOURCE_ROOT=\"${PROJECT_SOURCE_DIR}\""
    "WARPGAUGE_BUDGETS_DIR=\"${budgets}\""
    "WARPGAUGE_PROJECT_FILE=\"${project}\""
    "WARPGAUGE_CUDA_FLAGS=\"${flags}\""
    "WARPGAUGE_GATE_COMMAND=\"${gate}\""
    "WARPGAUGE_PROGRAMS_DIR=\"${programs}\""
    "WARPGAUGE_EMULATED_CUDART=\"$<TARGET_SONAME_FILE:warpgauge::emulated_cudart>\""
    "WARPGAUGE_EMULATED_DRIVER=\"$<TARGET_SONAME_FILE:warpgauge::emulated_driver>\""
    "WARPGAUGE_AUDIT=\"$<TARGET_FILE:warpgauge::audit>\""
    "WARPGAUGE_ENVIRONMENT=\"$<TARGET_FILE:warpgauge::environment>\""
    "WARPGAUGE_INJECTION=\"${injection}\"")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${info}>)
  set_property(GLOBAL APPEND PROPERTY WARPGAUGE_WITH_BUILD_INFO ${target})
endfunction()

# warpgauge_add_built_from(<target>): gives a target the header that BuiltFrom.cmake writes before each build.
function(warpgauge_add_built_from target)
  set(folder "${PROJECT_BINARY_DIR}/warpgauge_built_from")
  string(MD5 name "${folder}")  # a project for each folder
  string(PREPEND name warpgauge_built_from_)
  set(header "${folder}/warpgauge_built_from.h")
  if(NOT TARGET ${name})
    add_custom_target(${name}
      COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "HEADER=${header}"
              -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BuiltFrom.cmake"
      BYPRODUCTS "${header}" COMMENT "Looking for the commit of the sources" VERBATIM)
  endif()
  add_dependencies(${target} ${name})
  target_compile_definitions(${target} PRIVATE "WARPGAUGE_BUILT_FROM_HEADER=\"${header}\"")
endfunction()

# warpgauge_complete_build_info(<target>): finds what the program is linked with.
function(warpgauge_complete_build_info target)
  warpgauge_linked_targets(${target} libraries)
  foreach(library IN LISTS libraries)
    warpgauge_refuse_dropped_families(${library})
  endforeach()
endfunction()

# warpgauge_refuse_dropped_families(<target>): the linker takes objects of an archive only where something refers
# to them, and nothing refers to a registration: its cases would be missing without a word.
function(warpgauge_refuse_dropped_families target)
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported OR NOT type STREQUAL "STATIC_LIBRARY")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
    if(EXISTS "${source}" AND source MATCHES "\\.(cu|cc|cpp|cxx)$")
      file(STRINGS "${source}" families REGEX "^[ \t]*WARPGAUGE_FAMILY[ \t]*\\(" LIMIT_COUNT 1)
      if(families)
        message(FATAL_ERROR "${source}: has a WARPGAUGE_FAMILY, which the linker would leave out of the program, "
                            "as ${target} is a static library: give the source to "
                            "warpgauge_add_kernels(SOURCES), or make the library an OBJECT library")
      endif()
    endif()
  endforeach()
endfunction()

# warpgauge_emulate(<target>): links a program of kernels with the emulator instead of cudart.
function(warpgauge_emulate target)
  set_target_properties(${target} PROPERTIES WARPGAUGE_EMULATED ON CUDA_RUNTIME_LIBRARY None)
endfunction()
