# Chooses CMAKE_CUDA_ARCHITECTURES where neither the command line, a preset nor $CUDAARCHS did.
# CMake's own "native" fails on a machine without a GPU, so the driver is asked here instead.

set(WARPGAUGE_DEFAULT_ARCHITECTURES 75 80 86 89 90 100 120)

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
  set(CMAKE_CUDA_ARCHITECTURES ${WARPGAUGE_DEFAULT_ARCHITECTURES})
  if(WARPGAUGE_NATIVE)
    warpgauge_native_architectures(native)
    if(native)
      set(CMAKE_CUDA_ARCHITECTURES ${native})
    else()
      message(STATUS "nvidia-smi names no GPU: kernels are built for every architecture")
    endif()
  endif()
endif()
