// Control flow: branches, calls, exits, barriers; how they are decoded and executed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/instruction.h"
#include "harness/emulator/machine/warp.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::machine {

class FunctionDecoder;

/// As the functions of decode_families.h; control flow needs more of the decoder than they do.
bool decode_control(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result);
/// A jump that is not in the PTX text: it counts as no instruction.
void decode_jump(const Instruction* target, FunctionDecoder& decoder, Instruction* result);
bool decode_barrier(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                    Instruction* result);
bool decode_call(const ptx::Instruction& instruction, FunctionDecoder& decoder,
                 Instruction* result);

void execute_exit(Warp& warp, const Instruction& instruction);
void execute_return(Warp& warp, const Instruction& instruction);

/// The function that the engine itself executes under this name; nullptr if there is none.
Builtin find_builtin(std::string_view name);

/// KernelCode::stack_bytes.
std::optional<std::uint64_t> stack_need(const KernelCode& kernel);

/// A C++ name as in the source, without its parameters' types; other names as they are.
std::string demangled(const std::string& name);

}  // namespace warpgauge::machine
