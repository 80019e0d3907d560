// The calls between kernels and those functions of a cubin that were not inlined.
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

/// The call graph that ptxas and the device linker wrote into a cubin, whose image must outlive it.
class CallGraph {
 public:
  explicit CallGraph(const Cubin& cubin);

  /// The function of that name; nullptr if there is none.
  const Cubin::Function* find(std::string_view function) const;
  /// The functions that `function` calls, directly or not. A call by a pointer may reach every
  /// function with that prototype whose address is taken.
  std::set<std::string> called_by(std::string_view function) const;
  /// The functions that `function` reaches, and that are linked to it later: those of other objects
  /// by name, without those of the driver. A call by a pointer is named so.
  std::set<std::string> called_elsewhere(std::string_view function) const;
  /// By kernel: the called functions that have code of their own, which other kernels may call as
  /// well. Kernels without such calls are left out.
  std::map<std::string, std::set<std::string>> shared_functions() const;

 private:
  std::vector<std::uint32_t> numbers_of(std::string_view function) const;
  /// The functions that the `open` ones call, directly or not.
  std::set<std::uint32_t> reached_from(std::vector<std::uint32_t> open) const;
  void read(std::span<const std::byte> section);

  std::map<std::uint32_t, Cubin::Function> functions_;      ///< by number
  std::map<std::uint32_t, std::string_view> elsewhere_;     ///< by number: defined elsewhere
  std::map<std::uint32_t, std::set<std::uint32_t>> calls_;  ///< the functions that each one calls
  std::set<std::uint32_t> by_pointer_;                      ///< those that call by a pointer
};

}  // namespace warpgauge::metrics
