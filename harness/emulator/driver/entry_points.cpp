// cuGetProcAddress, and the functions of the runtime that do the same.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "harness/emulator/driver/functions.h"
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/device_properties.h"

#undef cuGetProcAddress  // an earlier variant, which the toolkit's headers do not declare

namespace warpgauge::emulator::driver {
namespace {

constexpr unsigned long long kKnownFlags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
static_assert(kKnownFlags == (cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream));
static_assert(CU_GET_PROC_ADDRESS_SUCCESS == int{cudaDriverEntryPointSuccess});
static_assert(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND == int{cudaDriverEntryPointSymbolNotFound});
static_assert(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT ==
              int{cudaDriverEntryPointVersionNotSufficent});

CUdriverProcAddressQueryResult status_of(const FoundFunction& found) {
  if (found.address != nullptr) return CU_GET_PROC_ADDRESS_SUCCESS;
  return found.is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

/// `status` may be nullptr. Returns whether the arguments make sense.
template <typename Status>
bool look_up(const char* symbol, void** function, unsigned version, unsigned long long flags,
             Status* status) {
  if (symbol == nullptr || function == nullptr) return false;
  if (version > static_cast<unsigned>(runtime::driver_version()) || (flags & ~kKnownFlags) != 0)
    return false;
  const FoundFunction found = find_function(symbol, static_cast<int>(version));
  *function = found.address;
  if (status != nullptr) *status = static_cast<Status>(status_of(found));
  return true;
}

cudaError_t entry_point(const char* name, const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return runtime::call_always(name, [&](runtime::State&) {
    runtime::require(look_up(symbol, function, version, flags, status));
  });
}

}  // namespace

// Both work before cuInit, as with the real driver.

WARPGAUGE_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                           cuuint64_t flags,
                                           CUdriverProcAddressQueryResult* status) {
  const bool complete = look_up(symbol, function, static_cast<unsigned>(version), flags, status);
  return complete ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

WARPGAUGE_API CUresult cuGetProcAddress(const char* symbol, void** function, int version,
                                        cuuint64_t flags) {
  CUdriverProcAddressQueryResult status{};
  const CUresult result = cuGetProcAddress_v2(symbol, function, version, flags, &status);
  if (result != CUDA_SUCCESS) return result;
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The private tables of NVIDIA's own libraries are not there. NVRTC and nvJitLink go on without, a
// static runtime does not.
WARPGAUGE_API CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  runtime::note_private_table(__builtin_return_address(0));
  return CUDA_ERROR_NOT_FOUND;
}

WARPGAUGE_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* status) {
  return entry_point(__func__, symbol, function, version, flags, status);
}

WARPGAUGE_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return entry_point(__func__, symbol, function, CUDART_VERSION, flags, status);
}

WARPGAUGE_PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz)
WARPGAUGE_PER_THREAD(cudaGetDriverEntryPoint, _ptsz)

}  // namespace warpgauge::emulator::driver
