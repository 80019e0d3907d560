// Collects loads and stores of local memory over the calls of a kernel.
#include "metrics/machine_code/local_accesses.h"

#include <algorithm>
#include <set>

#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_code.h"
#include "metrics/machine_code/sass_registers.h"

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

/// True for an address with a register of the thread that is not the stack pointer, R1. Loads have
/// the field of a uniform register whether or not they read one, so these do not count.
bool is_indexed(const SassWord& word, int sm) {
  constexpr Register kStackPointer = 1;
  return std::ranges::any_of(registers_of(word, sm).address, [](Register part) {
    return part != kStackPointer && part < kUniform;
  });
}

}  // namespace

bool marks_spills(const Cubin& cubin) { return cubin.abi() >= kFirstWithMarks; }

std::vector<LocalAccess> local_accesses(const Cubin& cubin, const CallGraph& calls,
                                        const std::string& kernel) {
  std::vector<LocalAccess> accesses;
  for (const std::string& function : functions_of(calls, kernel)) {
    const std::set<std::uint64_t> spills = spills_and_refills(cubin, function);
    const std::vector<SassWord> code = machine_code(cubin, function);
    for (const MemoryInstruction& instruction : memory_instructions(cubin, function)) {
      if (!instruction.executes || !is_local(instruction.op)) continue;
      const SassWord& word = code.at(instruction.pc / SassWord::kBytes);
      accesses.push_back({.function = function,
                          .pc = instruction.pc,
                          .is_load = is_load(instruction.op),
                          .bytes = instruction.width,
                          .is_spill = marks_spills(cubin) && spills.contains(instruction.pc),
                          .is_indexed = is_indexed(word, known_sm(cubin))});
    }
  }
  return accesses;
}

}  // namespace warpgauge::metrics
