# Everything warpgauge builds on. Libraries are taken from the system where they are installed and
# fetched at a pinned release otherwise (FETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER always fetches).

include(WarpgaugeToolkit)

include(FetchContent)
set(FETCHCONTENT_QUIET OFF)
set(INSTALL_GTEST OFF)
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(JSON_BuildTests OFF)
set(JSON_Install OFF)

FetchContent_Declare(fmt SYSTEM
  GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 9.1)
FetchContent_Declare(nlohmann_json SYSTEM
  GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 3.11)
FetchContent_Declare(tomlplusplus SYSTEM
  GIT_REPOSITORY https://github.com/marzer/tomlplusplus.git GIT_TAG v3.4.0 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 3.3)
FetchContent_Declare(CLI11 SYSTEM
  GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 2.1)
FetchContent_Declare(googletest SYSTEM
  GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.15.2 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 1.12 NAMES GTest)
FetchContent_Declare(benchmark SYSTEM
  GIT_REPOSITORY https://github.com/google/benchmark.git GIT_TAG v1.9.1 GIT_SHALLOW ON
  FIND_PACKAGE_ARGS 1.7)

# nvcc compresses fat binaries with these two. cmake/Findlz4.cmake and Findzstd.cmake look for them;
# where they are fetched, only their decompressors are compiled, without their own CMake files.
FetchContent_Declare(lz4 SYSTEM
  GIT_REPOSITORY https://github.com/lz4/lz4.git GIT_TAG v1.10.0 GIT_SHALLOW ON
  SOURCE_SUBDIR none FIND_PACKAGE_ARGS MODULE)
FetchContent_Declare(zstd SYSTEM
  GIT_REPOSITORY https://github.com/facebook/zstd.git GIT_TAG v1.5.6 GIT_SHALLOW ON
  SOURCE_SUBDIR none FIND_PACKAGE_ARGS MODULE)

FetchContent_MakeAvailable(fmt nlohmann_json tomlplusplus CLI11 googletest benchmark lz4 zstd)

# Makes warpgauge::<name> of the fetched folder's lib/ and the sources in it.
function(warpgauge_fetched_library name)
  if(TARGET warpgauge::${name})  # found
    return()
  endif()
  list(TRANSFORM ARGN PREPEND "${${name}_SOURCE_DIR}/lib/")
  file(GLOB sources ${ARGN})
  add_library(warpgauge_${name} STATIC ${sources})
  add_library(warpgauge::${name} ALIAS warpgauge_${name})
  target_include_directories(warpgauge_${name} SYSTEM PUBLIC "${${name}_SOURCE_DIR}/lib")
endfunction()
if(NOT TARGET warpgauge::lz4 OR NOT TARGET warpgauge::zstd)
  enable_language(C)  # not inside a function: what it sets would be lost
endif()
warpgauge_fetched_library(lz4 lz4.c)
warpgauge_fetched_library(zstd common/*.c decompress/*.c)
if(TARGET warpgauge_zstd)
  target_compile_definitions(warpgauge_zstd PRIVATE ZSTD_DISABLE_ASM)
endif()
