// The functions of the CUDA driver by their names.
#pragma once

#include <string_view>

namespace warpgauge::emulator::driver {

/// A function, as cuGetProcAddress finds it.
struct FoundFunction {
  void* address = nullptr;
  bool is_known = false;  ///< without an address: it came with a later CUDA than was asked for
};

/// The newest variant of `name`, which has no suffix ("cuMemAlloc", not "cuMemAlloc_v2"), that CUDA
/// `version` has (13000 is CUDA 13.0). One that is not emulated is found, and refuses when it is
/// called. Per-thread streams make no difference here, so that they have no variants.
FoundFunction find_function(std::string_view name, int version);

}  // namespace warpgauge::emulator::driver
