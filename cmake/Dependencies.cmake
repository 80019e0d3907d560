# Everything warpgauge builds on. Libraries are taken from the system where they are installed and
# fetched at a pinned release otherwise (FETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER always fetches).

include(WarpgaugeToolkit)

include(FetchContent)
set(FETCHCONTENT_QUIET OFF)
set(BUILD_SHARED_LIBS OFF)
set(INSTALL_GTEST OFF)
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(JSON_BuildTests OFF)
set(JSON_Install OFF)

# warpgauge_depends(<name> <licence, by its SPDX id> <repository> <tag> <Debian's package> <find_package()'s
# arguments>...)
set(WARPGAUGE_DEPENDENCIES "")
macro(warpgauge_depends name licence repository tag debian)
  FetchContent_Declare(${name} SYSTEM
    GIT_REPOSITORY https://github.com/${repository}.git GIT_TAG ${tag} GIT_SHALLOW ON
    ${ARGN})
  list(APPEND WARPGAUGE_DEPENDENCIES ${name})
  set(WARPGAUGE_${name} ${licence} ${repository} ${tag} ${debian})
endmacro()
warpgauge_depends(fmt MIT fmtlib/fmt 10.2.1 libfmt-dev FIND_PACKAGE_ARGS 9.1)
warpgauge_depends(nlohmann_json MIT nlohmann/json v3.11.3 nlohmann-json3-dev FIND_PACKAGE_ARGS 3.11)
warpgauge_depends(tomlplusplus MIT marzer/tomlplusplus v3.4.0 libtomlplusplus-dev
                  FIND_PACKAGE_ARGS 3.3)
warpgauge_depends(CLI11 BSD-3-Clause CLIUtils/CLI11 v2.4.2 libcli11-dev FIND_PACKAGE_ARGS 2.1)
warpgauge_depends(xbyak BSD-3-Clause herumi/xbyak v7.07 libxbyak-dev FIND_PACKAGE_ARGS NAMES xbyak)
warpgauge_depends(googletest BSD-3-Clause google/googletest v1.15.2 libgtest-dev
                  FIND_PACKAGE_ARGS 1.12 NAMES GTest)
warpgauge_depends(benchmark Apache-2.0 google/benchmark v1.9.1 libbenchmark-dev FIND_PACKAGE_ARGS 1.7)
# nvcc compresses fat binaries with these two. cmake/Findlz4.cmake and Findzstd.cmake look for them;
# where they are fetched, only their decompressors are compiled, without their own CMake files.
warpgauge_depends(lz4 BSD-2-Clause lz4/lz4 v1.10.0 liblz4-dev
                  SOURCE_SUBDIR none FIND_PACKAGE_ARGS MODULE)
warpgauge_depends(zstd BSD-3-Clause facebook/zstd v1.5.6 libzstd-dev
                  SOURCE_SUBDIR none FIND_PACKAGE_ARGS MODULE)
# The members of wheels are compressed with it: found by cmake/Findzlib.cmake, or fetched in the same way.
warpgauge_depends(zlib Zlib madler/zlib v1.3.1 zlib1g-dev
                  SOURCE_SUBDIR none FIND_PACKAGE_ARGS MODULE)
FetchContent_MakeAvailable(${WARPGAUGE_DEPENDENCIES})
find_package(libiberty REQUIRED)  # not fetched: its repository is that of GCC

# warpgauge_demangles(<target>): compiles metrics/base/demangled.cpp in the target.
function(warpgauge_demangles target)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/metrics/base/demangled.cpp" "${libiberty_OBJECT}")
  target_include_directories(${target} SYSTEM PRIVATE "${libiberty_INCLUDE_DIR}")
endfunction()

# warpgauge_reads_toml(<target>): metrics/base/toml.h, which takes the headers of toml++ alone.
function(warpgauge_reads_toml target)
  get_target_property(folders tomlplusplus::tomlplusplus INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${target} SYSTEM PRIVATE ${folders})
