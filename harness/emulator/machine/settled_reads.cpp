// Compares the allocations that loads and stores of a launch can meet.
#include "harness/emulator/machine/settled_reads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

#include "harness/emulator/machine/decode/pointer_roots.h"

namespace warpgauge::emulator::machine {
namespace {

/// Numbers are below it, and addresses of this process are not.
constexpr std::uint64_t kLeastAddress = std::uint64_t{1} << 32;

/// Where an allocation begins.
using Allocation = std::uint64_t;

class Reach {
 public:
  Reach(const Pointers& pointers, const Launch& launch, const memory::Memory& memory) {
    for (const Pointers::Root& root : pointers.roots) {
      std::uint64_t address = root.at;
      if (root.is_parameter) {
        std::memcpy(&address, launch.parameters.data() + root.at, sizeof address);
      }
      const auto extent = memory.extent(address);
      roots_.push_back(extent ? std::optional(extent->allocation) : std::nullopt);
      // The end of an array, or what lies in front of one, is no number.
      const auto bit = kFirstRoot + static_cast<int>(roots_.size()) - 1;
      if (!extent && address >= kLeastAddress) unknown_ |= PointerRoots{1} << bit;
    }
  }

  /// The allocations that addresses with these roots may lie in; nothing: in any.
  std::optional<std::set<Allocation>> of(PointerRoots roots) const {
    std::set<Allocation> allocations;
    for (std::size_t n = 0; n < roots_.size(); ++n) {
      const bool is_one = (roots >> (kFirstRoot + n) & 1) != 0;
      if (is_one && roots_[n]) allocations.insert(*roots_[n]);
    }
    const bool is_known =
        (roots & unknown_) == 0 && (!allocations.empty() || roots == kNotGlobalRoot);
    return is_known ? std::optional(allocations) : std::nullopt;
  }

 private:
  std::vector<std::optional<Allocation>> roots_;  ///< of numbers there are none
  PointerRoots unknown_ = kUnknownRoot;           ///< that may lie anywhere
};

}  // namespace

std::vector<bool> settled_reads(const Kernel& kernel, const Launch& launch,
                                const memory::Memory& memory) {
  if (!kernel.pointers)
    kernel.pointers = decode::pointers_of(kernel.function, kernel.scope, kernel.program);
  const Pointers& pointers = *kernel.pointers;
  const KernelCode& code = *kernel.code;
  const Reach reach(pointers, launch, memory);
  std::set<Allocation> written;
  for (const PointerRoots roots : pointers.stores) {
    const auto allocations = reach.of(roots);
    if (!allocations) return {};
    written.insert(allocations->begin(), allocations->end());
  }
  std::vector<bool> settled(code.counters.size());
  for (std::size_t n = 0; n < settled.size(); ++n) {
    const KernelCode::Counter& counter = code.counters[n];
    if (counter.code != code.functions.front().get()) continue;
    const auto load = pointers.loads.find(counter.instruction);
    if (load == pointers.loads.end()) continue;
    const auto allocations = reach.of(load->second);
    settled[n] = allocations && std::ranges::none_of(*allocations, [&](Allocation allocation) {
                   return written.contains(allocation);
                 });
  }
  return settled;
}

}  // namespace warpgauge::emulator::machine
