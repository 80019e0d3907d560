// Decodes all kernels of a module, and collects what the decoder refused.
#include "harness/emulator/machine/refusals.h"

#include <map>
#include <tuple>
#include <utility>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/program.h"

namespace warpgauge::emulator::machine {

std::vector<Refusal> refusals(ptx::Module module, const Architecture& architecture) {
  std::vector<std::string> kernels;
  for (const ptx::Function& function : module.functions) {
    if (function.is_kernel && function.has_body) kernels.push_back(function.name);
  }
  Machine machine(architecture, {});
  Program& program = machine.load(std::move(module));
  std::map<std::tuple<int, std::string, std::string>, metrics::SourceLine> found;
  for (const std::string& name : kernels) {
    Kernel& kernel = *machine.find_kernel(program, name);
    machine.prepare(kernel);
    for (const auto& [code, position, why] : kernel.code->refused) {
      const ptx::Instruction& instruction = code->function->body.at(position);
      found.try_emplace({instruction.text_line, instruction.full_name(), why},
                        source_line(*code, position));
    }
  }
  std::vector<Refusal> all;
  for (const auto& [key, source] : found) {
    all.push_back({std::get<0>(key), source, std::get<1>(key), std::get<2>(key)});
  }
  return all;
}

}  // namespace warpgauge::emulator::machine
