// What the kernels of a cubin use: registers, stack, barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace warpgauge::metrics {

/// Of a kernel, as ptxas 12 and 13 and the device linker leave it in a cubin (undocumented:
/// attributes of the sections .nv.info and .nv.info.KERNEL). Nothing where it is not there, or in
/// another layout.
struct KernelResources {
  std::optional<std::uint32_t> registers;  ///< per thread; linked: with all that it calls
  /// Stack of its own per thread; not linked: with the functions that it calls.
  std::optional<std::uint32_t> frame_bytes;
  /// Stack per thread with all that it calls; nothing where linked calls recurse. Those of cubins
  /// that ptxas has made without the linker do not count functions that call themselves.
  std::optional<std::uint32_t> stack_bytes;
  std::optional<std::uint32_t> barriers;  ///< of a block
  /// Per thread: the fewest and the most that setmaxnreg changes to; nothing where there is none.
  std::optional<std::uint32_t> least_registers, most_registers;
  std::optional<std::array<std::uint32_t, 3>> cluster;  ///< blocks, by __cluster_dims__
  /// The most threads of a block, in x, y and z: by __launch_bounds__, .maxntid or .reqntid.
  std::optional<std::array<std::uint32_t, 3>> most_threads;

  bool operator==(const KernelResources&) const = default;
};

/// By mangled name, with the device functions that have code of their own among them. Empty for
/// what is no cubin.
std::map<std::string, KernelResources> resources_of_kernels(std::span<const std::byte> cubin);

}  // namespace warpgauge::metrics
