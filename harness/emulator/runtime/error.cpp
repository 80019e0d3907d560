// Names and texts of errors.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/error_table.h"

namespace warpgauge::emulator::runtime {
namespace {

constexpr ErrorText kUnknown{-1, "unrecognized error code", "unrecognized error code"};

const ErrorText& text_of(cudaError_t error) {
  const auto found =
      std::ranges::lower_bound(kErrorTexts, static_cast<int>(error), {}, &ErrorText::code);
  return found != kErrorTexts.end() && found->code == error ? *found : kUnknown;
}

}  // namespace

WARPGAUGE_API const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

WARPGAUGE_API const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }

}  // namespace warpgauge::emulator::runtime
