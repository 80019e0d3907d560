// Finds the instructions of a kernel whose counts can depend on the order in which threads run:
// those that what an atomic returns, another thread writes meanwhile, or malloc returns decides.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/cubin.h"

namespace warpgauge::metrics {

/// An instruction whose counts are no property of code and input alone.
struct OrderDependence {
  enum class Source : std::uint8_t {
    atomic,      ///< the result of an atomic
    load,        ///< what a volatile load reads, or one that a fence or a scope orders
    barrier,     ///< whether a barrier in memory is complete yet
    allocation,  ///< an address that malloc gave
  };
  enum class Effect : std::uint8_t {
    execution,   ///< it decides whether the instruction executes, and how often
    access,      ///< it is part of an address, or decides which lanes make the access
    divergence,  ///< it decides which lanes branch
  };

  std::uint64_t pc = 0;  ///< of the instruction; offset into Cubin::code()
  Source source = Source::atomic;
  std::uint64_t source_pc = 0;
  Effect effect = Effect::execution;
  /// The groups of metrics that the instruction may count for: first parts of their ids.
  std::vector<std::string_view> groups;

  bool operator==(const OrderDependence&) const = default;
};

/// Of `kernel`, in the order of the code. Empty for an unknown kernel. Throws CubinError for an
/// architecture that is not known here.
///
/// Follows values through registers, and through memory of a block, a thread, or all by space:
/// after a store of such a value, or to a place that depends on one, all loads from the space that
/// may see it count. Does not see what other kernels leave in memory, nor volatile loads of shared
/// memory, which machine code does not tell from others.
std::vector<OrderDependence> order_dependences(const Cubin& cubin, std::string_view kernel);

}  // namespace warpgauge::metrics
