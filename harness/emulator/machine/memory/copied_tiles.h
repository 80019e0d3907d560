// The tiles in a block's shared memory that tensor copies wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "harness/emulator/machine/memory/tensor_box.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::emulator::machine::memory {

class CopiedTiles {
 public:
  void reset() { copies_.clear(); }
  /// A tensor copy has loaded a box to `address`.
  void add(const TensorMap& map, const BoxPlace& place, std::uint32_t address);
  /// The tile that all lanes of a load read. Nothing where there is none, or where they read
  /// something else by now: the copy is made again for that, and compared.
  std::optional<metrics::CopiedTile> find(const metrics::WarpAccess& load,
                                          const std::byte* shared) const;

 private:
  struct Copy {
    TensorMap map;
    BoxPlace place;
  };
  std::map<std::uint32_t, Copy> copies_;  ///< the last to each address
};

}  // namespace warpgauge::emulator::machine::memory
