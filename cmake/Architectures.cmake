# Chooses CMAKE_CUDA_ARCHITECTURES where neither the command line, a preset nor $CUDAARCHS did, by
# WARPGAUGE_ARCHITECTURES. CMake's own "native" fails on a machine without a GPU, so the driver is asked
# here instead.
set(WARPGAUGE_ALL_ARCHITECTURES 75 80 86 89 90 100 120)
set(WARPGAUGE_FEW_ARCHITECTURES 75 90)  # the oldest, and the one that the emulator is by default

set(WARPGAUGE_ARCHITECTURES all CACHE STRING "\
all (${WARPGAUGE_ALL_ARCHITECTURES}), few (${WARPGAUGE_FEW_ARCHITECTURES}, and the GPUs of this machine), \
some of all (80;90, and the GPUs of this machine), or native: the GPUs of this machine only (all where it has none)")
set_property(CACHE WARPGAUGE_ARCHITECTURES PROPERTY STRINGS all few native)

# Sets `out` to the compute capabilities of this machine's GPUs ("90"), or to "" if it has none.
function(warpgauge_native_architectures out)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE answer RESULT_VARIABLE status ERROR_QUIET TIMEOUT 60)
  set(capabilities "")
  if(status EQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${answer}")
    list(REMOVE_DUPLICATES capabilities)
    list(TRANSFORM capabilities REPLACE "\\." "")
  endif()
  set(${out} "${capabilities}" PARENT_SCOPE)
endfunction()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  set(CMAKE_CUDA_ARCHITECTURES ${WARPGAUGE_ALL_ARCHITECTURES})
  if(NOT WARPGAUGE_ARCHITECTURES STREQUAL "all")
    warpgauge_native_architectures(native)
  endif()
  set(unknown ${WARPGAUGE_ARCHITECTURES})
  list(REMOVE_ITEM unknown ${WARPGAUGE_ALL_ARCHITECTURES})
  if(WARPGAUGE_ARCHITECTURES STREQUAL "native")
    if(native)
      set(CMAKE_CUDA_ARCHITECTURES ${native})
    else()
      message(STATUS "nvidia-smi names no GPU: kernels are built for every architecture")
    endif()
  elseif(WARPGAUGE_ARCHITECTURES STREQUAL "few" OR (WARPGAUGE_ARCHITECTURES AND NOT unknown))
    set(CMAKE_CUDA_ARCHITECTURES ${WARPGAUGE_ARCHITECTURES} ${native})
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^few$" "${WARPGAUGE_FEW_ARCHITECTURES}")
    list(SORT CMAKE_CUDA_ARCHITECTURES COMPARE NATURAL)
    list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  elseif(NOT WARPGAUGE_ARCHITECTURES STREQUAL "all")
    message(FATAL_ERROR "WARPGAUGE_ARCHITECTURES is '${WARPGAUGE_ARCHITECTURES}'; choose all, few, native, or some "
                        "of ${WARPGAUGE_ALL_ARCHITECTURES}")
  endif()
endif()
