# Finds CUPTI with the profiler host, range profiler and SASS metrics interfaces, and makes the
# target warpgauge::cupti. It looks where the toolkit puts it:
#   <toolkit>/extras/CUPTI/{include,lib64}         NVIDIA's installers
#   <toolkit>/{include,lib64,lib}                  distributions; Python wheels of CUDA 13
#   site-packages/nvidia/cuda_cupti/{include,lib}  Python wheels of CUDA 12, nvcc in ../cuda_nvcc
#   site-packages/nvidia/cu13/{include,lib}        what warpgauge's own wheel brings, beside it
# and before these in WARPGAUGE_CUPTI_ROOT. Needs find_package(CUDAToolkit) before it.

set(WARPGAUGE_CUPTI_ROOT "" CACHE PATH "A folder with include/cupti.h and lib/libcupti.so")

cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH _toolkit)
set(_roots ${WARPGAUGE_CUPTI_ROOT} "${CUDAToolkit_TARGET_DIR}/extras/CUPTI"
           "${_toolkit}/extras/CUPTI" "${CUDAToolkit_TARGET_DIR}" "${_toolkit}"
           "${_toolkit}/../cuda_cupti"
           "${CMAKE_CURRENT_LIST_DIR}/../../../../../nvidia/cu${CUDAToolkit_VERSION_MAJOR}")
find_path(WarpgaugeCupti_INCLUDE_DIR cupti.h PATHS ${_roots} PATH_SUFFIXES include
          NO_DEFAULT_PATH)
# Wheels have no libcupti.so, only the name with the version.
find_library(WarpgaugeCupti_LIBRARY NAMES cupti libcupti.so.${CUDAToolkit_VERSION_MAJOR}
             PATHS ${_roots} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH)
mark_as_advanced(WarpgaugeCupti_INCLUDE_DIR WarpgaugeCupti_LIBRARY)

# An older CUPTI, without these headers, counts as not found.
set(_missing "")
if(WarpgaugeCupti_INCLUDE_DIR)
  foreach(_header cupti_profiler_host.h cupti_range_profiler.h cupti_sass_metrics.h)
    if(NOT EXISTS "${WarpgaugeCupti_INCLUDE_DIR}/${_header}")
      list(APPEND _missing ${_header})
    endif()
  endforeach()
  if(NOT _missing)
    set(WarpgaugeCupti_HEADERS TRUE)
  endif()
  file(STRINGS "${WarpgaugeCupti_INCLUDE_DIR}/cupti_version.h" _version
       REGEX "^#define CUPTI_API_VERSION [0-9]+")
  string(REGEX REPLACE "^.* ([0-9]+).*$" "\\1" WarpgaugeCupti_VERSION "${_version}")
endif()

list(REMOVE_DUPLICATES _roots)
list(JOIN _roots ", " _why)
string(PREPEND _why "looked in ")
if(_missing)
  list(JOIN _missing ", " _missing)
  set(_why "${WarpgaugeCupti_INCLUDE_DIR} is too old, it lacks ${_missing}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WarpgaugeCupti
  REQUIRED_VARS WarpgaugeCupti_LIBRARY WarpgaugeCupti_INCLUDE_DIR WarpgaugeCupti_HEADERS
  VERSION_VAR WarpgaugeCupti_VERSION
  REASON_FAILURE_MESSAGE "${_why}")

if(WarpgaugeCupti_FOUND AND NOT TARGET warpgauge::cupti)
  # SHARED, so that the folder of the library goes into the rpath of what links it. As DT_RPATH, for
  # CUPTI opens libnvperf_host.so and libnvperf_target.so beside it by their bare names, and
  # DT_RUNPATH does not hold for what a library opens.
  add_library(warpgauge::cupti SHARED IMPORTED GLOBAL)
  set_target_properties(warpgauge::cupti PROPERTIES
    IMPORTED_LOCATION "${WarpgaugeCupti_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${WarpgaugeCupti_INCLUDE_DIR}"
    INTERFACE_LINK_OPTIONS "LINKER:--disable-new-dtags")
endif()
