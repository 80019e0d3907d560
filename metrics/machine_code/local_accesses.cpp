// Collects loads and stores of local memory over the calls of a kernel.
#include "metrics/machine_code/local_accesses.h"

#include <set>

#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {
namespace {

constexpr int kFirstWithMarks = 8;  // the version of the format that CUDA 13 writes

/// The kernel, and the called functions with code of their own.
std::set<std::string> functions_of(const CallGraph& calls, const std::string& kernel) {
  std::set<std::string> functions = {kernel};
  for (const std::string& called : calls.called_by(kernel)) {
    const Cubin::Function* const function = calls.find(called);
    if (function != nullptr && function->kernel == called) functions.insert(called);
  }
  return functions;
}

}  // namespace

bool marks_spills(const Cubin& cubin) { return cubin.abi() >= kFirstWithMarks; }

std::vector<LocalAccess> local_accesses(const Cubin& cubin, const CallGraph& calls,
                                        const std::string& kernel) {
  std::vector<LocalAccess> accesses;
  for (const std::string& function : functions_of(calls, kernel)) {
    const std::set<std::uint64_t> spills = spills_and_refills(cubin, function);
    for (const MemoryInstruction& instruction : memory_instructions(cubin, function)) {
      if (!instruction.executes || !is_local(instruction.op)) continue;
      accesses.push_back({.function = function,
                          .pc = instruction.pc,
                          .is_load = is_load(instruction.op),
                          .bytes = instruction.width,
                          .is_spill = marks_spills(cubin) && spills.contains(instruction.pc)});
    }
  }
  return accesses;
}

}  // namespace warpgauge::metrics
