// The parts that bulk and tensor copies share.
#include "harness/emulator/machine/control/bulk_operands.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/order.h"
#include "harness/emulator/machine/memory/context.h"

namespace warpgauge::emulator::machine::control {

std::uint64_t address_of(const Warp& warp, const BulkAddress& operand, int lane) {
  if (operand.is_short) {
    return value_of<std::uint32_t>(warp, operand.slot, lane) +
           static_cast<std::uint32_t>(operand.offset);
  }
  return value_of<std::uint64_t>(warp, operand.slot, lane) +
         static_cast<std::uint64_t>(operand.offset);
}

memory::SharedPlace shared_place(const Warp& warp, const BulkAddress& operand, int lane) {
  const std::uint64_t address = address_of(warp, operand, lane);
  return operand.is_short ? memory::place_of(*warp.memory, static_cast<std::uint32_t>(address))
                          : memory::place_of_wide(*warp.memory, address);
}

bool is_lazy(const Warp& warp) {
  const Interleaving* const interleaving = warp.engine->block->launch.launch.interleaving;
  return interleaving != nullptr && interleaving->order.late_stores;
}

void reduce(AtomicOperation operation, std::uint32_t element_bytes, bool to_global, std::byte* to,
            const std::byte* from, std::size_t bytes) {
  std::array<std::uint64_t, kLanes> addresses{};
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t count = std::min<std::size_t>(kLanes, (bytes - done) / element_bytes);
    for (std::size_t n = 0; n < count; ++n) {
      addresses[n] = reinterpret_cast<std::uint64_t>(to + done + n * element_bytes);
    }
    // Operations read vectors of all lanes.
    alignas(64) std::array<std::byte, kLanes * 8> values{};
    std::memcpy(values.data(), from + done, count * element_bytes);
    const Mask lanes = count == kLanes ? kAllLanes : (Mask{1} << count) - 1;
    operation(addresses.data(), lanes, to_global, values.data(), nullptr, nullptr);
    done += count * element_bytes;
  }
}

void note_written(const memory::MemoryContext& context, const std::byte* to, std::uint64_t bytes) {
  if (context.history != nullptr) context.memory->note_written(to, bytes);
}

}  // namespace warpgauge::emulator::machine::control
