# Installs warpgauge as a relocatable package for find_package(warpgauge):
#   include/warpgauge/        the headers that kernels include
#   lib/                      libraries; lib/warpgauge/ the emulated runtime, whose name is NVIDIA's
#   bin/                      warpgauge, without kernels of its own, and warpgauge-emulated; the programs
#                             that are Python, which run $WARPGAUGE_PYTHON, or python3
#   share/warpgauge/cmake/    the package, and warpgauge_add_kernels()
#   share/warpgauge/          what programs of kernels compile for themselves, and the Python programs
include(CMakePackageConfigHelpers)

# Fetched libraries are not installed with warpgauge, so an installation could not link with them.
set(fetched "")
foreach(target fmt::fmt tomlplusplus::tomlplusplus GTest::gtest benchmark::benchmark warpgauge::lz4 warpgauge::zstd)
  if(TARGET ${target})
    get_target_property(imported ${target} IMPORTED)
    if(NOT imported)
      list(APPEND fetched ${target})
    endif()
  endif()
endforeach()
if(fetched)
  list(JOIN fetched ", " fetched)
  set(why "Nothing can be installed: ${fetched} came with this build instead of from the system "
          "(ci/bootstrap installs it)")
  list(JOIN why "" why)
  message(STATUS "${why}")
  install(CODE "message(FATAL_ERROR \"${why}\")")
  return()
endif()

set(share share/warpgauge)
get_property(targets GLOBAL PROPERTY WARPGAUGE_EXPORTED)
list(REMOVE_ITEM targets warpgauge_emulated_cudart)
install(TARGETS ${targets} EXPORT warpgaugeTargets ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
install(TARGETS warpgauge_emulated_cudart EXPORT warpgaugeTargets
        LIBRARY DESTINATION lib/warpgauge NAMELINK_SKIP)
install(EXPORT warpgaugeTargets NAMESPACE warpgauge:: DESTINATION ${share}/cmake)

set(package "${PROJECT_BINARY_DIR}/package")
configure_package_config_file(cmake/warpgaugeConfig.cmake.in "${package}/warpgaugeConfig.cmake"
                              INSTALL_DESTINATION ${share}/cmake
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break what is built on it.
write_basic_package_version_file("${package}/warpgaugeConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${package}/warpgaugeConfig.cmake" "${package}/warpgaugeConfigVersion.cmake"
              cmake/WarpgaugeKernels.cmake cmake/WarpgaugeToolkit.cmake
              cmake/FindWarpgaugeCupti.cmake cmake/Findlz4.cmake cmake/Findzstd.cmake
              cmake/Cuda20.cmake
        DESTINATION ${share}/cmake)
install(PROGRAMS cmake/build_id cmake/keep_ptxas DESTINATION ${share}/cmake)
install(FILES harness/self_test.cu harness/self_test_kernels.h harness/build_info.cpp
              harness/build_info.h
        DESTINATION ${share}/harness)
install(DIRECTORY harness/include/warpgauge metrics/include/warpgauge DESTINATION include
        FILES_MATCHING PATTERN *.h)
warpgauge_python_program("${package}/bin" "\"\${WARPGAUGE_PYTHON:-python3}\""
  "$(cd \"$(dirname \"$(readlink -f \"$0\")\")/../${share}\" && pwd)"
  "set WARPGAUGE_PYTHON to a Python of 3.11 or newer")
install(DIRECTORY "${package}/bin/" DESTINATION bin USE_SOURCE_PERMISSIONS)
# Links from here into metrics/ are installed as files.
install(DIRECTORY reports/warpgauge DESTINATION ${share}/reports
        PATTERN __pycache__ EXCLUDE PATTERN *.json EXCLUDE)
install(FILES metrics/catalog.json metrics/fact.schema.json
        DESTINATION ${share}/reports/warpgauge/facts)
install(FILES harness/diff/cause_rules.json DESTINATION ${share}/reports/warpgauge/changes)
install(FILES harness/outcome/results.schema.json DESTINATION ${share}/reports/warpgauge/outcome)

# The command line tool for facts, GPUs, and programs that were not built for it. It finds its files relative
# to its own place.
warpgauge_kernels(TARGET warpgauge_no_kernels)
warpgauge_program(TARGET warpgauge-installed MAIN gauge KERNELS warpgauge_no_kernels)
set(own WARPGAUGE_GATE_COMMAND WARPGAUGE_SOURCE_ROOT WARPGAUGE_PTXAS_DIRS WARPGAUGE_PROGRAMS_DIR
        WARPGAUGE_EMULATED_CUDART WARPGAUGE_KEEP_PTXAS WARPGAUGE_INJECTION)
set(injection "")
if(TARGET warpgauge::injection)
  set(injection "../lib/$<TARGET_FILE_NAME:warpgauge::injection>")
endif()
foreach(suffix "" -emulated)
  set(target warpgauge-installed${suffix})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/installed"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  get_target_property(definitions ${target}_build_info COMPILE_DEFINITIONS)
  foreach(name IN LISTS own)
    list(FILTER definitions EXCLUDE REGEX "^${name}=")
  endforeach()
  set_target_properties(${target}_build_info PROPERTIES COMPILE_DEFINITIONS "${definitions}")
  target_compile_definitions(${target}_build_info PRIVATE
    "WARPGAUGE_GATE_COMMAND=\"warpgauge gate\""
    "WARPGAUGE_SOURCE_ROOT=\"\""
    "WARPGAUGE_PTXAS_DIRS=\"../${share}/ptxas\""
    "WARPGAUGE_PROGRAMS_DIR=\".\""
    "WARPGAUGE_EMULATED_CUDART=\"../lib/warpgauge/$<TARGET_SONAME_FILE_NAME:warpgauge::emulated_cudart>\""
    "WARPGAUGE_KEEP_PTXAS=\"../${share}/cmake/keep_ptxas\""
    "WARPGAUGE_INJECTION=\"${injection}\"")
  # A target of that name, or of that output, would stand in the way of the one that has kernels.
  install(PROGRAMS "$<TARGET_FILE:${target}>" DESTINATION bin RENAME warpgauge${suffix})
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/ptxas/warpgauge_no_kernels/" DESTINATION ${share}/ptxas)
foreach(shell IN ITEMS bash zsh fish)
  set(place_bash share/bash-completion/completions/warpgauge)
  set(place_zsh share/zsh/site-functions/_warpgauge)
  set(place_fish share/fish/vendor_completions.d/warpgauge.fish)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place_${shell}}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/warpgauge\" completion ${shell}
                    OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")")
endforeach()
install(FILES LICENSE README.md DESTINATION share/doc/warpgauge)