endfunction()

# warpgauge_fetched_library(<name> <folder> <source>...): makes <name>::<name> of the sources in a fetched folder.
function(warpgauge_fetched_library name folder)
  if(TARGET ${name}::${name})  # found
    return()
  endif()
  list(TRANSFORM ARGN PREPEND "${${name}_SOURCE_DIR}/${folder}/")
  file(GLOB sources ${ARGN})
  add_library(warpgauge_fetched_${name} STATIC ${sources})
  add_library(${name}::${name} ALIAS warpgauge_fetched_${name})
  target_include_directories(warpgauge_fetched_${name} SYSTEM PUBLIC "${${name}_SOURCE_DIR}/${folder}")
endfunction()
if(NOT TARGET lz4::lz4 OR NOT TARGET zstd::zstd OR NOT TARGET zlib::zlib)
  enable_language(C)  # not inside a function: what it sets would be lost
endif()
warpgauge_fetched_library(lz4 lib lz4.c)
warpgauge_fetched_library(zstd lib common/*.c decompress/*.c)
warpgauge_fetched_library(zlib . adler32.c crc32.c inffast.c inflate.c inftrees.c zutil.c)
if(TARGET warpgauge_fetched_zstd)
  target_compile_definitions(warpgauge_fetched_zstd PRIVATE ZSTD_DISABLE_ASM)
endif()

# The file of a library, and the name that it has where it is installed: that of its .so, or lib<name>.a.
# Both are empty for headers alone.
function(warpgauge_library_file target out_file out_name)
  get_target_property(target ${target} ALIASED_TARGET)
  if(NOT target)
    set(target ${ARGV0})
  endif()
  string(REGEX REPLACE "^.*::" "" name ${ARGV0})
  set(file "")
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported)
    get_target_property(file ${target} IMPORTED_LOCATION)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    if(NOT file AND configurations)
      list(GET configurations 0 configuration)
      get_target_property(file ${target} IMPORTED_LOCATION_${configuration})
    endif()
    if(NOT file)
      set(file "")
    elseif(file MATCHES "\\.so")
      file(REAL_PATH "${file}" file)
      execute_process(COMMAND "${CMAKE_READELF}" -d "${file}" OUTPUT_VARIABLE section
                      COMMAND_ERROR_IS_FATAL ANY)
      if(NOT section MATCHES "\\(SONAME\\)[^\n]*\\[([^\n]+)\\]")
        message(FATAL_ERROR "${file} has no SONAME")
      endif()
      set(${out_name} "${CMAKE_MATCH_1}" PARENT_SCOPE)
      set(${out_file} "${file}" PARENT_SCOPE)
      return()
    endif()
  elseif(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(file "$<TARGET_FILE:${target}>")
  endif()
  set(${out_file} "${file}" PARENT_SCOPE)
  set(${out_name} "lib${name}.a" PARENT_SCOPE)
endfunction()

# warpgauge_links(<name> <target>): warpgauge::<name>, what our exported libraries link with. In this build
# it is the target; where warpgauge is installed it is the file of the target's library in lib/warpgauge,
# so that projects need none of these packages.
function(warpgauge_links name target)
  add_library(warpgauge_${name} INTERFACE)
  target_link_libraries(warpgauge_${name} INTERFACE $<BUILD_INTERFACE:${target}>)
  warpgauge_library_file(${target} file installed)
  if(file)
    target_link_libraries(warpgauge_${name} INTERFACE
      $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/lib/warpgauge/${installed}>)
    if(PROJECT_IS_TOP_LEVEL)
      install(FILES "${file}" DESTINATION lib/warpgauge RENAME "${installed}")
    endif()
  endif()
  warpgauge_export(${name})
endfunction()
warpgauge_links(fmt fmt::fmt)
warpgauge_links(benchmark benchmark::benchmark)
warpgauge_links(lz4 lz4::lz4)
warpgauge_links(zstd zstd::zstd)
warpgauge_links(zlib zlib::zlib)
