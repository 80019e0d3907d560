// The parameters that a kernel reads into registers: vectors with the same value in all lanes,
// which are filled once a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/emulator/machine/core/operand_slot.h"

namespace warpgauge::emulator::machine {

class ParameterVectors {
 public:
  /// The vector of the `bytes` (1, 2, 4 or 8) that are `offset` bytes behind the first parameter;
  /// the same one for the same arguments.
  OperandSlot add(std::uint64_t offset, int bytes);
  std::uint32_t bytes() const { return bytes_; }  ///< all vectors'
  /// Writes all vectors to `vectors`, which has room for bytes(). `parameters` are a launch's, and
  /// hold every parameter that was added.
  void fill(std::byte* vectors, std::span<const std::byte> parameters) const;

 private:
  struct Entry {
    std::uint64_t offset;
    int bytes;
    OperandSlot slot;
  };
  std::vector<Entry> entries_;
  std::uint32_t bytes_ = 0;
};

}  // namespace warpgauge::emulator::machine
