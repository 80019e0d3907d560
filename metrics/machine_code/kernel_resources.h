// The resources of the kernels of a cubin: registers, stack, barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// The resources of a kernel as ptxas 12 and 13 and the device linker write them into a cubin
/// (undocumented attributes of the sections .nv.info and .nv.info.KERNEL). Members are empty where
/// an attribute is missing or has another layout.
struct KernelResources {
  std::optional<std::uint32_t> registers;  ///< per thread; in linked code with all called functions
  /// Bytes of stack of its own per thread; in code that is not linked with all called functions.
  std::optional<std::uint32_t> frame_bytes;
  /// Bytes of stack per thread with all called functions; empty where calls in linked code recurse.
  /// In cubins by ptxas without the linker, functions that call themselves are not counted.
  std::optional<std::uint32_t> stack_bytes;
  std::optional<std::uint32_t> barriers;  ///< per block
  /// The fewest and the most registers per thread that setmaxnreg sets; empty without setmaxnreg.
  std::optional<std::uint32_t> least_registers, most_registers;
  std::optional<std::array<std::uint32_t, 3>> cluster;  ///< blocks, by __cluster_dims__
  /// The most threads of a block, in x, y and z: by __launch_bounds__, .maxntid or .reqntid.
  std::optional<std::array<std::uint32_t, 3>> most_threads;

  bool operator==(const KernelResources&) const = default;
};

/// The resources by mangled name, of kernels and of device functions with code of their own.
std::map<std::string, KernelResources> resources_of_kernels(const Cubin& cubin);
/// The same of an image; empty if it is no cubin.
std::map<std::string, KernelResources> resources_of_kernels(std::span<const std::byte> image);

}  // namespace warpgauge::metrics
