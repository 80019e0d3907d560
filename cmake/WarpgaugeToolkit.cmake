# The CUDA toolkit and what of it warpgauge needs: NVTX, the headers of the runtime, CUPTI. For the
# build of warpgauge and for projects that use it.

if(CMAKE_CUDA_COMPILER_ID AND NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
  message(FATAL_ERROR "warpgauge needs nvcc, whose reports and line tables it reads. The CUDA compiler of "
                      "${PROJECT_NAME} is ${CMAKE_CUDA_COMPILER} (${CMAKE_CUDA_COMPILER_ID}): configure "
                      "it in a new folder with -DCMAKE_CUDA_COMPILER=nvcc")
endif()

# CMake 3.25.1 asks for the target CUDA::nvToolsExt, which CUDA 13 has no more, unless the project
# says that it is content with an older CMake.
set(_warpgauge_minimum "${CMAKE_MINIMUM_REQUIRED_VERSION}")
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_MINIMUM_REQUIRED_VERSION "${_warpgauge_minimum}")
include("${CMAKE_CURRENT_LIST_DIR}/ToolkitVersions.cmake")
warpgauge_check_toolkit("${CUDAToolkit_VERSION}" "${CUDAToolkit_BIN_DIR}/..")
message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}; "
               "architectures ${CMAKE_CUDA_ARCHITECTURES}")

# Sets target warpgauge::<name> to the folder of a header that belongs to the toolkit, which may
# be one folder or, as CUDA 12's Python wheels have it, one folder a component.
function(warpgauge_toolkit_headers name header)
  if(TARGET warpgauge::${name})
    return()
  endif()
  find_path(WARPGAUGE_${name}_INCLUDE_DIR "${header}"
            HINTS ${CUDAToolkit_INCLUDE_DIRS}
                  "${CUDAToolkit_BIN_DIR}/../include" "${CUDAToolkit_BIN_DIR}/../../${name}/include")
  if(NOT WARPGAUGE_${name}_INCLUDE_DIR)
    message(FATAL_ERROR "The CUDA toolkit in ${CUDAToolkit_BIN_DIR}/.. has no ${header}. Install "
                        "it, or name its folder with "
                        "-DWARPGAUGE_${name}_INCLUDE_DIR=...")
  endif()
  add_library(warpgauge::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(warpgauge::${name} INTERFACE "${WARPGAUGE_${name}_INCLUDE_DIR}")
  target_link_libraries(warpgauge::${name} INTERFACE ${CMAKE_DL_LIBS})
endfunction()

warpgauge_toolkit_headers(nvtx nvtx3/nvToolsExt.h)
warpgauge_toolkit_headers(cuda_runtime cuda_occupancy.h)

find_package(WarpgaugeCupti)
if(NOT WarpgaugeCupti_FOUND)
  message(NOTICE "CUPTI not found: run-time counters will be unmeasured. Compile-time metrics "
                 "(registers, spills, shared memory, theoretical occupancy) are not affected.")
endif()
