// Finds the kernels that call a function, and gives them its counts.
#include "harness/attach/called_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/base/demangled.h"
#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::attach {
namespace {

using metrics::CallGraph;
using metrics::Instruction;

/// Whose a piece of code is.
struct Place {
  std::string code;                  ///< the section that it is in
  std::uint32_t offset = 0;          ///< in there, of the record's pc
  bool is_kernel = false;            ///< else a function that kernels call
  std::vector<std::string> callers;  ///< among the kernels that were counted
};

class Places {
 public:
  Places(const std::set<std::string>& kernels, const CubinOf& cubin_of)
      : kernels_(kernels), cubin_of_(cubin_of) {}

  /// `lowest` is the first instruction of its code that was executed.
  const Place& of(const Instruction& lowest) {
    const auto [place, is_new] = places_.try_emplace({lowest.cubin_crc, lowest.kernel});
    if (is_new) place->second = find(lowest);
    return place->second;
  }

 private:
  Place find(const Instruction& lowest) {
    Place place{.code = lowest.kernel, .callers = {}};
    const CallGraph* graph = kernels_.contains(place.code) ? nullptr : graph_of(lowest.cubin_crc);
    const metrics::Cubin::Function* function = graph ? graph->find(place.code) : nullptr;
    if (function != nullptr && function->kernel != place.code) {
      // ptxas has copied it into the kernel that calls it. Its first instruction is executed, which
      // shows from where its offsets count.
      if (lowest.pc < function->offset) place.offset = static_cast<std::uint32_t>(function->offset);
      place.code = function->kernel;
      function = graph->find(place.code);
    }
    place.is_kernel = kernels_.contains(place.code) || (function != nullptr && function->is_entry);
    if (place.is_kernel || graph == nullptr) return place;
    std::ranges::copy_if(kernels_, std::back_inserter(place.callers), [&](const auto& kernel) {
      return graph->called_by(kernel).contains(place.code);
    });
    return place;
  }

  /// nullptr where the cubin is not known.
  const CallGraph* graph_of(std::uint32_t crc) {
    const auto [place, is_new] = graphs_.try_emplace(crc);
    if (is_new) {
      try {
        const auto image = cubin_of_(crc);
        if (!image.empty()) place->second.emplace(metrics::Cubin(image));
      } catch (const metrics::CubinError&) {
        // A cubin that cannot be read is as unknown as a missing one.
      }
    }
    return place->second ? &*place->second : nullptr;
  }

  const std::set<std::string>& kernels_;
  const CubinOf& cubin_of_;
  std::map<std::uint32_t, std::optional<CallGraph>> graphs_;
  std::map<std::pair<std::uint32_t, std::string>, Place> places_;
};

std::string shared_text(const Place& place) {
  return fmt::format(
      "{} is a function that {} of the kernels call, and CUPTI counts it once for all; launch them "
      "apart, with a wait between them, or leave the others out with --skip",
      metrics::demangled(place.code), place.callers.size());
}

}  // namespace

Attributed attribute(const metrics::SassRecords& records, const std::set<std::string>& kernels,
                     const CubinOf& cubin_of) {
  Places places(kernels, cubin_of);
  Attributed result;
  for (const auto& [recorded, values] : records) {
    const Place& place = places.of(recorded);
    Instruction instruction{recorded.cubin_crc, place.code, recorded.pc + place.offset};
    if (!place.is_kernel) {
      instruction.owner = recorded.owner;
      if (instruction.owner.empty() && place.callers.size() == 1) {
        instruction.owner = place.callers[0];
      }
      if (instruction.owner.empty()) {
        for (const std::string& caller : place.callers) result.doubts[caller] = shared_text(place);
      }
    }
    const std::string& row = instruction.owner.empty() ? place.code : instruction.owner;
    result.records[row][instruction] += values;
  }
  return result;
}

}  // namespace warpgauge::attach
