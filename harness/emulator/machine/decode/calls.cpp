// Decoding of calls.
#include "harness/emulator/machine/control/calls.h"

#include <memory>
#include <string>
#include <utility>

#include "harness/emulator/machine/core/device_work.h"
#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {

namespace {

/// Why a function that no module defines cannot be called.
std::string why_it_cannot_be_called(const std::string& name) {
  if (name == "cudaGraphLaunch") return "graphs that kernels launch are not emulated";
  if (name.starts_with(kDeviceRuntimePrefix)) {
    return "cuda" + name.substr(kDeviceRuntimePrefix.size()) + " is not emulated in kernels";
  }
  return "the function " + display_name(name) +
         " is not defined in this module (another object file)";
}

}  // namespace

bool decode_call(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                 Instruction* result) {
  using Kind = ptx::Operand::Kind;
  if (instruction.opcode != "call") return false;
  const auto& operands = instruction.operands;
  std::size_t n = 0;
  auto site = std::make_shared<CallSite>();
  if (n < operands.size() && operands[n].kind == Kind::list) {
    for (const auto& value : operands[n++].elements) site->results.push_back(decoder.passed(value));
  }
  if (n >= operands.size() || operands[n].kind != Kind::name) {
    throw Unsupported("the function's name is missing");
  }
  const ptx::Operand& callee = operands[n++];
  if (n < operands.size() && operands[n].kind == Kind::list) {
    for (const auto& value : operands[n].elements) site->arguments.push_back(decoder.passed(value));
  }
  if (!decoder.is_function(callee.name)) {
    site->indirect = true;
    result->sources[0] = decoder.source(callee, ptx::Type::u64);
    result->execute = control::call_indirect;
  } else if ((site->code = decoder.code(callee.name)) != nullptr) {
    result->execute = control::call;
  } else if ((site->builtin = control::find_builtin(callee.name)) != nullptr) {
    result->execute = control::call_builtin;
  } else {
    throw Unsupported(why_it_cannot_be_called(callee.name));
  }
  decoder.note_call(*site);
  result->detail = decoder.keep(std::move(site));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
