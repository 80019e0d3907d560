// Which functions of a cubin, that were not inlined, a kernel calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// As ptxas and the device linker have noted it. The cubin's image must outlive it.
class CallGraph {
 public:
  explicit CallGraph(const Cubin& cubin);

  /// The function of that name; nullptr if there is none.
  const Cubin::Function* find(std::string_view function) const;
  /// The functions that it calls, directly or not. A call by a pointer may be of each function of
  /// that prototype whose address is taken.
  std::set<std::string> called_by(std::string_view function) const;
  /// By kernel: those of the functions that it calls which have code of their own, so that other
  /// kernels may call them, too. Without kernels that call none.
  std::map<std::string, std::set<std::string>> shared_functions() const;

 private:
  /// What functions with these numbers call, directly or not.
  std::set<std::uint32_t> reached_from(std::vector<std::uint32_t> open) const;
  void read(std::span<const std::byte> section);

  std::map<std::uint32_t, Cubin::Function> functions_;      ///< by number
  std::map<std::uint32_t, std::set<std::uint32_t>> calls_;  ///< of each function
};

}  // namespace warpgauge::metrics
