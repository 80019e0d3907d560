# Installs warpgauge as a relocatable package for find_package(warpgauge):
#   include/warpgauge/        the headers that kernels include
#   lib/                      libraries
#   lib/warpgauge/            the emulated runtime, whose name is NVIDIA's, and what leads static ones to it; the libraries that ours link with,
#                             and GoogleTest with its headers
#   lib/warpgauge/emulated/   the emulated driver, which only programs on the emulator are to find
#   bin/                      warpgauge, without kernels of its own, and warpgauge-emulated; the programs
#                             that are Python, which run $WARPGAUGE_PYTHON, or python3
#   share/warpgauge/cmake/    the package, and warpgauge_add_kernels()
#   share/warpgauge/          what programs of kernels compile for themselves, and the Python programs
include(CMakePackageConfigHelpers)

set(share share/warpgauge)
get_property(targets GLOBAL PROPERTY WARPGAUGE_EXPORTED)
list(REMOVE_ITEM targets warpgauge_emulated_cudart warpgauge_emulated_driver warpgauge_audit)
install(TARGETS ${targets} EXPORT warpgaugeTargets ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
install(TARGETS warpgauge_emulated_cudart warpgauge_audit EXPORT warpgaugeTargets
        LIBRARY DESTINATION lib/warpgauge NAMELINK_SKIP)
install(TARGETS warpgauge_emulated_driver EXPORT warpgaugeTargets
        LIBRARY DESTINATION lib/warpgauge/emulated)
install(EXPORT warpgaugeTargets NAMESPACE warpgauge:: DESTINATION ${share}/cmake)

# GoogleTest, which tests of projects include and link themselves.
foreach(name gtest gtest_main gmock gmock_main)
  warpgauge_library_file(GTest::${name} file installed)
  install(FILES "${file}" DESTINATION lib/warpgauge RENAME "${installed}")
endforeach()
if(googletest_SOURCE_DIR)
  set(folders "${googletest_SOURCE_DIR}/googletest/include" "${googletest_SOURCE_DIR}/googlemock/include")
else()
  get_target_property(folders GTest::gtest INTERFACE_INCLUDE_DIRECTORIES)
endif()
foreach(folder IN LISTS folders)
  foreach(name gtest gmock)
    if(IS_DIRECTORY "${folder}/${name}")
      install(DIRECTORY "${folder}/${name}" DESTINATION lib/warpgauge/include)
    endif()
  endforeach()
endforeach()

# Programs and libraries find these from where they lie, and CUPTI in the Python package beside the wheel's,
# in NVIDIA's default place, or in the toolkit that they were built with.
option(WARPGAUGE_TOOLKIT_RPATH "Let what is installed look for CUPTI where this build found it" ON)
set(rpath "\$ORIGIN/../lib/warpgauge"
          "\$ORIGIN/../../../nvidia/cu${CUDAToolkit_VERSION_MAJOR}/lib" /usr/local/cuda/lib64)
set_target_properties(warpgauge_emulated_cudart PROPERTIES INSTALL_RPATH "\$ORIGIN")
if(TARGET warpgauge_injection)
  set_target_properties(warpgauge_injection PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ${WARPGAUGE_TOOLKIT_RPATH}
    INSTALL_RPATH "${rpath}")
endif()

set(package "${PROJECT_BINARY_DIR}/package")
configure_package_config_file(cmake/warpgaugeConfig.cmake.in "${package}/warpgaugeConfig.cmake"
                              INSTALL_DESTINATION ${share}/cmake
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break what is built on it.
write_basic_package_version_file("${package}/warpgaugeConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${package}/warpgaugeConfig.cmake" "${package}/warpgaugeConfigVersion.cmake"
              cmake/BuiltFrom.cmake cmake/ToolkitVersions.cmake cmake/WarpgaugeKernels.cmake cmake/WarpgaugeToolkit.cmake
              cmake/FindWarpgaugeCupti.cmake cmake/Cuda20.cmake
        DESTINATION ${share}/cmake)
install(PROGRAMS ci/link-cuda-wheels DESTINATION ${share}/cmake)
install(FILES harness/build_info.cpp harness/build_info.h DESTINATION ${share}/harness)
install(FILES harness/measuring/self_test.cu harness/measuring/self_test_kernels.h
        DESTINATION ${share}/harness/measuring)
install(DIRECTORY harness/include/warpgauge metrics/include/warpgauge DESTINATION include
        FILES_MATCHING PATTERN *.h)
install(PROGRAMS cmake/installed_python DESTINATION bin RENAME warpgauge-python)
# The wheel has the Python programs as its own package, and leaves this component out. Links from here into
# metrics/ and harness/ are installed as files.
install(DIRECTORY reports/warpgauge DESTINATION ${share}/reports COMPONENT python
        PATTERN __pycache__ EXCLUDE PATTERN *.json EXCLUDE PATTERN catalog.toml EXCLUDE)
install(FILES metrics/facts/catalog.toml metrics/facts/fact.schema.json COMPONENT python
        DESTINATION ${share}/reports/warpgauge/facts)
install(FILES harness/diff/cause_rules.json harness/diff/diff.schema.json COMPONENT python
        DESTINATION ${share}/reports/warpgauge/changes)
install(FILES harness/outcome/results.schema.json COMPONENT python
        DESTINATION ${share}/reports/warpgauge/outcome)
install(FILES harness/explain/explain.schema.json COMPONENT python
        DESTINATION ${share}/reports/warpgauge/page)

# The command line tool for facts, GPUs, and programs that were not built for it. It finds its files relative
# to its own place.
warpgauge_kernels(TARGET warpgauge_no_kernels)
warpgauge_program(TARGET warpgauge-installed MAIN gauge KERNELS warpgauge_no_kernels)
set(own WARPGAUGE_GATE_COMMAND WARPGAUGE_SOURCE_ROOT WARPGAUGE_PROGRAMS_DIR
        WARPGAUGE_EMULATED_CUDART WARPGAUGE_EMULATED_DRIVER WARPGAUGE_AUDIT WARPGAUGE_ENVIRONMENT
        WARPGAUGE_INJECTION)
set(injection "")
if(TARGET warpgauge::injection)
  set(injection "../lib/$<TARGET_FILE_NAME:warpgauge::injection>")
endif()
foreach(suffix "" -emulated)
  set(target warpgauge-installed${suffix})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/installed"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ${WARPGAUGE_TOOLKIT_RPATH}
    INSTALL_RPATH "${rpath}")
  get_target_property(definitions ${target}_build_info COMPILE_DEFINITIONS)
  foreach(name IN LISTS own)
    list(FILTER definitions EXCLUDE REGEX "^${name}=")
  endforeach()
  set_target_properties(${target}_build_info PROPERTIES COMPILE_DEFINITIONS "${definitions}")
  target_compile_definitions(${target}_build_info PRIVATE
    "WARPGAUGE_GATE_COMMAND=\"warpgauge gate\""
    "WARPGAUGE_SOURCE_ROOT=\"\""
    "WARPGAUGE_PROGRAMS_DIR=\".\""
    "WARPGAUGE_EMULATED_CUDART=\"../lib/warpgauge/$<TARGET_SONAME_FILE_NAME:warpgauge::emulated_cudart>\""
    "WARPGAUGE_EMULATED_DRIVER=\"../lib/warpgauge/emulated/$<TARGET_SONAME_FILE_NAME:warpgauge::emulated_driver>\""
    "WARPGAUGE_AUDIT=\"../lib/warpgauge/$<TARGET_FILE_NAME:warpgauge::audit>\""
    "WARPGAUGE_ENVIRONMENT=\"../lib/$<TARGET_FILE_NAME:warpgauge::environment>\""
    "WARPGAUGE_INJECTION=\"${injection}\"")
  # A target of that name, or of that output, would stand in the way of the one that has kernels.
  install(PROGRAMS "$<TARGET_FILE:${target}>" DESTINATION bin RENAME warpgauge${suffix})
endforeach()
get_filename_component(cupti "${WarpgaugeCupti_LIBRARY}" DIRECTORY)  # which may be nowhere that the program looks
foreach(shell IN ITEMS bash zsh fish)
  set(place_bash share/bash-completion/completions/warpgauge)
  set(place_zsh share/zsh/site-functions/_warpgauge)
  set(place_fish share/fish/vendor_completions.d/warpgauge.fish)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place_${shell}}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env \"LD_LIBRARY_PATH=${cupti}\"
                    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/warpgauge\" completion ${shell}
                    OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")")
endforeach()

# The documents. Links to sources, which are not installed, become text.
set(doc share/doc/warpgauge)
file(GLOB documents CONFIGURE_DEPENDS README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs/*.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents})
foreach(document IN LISTS documents)
  cmake_path(RELATIVE_PATH document OUTPUT_VARIABLE name)
  file(READ "${document}" text)
  string(REGEX REPLACE "\\[([^][]*)\\]\\([^()#: ]+\\.(cpp|cu|h|py|toml)\\)" "\\1" text "${text}")
  file(CONFIGURE OUTPUT "${package}/doc/${name}" CONTENT "@text@" @ONLY)
endforeach()
install(DIRECTORY "${package}/doc/" DESTINATION ${doc})
install(DIRECTORY docs/pictures DESTINATION ${doc}/docs)
install(FILES LICENSE DESTINATION ${doc})
include(BillOfMaterials)
