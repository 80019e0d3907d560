// The GPU code inside this program: the cubins of its fat binaries and the names of its kernels.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge {

/// A cubin of this program.
struct EmbeddedCubin {
  std::string arch;  ///< "sm_90"
  std::span<const std::byte> image;
};

/// All uncompressed cubins of this program. Empty if it was built with compressed fat binaries
/// (nvcc without --no-compress).
const std::vector<EmbeddedCubin>& embedded_cubins();

/// The cubin that holds `kernel` for `arch`, or nullptr.
const EmbeddedCubin* find_cubin(std::string_view kernel, std::string_view arch);

/// The hash of the code of `kernel` for `arch` (see metrics::Cubin); empty if it is not embedded.
/// Worked out once: every fact carries it.
const std::string& sass_hash(const std::string& kernel, const std::string& arch);

/// The mangled name of the kernel whose host stub is at `stub`; empty if unknown.
std::string kernel_name(const void* stub);

// Called by the wrapped registration functions, before main.
void register_fat_binary(const void* wrapper);
void register_kernel(const void* stub, const char* name);

}  // namespace warpgauge
